package daemon

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// Config is what an administrator sets. The zero Config lacks a socket only.
type Config struct {
	Socket    string        `yaml:"socket"`    // path of the Unix socket; required
	Group     string        `yaml:"group"`     // group that may connect, by name or number; empty: the daemon's own
	Engine    Names         `yaml:"engine"`    // engines in the order in which they are tried; empty: DefaultEngines
	Contract  string        `yaml:"contract"`  // honored, directed, single:N or any; empty: any
	Endpoints string        `yaml:"endpoints"` // hca, ca or all; empty: hca
	VLs       int           `yaml:"vls"`       // data lanes at most; 0: as many as the fabric has
	Limit     time.Duration `yaml:"limit"`     // longest time that one fabric is worked on; 0: ten minutes
	State     string        `yaml:"state"`     // folder for the last good tables and refusals; empty: none
	Metrics   string        `yaml:"metrics"`   // loopback address and port for Prometheus; empty: none
}

// DefaultEngines is tried where no engine is named: the best that is proven.
var DefaultEngines = Names{auto}

// defaultLimit is Config.Limit where it is zero.
const defaultLimit = 10 * time.Minute

// Names is one name, several with commas between, or a list.
type Names []string

// UnmarshalYAML takes a text or a list.
func (n *Names) UnmarshalYAML(node *yaml.Node) error {
	var list []string
	if node.Kind == yaml.SequenceNode {
		if err := node.Decode(&list); err != nil {
			return err
		}
	} else {
		var text string
		if err := node.Decode(&text); err != nil {
			return err
		}
		list = strings.Split(text, ",")
	}
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	*n = list
	return nil
}

func (n Names) String() string { return strings.Join(n, ",") }

// ReadConfig reads a configuration in YAML. A key that does not exist, one that
// stands twice and a second document are errors.
func ReadConfig(r io.Reader) (Config, error) {
	var c Config
	d := yaml.NewDecoder(r)
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil && !errors.Is(err, io.EOF) { // an empty file says nothing
		if wrong := (*yaml.TypeError)(nil); errors.As(err, &wrong) { // in one line
			return Config{}, fmt.Errorf("daemon: %s", strings.ReplaceAll(strings.Join(wrong.Errors, "; "), " in type daemon.Config", ""))
		}
		return Config{}, fmt.Errorf("daemon: %w", err)
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return Config{}, errors.New("daemon: the configuration is more than one YAML document")
	}
	return c, nil
}

// settings is a Config that was checked.
type settings struct {
	Config
	routers  []router // of Engine
	contract routing.Contract
	scope    routing.Scope
	limit    time.Duration
	first    time.Duration // firstAnswer, but in tests
}

// key tells settings apart that lead to different tables.
func (s *settings) key() string {
	return fmt.Sprintf("%s %s %s %d", s.Engine, s.contract, s.scope, s.VLs)
}

// check settles what the configuration means.
func (c Config) check() (*settings, error) {
	s := &settings{Config: c, contract: routing.Any, limit: c.Limit, first: firstAnswer}
	if !filepath.IsAbs(c.Socket) {
		return nil, fmt.Errorf("daemon: socket %q is no absolute path", c.Socket)
	}
	var err error
	if c.Contract != "" {
		if s.contract, err = routing.ParseContract(c.Contract); err != nil {
			return nil, err
		}
	}
	if c.Endpoints != "" {
		if s.scope, err = routing.ParseScope(c.Endpoints); err != nil {
			return nil, err
		}
	}
	if c.VLs < 0 || c.VLs > routing.MaxDataVLs {
		return nil, fmt.Errorf("daemon: vls %d; there are 1 to %d data lanes, and 0 is as many as the fabric has", c.VLs, routing.MaxDataVLs)
	}
	if c.Limit < 0 {
		return nil, fmt.Errorf("daemon: limit %v is negative", c.Limit)
	}
	if c.Limit == 0 {
		s.limit = defaultLimit
	}
	if c.State != "" && !filepath.IsAbs(c.State) {
		return nil, fmt.Errorf("daemon: state folder %q is no absolute path", c.State)
	}
	if err := loopback(c.Metrics); err != nil {
		return nil, err
	}
	if len(s.Engine) == 0 {
		s.Engine = DefaultEngines
	}
	s.routers, err = named(s.Engine)
	return s, err
}

// auto is the name of what picks the engine.
const auto = "auto"

// named is what makes tables, by the names of a list: engines, or what picks one.
func named(names Names) ([]router, error) {
	var all []router
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("daemon: engine %s is named twice", name)
		}
		if name == auto {
			all = append(all, best{})
			continue
		}
		e, err := engines.Named(name)
		if err != nil {
			return nil, err
		}
		if e.Adaptive != nil {
			return nil, fmt.Errorf("daemon: %s makes adaptive tables, which OpenSM cannot set", name)
		}
		all = append(all, single{e})
	}
	return all, nil
}

// loopback refuses an address that others than this host can reach.
func loopback(address string) error {
	if address == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("daemon: metrics %q: %w", address, err)
	}
	if !isLoopback(host) {
		return fmt.Errorf("daemon: metrics %q is no loopback address: what runs the fabric does not answer the network; use 127.0.0.1 or [::1]", address)
	}
	return nil
}

// isLoopback says whether a host without a port names this host only.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

// fixed says what of a new configuration would need a restart, or nothing.
func (s *settings) fixed(now *settings) string {
	for _, f := range [...]struct{ name, old, new string }{
		{"socket", s.Socket, now.Socket}, {"group", s.Group, now.Group}, {"state", s.State, now.State}, {"metrics", s.Metrics, now.Metrics},
	} {
		if f.old != f.new {
			return fmt.Sprintf("%s changes from %q to %q, which needs a restart", f.name, f.old, f.new)
		}
	}
	return ""
}
