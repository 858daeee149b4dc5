package folder

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/frr"
	"github.com/weft-fabric/weft/ethernet/lldp"
	"github.com/weft-fabric/weft/ethernet/sonic"
	"github.com/weft-fabric/weft/format"
)

// device is what the folder says of one device.
type device struct {
	name       string
	routes     []frr.Route
	hasRoutes  bool
	interfaces map[string]*frr.Interface // nil: no dump of them
	neighbors  []lldp.Neighbor
	config     *sonic.Config
	as         uint32
}

// fileName is what a file of a device is called: in a folder of the device's name, or with
// the name and a point before it.
var fileName = regexp.MustCompile(`^(?:(.+)\.)?(route|route4|ip-route|route6|ipv6-route|interface|interfaces|lldp|config_db|frr)\.(?:json|conf)(?:\.gz)?$`)

// settingsName is what the file with settings for the whole folder is called.
var settingsName = regexp.MustCompile(`^(qos|weft)\.ya?ml$`)

// settings is for networks without SONiC's maps.
type settings struct {
	Lossless []uint8 `yaml:"lossless"`
}

// contents is all that was read of a folder.
type contents struct {
	devices  map[string]*device
	settings *settings
	vrfs     map[string]bool // that routes are in
	passed   []string        // files that say nothing to weft
}

// IsFolder says whether a name is a folder.
func IsFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func readFiles(dir, vrf string) (*contents, error) {
	c := &contents{devices: map[string]*device{}, vrfs: map[string]bool{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if IsFolder(path) {
			if err := c.readDevice(path, e.Name(), vrf); err != nil {
				return nil, err
			}
			continue
		}
		if settingsName.MatchString(e.Name()) {
			if err := c.readSettings(path); err != nil {
				return nil, err
			}
			continue
		}
		m := fileName.FindStringSubmatch(e.Name())
		if m == nil || m[1] == "" {
			c.pass(e.Name())
			continue
		}
		if err := c.read(path, m[1], m[2], vrf); err != nil {
			return nil, err
		}
	}
	if len(c.devices) == 0 {
		return nil, fmt.Errorf("ethernet: %s has no file such as leaf1.route.json (show ip route json) or leaf1.config_db.json, and no folder of a device with route.json", format.Printable(dir))
	}
	return c, nil
}

// pass notes a file that is not read, if it looks as if it should be.
func (c *contents) pass(name string) {
	switch filepath.Ext(name) {
	case ".json", ".gz", ".yaml", ".yml":
		c.passed = append(c.passed, name)
	}
}

// readDevice reads the folder of one device.
func (c *contents) readDevice(dir, name, vrf string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		m := fileName.FindStringSubmatch(e.Name())
		if m == nil || m[1] != "" && m[1] != name {
			c.pass(filepath.Join(name, e.Name()))
			continue
		}
		if err := c.read(filepath.Join(dir, e.Name()), name, m[2], vrf); err != nil {
			return err
		}
	}
	return nil
}

// read reads one file of a device.
func (c *contents) read(path, name, kind, vrf string) error {
	r, err := format.Open(path, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	d := c.devices[name]
	if d == nil {
		d = &device{name: name}
		c.devices[name] = d
	}
	switch kind {
	case "interface", "interfaces":
		return d.readInterfaces(r, path)
	case "lldp":
		d.neighbors, err = lldp.Read(r, path)
	case "config_db":
		d.config, err = sonic.Read(r, path)
	case "frr":
		d.as, err = frr.ReadAS(r, path)
	default:
		d.hasRoutes = true
		var routes []frr.Route
		routes, err = frr.ReadRoutes(r, path, vrf, c.vrfs)
		d.routes = append(d.routes, routes...)
	}
	return err
}

func (d *device) readInterfaces(r io.Reader, path string) error {
	list, err := frr.ReadInterfaces(r, path)
	if err != nil {
		return err
	}
	d.interfaces = map[string]*frr.Interface{}
	for i := range list {
		d.interfaces[list[i].Name] = &list[i]
	}
	return nil
}

func (c *contents) readSettings(path string) error {
	r, err := format.Open(path, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	s := &settings{}
	d := yaml.NewDecoder(r)
	d.KnownFields(true)
	if err := d.Decode(s); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %s; it says for example lossless: [3, 4]", format.Printable(path), strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := CheckLossless(s.Lossless); err != nil {
		return fmt.Errorf("%s: %w", format.Printable(path), err)
	}
	c.settings = s
	return nil
}

// CheckLossless says what is wrong with a list of lossless priorities.
func CheckLossless(list []uint8) error {
	if len(list) == 0 {
		return errors.New("ethernet: no lossless priority; it says for example lossless: [3, 4]")
	}
	for i, p := range list {
		if p >= ethernet.MaxPriorities {
			return fmt.Errorf("ethernet: lossless priority %d; priorities are 0 to %d", p, ethernet.MaxPriorities-1)
		}
		if slices.Contains(list[:i], p) {
			return fmt.Errorf("ethernet: lossless priority %d twice", p)
		}
	}
	return nil
}

// port is the interface that routes name for a port: its port channel, or the port itself,
// by its name where only its alias was given.
func (d *device) port(name string) string {
	if d.config == nil {
		return name
	}
	if port := d.config.Alias[name]; port != "" {
		name = port
	}
	if channel := d.config.Channel[name]; channel != "" {
		return channel
	}
	return name
}

// loopback says whether an interface leads nowhere.
func (d *device) loopback(name string) bool {
	if in := d.interfaces[name]; in != nil && in.Loopback {
		return true
	}
	return name == "lo" || strings.HasPrefix(name, "Loopback") || strings.HasPrefix(name, "dummy")
}
