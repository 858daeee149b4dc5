package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/configfile"
	"github.com/weft-fabric/weft/internal/counters"
	"github.com/weft-fabric/weft/internal/loopback"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/shell"
	"github.com/weft-fabric/weft/internal/trouble"
	"github.com/weft-fabric/weft/internal/whole"
	"github.com/weft-fabric/weft/routing"
)

// Config is the configuration file.
type Config struct {
	Folder    string           `yaml:"folder"`           // OpenSM's dumps or an output folder of ibdiagnet; either this or Commands
	Fabric    string           `yaml:"fabric"`           // file with the network, if Folder has none
	Commands  configfile.Names `yaml:"commands"`         // FILE = PROGRAM ARGUMENT…, whose output is that file of the look
	Timeout   time.Duration    `yaml:"timeout"`          // of each command; 0: DefaultTimeout, of Collect DefaultCollect
	Every     time.Duration    `yaml:"every"`            // between looks; 0: DefaultEvery
	Settle    time.Duration    `yaml:"settle"`           // files are read that have not changed for so long; 0: DefaultSettle
	Engine    string           `yaml:"engine"`           // engines that OpenSM was asked for; empty: what Conf says
	Conf      string           `yaml:"conf"`             // opensm.conf
	Log       string           `yaml:"log"`              // OpenSM's log
	Expect    string           `yaml:"expect"`           // folder of the tables that should be in force
	Contract  string           `yaml:"contract"`         // what clients do with service levels; empty: see Look.Contract
	Endpoints string           `yaml:"endpoints"`        // hca, ca or all; empty: hca
	Multicast string           `yaml:"multicast_sl"`     // service levels of multicast groups, such as 0,2, whose trees are judged too; empty: 0
	State     string           `yaml:"state"`            // folder of the looks; required
	Keep      int              `yaml:"keep"`             // looks that are kept; 0: DefaultKeep
	Counters  configfile.Names `yaml:"counters"`         // files with what ports have counted; empty: those of ibdiagnet in Folder
	CountBy   configfile.Names `yaml:"counter_commands"` // programs that print it
	Over      time.Duration    `yaml:"counters_over"`    // errors count that came within it; 0: DefaultOver
	Tick      time.Duration    `yaml:"tick"`             // of PortXmitWait; 0: not known
	Limits    configfile.Names `yaml:"cable_limits"`     // values from which on a cable is in trouble: NAME=NUMBER
	Cabling   string           `yaml:"cabling"`          // file with the network as it should be cabled
	Metrics   string           `yaml:"metrics"`          // loopback address and port for Prometheus; empty: none

	Ethernet  string           `yaml:"ethernet"`            // folder of a lossless Ethernet network, in place of Folder and Commands
	Collect   string           `yaml:"collect"`             // PROGRAM ARGUMENT…, which writes that folder anew before each look; empty: others do
	VRF       string           `yaml:"vrf"`                 // whose routes count; empty: default
	Lossless  configfile.Names `yaml:"lossless_priorities"` // where no configuration says so; empty: 3
	Silent    time.Duration    `yaml:"silent"`              // a device is silent if all its files are older; 0: DefaultSilent
	Pins      string           `yaml:"pins"`                // pins.csv of weft route --pin, whose pins should be in force
	PauseRate int              `yaml:"pause_rate"`          // pauses a second of a priority from which on they are an alarm; 0: DefaultPauseRate

	lines configfile.Lines
}

// What zero settings mean.
const (
	DefaultEvery   = time.Minute
	DefaultSettle  = 2 * time.Second
	DefaultTimeout = time.Minute
	DefaultKeep    = 100
	DefaultOver    = time.Hour
)

// ReadConfig reads a configuration in YAML. Unknown keys and values of the wrong kind are
// errors, which name the line.
func ReadConfig(r io.Reader) (Config, error) {
	var c Config
	var err error
	if c.lines, err = configfile.Read(r, &c, nil); err != nil {
		return Config{}, err
	}
	return c, nil
}

// settings is a Config that was checked, with zero values filled in and texts read.
type settings struct {
	Config
	contract *routing.Contract // nil: by what is known of service levels
	scope    routing.Scope
	trees    uint16 // service levels of multicast groups, as bits
	commands []command
	lossless []uint8 // Lossless, as numbers
	limits   trouble.Limits

	counterCommands []command
}

// command is a program whose output is a file.
type command struct {
	file string
	args []string
}

// Check returns a configuration with what it leaves out filled in, or says what is wrong
// with it.
func (c Config) Check() (Config, error) {
	s, err := c.check()
	if err != nil {
		return c, err
	}
	return s.Config, nil
}

// check checks every setting; the error says where in the file the first wrong one is.
func (c Config) check() (*settings, error) {
	s := &settings{Config: c}
	s.Every, s.Settle = cmp.Or(c.Every, DefaultEvery), cmp.Or(c.Settle, DefaultSettle)
	if c.Ethernet != "" {
		c.Timeout = cmp.Or(c.Timeout, DefaultCollect)
	}
	s.Over = cmp.Or(c.Over, DefaultOver)
	s.Timeout, s.Keep = cmp.Or(c.Timeout, DefaultTimeout), cmp.Or(c.Keep, DefaultKeep)
	for _, setting := range []struct {
		key   string
		check func() error
	}{
		{"folder", s.checkSource},
		{"ethernet", s.checkEthernet},
		{"commands", s.checkCommands},
		{"timeout", func() error { return configfile.NotNegative("timeout", c.Timeout) }},
		{"every", func() error { return configfile.NotNegative("every", c.Every) }},
		{"settle", func() error { return configfile.NotNegative("settle", c.Settle) }},
		{"counters_over", func() error { return configfile.NotNegative("counters_over", c.Over) }},
		{"tick", func() error { return configfile.NotNegative("tick", c.Tick) }},
		{"counters", func() error {
			for _, path := range c.Counters {
				if err := configfile.Absolute("counters", path); err != nil {
					return err
				}
			}
			return nil
		}},
		{"counter_commands", s.checkCounterCommands},
		{"cable_limits", func() (err error) {
			s.limits, err = trouble.ParseLimits(c.Limits)
			return err
		}},
		{"contract", s.checkContract},
		{"endpoints", func() (err error) {
			s.Endpoints = cmp.Or(c.Endpoints, routing.HCA.String())
			s.scope, err = routing.ParseScope(s.Endpoints)
			return err
		}},
		{"multicast_sl", func() (err error) {
			s.Multicast = cmp.Or(c.Multicast, "0")
			s.trees, err = routing.ParseLevels(s.Multicast)
			return err
		}},
		{"state", func() error {
			if c.State == "" {
				return errors.New("state is not set: the folder in which looks are kept")
			}
			return nil
		}},
		{"keep", func() error {
			if c.Keep < 0 || c.Keep == 1 {
				return fmt.Errorf("keep %d; at least 2 looks are kept, to compare them", c.Keep)
			}
			return nil
		}},
		{"metrics", func() error { return loopback.Check("metrics", c.Metrics) }},
	} {
		if err := c.at(setting.key, setting.check()); err != nil {
			return nil, err
		}
	}
	for _, path := range []struct{ key, value string }{
		{"folder", c.Folder}, {"fabric", c.Fabric}, {"conf", c.Conf}, {"log", c.Log}, {"expect", c.Expect}, {"cabling", c.Cabling}, {"state", c.State},
	} {
		if path.value == "" {
			continue
		}
		if err := c.at(path.key, configfile.Absolute(path.key, path.value)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// readable is the error of a file or folder that this user may not read; nil: it can be read.
func readable(name string) error {
	const read = 4 // R_OK
	if err := syscall.Access(name, read); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Try says what is not there of what a checked configuration names: a folder or file to look at, a program. It is for
// weft watch --check-config; files in Folder that OpenSM is yet to write may be missing.
func (c Config) Try() error {
	for _, at := range []struct {
		key, path string
		folder    bool
	}{
		{key: "folder", path: c.Folder, folder: true}, {key: "fabric", path: c.Fabric}, {key: "conf", path: c.Conf}, {key: "log", path: c.Log},
		{key: "expect", path: c.Expect, folder: true}, {key: "cabling", path: c.Cabling}, {key: "ethernet", path: c.Ethernet, folder: true}, {key: "pins", path: c.Pins},
	} {
		if at.path == "" || at.path == "." {
			continue
		}
		info, err := os.Stat(at.path)
		switch {
		case err != nil:
		case at.folder != info.IsDir():
			err = fmt.Errorf("%s is %s", at.path, whole.KindOf(info.Mode()))
		default:
			err = readable(at.path)
		}
		if err != nil {
			return c.at(at.key, fmt.Errorf("%s: %w", at.key, err))
		}
	}
	if args := strings.Fields(c.Collect); len(args) > 0 {
		if _, err := exec.LookPath(args[0]); err != nil {
			return c.at("collect", fmt.Errorf("collect: %w", err))
		}
	}
	for _, path := range c.Counters {
		if err := readable(path); err != nil {
			return c.at("counters", fmt.Errorf("counters: %w", err))
		}
	}
	for _, program := range c.CountBy {
		if _, err := exec.LookPath(strings.Fields(program)[0]); err != nil {
			return c.at("counter_commands", fmt.Errorf("counter_commands: %w", err))
		}
	}
	for _, text := range c.Commands {
		_, program, _ := strings.Cut(text, "=")
		if _, err := exec.LookPath(strings.Fields(program)[0]); err != nil {
			return c.at("commands", fmt.Errorf("commands: %w", err))
		}
	}
	return nil
}

// checkSource checks that exactly one of Folder, Commands and Ethernet is set.
func (s *settings) checkSource() error {
	switch {
	case s.Ethernet != "" && (s.Folder != "" || len(s.Commands) > 0):
		return errors.New("ethernet is set, and folder or commands too; a look is at one of them")
	case s.Folder == "" && len(s.Commands) == 0 && s.Ethernet == "":
		return errors.New("neither folder nor commands is set, nor ethernet: what shall be looked at")
	case s.Folder != "" && len(s.Commands) > 0:
		return errors.New("folder and commands are both set; a look is at one of them")
	}
	return nil
}

// checkContract sets contract.
func (s *settings) checkContract() error {
	if s.Contract == "" {
		return nil
	}
	contract, err := routing.ParseContract(s.Contract)
	s.contract = &contract
	return err
}

// checkCounterCommands sets counterCommands.
func (s *settings) checkCounterCommands() error {
	for i, text := range s.CountBy {
		args := strings.Fields(text)
		if len(args) == 0 {
			return fmt.Errorf("counter_commands: %q: it is PROGRAM ARGUMENT…", text)
		}
		s.counterCommands = append(s.counterCommands, command{file: fmt.Sprintf("counters.%d", i), args: args})
	}
	return nil
}

// checkCommands sets commands.
func (s *settings) checkCommands() error {
	seen := map[string]bool{}
	for _, text := range s.Commands {
		file, program, ok := strings.Cut(text, "=")
		file = strings.TrimSpace(file)
		c := command{file: file, args: strings.Fields(program)}
		switch {
		case !ok || len(c.args) == 0:
			return fmt.Errorf("commands: %q: it is FILE = PROGRAM ARGUMENT…", text)
		case !isLookFile(file):
			return fmt.Errorf("commands: a look has no file %q; there are %s", file, strings.Join(lookFiles, ", "))
		case seen[file]:
			return fmt.Errorf("commands: %s is made twice", file)
		}
		seen[file] = true
		s.commands = append(s.commands, c)
	}
	return nil
}

// TryPlaces is an error if a watch that begins now could not have its state folder or its address. runs is the watch
// that has them already, to which the configuration goes by a reload; nil: none has.
func (c Config) TryPlaces(ctx context.Context) (runs *shell.Holder, err error) {
	if err := shell.TryFolder("state", c.State); err != nil {
		return nil, c.at("state", err)
	}
	runs = shell.FolderHeldBy(c.State)
	if by, err := shell.TryAddress(ctx, "metrics", c.Metrics); err != nil && (runs == nil || by != "weft watch") {
		return nil, c.at("metrics", err)
	}
	return runs, nil
}

// TryCables reads the plan of cabling and the counters as a run would, for weft watch --check-config, and says what
// of them cannot be read. Counters are read for the network of the folder; where there is none yet, for that of the
// plan; without either only that they are counters is checked.
func (w *Watcher) TryCables(ctx context.Context) error {
	s, err := w.Config.check()
	if err != nil {
		return err
	}
	var wrong []error
	f := w.network(s)
	if s.Cabling != "" {
		planned, err := w.ReadFabric(s.Cabling)
		if err != nil {
			wrong = append(wrong, w.Config.at("cabling", fmt.Errorf("cabling: %w", err)))
		} else if f == nil {
			f = planned
		}
	}
	known := f != nil
	if !known { // counters are of its ports: that they are of none of these says nothing then
		f = &fabric.Fabric{}
	}
	for _, name := range s.Counters {
		if err := tryCounters(ctx, name, f); err != nil && (known || errors.Is(err, counters.ErrNone)) {
			wrong = append(wrong, w.Config.at("counters", fmt.Errorf("counters: %w", err)))
		}
	}
	return errors.Join(wrong...)
}

// network is the network of the folder; nil: it is not there, or cannot be read, which looks will tell.
func (w *Watcher) network(s *settings) *fabric.Fabric {
	names := []string{s.Fabric} // first, where it is set
	for _, name := range Networks {
		names = append(names, filepath.Join(s.Folder, name), filepath.Join(s.Folder, name+".gz"))
	}
	for i, name := range names {
		if i == 0 && name == "" || i > 0 && s.Folder == "" {
			continue
		}
		if _, err := os.Stat(name); err != nil {
			continue
		}
		if f, err := w.ReadFabric(name); err == nil {
			return f
		}
	}
	return nil
}

// tryCounters is the error of reading a file of counters.
func tryCounters(ctx context.Context, name string, f *fabric.Fabric) error {
	in, err := reading.Open(ctx, name, nil)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = counters.Read(in, name, f)
	return err
}

// needsRestart says which change to new settings takes a restart; empty: none, they can be taken over while running.
func (s *settings) needsRestart(now *settings) string {
	for _, f := range [...]struct{ name, old, new string }{{"state", s.State, now.State}, {"metrics", s.Metrics, now.Metrics}, {"ethernet", s.Ethernet, now.Ethernet}} {
		if f.old != f.new {
			return fmt.Sprintf("%s changes from %q to %q, which needs a restart", f.name, f.old, f.new)
		}
	}
	return ""
}

// at adds to an error, if it is not nil, where in its file the setting key is: a *configfile.Wrong.
func (c *Config) at(key string, err error) error {
	if err == nil {
		return nil
	}
	return c.lines.At(key, err)
}
