package folder

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/internal/ethernet/frr"
	"github.com/weft-fabric/weft/internal/ethernet/lldp"
	"github.com/weft-fabric/weft/internal/ethernet/sonic"
	"github.com/weft-fabric/weft/internal/words"
)

// leaveOutManagement takes the ports for management, which are in the default VRF unless somebody moved them, out of what the
// devices say. Their subnet has no hosts of the network, and a default route by them delivers nothing: packets for a prefix
// that a device lost its route to would seem to arrive by it.
func (r *gathering) leaveOutManagement() {
	shared := r.sharedEth0()
	count := 0
	for _, name := range r.names {
		d := r.c.devices[name]
		management := func(port string) bool { return d.forManagement(port) || port == "eth0" && shared[name] }
		onlyThere := func(route *frr.Route) bool { // it has next hops, all by such ports
			return len(route.Hops) > 0 && !slices.ContainsFunc(route.Hops, func(h frr.Hop) bool { return !management(h.Interface) })
		}
		found := false
		for port, in := range d.interfaces {
			if management(port) {
				found = found || in.Up && len(r.prefixes(d, port)) > 0
				delete(d.interfaces, port)
			}
		}
		d.neighbors = slices.DeleteFunc(d.neighbors, func(n lldp.Neighbor) bool { return management(n.Interface) })
		if d.config != nil {
			d.config.Addresses = slices.DeleteFunc(d.config.Addresses, func(a sonic.Address) bool { return management(a.Interface) })
		}
		d.routes = slices.DeleteFunc(d.routes, func(route frr.Route) bool {
			leaves := onlyThere(&route)
			found = found || leaves
			return leaves && (route.Protocol == "connected" || route.Protocol == "local")
		})
		for i := range d.routes {
			route := &d.routes[i]
			if onlyThere(route) {
				route.Hops, route.Unknown = nil, "" // packets are dropped
			}
		}
		if found {
			count++
		}
	}
	if count > 0 {
		r.note("ports for management of %s are left out, and packets that routes send there are dropped", words.Plural(count, "device"))
	}
}

// forManagement reports whether a port is for management by its name alone: eth0 of SONiC, whose other ports are called Ethernet0
// and so on, unless the configuration has priorities or a neighbor for it, and Management1 of EOS.
func (d *device) forManagement(port string) bool {
	if number, eos := strings.CutPrefix(port, "Management"); eos {
		return strings.Trim(number, "0123456789/") == ""
	}
	return port == "eth0" && d.config != nil && d.config.Ports[port] == nil &&
		!slices.ContainsFunc(d.config.Neighbors, func(n sonic.Neighbor) bool { return n.Port == port })
}

// sharedEth0 is the devices whose eth0 is in one subnet with that of others, as in Containerlab, unless LLDP knows a device of
// the folder there or routes lead by it to one: then it is a port like others.
func (r *gathering) sharedEth0() map[string]bool {
	in := map[netip.Prefix][]string{}
	own := map[netip.Addr]bool{}
	for _, name := range r.names {
		d := r.c.devices[name]
		for _, port := range d.interfaceNames() {
			for _, p := range r.prefixes(d, port) {
				own[p.Addr()] = true
				if port == "eth0" && !pointToPoint(p) && !p.IsSingleIP() && !p.Addr().IsLinkLocalUnicast() {
					in[p.Masked()] = append(in[p.Masked()], name)
				}
			}
		}
	}
	shared := map[string]bool{}
	for _, names := range in {
		for _, name := range names {
			shared[name] = shared[name] || len(names) > 1
		}
	}
	for name := range shared {
		d := r.c.devices[name]
		cabled := slices.ContainsFunc(d.neighbors, func(n lldp.Neighbor) bool {
			_, other := r.called(n.Device)
			return n.Interface == "eth0" && other != nil
		})
		routed := slices.ContainsFunc(d.routes, func(route frr.Route) bool {
			return slices.ContainsFunc(route.Hops, func(h frr.Hop) bool { return h.Interface == "eth0" && own[h.IP] })
		})
		shared[name] = shared[name] && !cabled && !routed
	}
	return shared
}
