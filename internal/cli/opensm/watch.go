package opensm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/changes"
	"github.com/weft-fabric/weft/internal/cli/ethernet"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/cli/internal/service"
	"github.com/weft-fabric/weft/internal/cli/internal/version"
	"github.com/weft-fabric/weft/internal/configfile"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/watch"
	"github.com/weft-fabric/weft/result"
)

type watchFlags struct {
	config      string
	once, check bool
	log         string
	json        bool
}

// Watch makes the command weft watch.
func Watch(a *console.Console) *cobra.Command {
	var o watchFlags
	c := &cobra.Command{
		Use:   "watch --config FILE",
		Short: "Keep an eye on what a fabric runs: judge its tables whenever they change",
		Long: `Look at the dumps of OpenSM, an output folder of ibdiagnet, or what commands print,
whenever they change: judge the tables, compare them with the look before, and raise
an alarm for credit loops, pairs that are cut off, tables of another engine than was
asked for (OpenSM falls back to MinHop with one line in its log), tables that are not
of the network as it is, missing SL2VL maps, degraded and exchanged cables.

Of lossless Ethernet it is a folder with what the devices say: every choice of ECMP is
judged, and there are alarms for next hops that are gone, groups narrower than others,
lossless priorities that differ along a cable, pins that fell back, devices not heard
from, and ports that are paused, with the way by which the pauses come.

Settings are strict YAML: /etc/weft/watch.yaml explains them, and docs/watch.md. SIGHUP reads
them again; wrong ones change nothing. Alarms and looks are
logged on standard error; metrics serve Prometheus (/metrics), /healthz and /readyz
monitors, /look programs. The last looks are kept with the files that they saw:
weft watch log lists them, weft watch diff compares two.`,
		Example: `  weft watch --config /etc/weft/watch.yaml
  weft watch --config /etc/weft/watch.yaml --once
  weft watch log --config /etc/weft/watch.yaml
  weft watch diff --config /etc/weft/watch.yaml 41 42`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runWatch(cmd.Context(), a, &o) },
	}
	c.PersistentFlags().StringVar(&o.config, "config", "", "configuration file")
	f := c.Flags()
	f.BoolVar(&o.once, "once", false, "look once, print what was seen, and exit with 1 if there is an alarm")
	f.BoolVar(&o.check, "check-config", false, "say whether the configuration is right, and look at nothing")
	flags.OneOf(f, &o.log, "log", "form of the log on standard error: text or json", "text", "json")
	flags.AddJSON(f, &o.json)
	c.AddCommand(watchLogCommand(a, &o.config), watchDiffCommand(a, &o.config))
	return c
}

// watchConfig reads and checks the settings of weft watch.
func watchConfig(a *console.Console, path string) (watch.Config, error) {
	if path == "" {
		return watch.Config{}, exit.Usage("--config is not given: the file that says what to look at")
	}
	in, err := reading.Open(a.Context, path, nil)
	if err != nil {
		return watch.Config{}, err
	}
	defer in.Close()
	c, err := watch.ReadConfig(in)
	if err == nil {
		c, err = c.Check()
	}
	if err != nil {
		return c, configfile.In(path, err)
	}
	return c, nil
}

// fabricReader makes a function that reads networks and prints nothing.
func fabricReader(ctx context.Context) func(string) (*fabric.Fabric, error) {
	return func(file string) (*fabric.Fabric, error) {
		return input.Fabric(&console.Console{Context: ctx, Stdout: io.Discard, Stderr: io.Discard, Quiet: true}, file)
	}
}

// runWatch runs weft watch until it is told to end, or once (--once), or checks its settings only.
func runWatch(ctx context.Context, a *console.Console, o *watchFlags) error {
	config, err := watchConfig(a, o.config)
	if err != nil {
		return err
	}
	switch {
	case o.check:
		if err := config.Try(); err != nil {
			return configfile.In(o.config, err)
		}
		w := &watch.Watcher{Config: config, ReadFabric: fabricReader(ctx)}
		if err := w.TryCables(ctx); err != nil {
			return configfile.In(o.config, err)
		}
		runs, err := config.TryPlaces(ctx)
		if err != nil {
			return configfile.In(o.config, err)
		}
		p := watchSettings(o.config, &config)
		if runs != nil {
			p.Fact("runs", "%s has this state folder: it takes these settings over by a reload (SIGHUP), and another cannot begin beside it", runs)
		}
		return a.Show(p)
	case o.json && !o.once:
		return exit.Usage("--json is for --once; the log is JSON with --log json, and weft watch log has --json")
	}
	log := service.Log(a, o.log)
	if o.once {
		log = slog.New(slog.DiscardHandler) // what it says is printed
	}
	w := &watch.Watcher{
		Config: config, Log: log, Version: version.Text(version.Current()),
		Read: func(network, tables string, multicast uint16) (*watch.Snapshot, error) {
			return readLook(ctx, network, tables, multicast)
		},
		ReadEthernet: func(folder string, s watch.EthernetSettings) (*watch.EthernetSnapshot, error) {
			return ethernet.ReadLook(ctx, folder, s)
		},
		EthernetPage: ethernet.Page,
		ReadFabric:   fabricReader(ctx),
		Ready:        func() { service.Tell(log, "READY=1") },
		Load:         func() (watch.Config, error) { return watchConfig(a, o.config) },
	}
	if !o.once {
		hup := make(chan os.Signal, 1)
		signal.Notify(hup, syscall.SIGHUP)
		defer signal.Stop(hup)
		err = w.Run(ctx, hup)
		service.Tell(log, "STOPPING=1")
		return err
	}
	l, err := w.Once(ctx)
	if err != nil {
		return err
	}
	return a.Answer(o.json, l, func() error {
		if l.Ethernet != nil {
			return a.Show(ethernet.LookPage(a, l))
		}
		return a.Show(lookScreen(a, l))
	}, len(l.Alarms) > 0)
}

// readLook reads what a look of an InfiniBand network gathered, for package watch: network and tables
// are folders, multicast the service levels of groups as bits.
func readLook(ctx context.Context, network, tables string, multicast uint16) (*watch.Snapshot, error) {
	quiet := &console.Console{Context: ctx, Stdout: io.Discard, Stderr: io.Discard, Quiet: true}
	name, err := networkOf(network)
	if err != nil {
		return nil, err
	}
	f, err := input.Fabric(quiet, name)
	if err != nil {
		return nil, err
	}
	from := flags.Tables{LFTs: tables, MulticastSLs: multicast}
	given, err := input.TablesOf(quiet, name, f, &from)
	if err != nil {
		return nil, err
	}
	s := &watch.Snapshot{Tables: given.Tables, SLs: from.PSL != "", Maps: from.SL2VL != ""}
	if m := given.Mismatches; m != nil {
		s.Stale, s.NoMap = outputs.StaleTexts(m), outputs.LackingText(m)
	}
	if r := given.Renumbered; r != nil && r.Stated {
		s.Stale = append(s.Stale, outputs.RenumberedText(r))
	}
	for _, d := range given.Doubts {
		if d.Kind == input.OtherRun {
			s.Stale = append(s.Stale, d.What)
			continue
		}
		s.Doubts = append(s.Doubts, d.What)
	}
	return s, nil
}

// networkOf is the file of a look that has the network.
func networkOf(folder string) (string, error) {
	if name := flags.FileIn(folder, watch.Networks...); name != "" {
		return name, nil
	}
	return "", fmt.Errorf("%s: no network in it (%s, plain or packed)", folder, strings.Join(watch.Networks, ", "))
}

func watchLogCommand(a *console.Console, config *string) *cobra.Command {
	var state string
	var most int
	var asJSON bool
	c := &cobra.Command{
		Use:   "log --config FILE",
		Short: "List the looks that are kept",
		Long: `List the looks that weft watch keeps, the last one at the end: when they were, what
they found and what had changed. A look that saw nothing new is not kept.`,
		Example: `  weft watch log --config /etc/weft/watch.yaml -n 20`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := watchStore(a, *config, state)
			if err != nil {
				return err
			}
			return watchLog(a, s, most, asJSON)
		},
	}
	c.Flags().StringVar(&state, "state", "", "state folder, in place of --config")
	c.Flags().IntVarP(&most, "number", "n", 0, "looks at most, the last ones (default: all)")
	flags.AddJSON(c.Flags(), &asJSON)
	return c
}

// watchStore opens the looks of a configuration, or in a state folder.
func watchStore(a *console.Console, config, state string) (*watch.Store, error) {
	switch {
	case state == "" && config == "":
		return nil, exit.Usage("where are the looks? --config names the configuration of weft watch, --state its state folder")
	case state != "" && config != "":
		return nil, exit.Usage("--config and --state are both given")
	case state == "":
		c, err := watchConfig(a, config)
		if err != nil {
			return nil, err
		}
		state = c.State
	}
	return watch.OpenStore(state)
}

func watchDiffCommand(a *console.Console, config *string) *cobra.Command {
	var state string
	var o changes.DiffFlags
	c := &cobra.Command{
		Use:   "diff --config FILE A [B]",
		Short: "Compare two looks that are kept, and judge the way from one to the other",
		Long: `Compare two looks by their numbers, as weft diff compares two fabrics with their
tables: what is gone and new, what was written, whether packets could deadlock
meanwhile, and the bandwidth before and after. Without B, it is the last look; 0 is
the last look too, -1 the one before it.`,
		Example: `  weft watch diff --config /etc/weft/watch.yaml 41 42
  weft watch diff --config /etc/weft/watch.yaml -- -1`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := watchStore(a, *config, state)
			if err != nil {
				return err
			}
			return watchDiff(cmd.Context(), a, s, args, &o)
		},
	}
	f := c.Flags()
	f.StringVar(&state, "state", "", "state folder, in place of --config")
	flags.AddContract(f, &o.Contract, flags.ContractOfTables)
	flags.AddScope(f, &o.Scope)
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the pairs whose bandwidth is measured")
	flags.AddPrecision(f, &o.Precision)
	flags.AddJSON(f, &o.JSON)
	o.LMC = flags.NoLMC
	return c
}

// watchDiff compares two looks by their numbers, or one with the last.
func watchDiff(ctx context.Context, a *console.Console, s *watch.Store, args []string, o *changes.DiffFlags) error {
	if len(args) == 1 {
		args = append(args, "0")
	}
	dir, err := os.MkdirTemp("", "weft-watch")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if done, err := watchDiffEthernet(ctx, a, s, args, dir, o.JSON); done || err != nil {
		return err
	}
	var sides [2]changes.DiffSide
	for i, arg := range args {
		if sides[i], err = lookSide(s, arg, filepath.Join(dir, strconv.Itoa(i))); err != nil {
			return err
		}
	}
	return changes.DiffOf(ctx, a, o, sides[0], sides[1])
}

// watchDiffEthernet compares two looks if they are of lossless Ethernet; not done if neither is.
func watchDiffEthernet(ctx context.Context, a *console.Console, s *watch.Store, args []string, dir string, asJSON bool) (done bool, err error) {
	var names, folders [2]string
	var settings watch.EthernetSettings
	count := 0
	for i, arg := range args {
		l, err := lookOf(s, arg)
		if err != nil || l.Ethernet == nil {
			continue // it is one of a fabric, or watchDiff tells what is wrong
		}
		count++
		settings.VRF, settings.Lossless = l.Ethernet.VRF, list.Of(l.Ethernet.Lossless, func(p int) uint8 { return uint8(p) })
		names[i], folders[i] = fmt.Sprintf("look %d", l.Number), filepath.Join(dir, "ethernet", strconv.Itoa(i))
		if err := errors.Join(os.MkdirAll(folders[i], 0o700), s.Files(l, folders[i])); err != nil {
			return false, err
		}
	}
	switch count {
	case 0:
		return false, nil
	case 1:
		return false, exit.Usage("one of the looks is of lossless Ethernet, and the other is not")
	}
	return true, ethernet.DiffLooks(ctx, a, names, folders, settings, asJSON)
}

// lookOf is the look of a number on the command line.
func lookOf(s *watch.Store, arg string) (*result.WatchLook, error) {
	number, err := strconv.Atoi(arg)
	if err != nil {
		return nil, exit.Usage("%q is no number of a look", arg)
	}
	l, err := s.Look(number)
	if err != nil {
		return nil, exit.Usage("%w", err)
	}
	return l, nil
}

// lookSide is a look by its number as a side of a comparison, with its files in a new folder.
func lookSide(s *watch.Store, arg, dir string) (changes.DiffSide, error) {
	l, err := lookOf(s, arg)
	if err != nil {
		return changes.DiffSide{}, err
	}
	if err := errors.Join(os.Mkdir(dir, 0o700), s.Files(l, dir)); err != nil {
		return changes.DiffSide{}, err
	}
	name := fmt.Sprintf("look %d", l.Number)
	side := changes.DiffSide{Name: name, Source: dir, Shown: "of " + name}
	if side.File, err = networkOf(dir); err != nil {
		return side, fmt.Errorf("%s: %w", name, err)
	}
	return side, nil
}
