package folder

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/ethernet/frr"
	"github.com/weft-fabric/weft/internal/ethernet/lined"
	"github.com/weft-fabric/weft/internal/ethernet/lldp"
	"github.com/weft-fabric/weft/internal/ethernet/sonic"
	"github.com/weft-fabric/weft/internal/reading"
)

// device holds what the folder has of one device; which files there are decides how far it can be judged.
type device struct {
	name       string
	routes     []frr.Route
	hasRoutes  bool
	interfaces map[string]*frr.Interface // nil: no dump of them
	neighbors  []lldp.Neighbor
	config     *sonic.Config
	drawn      *sonic.Config     // of minigraph.xml, which readFiles makes part of config in the end
	as         uint32            // of FRR's configuration; 0: not known
	files      map[string]string // the file of each kind
}

// fileName is what a file of a device is called: in a folder of the device's name, or with
// the name and a point before it.
var fileName = regexp.MustCompile(`^(?:(.+)\.)?(route|route4|ip-route|route6|ipv6-route|interface|interfaces|lldp|config_db|frr|minigraph|neigh)\.(?:json|conf|txt|xml)` + reading.EndingsPattern)

// kinds is what the words in file names stand for.
var kinds = map[string]string{
	"route": "IPv4 routes", "route4": "IPv4 routes", "ip-route": "IPv4 routes", "route6": "IPv6 routes", "ipv6-route": "IPv6 routes",
	"interface": "interfaces", "interfaces": "interfaces", "lldp": "neighbors", "config_db": "configuration", "frr": "FRR's configuration",
	"minigraph": "minigraph", "neigh": "addresses of neighbors",
}

// settingsName is what the file with settings for the whole folder is called.
var settingsName = regexp.MustCompile(`^(qos|weft)\.ya?ml$`)

// settings is what qos.yaml says, for networks without SONiC's maps.
type settings struct {
	Lossless []yaml.Node `yaml:"lossless"`

	file string
	list []uint8 // Lossless, checked
}

// contents is what the files of a folder say, file by file, before anything is put together.
type contents struct {
	devices  map[string]*device // by name
	settings *settings          // nil: none
	vrfs     map[string]bool    // that routes are in
	passed   []string           // files that were not read, though they look as if they should be
	partial  bool               // errors in files are noted in broken, and their devices are as without them
	broken   []error
}

// IsFolder reports whether a name is a folder.
func IsFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// readFiles reads all files of a folder and of the folders of devices in it, of routes those of one VRF.
func readFiles(ctx context.Context, dir, vrf string, partial bool) (*contents, error) {
	c := &contents{devices: map[string]*device{}, vrfs: map[string]bool{}, partial: partial}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if IsFolder(path) {
			if strings.HasPrefix(e.Name(), ".") {
				continue // what weft collect or an editor has not finished
			}
			if err := c.readDevice(ctx, path, e.Name(), vrf); err != nil {
				return nil, err
			}
			continue
		}
		if settingsName.MatchString(e.Name()) {
			if err := c.readSettings(ctx, path); err != nil {
				return nil, err
			}
			continue
		}
		m := fileName.FindStringSubmatch(e.Name())
		if m == nil || m[1] == "" {
			c.pass(e.Name())
			continue
		}
		if err := c.readFile(ctx, path, m[1], m[2], vrf); err != nil {
			return nil, err
		}
	}
	if len(c.devices) == 0 {
		return nil, &noDevices{dir}
	}
	for _, d := range c.devices {
		switch {
		case d.drawn == nil:
		case d.config == nil:
			d.config = d.drawn
		default:
			d.config.Complete(d.drawn)
		}
	}
	return c, nil
}

// collected is the record that weft collect leaves beside what it gathered.
const collected = "collect.json"

// countersName is what files with counters of pauses are called, which weft watch reads.
var countersName = regexp.MustCompile(`(?:^|[./])(?:pfc|pfcwd)\.txt` + reading.EndingsPattern)

// pass notes a file that is not read, unless that is as it should be: other commands' files, and other endings.
func (c *contents) pass(name string) {
	if filepath.Base(name) == collected || countersName.MatchString(name) {
		return
	}
	switch filepath.Ext(name) {
	case ".json", ".gz", ".zst", ".xz", ".bz2", ".yaml", ".yml", ".xml", ".txt":
		c.passed = append(c.passed, name)
	}
}

// readDevice reads the folder of one device.
func (c *contents) readDevice(ctx context.Context, dir, name, vrf string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	found := false // a file that belongs to a device
	for _, e := range entries {
		m := fileName.FindStringSubmatch(e.Name())
		if m == nil || m[1] != "" && m[1] != name {
			found = found || countersName.MatchString(e.Name())
			c.pass(filepath.Join(name, e.Name()))
			continue
		}
		found = true
		if err := c.readFile(ctx, filepath.Join(dir, e.Name()), name, m[2], vrf); err != nil {
			return err
		}
	}
	if !found {
		c.passed = append(c.passed, name+string(filepath.Separator)+" (the folder has no file of a device)")
	}
	return nil
}

// readFile reads one file of the device name, which it makes if it is the first; kind is the word in the file's name.
func (c *contents) readFile(ctx context.Context, path, name, kind, vrf string) error {
	r, err := reading.OpenFound(ctx, path)
	if err != nil {
		return err
	}
	defer r.Close()
	d := c.devices[name]
	if reading.Printable(name) != name {
		return fmt.Errorf("the name %q of a device has characters that cannot be printed", name)
	}
	if d == nil {
		d = &device{name: name, files: map[string]string{}}
		c.devices[name] = d
	}
	kind = kinds[kind]
	if before := d.files[kind]; before != "" {
		return fmt.Errorf("%s of %s twice: %s and %s", kind, name, reading.Printable(before), reading.Printable(path))
	}
	d.files[kind] = path
	if err = c.parse(r, d, path, kind, vrf); err != nil && c.partial && ctx.Err() == nil {
		c.broken = append(c.broken, err)
		return nil
	}
	return err
}

// parse puts what a file of a kind (the values of kinds) says into the device; nothing if it is broken.
func (c *contents) parse(r io.Reader, d *device, path, kind, vrf string) (err error) {
	switch kind {
	case "interfaces":
		return d.readInterfaces(r, path)
	case "neighbors":
		d.neighbors, err = lldp.Read(r, path)
	case "configuration":
		d.config, err = sonic.Read(r, path)
	case "minigraph":
		d.drawn, err = sonic.ReadMinigraph(r, path)
	case "addresses of neighbors":
		_, err = frr.ReadNeighbors(r, path) // only a check: who needs adapters' addresses reads the file itself
	case "FRR's configuration":
		d.as, err = frr.ReadAS(r, path, vrf)
	default:
		var routes []frr.Route
		routes, err = frr.ReadRoutes(r, path, vrf, c.vrfs)
		d.routes, d.hasRoutes = append(d.routes, routes...), d.hasRoutes || err == nil
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

func (c *contents) readSettings(ctx context.Context, path string) error {
	if c.settings != nil {
		return fmt.Errorf("%s, and there are other settings in %s", reading.Printable(path), reading.Printable(c.settings.file))
	}
	r, err := reading.OpenFound(ctx, path)
	if err != nil {
		return err
	}
	defer r.Close()
	text, err := reading.ReadUTF8(r, path, reading.MaxSettings)
	if err != nil {
		return err
	}
	s := &settings{file: path}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(s); err != nil && !errors.Is(err, io.EOF) {
		return lined.YAML(path, err, "it says for example lossless: [3, 4]")
	}
	if err := d.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return format.Errorf(path, 1, "more than one YAML document")
	}
	var list []uint8
	for i := range s.Lossless {
		item := &s.Lossless[i]
		p, err := strconv.ParseUint(item.Value, 10, 8)
		if err != nil || item.Kind != yaml.ScalarNode || item.Tag != "!!int" {
			return format.Errorf(path, item.Line, "%q is not a priority; they are 0 to %d", item.Value, ethernet.MaxPriorities-1)
		}
		list = append(list, uint8(p))
	}
	if err := CheckLossless(list); err != nil {
		return format.Errorf(path, s.line(), "%s", err.Error())
	}
	s.list = list
	c.settings = s
	return nil
}

// line is where the list of priorities begins, for errors.
func (s *settings) line() int {
	if len(s.Lossless) == 0 {
		return 1
	}
	return s.Lossless[0].Line
}

// CheckLossless says what is wrong with a list of lossless priorities.
func CheckLossless(list []uint8) error {
	if len(list) == 0 {
		return errors.New("no lossless priority; it says for example lossless: [3, 4]")
	}
	for i, p := range list {
		if p >= ethernet.MaxPriorities {
			return fmt.Errorf("lossless priority %d; priorities are 0 to %d", p, ethernet.MaxPriorities-1)
		}
		if slices.Contains(list[:i], p) {
			return fmt.Errorf("lossless priority %d twice", p)
		}
	}
	return nil
}

// port is what a cable is plugged into: the port channel that an interface is a member of, the
// port that it is a part of, or the interface itself, by its name where only its alias was given.
// Links are of ports, because PFC pauses a port whatever VLAN its packets have.
func (d *device) port(name string) string {
	if whole, part := cutVLAN(name); part {
		name = whole
		if d.config != nil {
			name = longName(whole)
		}
	}
	if in := d.interfaces[name]; in != nil && in.Channel != "" {
		return in.Channel
	}
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

// sub reports whether an interface is a part of a port, for one VLAN.
func (d *device) sub(name string) bool {
	_, part := cutVLAN(name)
	return part
}

// cutVLAN is the port in the name of a part of a port: Ethernet4 of Ethernet4.100. ok says whether it is such a name.
func cutVLAN(name string) (port string, ok bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 1 || i == len(name)-1 || strings.Trim(name[i+1:], "0123456789") != "" {
		return name, false
	}
	return name[:i], true
}

// longName is the name of a port that SONiC abbreviates in those of its parts: Ethernet4 of Eth4.
func longName(port string) string {
	for short, long := range map[string]string{"Eth": "Ethernet", "Po": "PortChannel"} {
		if number, ok := strings.CutPrefix(port, short); ok && number != "" && strings.Trim(number, "0123456789") == "" {
			return long + number
		}
	}
	return port
}

// member reports whether an interface is a member of a port channel whose name is known.
func (d *device) member(name string) bool {
	if in := d.interfaces[name]; in != nil && in.Channel != "" {
		return true
	}
	return d.config != nil && d.config.Channel[cmp.Or(d.config.Alias[name], name)] != ""
}

// lostMember reports whether a port is a member of a port channel whose name nobody says.
func (d *device) lostMember(port string) bool {
	in := d.interfaces[port]
	return in != nil && in.Member && !d.member(port)
}

// loopback reports whether an interface leads nowhere.
func (d *device) loopback(name string) bool {
	if in := d.interfaces[name]; in != nil && in.Loopback {
		return true
	}
	return name == "lo" || strings.HasPrefix(name, "Loopback") || strings.HasPrefix(name, "dummy")
}

// noDevices is the error for a folder in which no device says anything.
type noDevices struct{ dir string }

func (e *noDevices) Error() string {
	return fmt.Sprintf("%s has no file such as leaf1.route.json (show ip route json) or leaf1.config_db.json, and no folder of a device with route.json", reading.Printable(e.dir))
}

// NoDevices reports that it is a folder of something else.
func (e *noDevices) NoDevices() bool { return true }
