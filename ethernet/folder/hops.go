package folder

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/ethernet/frr"
	"github.com/weft-fabric/weft/internal/words"
)

// convert is a route of a device's dump as a line of its table. counts is false for those that do not belong there: addresses
// of the device itself, link-local and multicast prefixes, and with Options.NoRoutes all except
// subnets of hosts and the addresses where tunnels end.
func (r *gathering) convert(d ethernet.DeviceID, from *frr.Route) (to ethernet.Route, counts bool, err error) {
	to.Prefix = from.Prefix
	if from.Protocol == "local" || from.Prefix.Addr().IsLinkLocalUnicast() || from.Prefix.Addr().IsMulticast() {
		return to, false, nil
	}
	if from.Unknown != "" && !r.o.NoRoutes {
		err := r.gapLike(r.names[d]+from.Unknown, format.Errorf(from.File, from.Line, "the route of %s to %s: %s", r.names[d], from.Prefix, from.Unknown))
		if err != nil {
			return to, false, err
		}
	}
	for _, hop := range from.Hops {
		if r.o.NoRoutes && (hop.IP.IsValid() || !r.connected(d, from, hop)) {
			return to, false, nil
		}
		if err := r.addHop(d, from, hop, &to); err != nil {
			return to, false, err
		}
	}
	counts = !r.o.NoRoutes || to.Deliver == ethernet.ToHosts || to.Deliver == ethernet.ToItself && r.endsTunnel(from.Prefix)
	return to, counts, nil
}

// endsTunnel reports whether a prefix is the address where a tunnel of some device ends.
func (r *gathering) endsTunnel(p netip.Prefix) bool {
	if !p.IsSingleIP() {
		return false
	}
	for _, d := range r.c.devices {
		if d.config != nil && d.config.Tunnel != nil && d.config.Tunnel.Peer == p.Addr() {
			return true
		}
	}
	return false
}

// connected reports whether a route without the address of a next hop is to the subnet of its
// interface, and not one that somebody configured to leave by the interface.
func (r *gathering) connected(d ethernet.DeviceID, from *frr.Route, hop frr.Hop) bool {
	if from.Protocol == "connected" {
		return true
	}
	return slices.ContainsFunc(r.prefixes(r.c.devices[r.names[d]], hop.Interface), func(p netip.Prefix) bool { return p.Masked() == from.Prefix })
}

// addHop adds a next hop of the dumped route from to the route to: as a link, or as a delivery. One that does not tell
// where packets go is a gap.
func (r *gathering) addHop(d ethernet.DeviceID, from *frr.Route, hop frr.Hop, to *ethernet.Route) error {
	name := r.names[d]
	here := ethernet.End{Device: name, Interface: r.c.devices[name].port(hop.Interface)}
	link := r.cabling.LinkAt(d, here.Interface)
	switch {
	case !hop.IP.IsValid() && r.connected(d, from, hop):
		r.deliver(d, from.Prefix, here, link, to)
		return nil
	case r.c.devices[name].loopback(here.Interface) && !hop.IP.IsValid():
		to.Deliver = max(to.Deliver, ethernet.ToItself)
		return nil
	case link != ethernet.None:
		to.Via = append(to.Via, link)
		to.Weights = append(to.Weights, hop.Weight)
		if why := r.elsewhere(link, hop.IP); why != "" {
			return r.unsure(from, hop, here, why)
		}
		return nil
	case r.cut[here]:
		return r.unsure(from, hop, here, "its cable is down: were the dumps taken at different times?")
	case hop.IP.IsValid() && r.hostSubnet(here, hop.IP):
		to.Deliver = max(to.Deliver, ethernet.ToHosts)
		if owners := r.owners[hop.IP]; len(owners) > 0 {
			return r.unsure(from, hop, here, fmt.Sprintf("that is %s, and the cable to it is not known", owners[0]))
		}
		return nil
	default:
		to.Deliver = max(to.Deliver, ethernet.Outside)
		why := "no cable of it is known"
		if out, known := r.outside[here]; known {
			why = out.why
		}
		return r.unsure(from, hop, here, why)
	}
}

// unsure notes a gap: a next hop that does not tell where packets go.
func (r *gathering) unsure(from *frr.Route, hop frr.Hop, here ethernet.End, why string) error {
	target := "out"
	if hop.IP.IsValid() {
		target = "to " + hop.IP.String()
	}
	return r.gapLike(fmt.Sprint(here, hop.IP, why), format.Errorf(from.File, from.Line, "%s sends %s %s by %s: %s", here.Device, from.Prefix, target, hop.Interface, why))
}

// deliver adds to a route that it is to the subnet of an interface: with hosts, unless the subnet is that
// of a loopback interface or of a cable between two devices.
func (r *gathering) deliver(d ethernet.DeviceID, p netip.Prefix, here ethernet.End, link ethernet.LinkID, to *ethernet.Route) {
	dev := r.c.devices[here.Device]
	_, out := r.outside[here]
	switch {
	case dev.loopback(here.Interface) && p.IsSingleIP() || r.cut[here]:
		to.Deliver = max(to.Deliver, ethernet.ToItself)
	case link != ethernet.None && (pointToPoint(p) || r.spans(link, p)):
		to.Deliver = max(to.Deliver, ethernet.ToItself)
	case link == ethernet.None && out && pointToPoint(p):
		to.Deliver = max(to.Deliver, ethernet.ToItself)
		r.leading = append(r.leading, leading{d, p})
	default:
		to.Deliver = max(to.Deliver, ethernet.ToHosts)
	}
}

// spans reports whether a subnet is that of a cable: the port at the other end has an address in the
// subnet, or its addresses are not known.
func (r *gathering) spans(link ethernet.LinkID, p netip.Prefix) bool {
	far := r.far(link)
	known := r.address[far]
	return len(known) == 0 || slices.ContainsFunc(known, func(a netip.Prefix) bool { return p.Contains(a.Addr()) })
}

// far is the port where a link ends.
func (r *gathering) far(link ethernet.LinkID) ethernet.End {
	l := r.cabling.Links[link]
	return ethernet.End{Device: r.names[l.To], Interface: l.ToInterface}
}

// elsewhere says why a next hop over a link is not the device at its other end, or why that device
// forwards by routes of another VRF than the one that is looked at; empty if nothing speaks against it.
func (r *gathering) elsewhere(link ethernet.LinkID, ip netip.Addr) string {
	far := r.far(link)
	dev := r.c.devices[far.Device]
	at := far // the interface that packets come by
	if ip.IsValid() && !ip.IsLinkLocalUnicast() {
		known := r.address[far]
		owners := r.owners[ip]
		there := func(e ethernet.End) bool { return e.Device == far.Device }
		i := slices.IndexFunc(owners, func(e ethernet.End) bool { // in other VRFs it can have the address too
			vrf := dev.vrf(e.Interface)
			return there(e) && (vrf == "" || vrf == r.o.VRF)
		})
		if i < 0 {
			i = slices.IndexFunc(owners, there)
		}
		switch {
		case i >= 0:
			at = owners[i]
		case len(known) > 0:
			return fmt.Sprintf("the address of %s there is %s", far, known[0].Addr())
		case len(owners) > 0:
			return fmt.Sprintf("the cable leads to %s, and the address is that of %s", far, owners[0])
		case len(dev.interfaces) > 0:
			return fmt.Sprintf("the cable leads to %s, which has no such address", far)
		}
	}
	if vrf := dev.vrf(at.Interface); vrf != "" && vrf != r.o.VRF {
		return fmt.Sprintf("%s is in VRF %s there", at, vrf)
	}
	return ""
}

// hostSubnet reports whether an address is in a subnet of a port that has room for hosts.
func (r *gathering) hostSubnet(e ethernet.End, ip netip.Addr) bool {
	return slices.ContainsFunc(r.address[e], func(p netip.Prefix) bool {
		return !pointToPoint(p) && !p.Addr().IsLinkLocalUnicast() && p.Masked().Contains(ip)
	})
}

// settleLeading decides about the subnets of r.leading: one to which another device has a route is taken for that of a
// host, and becomes a route to hosts in the tables ([DeviceID]): a switch with a subnet for each host looks like this. A
// subnet to which nobody else has a route is taken for a cable to a router outside.
func (r *gathering) settleLeading(tables [][]ethernet.Route) {
	if len(r.leading) == 0 {
		return
	}
	routed := r.routed()
	hosts := 0
	for _, l := range r.leading {
		for bits := l.prefix.Bits(); bits > 0; bits-- {
			by, known := routed[netip.PrefixFrom(l.prefix.Addr(), bits).Masked()]
			if !known || by == l.device {
				continue
			}
			i := slices.IndexFunc(tables[l.device], func(t ethernet.Route) bool { return t.Prefix == l.prefix })
			if i < 0 {
				i = len(tables[l.device])
				tables[l.device] = append(tables[l.device], ethernet.Route{Prefix: l.prefix})
			}
			tables[l.device][i].Deliver = max(tables[l.device][i].Deliver, ethernet.ToHosts)
			hosts++
			break
		}
	}
	if hosts > 0 {
		r.note("assumed: hosts are behind %s of two addresses that lead out of the folder, as other devices have routes there", words.Plural(hosts, "subnet"))
	}
	if rest := len(r.leading) - hosts; rest > 0 {
		r.note("assumed: no hosts are behind %s of two addresses that lead out of the folder, as no other device has a route there", words.Plural(rest, "subnet"))
	}
}

// routed is the prefixes that devices send to next hops, with the device that does, or None for
// several.
func (r *gathering) routed() map[netip.Prefix]ethernet.DeviceID {
	by := map[netip.Prefix]ethernet.DeviceID{}
	for d, name := range r.names {
		for i := range r.c.devices[name].routes {
			route := &r.c.devices[name].routes[i]
			if !slices.ContainsFunc(route.Hops, func(h frr.Hop) bool { return h.IP.IsValid() }) {
				continue
			}
			if other, known := by[route.Prefix]; known && other != ethernet.DeviceID(d) {
				by[route.Prefix] = ethernet.None
				continue
			}
			by[route.Prefix] = ethernet.DeviceID(d)
		}
	}
	return by
}
