package daemon

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/weft-fabric/weft/internal/spell"
)

// Config is the configuration file. Only the socket has no default.
type Config struct {
	Socket    string        `yaml:"socket"`    // path of the Unix socket; required
	Group     string        `yaml:"group"`     // group that may connect, by name or number; empty: the daemon's own
	Engine    Names         `yaml:"engine"`    // engines in the order in which they are tried; empty: DefaultEngines
	Contract  string        `yaml:"contract"`  // honored, directed, single:N or any; empty: any
	Endpoints string        `yaml:"endpoints"` // hca, ca or all; empty: hca
	VLs       int           `yaml:"vls"`       // data lanes at most; 0: as many as the fabric has
	SLs       int           `yaml:"sls"`       // service levels at most; 0: all
	Roots     Names         `yaml:"roots"`     // of updn, by name or GUID; empty: chosen
	Aim       string        `yaml:"aim"`       // of balance, weave and weave-any: mixed, bisection, shifts or alltoall; empty: mixed
	Weight    Names         `yaml:"weight"`    // of these: traffic of hosts, as storage-*=40; empty: all alike
	Budget    time.Duration `yaml:"budget"`    // time that auto may spend; 0: ten seconds, more on large fabrics
	Limit     time.Duration `yaml:"limit"`     // longest time that one fabric is worked on; 0: ten minutes
	Keep      string        `yaml:"keep"`      // tables in use when the fabric changes: least, balanced or never; empty: least
	// Entries that a change may have where nothing is broken, at least a row; 0: any number.
	MaxEntries int    `yaml:"max_entries_per_change"`
	Rebalance  string `yaml:"rebalance"` // hours of the day for keep balanced, as 02:00-05:00; empty: any
	Drops      string `yaml:"drops"`     // whether a step may cut pairs until the next, where there is no other: allowed or never; empty: never
	State      string `yaml:"state"`     // folder for the last good tables and refusals; empty: none
	Metrics    string `yaml:"metrics"`   // loopback address and port for Prometheus; empty: none

	lines map[string]int // [key] line in the file
}

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

// ReadConfig reads a configuration in YAML. Unknown keys, duplicate keys, values of the
// wrong kind and a second document are errors, which name the line.
func ReadConfig(r io.Reader) (Config, error) {
	var document yaml.Node
	d := yaml.NewDecoder(r)
	switch err := d.Decode(&document); {
	case errors.Is(err, io.EOF): // an empty file says nothing
		return Config{}, nil
	case err != nil:
		return Config{}, fmt.Errorf("daemon: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return Config{}, errors.New("daemon: the configuration is more than one YAML document")
	}
	settings := document.Content[0]
	if settings.Kind != yaml.MappingNode {
		return Config{}, fmt.Errorf("daemon: line %d: settings are lines such as engine: auto", settings.Line)
	}
	c := Config{lines: map[string]int{}}
	var wrong []string
	for i := 0; i < len(settings.Content); i += 2 {
		key := settings.Content[i]
		if err := c.set(key, settings.Content[i+1]); err != nil {
			wrong = append(wrong, fmt.Sprintf("line %d: %v", key.Line, err))
		}
	}
	if wrong != nil {
		return Config{}, fmt.Errorf("daemon: %s", strings.Join(wrong, "; "))
	}
	return c, nil
}

// set stores a line of the file.
func (c *Config) set(key, value *yaml.Node) error {
	keys, fields := c.fields()
	if key.Value == "time-budget" { // the name of the flag
		key.Value = "budget"
	}
	i := slices.Index(keys, key.Value)
	switch {
	case i < 0:
		return fmt.Errorf("field %s not found%s (there are %s)", key.Value, spell.Hint(key.Value, keys), strings.Join(keys, ", "))
	case c.lines[key.Value] > 0:
		return fmt.Errorf("%s stands in line %d already", key.Value, c.lines[key.Value])
	}
	c.lines[key.Value] = key.Line
	switch to := fields[i].Addr().Interface().(type) {
	case *time.Duration:
		d, err := time.ParseDuration(value.Value)
		if err != nil {
			return fmt.Errorf("%s: %q is no time; it is a number with a unit, such as 90s or 10m", key.Value, value.Value)
		}
		*to = d
	case *int:
		if value.Decode(to) != nil {
			return fmt.Errorf("%s: %q is no whole number", key.Value, value.Value)
		}
	case *Names:
		if value.Decode(to) != nil {
			return fmt.Errorf("%s is one name, several with commas between, or a list of names", key.Value)
		}
	default:
		if value.Decode(to) != nil {
			return fmt.Errorf("%s is one word", key.Value)
		}
	}
	return nil
}

// fields is the settings and their names.
func (c *Config) fields() (keys []string, fields []reflect.Value) {
	v := reflect.ValueOf(c).Elem()
	for i := range v.NumField() {
		if key := v.Type().Field(i).Tag.Get("yaml"); key != "" {
			keys, fields = append(keys, key), append(fields, v.Field(i))
		}
	}
	return keys, fields
}

// Keys is the names of the settings.
func (c *Config) Keys() []string {
	keys, _ := c.fields()
	return keys
}

// Take copies a setting from another configuration.
func (c *Config) Take(key string, from *Config) {
	keys, mine := c.fields()
	_, others := from.fields()
	i := slices.Index(keys, key)
	mine[i].Set(others[i])
	delete(c.lines, key)
}

// WrongSetting is the error for an invalid setting.
type WrongSetting struct {
	Key  string // as in Config.Keys
	Line int    // in its file; 0: it is from no file
	Why  string
}

func (w *WrongSetting) Error() string {
	text := w.Why
	if !strings.HasPrefix(text, w.Key) {
		text = w.Key + ": " + text
	}
	if w.Line > 0 {
		text = fmt.Sprintf("line %d: %s", w.Line, text)
	}
	return "daemon: " + text
}

// at adds to an error where in its file the setting is.
func (c *Config) at(key string, err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, from := range []string{"daemon: ", "routing: ", "engines: ", "balance: ", "traffic: "} {
		text = strings.TrimPrefix(text, from)
	}
	return &WrongSetting{key, c.lines[key], text}
}
