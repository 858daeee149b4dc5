// Package folder reads a folder with what the devices of a network say of themselves: a
// sub-folder for each device, or files that begin with its name.
//
//	leaf1.route.json      show ip route json of FRR (vtysh), also route4, ip-route
//	leaf1.route6.json     show ipv6 route json, also ipv6-route
//	leaf1.interface.json  show interface json
//	leaf1.lldp.json       lldpcli -f json show neighbors
//	leaf1.config_db.json  SONiC's configuration
//	leaf1.frr.conf        FRR's, for the AS number if routes are to be computed
//	qos.yaml              lossless: [3, 4], where devices have no SONiC configuration
//
// Cables are taken from LLDP, from SONiC's DEVICE_NEIGHBOR, and from subnets of two
// addresses that two interfaces share, in this order; whoever contradicts is refused. Port
// channels are one link: their members go the same way.
//
// Nothing half-read passes as a proof: what is missing is an error, or with Partial a note.
package folder

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/frr"
	"github.com/weft-fabric/weft/format"
)

// Options says what to read.
type Options struct {
	VRF      string  // empty: default
	Partial  bool    // go on where something is missing, and note it
	Lossless []uint8 // priorities, where the folder says nothing; empty: 3
	NoRoutes bool    // read prefixes with hosts only: routes will be computed
}

// reading is a folder on its way to a network.
type reading struct {
	o       Options
	c       *contents
	names   []string // of devices, in order
	plugged map[ethernet.End]claim
	address map[ethernet.End][]netip.Addr
	outside map[ethernet.End]string // interfaces that lead out of the folder, and to where
	cut     map[ethernet.End]bool   // interfaces whose cable is down
	cabling *ethernet.Cabling
	wraps   []wrap
	notes   []string
}

// wrap is a route whose packets a device may send through a tunnel.
type wrap struct {
	device ethernet.DeviceID
	prefix netip.Prefix
	peer   netip.Addr
}

// Read reads a folder.
func Read(dir string, o Options) (*ethernet.Network, error) {
	if o.VRF == "" {
		o.VRF = "default"
	}
	c, err := readFiles(dir, o.VRF)
	if err != nil {
		return nil, err
	}
	r := &reading{
		o: o, c: c, plugged: map[ethernet.End]claim{}, address: map[ethernet.End][]netip.Addr{},
		outside: map[ethernet.End]string{}, cut: map[ethernet.End]bool{},
	}
	r.names = slices.SortedFunc(maps.Keys(c.devices), ethernet.Natural)
	if err := r.whole(dir); err != nil {
		return nil, err
	}
	if err := r.cable(); err != nil {
		return nil, err
	}
	n := &ethernet.Network{Cabling: r.cabling, AS: r.numbers()}
	if err := r.route(n); err != nil {
		return nil, err
	}
	if err := r.prioritize(n); err != nil {
		return nil, err
	}
	if len(c.passed) > 0 {
		r.note("files that were not read: %s", few(c.passed))
	}
	n.Notes = r.notes
	return n, nil
}

func (r *reading) note(msg string, args ...any) { r.notes = append(r.notes, fmt.Sprintf(msg, args...)) }

// gap is something missing: an error, or a note where that is allowed.
func (r *reading) gap(err error) error {
	if !r.o.Partial {
		return fmt.Errorf("%w (--partial goes on without, and says what is not covered)", err)
	}
	r.note("not covered: %s", strings.TrimPrefix(err.Error(), "ethernet: "))
	return nil
}

// whole says which devices lack routes, and which VRFs there are.
func (r *reading) whole(dir string) error {
	var without []string
	for _, name := range r.names {
		if d := r.c.devices[name]; !d.hasRoutes && (!r.o.NoRoutes || d.interfaces == nil && d.config == nil) {
			without = append(without, name)
		}
	}
	if len(without) > 0 {
		if err := r.gap(fmt.Errorf("ethernet: no routes of %s: give NAME.route.json, from vtysh -c 'show ip route json'", few(without))); err != nil {
			return err
		}
	}
	vrfs := slices.Sorted(maps.Keys(r.c.vrfs))
	if len(vrfs) > 0 && !slices.Contains(vrfs, r.o.VRF) {
		return fmt.Errorf("ethernet: %s has no routes of VRF %s; there are %s (--vrf)", format.Printable(dir), r.o.VRF, strings.Join(vrfs, ", "))
	}
	if others := slices.DeleteFunc(vrfs, func(v string) bool { return v == r.o.VRF }); len(others) > 0 {
		r.note("not covered: VRF %s (--vrf)", few(others))
	}
	return nil
}

// few is the first names of a list.
func few(names []string) string {
	const most = 8
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// route turns what the devices forward by into classes.
func (r *reading) route(n *ethernet.Network) error {
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
	var err error
	n.Classes, err = r.cabling.Classify(tables)
	if err != nil {
		return err
	}
	return r.tunnels(n)
}

// convert is a route of FRR as one of the model. Addresses of the device itself, link-local
// and multicast prefixes do not count.
func (r *reading) convert(d ethernet.DeviceID, from *frr.Route) (ethernet.Route, bool, error) {
	to := ethernet.Route{Prefix: from.Prefix}
	if from.Protocol == "local" || from.Prefix.Addr().IsLinkLocalUnicast() || from.Prefix.Addr().IsMulticast() {
		return to, false, nil
	}
	for _, hop := range from.Hops {
		if r.o.NoRoutes && hop.IP.IsValid() {
			return to, false, nil
		}
		if err := r.hop(d, from, hop, &to); err != nil {
			return to, false, err
		}
	}
	return to, !r.o.NoRoutes || to.Deliver == ethernet.ToHosts, nil
}

// attached is the subnets with hosts of a device that has no routes, by its addresses.
func (r *reading) attached(d ethernet.DeviceID) []ethernet.Route {
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
			if !known && !p.IsSingleIP() && !pointToPoint(p) && !p.Addr().IsLinkLocalUnicast() {
				list = append(list, ethernet.Route{Prefix: p, Deliver: ethernet.ToHosts})
			}
		}
	}
	return list
}

// numbers is the AS numbers of the devices; nil if none is known.
func (r *reading) numbers() []uint32 {
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

// hop adds a next hop to a route.
func (r *reading) hop(d ethernet.DeviceID, from *frr.Route, hop frr.Hop, to *ethernet.Route) error {
	name := r.names[d]
	dev := r.c.devices[name]
	port := dev.port(hop.Interface)
	here := ethernet.End{Device: name, Interface: port}
	link := r.cabling.LinkAt(d, port)
	bad := func(msg string, args ...any) error { return format.Errorf(from.File, from.Line, msg, args...) }
	switch {
	case !hop.IP.IsValid() && (link != ethernet.None || r.cut[here] || dev.loopback(port) && from.Prefix.IsSingleIP()):
		to.Deliver = max(to.Deliver, ethernet.ToItself)
	case !hop.IP.IsValid() && r.outside[here] != "":
		to.Deliver = max(to.Deliver, ethernet.ToItself)
	case !hop.IP.IsValid():
		to.Deliver = max(to.Deliver, ethernet.ToHosts)
	case link != ethernet.None:
		far := ethernet.End{Device: r.names[r.cabling.Links[link].To], Interface: r.cabling.Links[link].ToInterface}
		if known := r.address[far]; len(known) > 0 && !slices.Contains(known, hop.IP) && !hop.IP.IsLinkLocalUnicast() {
			return r.gap(bad("%s sends %s to %s by %s, and the address of %s there is %s", name, from.Prefix, hop.IP, port, far, known[0]))
		}
		to.Via = append(to.Via, link)
	case r.cut[here]:
		return r.gap(bad("%s sends %s to %s by %s, whose cable is down: were the dumps taken at different times?", name, from.Prefix, hop.IP, port))
	case r.hostSubnet(here, hop.IP):
		to.Deliver = max(to.Deliver, ethernet.ToHosts)
	default:
		to.Deliver = max(to.Deliver, ethernet.Outside)
		where := r.outside[here]
		if where == "" {
			where = "no cable of it is known"
		}
		return r.gap(bad("%s sends %s to %s by %s: %s", name, from.Prefix, hop.IP, port, where))
	}
	return nil
}

// hostSubnet says whether an address is in a subnet for hosts of an interface.
func (r *reading) hostSubnet(e ethernet.End, ip netip.Addr) bool {
	for _, p := range r.prefixes(r.c.devices[e.Device], e.Interface) {
		if !pointToPoint(p) && !p.Addr().IsLinkLocalUnicast() && p.Masked().Contains(ip) {
			return true
		}
	}
	return false
}

// standby gives a dual-ToR switch routes of their own for hosts behind cables that may be
// standby: it may deliver their packets, or wrap them and send them to its peer.
func (r *reading) standby(d ethernet.DeviceID, table []ethernet.Route) []ethernet.Route {
	config := r.c.devices[r.names[d]].config
	if config == nil || config.Tunnel == nil {
		return table
	}
	for _, server := range config.Tunnel.Servers {
		r.wraps = append(r.wraps, wrap{d, server, config.Tunnel.Peer})
		i := slices.IndexFunc(table, func(t ethernet.Route) bool { return t.Prefix == server })
		if i < 0 {
			i = len(table)
			table = append(table, ethernet.Route{Prefix: server, Deliver: ethernet.ToHosts})
		}
		table[i].Wraps = true
	}
	return table
}
