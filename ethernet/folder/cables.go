package folder

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/format"
)

// claim is what somebody says is at the other end of an interface.
type claim struct {
	to   ethernet.End
	by   string // LLDP, DEVICE_NEIGHBOR or a subnet
	file string
	line int
}

func (c claim) error(msg string, args ...any) error {
	if c.file == "" {
		return fmt.Errorf("ethernet: "+msg, args...)
	}
	return format.Errorf(c.file, c.line, msg, args...)
}

// cable finds all cables.
func (r *reading) cable() error {
	for _, name := range r.names {
		for _, n := range r.c.devices[name].neighbors {
			if err := r.neighbor(name, n.Interface, n.Device, []string{n.Port, n.Descr}, claim{by: "LLDP", file: n.File, line: n.Line}); err != nil {
				return err
			}
		}
	}
	for _, name := range r.names {
		config := r.c.devices[name].config
		if config == nil {
			continue
		}
		for _, n := range config.Neighbors {
			if err := r.neighbor(name, n.Port, n.Device, []string{n.Peer}, claim{by: "DEVICE_NEIGHBOR", file: config.File, line: n.Line}); err != nil {
				return err
			}
		}
	}
	if err := r.subnets(); err != nil {
		return err
	}
	return r.build()
}

// neighbor takes what a device says of the other end of one of its ports.
func (r *reading) neighbor(name, port, device string, ports []string, c claim) error {
	here := ethernet.End{Device: name, Interface: r.c.devices[name].port(port)}
	other := r.c.devices[device]
	if other == nil {
		if r.outside[here] == "" {
			r.outside[here] = fmt.Sprintf("%s has %s there, which is not in the folder", c.by, device)
		}
		return nil
	}
	c.to = ethernet.End{Device: device, Interface: other.named(ports)}
	return r.plug(here, c)
}

// named is the interface of a device that another calls by any of these names: the first
// that the device has, by name, alias or MAC address, or else the first at all.
func (d *device) named(names []string) string {
	for _, name := range names {
		port := d.port(name)
		if port != name || d.interfaces[name] != nil {
			return port
		}
		for _, in := range d.interfaces {
			if in.MAC != "" && in.MAC == name {
				return d.port(in.Name)
			}
		}
	}
	for _, name := range names {
		if name != "" {
			return d.port(name)
		}
	}
	return ""
}

// plug notes a claim in both directions, and refuses one that contradicts.
func (r *reading) plug(here ethernet.End, c claim) error {
	back := c
	back.to = here
	for _, side := range [...]struct {
		end ethernet.End
		c   claim
	}{{here, c}, {c.to, back}} {
		before, taken := r.plugged[side.end]
		if taken && before.to != side.c.to {
			return r.gap(side.c.error("two cables at %s: %s has it go to %s, and %s to %s", side.end, before.by, before.to, side.c.by, side.c.to))
		}
	}
	for _, side := range [...]struct {
		end ethernet.End
		c   claim
	}{{here, c}, {c.to, back}} {
		if _, taken := r.plugged[side.end]; !taken {
			r.plugged[side.end] = side.c
		}
	}
	return nil
}

// prefixes is the addresses of an interface in the VRF.
func (r *reading) prefixes(d *device, name string) []netip.Prefix {
	var list []netip.Prefix
	if in := d.interfaces[name]; in != nil && (in.VRF == "" || in.VRF == r.o.VRF) {
		list = in.Addresses
	}
	if d.config != nil {
		for _, a := range d.config.Addresses {
			if a.Interface == name && !slices.Contains(list, a.Prefix) {
				list = append(slices.Clone(list), a.Prefix)
			}
		}
	}
	return list
}

// pointToPoint says whether a prefix has room for two ends only.
func pointToPoint(p netip.Prefix) bool {
	hostBits := p.Addr().BitLen() - p.Bits()
	return hostBits == 1 || hostBits == 2
}

// subnets notes the addresses of all interfaces, and takes two that share a subnet of two
// addresses for the ends of a cable.
func (r *reading) subnets() error {
	ends := map[netip.Prefix][]ethernet.End{}
	var order []netip.Prefix
	for _, name := range r.names {
		d := r.c.devices[name]
		for _, in := range d.interfaceNames() {
			e := ethernet.End{Device: name, Interface: d.port(in)}
			for _, p := range r.prefixes(d, in) {
				r.address[e] = append(r.address[e], p.Addr())
				if !pointToPoint(p) || p.Addr().IsLinkLocalUnicast() || d.loopback(in) {
					continue
				}
				if m := p.Masked(); ends[m] == nil {
					order = append(order, m)
				}
				ends[p.Masked()] = append(ends[p.Masked()], e)
			}
			if up := d.interfaces[in]; up != nil && !up.Up {
				r.cut[e] = true
			}
		}
	}
	for _, p := range order {
		switch list := ends[p]; len(list) {
		case 1:
			if _, cabled := r.plugged[list[0]]; !cabled && r.outside[list[0]] == "" {
				r.outside[list[0]] = fmt.Sprintf("nobody else in the folder has an address in %s", p)
			}
		case 2:
			if err := r.plug(list[0], claim{to: list[1], by: "the subnet " + p.String()}); err != nil {
				return err
			}
		default:
			if err := r.gap(fmt.Errorf("ethernet: %d interfaces have addresses in %s: %s, %s, %s", len(list), p, list[0], list[1], list[2])); err != nil {
				return err
			}
		}
	}
	return nil
}

// interfaceNames is the interfaces that a device has by either dump, in order.
func (d *device) interfaceNames() []string {
	list := slices.Collect(maps.Keys(d.interfaces))
	if d.config != nil {
		for _, a := range d.config.Addresses {
			list = append(list, a.Interface)
		}
	}
	slices.SortFunc(list, ethernet.Natural)
	return slices.Compact(list)
}

// build makes the cabling of the cables that are up.
func (r *reading) build() error {
	var cables []ethernet.Cable
	down := 0
	connected := map[string]bool{}
	for here, c := range r.plugged {
		connected[here.Device] = true
		if ethernet.Natural(here.String(), c.to.String()) > 0 {
			continue // the other direction brings it
		}
		if r.cut[here] || r.cut[c.to] {
			r.cut[here], r.cut[c.to] = true, true
			down++
			continue
		}
		cables = append(cables, ethernet.Cable{A: here, B: c.to})
	}
	if down > 0 {
		r.note("%d of %d cables down, and left out", down, down+len(cables))
	}
	var alone []string
	for _, name := range r.names {
		if !connected[name] {
			alone = append(alone, name)
		}
	}
	if len(alone) > 0 && len(r.names) > 1 {
		if err := r.gap(fmt.Errorf("ethernet: no cable of %s is known: give NAME.lldp.json (lldpcli -f json show neighbors) or NAME.interface.json (vtysh -c 'show interface json')", few(alone))); err != nil {
			return err
		}
	}
	slices.SortFunc(cables, func(a, b ethernet.Cable) int { return ethernet.Natural(a.A.String(), b.A.String()) })
	var err error
	r.cabling, err = ethernet.NewCabling(r.names, cables)
	return err
}
