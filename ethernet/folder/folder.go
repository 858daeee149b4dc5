// Package folder reads a folder with what the devices of a network say of themselves: a
// sub-folder for each device, or files that begin with its name.
//
//	leaf1.route.json      show ip route json of FRR (vtysh), also route4, ip-route; as text too;
//	                      of Cumulus Linux (NVUE) and Arista's EOS as JSON
//	leaf1.route6.json     show ipv6 route json, also ipv6-route
//	leaf1.interface.json  show interface json, or ip -j address show
//	leaf1.lldp.json       lldpcli -f json show neighbors; of NVUE and EOS too
//	leaf1.config_db.json  SONiC's configuration, or a dump of its database
//	leaf1.minigraph.xml   what SONiC's configuration is made from
//	leaf1.frr.conf        FRR's, for the AS number if routes are to be computed
//	leaf1.neigh.json      ip -j neigh show, for the addresses of adapters
//	qos.yaml              lossless: [3, 4], where devices have no SONiC configuration
//
// Cables are taken from LLDP, from SONiC's DEVICE_NEIGHBOR, and from subnets of two
// addresses that two interfaces share, in this order; whoever contradicts is refused. Port
// channels are one link: their members go the same way.
//
// Nothing half-read passes as a proof: what is missing is an error, or with Partial a note.
package folder

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/words"
)

// Options narrow what is read, and fill in what no dump says.
type Options struct {
	VRF      string  // empty: default
	Partial  bool    // go on where something is missing, and note it
	Lossless []uint8 // priorities, where the folder says nothing; empty: 3
	NoRoutes bool    // read prefixes with hosts only: routes will be computed
}

// defaultVRF is what the VRF is called that interfaces are in if nobody says otherwise.
const defaultVRF = "default"

// gathering is a folder on its way to a network: what Read puts together of the contents, step by step.
type gathering struct {
	o       Options
	c       *contents
	names   []string                        // [DeviceID] of devices
	plugged map[ethernet.End]claim          // by port: what is at the other end of its cable
	address map[ethernet.End][]netip.Prefix // of ports, as configured, in the VRF
	owners  map[netip.Addr][]ethernet.End   // of addresses, in any VRF, with interfaces as they are dumped
	outside map[ethernet.End]claim          // ports that lead out of the folder, and who says so
	cut     map[ethernet.End]bool           // ports whose cable is down
	cabling *ethernet.Cabling
	members bool // LLDP was left out for ports that are members of a port channel whose name nobody says
	leading []leading
	notes   []string
	gaps    []string
	like    map[string]int // by what is common to several gaps: the index of the first in gaps
	more    map[int]int    // by index in gaps: how many are like it
}

// leading is a subnet of two addresses that leads out of the folder, to a host or a router.
type leading struct {
	device ethernet.DeviceID
	prefix netip.Prefix
}

// Read reads a folder that has one folder for each device.
func Read(ctx context.Context, dir string, o Options) (*ethernet.Network, error) {
	if o.VRF == "" {
		o.VRF = defaultVRF
	}
	c, err := readFiles(ctx, dir, o.VRF, o.Partial)
	if err != nil {
		return nil, err
	}
	r := &gathering{
		o: o, c: c, plugged: map[ethernet.End]claim{}, address: map[ethernet.End][]netip.Prefix{}, owners: map[netip.Addr][]ethernet.End{},
		outside: map[ethernet.End]claim{}, cut: map[ethernet.End]bool{}, like: map[string]int{}, more: map[int]int{},
	}
	r.names = slices.SortedFunc(maps.Keys(c.devices), words.Natural)
	for _, err := range c.broken {
		r.gaps = append(r.gaps, err.Error())
	}
	if err := r.requireRoutes(dir); err != nil {
		return nil, err
	}
	r.leaveOutManagement()
	if err := r.cable(); err != nil {
		return nil, err
	}
	n := &ethernet.Network{Cabling: r.cabling, AS: r.asNumbers(), Addresses: r.firstAddresses(), Speeds: r.speeds(), HostSpeeds: r.hostSpeeds(), Members: r.portsOfChannels()}
	if err := r.route(n); err != nil {
		return nil, err
	}
	if err := r.prioritize(n); err != nil {
		return nil, err
	}
	if len(c.passed) > 0 {
		r.note("files that were not read: %s", few(c.passed))
	}
	for i, more := range r.more {
		r.gaps[i] += fmt.Sprintf(", and %s like it", words.Plural(more, "more route"))
	}
	n.Notes, n.Gaps = r.notes, r.gaps
	return n, nil
}

// note adds to Network.Notes.
func (r *gathering) note(msg string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(msg, args...))
}

// gap takes something that is missing or contradicts: it is the error to return, or with Options.Partial nil, and
// goes to Network.Gaps.
func (r *gathering) gap(err error) error {
	if !r.o.Partial {
		return fmt.Errorf("%w (--partial goes on without, and says what is not covered)", err)
	}
	r.gaps = append(r.gaps, err.Error())
	return nil
}

// gapLike is gap for something that many routes can have in common: of those with the same text common only the
// first is told in full, and the others are counted.
func (r *gathering) gapLike(common string, err error) error {
	if i, known := r.like[common]; known {
		r.more[i]++
		return nil
	}
	r.like[common] = len(r.gaps)
	return r.gap(err)
}

// requireRoutes makes devices without routes a gap, refuses a VRF that no route is in, and notes the others.
func (r *gathering) requireRoutes(dir string) error {
	var without []string
	for _, name := range r.names {
		d := r.c.devices[name]
		if len(d.routes) == 0 && d.inVRF(r.o.VRF) {
			d.hasRoutes = false // a dump without any is not a dump
		}
		if !d.hasRoutes && (!r.o.NoRoutes || d.interfaces == nil && d.config == nil) {
			without = append(without, name)
		}
	}
	if len(without) > 0 {
		if err := r.gap(fmt.Errorf("no routes of %s: give NAME.route.json, from vtysh -c 'show ip route json'", few(without))); err != nil {
			return err
		}
	}
	vrfs := slices.Sorted(maps.Keys(r.c.vrfs))
	if len(vrfs) > 0 && !slices.Contains(vrfs, r.o.VRF) {
		return fmt.Errorf("%s has no routes of VRF %s; there are %s (--vrf)", reading.Printable(dir), r.o.VRF, strings.Join(vrfs, ", "))
	}
	if others := slices.DeleteFunc(vrfs, func(v string) bool { return v == r.o.VRF }); len(others) > 0 {
		r.note("VRF %s: its packets share the links, and are not looked at (--vrf)", few(others))
	}
	return nil
}

// few keeps messages to one line: eight names, and how many more there are.
func few(names []string) string {
	const most = 8
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// route makes the classes of the network, and their tunnels, of the routes of all devices.
func (r *gathering) route(n *ethernet.Network) error {
	tables := make([][]ethernet.Route, len(r.names))
	for d, name := range r.names {
		for i := range r.c.devices[name].routes {
			route, counts, err := r.convert(ethernet.DeviceID(d), &r.c.devices[name].routes[i])
			if err != nil {
				return err
			}
			if counts {
				tables[d] = append(tables[d], route)
			}
		}
		if !r.c.devices[name].hasRoutes {
			tables[d] = r.attached(ethernet.DeviceID(d))
		}
		tables[d] = r.standby(ethernet.DeviceID(d), tables[d])
	}
	r.settleLeading(tables)
	var err error
	n.Classes, err = r.cabling.Classify(tables)
	if err != nil {
		return err
	}
	return r.tunnels(n)
}

// attached is routes for a device without a dump of them: to the subnets with hosts that it is in, and to the address where
// its tunnel ends. Subnets of two addresses that lead out of the folder go to r.leading.
func (r *gathering) attached(d ethernet.DeviceID) []ethernet.Route {
	name := r.names[d]
	dev := r.c.devices[name]
	var list []ethernet.Route
	for _, in := range dev.interfaceNames() {
		here := ethernet.End{Device: name, Interface: dev.port(in)}
		if r.cabling.LinkAt(d, here.Interface) != ethernet.None || r.cut[here] {
			continue
		}
		for _, p := range r.prefixes(dev, in) {
			p = p.Masked()
			known := slices.ContainsFunc(list, func(o ethernet.Route) bool { return o.Prefix == p })
			_, out := r.outside[here]
			switch {
			case !known && r.endsTunnel(p):
				list = append(list, ethernet.Route{Prefix: p, Deliver: ethernet.ToItself})
			case known || p.IsSingleIP() || p.Addr().IsLinkLocalUnicast():
			case !pointToPoint(p):
				list = append(list, ethernet.Route{Prefix: p, Deliver: ethernet.ToHosts})
			case out:
				r.leading = append(r.leading, leading{d, p})
			}
		}
	}
	return list
}

// speeds is those of the interfaces that links leave: by the configuration, else as they run.
func (r *gathering) speeds() []uint32 {
	list := make([]uint32, len(r.cabling.Links))
	for l := range list {
		end := r.cabling.End(ethernet.LinkID(l))
		d := r.c.devices[end.Device]
		if d.config != nil {
			list[l] = d.config.Speed[end.Interface]
			for member, channel := range d.config.Channel {
				if in := d.interfaces[member]; channel == end.Interface && (in == nil || in.Up) {
					list[l] += d.config.Speed[member]
				}
			}
		}
		if in := d.interfaces[end.Interface]; list[l] == 0 && in != nil {
			list[l] = in.Speed
		}
	}
	return list
}

// portsOfChannels is the members of the port channels that links leave.
func (r *gathering) portsOfChannels() [][]string {
	list := make([][]string, len(r.cabling.Links))
	for l := range list {
		end := r.cabling.End(ethernet.LinkID(l))
		d := r.c.devices[end.Device]
		for name, in := range d.interfaces {
			if in.Channel == end.Interface {
				list[l] = append(list[l], name)
			}
		}
		if d.config != nil {
			for name, channel := range d.config.Channel {
				if channel == end.Interface && !slices.Contains(list[l], name) {
					list[l] = append(list[l], name)
				}
			}
		}
		slices.SortFunc(list[l], words.Natural)
	}
	return list
}

// hostSpeeds is the speed of most of the interfaces to hosts of each device: of those that have a subnet of hosts themselves,
// or of all ports without a cable to another device where subnets are those of bridges.
func (r *gathering) hostSpeeds() []uint32 {
	list := make([]uint32, len(r.names))
	for i, name := range r.names {
		d := r.c.devices[name]
		cabled := func(port string) bool {
			port = d.port(port)
			here := ethernet.End{Device: name, Interface: port}
			return r.cabling.LinkAt(ethernet.DeviceID(i), port) != ethernet.None || r.cut[here] || r.outside[here] != (claim{})
		}
		speedOf := func(port string) uint32 {
			if d.config != nil && d.config.Speed[port] > 0 {
				return d.config.Speed[port]
			}
			if in := d.interfaces[port]; in != nil && in.Up {
				return in.Speed
			}
			return 0
		}
		own, others := map[uint32]int{}, map[uint32]int{} // by speed: ports with a subnet of hosts, and all without a cable
		for _, port := range d.interfaceNames() {
			hosts := slices.ContainsFunc(r.prefixes(d, port), func(p netip.Prefix) bool {
				return !p.IsSingleIP() && !pointToPoint(p) && !p.Addr().IsLinkLocalUnicast()
			})
			if speed := speedOf(port); speed > 0 && hosts && !cabled(port) {
				own[speed]++
			}
		}
		if d.config != nil {
			for port, speed := range d.config.Speed {
				if speed > 0 && !cabled(port) {
					others[speed]++
				}
			}
		}
		if len(own) == 0 {
			own = others
		}
		for speed, ports := range own {
			if most := own[list[i]]; ports > most || ports == most && speed > list[i] {
				list[i] = speed
			}
		}
	}
	return list
}

// firstAddresses is the first address of the interface that each link leaves.
func (r *gathering) firstAddresses() []netip.Addr {
	list := make([]netip.Addr, len(r.cabling.Links))
	for l := range list {
		if known := r.address[r.cabling.End(ethernet.LinkID(l))]; len(known) > 0 && !known[0].Addr().IsLinkLocalUnicast() {
			list[l] = known[0].Addr()
		}
	}
	return list
}

// asNumbers is the AS numbers of the devices; nil if none is known.
func (r *gathering) asNumbers() []uint32 {
	list := make([]uint32, len(r.names))
	for d, name := range r.names {
		list[d] = r.c.devices[name].as
		if config := r.c.devices[name].config; list[d] == 0 && config != nil {
			list[d] = config.AS
		}
	}
	if slices.Max(list) == 0 {
		return nil
	}
	return list
}

// standby is the table of a device; if that is a dual-ToR switch, with a route of its own for each host behind a cable that
// may be standby: the switch may deliver the host's packets, or wrap them and send them to its peer.
func (r *gathering) standby(d ethernet.DeviceID, table []ethernet.Route) []ethernet.Route {
	config := r.c.devices[r.names[d]].config
	if config == nil || config.Tunnel == nil {
		return table
	}
	for _, server := range config.Tunnel.Servers {
		i := slices.IndexFunc(table, func(t ethernet.Route) bool { return t.Prefix == server })
		if i < 0 {
			i = len(table)
			table = append(table, ethernet.Route{Prefix: server, Deliver: ethernet.ToHosts})
		}
		table[i].Wraps = true
	}
	return table
}
