package daemon

import (
	"io"
	"time"

	"github.com/weft-fabric/weft/internal/configfile"
)

// Config is the configuration file. Only the socket has no default.
type Config struct {
	Socket    string `yaml:"socket"`    // path of the Unix socket; required
	Group     string `yaml:"group"`     // group that may connect, by name or number; empty: the daemon's own
	Engine    Names  `yaml:"engine"`    // engines in the order in which they are tried; empty: DefaultEngines
	Contract  string `yaml:"contract"`  // honored, directed, single:N or any; empty: any
	Endpoints string `yaml:"endpoints"` // hca, ca or all; empty: hca
	// Service levels that multicast groups may use, as any or 0,2, or none for trees of OpenSM's
	// own; empty: any where there is a tree for all of them, else 0.
	MulticastSL string        `yaml:"multicast_sl"`
	VLs         int           `yaml:"vls"`        // data lanes at most; 0: as many as the fabric has
	SLs         int           `yaml:"sls"`        // service levels at most; 0: all
	Classes     int           `yaml:"classes"`    // of traffic, each with a copy of the lanes; 0: one
	Roots       Names         `yaml:"roots"`      // of updn, by name or GUID; empty: chosen
	Aim         string        `yaml:"aim"`        // of balance, weave and weave-any: mixed, bisection, shifts or alltoall; empty: mixed
	RankOrder   Names         `yaml:"rank_order"` // of these, for mixed and shifts: switch, name, rail or hosts as node[001-128]; empty: switch and name
	Weight      Names         `yaml:"weight"`     // of these: traffic of hosts, as storage-*=40; empty: all alike
	Budget      time.Duration `yaml:"budget"`     // time that auto may spend; 0: ten seconds, more on large fabrics
	Limit       time.Duration `yaml:"limit"`      // longest time that one fabric is worked on; 0: ten minutes
	Keep        string        `yaml:"keep"`       // tables in use when the fabric changes: least, balanced or never; empty: least
	// Entries that a change may have where nothing is broken, at least a row; 0: any number.
	MaxEntries int    `yaml:"max_entries_per_change"`
	Rebalance  string `yaml:"rebalance"` // hours of the day for keep balanced, as 02:00-05:00; empty: any
	Drops      string `yaml:"drops"`     // whether a step may cut pairs until the next, where there is no other: allowed or never; empty: never
	State      string `yaml:"state"`     // folder for the last good tables and refusals; empty: none
	// weft-proof, asked behind the answers about what was handed over; empty: not asked.
	ProofChecker string `yaml:"proof_checker"`
	Metrics      string `yaml:"metrics"` // loopback address and port for Prometheus; empty: none
	// Loopback address and port of weft watch, whose cables in trouble are shown too; empty: it is not asked.
	Watch string `yaml:"watch"`

	lines configfile.Lines
}

// Names is one name, several with commas between, or a list.
type Names = configfile.Names

// otherWords is the keys that are also known by the names of flags.
var otherWords = map[string]string{"time-budget": "budget"}

// ReadConfig reads a configuration in YAML. Unknown keys, duplicate keys, values of the
// wrong kind and a second document are errors, which name the line.
func ReadConfig(r io.Reader) (Config, error) {
	var c Config
	var err error
	if c.lines, err = configfile.Read(r, &c, otherWords); err != nil {
		return Config{}, err
	}
	return c, nil
}

// Keys is the names of the settings.
func (c *Config) Keys() []string { return configfile.Keys(c) }

// Take copies a setting from another configuration.
func (c *Config) Take(key string, from *Config) {
	configfile.Take(key, c, from)
	delete(c.lines, key)
}

// at adds to an error where in its file the setting is: a *configfile.Wrong.
func (c *Config) at(key string, err error) error {
	if err == nil {
		return nil
	}
	return c.lines.At(key, err)
}
