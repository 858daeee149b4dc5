// Package drawn reads networks as somebody drew them, without routes: Containerlab's topology
// files (*.clab.yml) and the topology.txt of ns-3 with the HPCC model.
package drawn

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/ethernet/lined"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/visible"
	"github.com/weft-fabric/weft/internal/words"
)

// Topology is the devices of a network, and the cables between them.
type Topology struct {
	Name    string
	Devices []string // those that forward
	Hosts   []string // for each interface of a host: the device that it is behind
	Cables  []ethernet.Cable
	Notes   []string // what was assumed or left out, a sentence each

	Speeds     []uint32 // [place in Cables] Mb/s; 0: not known. nil: of none
	HostSpeeds []uint32 // [place in Hosts] likewise
}

// file has the parts of a topology that say how devices are cabled; all else is skipped.
type file struct {
	Name     string `yaml:"name"`
	Topology struct {
		Defaults node                 `yaml:"defaults"`
		Kinds    map[string]node      `yaml:"kinds"`
		Groups   map[string]node      `yaml:"groups"`
		Nodes    map[string]yaml.Node `yaml:"nodes"`
		Links    []yaml.Node          `yaml:"links"`
	} `yaml:"topology"`
}

// node is what a file says of a node, or for all nodes of a group or a kind.
type node struct {
	Kind  string   `yaml:"kind"`
	Group string   `yaml:"group"`
	Image string   `yaml:"image"`
	Binds []string `yaml:"binds"`
	Mode  string   `yaml:"network-mode"`

	Exec    []string          `yaml:"exec"`
	Sysctls map[string]string `yaml:"sysctls"`
}

// turnedOn reports whether a container of Linux is told to forward.
func (n *node) turnedOn() bool {
	for _, command := range n.Exec {
		if strings.Contains(command, "ip_forward=1") || strings.Contains(command, ".forwarding=1") {
			return true
		}
	}
	for key, value := range n.Sysctls {
		if value == "1" && (strings.HasSuffix(key, ".ip_forward") || strings.HasSuffix(key, ".forwarding")) {
			return true
		}
	}
	return false
}

// link is a cable of the file.
type link struct {
	Endpoints []yaml.Node `yaml:"endpoints"`
	Type      string      `yaml:"type"`
}

// role is what a node does with packets. topology goes by the order of the values.
type role uint8

const (
	forwards role = iota
	host          // sends and receives, and never forwards, however many cables it has
	segment       // a bridge: what comes in by one of its cables goes out by the others
)

// Containerlab reads a topology file of Containerlab. Containers of kind linux are hosts unless they run routers or are told to forward; a bridge between
// two devices is a cable between them, and hosts on a bridge are behind each device on it. Links
// out of the laboratory and containers without cables are left out.
func Containerlab(r io.Reader, name string) (*Topology, error) {
	text, err := reading.ReadUTF8(r, name, reading.MaxSettings)
	if err != nil {
		return nil, err
	}
	var f file
	d := yaml.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return nil, lined.YAML(name, err, "")
	}
	if err := d.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, format.Errorf(name, 1, "more than one YAML document")
	}
	if len(f.Topology.Nodes) == 0 {
		return nil, format.Errorf(name, 1, "no topology: nodes: this is not a Containerlab file")
	}
	l := &laboratory{name: name, roles: map[string]role{}, lines: map[string]int{}, inside: map[string]string{}, used: map[ethernet.End]int{}, joined: map[string]string{}}
	for label, y := range f.Topology.Nodes {
		var n node
		if err := y.Decode(&n); err != nil {
			return nil, format.Errorf(name, y.Line, "node %s is not a mapping", label)
		}
		if err := visible.Name(label, label); err != nil {
			return nil, format.Errorf(name, y.Line, "%v", err)
		}
		n = f.inherited(n)
		l.roles[label], l.lines[label] = roleOf(n), y.Line
		if outer, ok := strings.CutPrefix(n.Mode, "container:"); ok && outer != label && l.roles[label] != segment {
			l.inside[label] = outer
		}
	}
	for i := range f.Topology.Links {
		if err := l.link(&f.Topology.Links[i]); err != nil {
			return nil, err
		}
	}
	return l.topology(f.Name)
}

// inherited is a node with what its group, its kind and the defaults say where it says nothing.
func (f *file) inherited(n node) node {
	t := &f.Topology
	n.Group = cmp.Or(n.Group, t.Defaults.Group)
	group := t.Groups[n.Group]
	n.Kind = cmp.Or(n.Kind, group.Kind, t.Defaults.Kind)
	kind := t.Kinds[n.Kind]
	n.Image = cmp.Or(n.Image, group.Image, kind.Image, t.Defaults.Image)
	n.Binds = slices.Concat(n.Binds, group.Binds, kind.Binds, t.Defaults.Binds)
	n.Mode = cmp.Or(n.Mode, group.Mode, kind.Mode, t.Defaults.Mode)
	n.Exec = slices.Concat(n.Exec, group.Exec, kind.Exec, t.Defaults.Exec)
	if n.Sysctls == nil {
		n.Sysctls = map[string]string{}
	}
	for _, from := range [...]node{group, kind, t.Defaults} {
		for key, value := range from.Sysctls {
			if _, ok := n.Sysctls[key]; !ok {
				n.Sysctls[key] = value
			}
		}
	}
	return n
}

// routers is what is in the name of an image, or of a file that a container gets, that makes
// a container of kind linux forward.
var routers = []string{"frr", "bird", "gobgp", "quagga", "bgpd", "sonic", "vyos"}

// roleOf tells what a node is by its kind, and where that is linux by what runs in it.
func roleOf(n node) role {
	switch n.Kind {
	case "bridge", "ovs-bridge":
		return segment
	case "keysight_ixia-c-one", "ostinato", "spirent_stc": // generators of traffic
		return host
	case "linux", "", "host", "ext-container", "k8s-kind", "generic_vm":
		for _, text := range append(n.Binds, n.Image) {
			text = strings.ToLower(text)
			if slices.ContainsFunc(routers, func(word string) bool { return strings.Contains(text, word) }) {
				return forwards
			}
		}
		if n.turnedOn() {
			return forwards
		}
		return host
	}
	return forwards
}

// laboratory is what the file says so far, on its way to a Topology; nodes are by their labels.
type laboratory struct {
	name   string // of the file
	roles  map[string]role
	lines  map[string]int       // of nodes
	inside map[string]string    // by node: another whose network it has, as the cards of a chassis do
	used   map[ethernet.End]int // the line of the cable at an interface
	cables []ethernet.Cable     // all of them
	out    int                  // links that leave the laboratory
	loops  int                  // cables from a device to itself
	joined map[string]string    // by bridge: another, before it in order, that it is joined to
}

// link adds a link of the file to the cables, or counts it among those that are left out.
func (l *laboratory) link(y *yaml.Node) error {
	var k link
	if err := y.Decode(&k); err != nil {
		return format.Errorf(l.name, y.Line, "a link has endpoints: [\"a:eth1\", \"b:eth1\"]")
	}
	switch k.Type {
	case "", "veth", "veth-stitch":
	case "host", "mgmt-net", "macvlan", "vxlan", "vxlan-stitch", "dummy":
		l.out++
		return nil
	default:
		return format.Errorf(l.name, y.Line, "a link of type %q; they are veth and veth-stitch, and host, mgmt-net, macvlan, vxlan, vxlan-stitch and dummy, which leave the laboratory", k.Type)
	}
	if len(k.Endpoints) != 2 {
		return format.Errorf(l.name, y.Line, "a link has %d endpoints, not 2", len(k.Endpoints))
	}
	var ends [2]ethernet.End
	out := false
	for i := range k.Endpoints {
		e, err := end(&k.Endpoints[i])
		if err == nil {
			err = visible.Name(e.Device, e.Interface)
		}
		if err != nil {
			return format.Errorf(l.name, y.Line, "%v", err)
		}
		if _, ok := l.roles[e.Device]; !ok {
			if !slices.Contains([]string{"host", "mgmt-net", "macvlan", "vxlan", "vxlan-stitch", "dummy"}, e.Device) {
				return format.Errorf(l.name, y.Line, "a link to %s, and there is no node %s", e, e.Device)
			}
			out = true
			continue
		}
		e.Device = l.device(e.Device)
		if before := l.used[e]; before > 0 {
			return format.Errorf(l.name, y.Line, "two cables at %s: line %d too", e, before)
		}
		l.used[e] = y.Line
		ends[i] = e
	}
	switch {
	case out:
		l.out++
		return nil
	case ends[0].Device == ends[1].Device:
		l.loops++
		return nil
	}
	l.cables = append(l.cables, ethernet.Cable{A: ends[0], B: ends[1]})
	return nil
}

// device is the node whose network a node has: itself, unless it is inside another.
func (l *laboratory) device(label string) string {
	for range l.inside { // at most: two may be inside each other
		outer, ok := l.inside[label]
		if _, known := l.roles[outer]; !ok || !known {
			break
		}
		label = outer
	}
	return label
}

// plugged is what is on a bridge, or on several that are joined.
type plugged struct {
	devices []ethernet.End
	hosts   int
}

// topology sorts the nodes into devices and hosts, and makes cables of bridges.
func (l *laboratory) topology(name string) (*Topology, error) {
	t := &Topology{Name: name}
	cabled := map[string]bool{}
	between := 0                // cables between hosts
	at := map[string]*plugged{} // by bridge, the first of those that are joined
	for _, c := range l.cables {
		if l.roles[c.A.Device] == segment && l.roles[c.B.Device] == segment {
			l.join(c.A.Device, c.B.Device)
		}
	}
	for _, c := range l.cables {
		cabled[c.A.Device], cabled[c.B.Device] = true, true
		if l.roles[c.A.Device] > l.roles[c.B.Device] { // devices first, then hosts, then bridges
			c.A, c.B = c.B, c.A
		}
		switch a, b := l.roles[c.A.Device], l.roles[c.B.Device]; {
		case b == forwards:
			t.Cables = append(t.Cables, c)
		case a == forwards && b == host:
			t.Hosts = append(t.Hosts, c.A.Device)
		case a == host && b == host:
			between++
		case a != segment:
			bridge := l.first(c.B.Device)
			if at[bridge] == nil {
				at[bridge] = &plugged{}
			}
			if a == host {
				at[bridge].hosts++
			} else {
				at[bridge].devices = append(at[bridge].devices, c.A)
			}
		}
	}
	if err := l.bridges(t, at); err != nil {
		return nil, err
	}
	idle, linux := 0, 0
	for label, what := range l.roles {
		switch {
		case l.device(label) != label: // a part of another
		case !cabled[label]:
			idle++
		case what == forwards:
			t.Devices = append(t.Devices, label)
		case what == host:
			linux++
		}
	}
	slices.SortFunc(t.Devices, words.Natural)
	slices.SortFunc(t.Hosts, words.Natural)
	for _, n := range [...]struct {
		count      int
		noun, text string
	}{
		{linux, "container", "assumed: %s of kind linux and the like are hosts, which never forward (a router's image or configuration, or ip_forward=1, makes one a device)"},
		{idle, "node", "%s without cables, and left out"},
		{l.out, "link", "%s out of the laboratory, and left out"},
		{l.loops, "cable", "%s from a device to itself, and left out"},
		{between, "cable", "%s between hosts, and left out"},
	} {
		if n.count > 0 {
			t.Notes = append(t.Notes, fmt.Sprintf(n.text, words.Plural(n.count, n.noun)))
		}
	}
	return t, nil
}

// bridges adds cables to t for bridges with two devices and no host, and puts hosts on bridges behind each device there.
func (l *laboratory) bridges(t *Topology, at map[string]*plugged) error {
	for _, bridge := range slices.SortedFunc(maps.Keys(at), words.Natural) {
		p := at[bridge]
		switch {
		case p.hosts > 0:
			for _, e := range p.devices {
				for range p.hosts {
					t.Hosts = append(t.Hosts, e.Device)
				}
			}
			if len(p.devices) > 1 {
				t.Notes = append(t.Notes, fmt.Sprintf("assumed: devices do not forward to each other over the bridge %s, which has hosts", bridge))
			}
		case len(p.devices) == 2 && p.devices[0].Device != p.devices[1].Device:
			t.Cables = append(t.Cables, ethernet.Cable{A: p.devices[0], B: p.devices[1]})
			t.Notes = append(t.Notes, fmt.Sprintf("assumed: the bridge %s is a cable between %s and %s", bridge, p.devices[0], p.devices[1]))
		case len(p.devices) > 1:
			return format.Errorf(l.name, l.lines[bridge], "the bridge %s joins %d interfaces of devices that forward (%s, %s, …): a pause there stops several at once, which is not computed; give what the devices say as a folder, or cables in place of the bridge",
				bridge, len(p.devices), p.devices[0], p.devices[1])
		}
	}
	return nil
}

// first is the one, for all bridges that are joined to each other, that stands for them.
func (l *laboratory) first(bridge string) string {
	for l.joined[bridge] != "" {
		bridge = l.joined[bridge]
	}
	return bridge
}

// join makes two bridges one.
func (l *laboratory) join(a, b string) {
	a, b = l.first(a), l.first(b)
	if words.Natural(a, b) > 0 {
		a, b = b, a
	}
	if a != b {
		l.joined[b] = a
	}
}

// end reads "node:interface", or the mapping that newer files have.
func end(y *yaml.Node) (ethernet.End, error) {
	if y.Kind == yaml.ScalarNode {
		device, port, ok := strings.Cut(y.Value, ":")
		if !ok || device == "" || port == "" {
			return ethernet.End{}, fmt.Errorf("the endpoint %q is not NODE:INTERFACE", y.Value)
		}
		return ethernet.End{Device: device, Interface: port}, nil
	}
	var e struct {
		Node      string `yaml:"node"`
		Interface string `yaml:"interface"`
	}
	if err := y.Decode(&e); err != nil || e.Node == "" || e.Interface == "" {
		return ethernet.End{}, errors.New("an endpoint lacks node or interface")
	}
	return ethernet.End{Device: e.Node, Interface: e.Interface}, nil
}
