package folder

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/ethernet/sonic"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/words"
)

// claim is what a source says is at the other end of a port.
type claim struct {
	to   ethernet.End
	by   string // LLDP, DEVICE_NEIGHBOR or a subnet
	why  string // of a port that leads out of the folder, in place of to: what says so
	file string // empty: of several
	line int
}

// error is an error with the claim's place in a file, if it has one.
func (c claim) error(msg string, args ...any) error {
	if c.file == "" {
		return fmt.Errorf(msg, args...)
	}
	return format.Errorf(c.file, c.line, msg, args...)
}

// cable makes r.cabling of what both ends, and several sources, say of each cable: LLDP first, then
// DEVICE_NEIGHBOR, then subnets. Read calls it when all files have been read; routes come after it.
func (r *gathering) cable() error {
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
			if err := r.neighbor(name, n.Port, n.Device, []string{n.Peer}, claim{by: "DEVICE_NEIGHBOR", file: cmp.Or(config.NeighborsFile, config.File), line: n.Line}); err != nil {
				return err
			}
		}
	}
	if err := r.subnets(); err != nil {
		return err
	}
	return r.build()
}

// neighbor notes what device name says of the other end of one of its ports: device, and there the port that
// has one of the names ports. c has the source.
func (r *gathering) neighbor(name, port, device string, ports []string, c claim) error {
	here := ethernet.End{Device: name, Interface: r.c.devices[name].port(port)}
	device, other := r.called(reading.Printable(device))
	if other == nil {
		if before, cabled := r.plugged[here]; cabled {
			return r.gap(c.error("two cables at %s: %s has it go to %s, and %s to %s, which is not in the folder", here, before.by, before.to, c.by, device))
		}
		if _, known := r.outside[here]; !known {
			c.why = fmt.Sprintf("%s has %s there, which is not in the folder", c.by, device)
			r.outside[here] = c
		}
		return nil
	}
	c.to = ethernet.End{Device: device, Interface: other.named(ports)}
	if r.c.devices[name].lostMember(port) || other.lostMember(c.to.Interface) {
		r.members = true
		return nil // the subnet of the port channel may tell its cable
	}
	return r.plug(here, c)
}

// called is the device that others call by a name, and its name in the folder: the name is that, the host name of
// its configuration, or either with a domain behind. The device is nil, and the name as given, if there is none.
func (r *gathering) called(name string) (string, *device) {
	if d := r.c.devices[name]; d != nil {
		return name, d
	}
	short, _, _ := strings.Cut(name, ".")
	for _, n := range [...]string{name, short} {
		for _, own := range r.names {
			if d := r.c.devices[own]; own == n || d.config != nil && d.config.Hostname == n {
				return own, d
			}
		}
	}
	return name, nil
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

// plug notes a claim in r.plugged in both directions, the first one of each port; one that contradicts is a gap.
func (r *gathering) plug(here ethernet.End, c claim) error {
	if here.Device == c.to.Device {
		return r.gap(c.error("a cable from %s to %s, on the same device, by %s", here, c.to.Interface, c.by))
	}
	for _, end := range [...]ethernet.End{here, c.to} {
		if out, known := r.outside[end]; known {
			other := c.to
			if end == c.to {
				other = here
			}
			return r.gap(out.error("two cables at %s: %s, and %s has it go to %s", end, out.why, c.by, other))
		}
	}
	reverse := c
	reverse.to = here
	sides := [...]struct {
		end ethernet.End
		c   claim
	}{{here, c}, {c.to, reverse}}
	for _, side := range sides {
		before, taken := r.plugged[side.end]
		if taken && before.to != side.c.to {
			place := side.c
			if place.file == "" { // subnets are told in several files
				place = before
			}
			return r.gap(place.error("two cables at %s: %s has it go to %s, and %s to %s", side.end, before.by, before.to, side.c.by, side.c.to))
		}
	}
	for _, side := range sides {
		if _, taken := r.plugged[side.end]; !taken {
			r.plugged[side.end] = side.c
		}
	}
	return nil
}

// vrf is the VRF of an interface; empty if it is not known.
func (d *device) vrf(name string) string {
	if in := d.interfaces[name]; in != nil && in.VRF != "" {
		return in.VRF
	}
	if d.config == nil {
		return ""
	}
	if vrf := d.config.VRF[name]; vrf != "" {
		return vrf
	}
	if slices.ContainsFunc(d.config.Addresses, func(a sonic.Address) bool { return a.Interface == name }) {
		return defaultVRF
	}
	return ""
}

// inVRF reports whether a device has an interface in a VRF, or may have one.
func (d *device) inVRF(vrf string) bool {
	return len(d.interfaces) == 0 || slices.ContainsFunc(d.interfaceNames(), func(name string) bool { return d.vrf(name) == "" || d.vrf(name) == vrf })
}

// addresses is those of an interface, in whatever VRF it is.
func (d *device) addresses(name string) []netip.Prefix {
	var list []netip.Prefix
	if in := d.interfaces[name]; in != nil {
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

// prefixes is the addresses of an interface if it is in the VRF.
func (r *gathering) prefixes(d *device, name string) []netip.Prefix {
	if vrf := d.vrf(name); vrf != "" && vrf != r.o.VRF {
		return nil
	}
	return d.addresses(name)
}

// pointToPoint reports whether a prefix has room for two ends only.
func pointToPoint(p netip.Prefix) bool {
	hostBits := p.Addr().BitLen() - p.Bits()
	return hostBits == 1 || hostBits == 2
}

// subnets notes the addresses of all interfaces (r.owners, r.address) and which ports are down (r.cut), and takes two
// interfaces that share a subnet of two addresses for the ends of a cable. One that has such a subnet alone leads out of
// the folder.
func (r *gathering) subnets() error {
	ends := map[netip.Prefix][]ethernet.End{}
	var order []netip.Prefix
	for _, name := range r.names {
		d := r.c.devices[name]
		for _, in := range d.interfaceNames() {
			e := ethernet.End{Device: name, Interface: d.port(in)}
			for _, p := range d.addresses(in) {
				r.owners[p.Addr()] = append(r.owners[p.Addr()], ethernet.End{Device: name, Interface: in})
			}
			if up := d.interfaces[in]; up != nil && !up.Up && !d.member(in) { // a port channel does without a member
				r.cut[e] = r.cut[e] || !d.sub(in)
				if d.sub(in) {
					continue
				}
			}
			for _, p := range r.prefixes(d, in) {
				r.address[e] = append(r.address[e], p)
				if !pointToPoint(p) || p.Addr().IsLinkLocalUnicast() || d.loopback(in) {
					continue
				}
				if m := p.Masked(); ends[m] == nil {
					order = append(order, m)
				}
				ends[p.Masked()] = append(ends[p.Masked()], e)
			}
		}
	}
	alone := map[ethernet.End]claim{}
	for _, p := range order {
		switch list := ends[p]; len(list) {
		case 1:
			_, cabled := r.plugged[list[0]]
			if _, known := r.outside[list[0]]; !cabled && !known {
				alone[list[0]] = claim{why: fmt.Sprintf("nobody else in the folder has an address in %s", p)}
			}
		case 2:
			if err := r.plug(list[0], claim{to: list[1], by: "the subnet " + p.String()}); err != nil {
				return err
			}
		default:
			if err := r.gap(fmt.Errorf("%d interfaces have addresses in %s: %s, %s, %s", len(list), p, list[0], list[1], list[2])); err != nil {
				return err
			}
		}
	}
	for end, c := range alone { // a port can have other subnets that make a cable
		if _, cabled := r.plugged[end]; !cabled {
			r.outside[end] = c
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
	slices.SortFunc(list, words.Natural)
	return slices.Compact(list)
}

// build makes r.cabling of the cables that are up, and marks both ends of the others in r.cut.
func (r *gathering) build() error {
	var cables []ethernet.Cable
	down := 0
	connected := map[string]bool{}
	for here, c := range r.plugged {
		connected[here.Device] = true
		if words.Natural(here.String(), c.to.String()) > 0 {
			continue // the other direction brings it
		}
		if r.cut[here] || r.cut[c.to] {
			r.cut[here], r.cut[c.to] = true, true
			down++
			continue
		}
		cables = append(cables, ethernet.Cable{A: here, B: c.to})
	}
	if r.members {
		r.note("what LLDP says of members of port channels is left out, as nobody names their port channel: give NAME.interface.json from ip -j -d address show, which does")
	}
	if down > 0 {
		r.note("%d of %d cables down, and left out", down, down+len(cables))
	}
	var alone []string
	for _, name := range r.names {
		if !connected[name] && r.c.devices[name].inVRF(r.o.VRF) {
			alone = append(alone, name)
		}
	}
	if len(alone) > 0 && len(r.names) > 1 {
		give := "NAME.lldp.json (lldpcli -f json show neighbors) or NAME.interface.json (vtysh -c 'show interface json')"
		if r.members {
			give = "NAME.interface.json from ip -j -d address show, which names the port channels of the ports that LLDP tells"
		}
		if err := r.gap(fmt.Errorf("no cable of %s is known: give %s", few(alone), give)); err != nil {
			return err
		}
	}
	slices.SortFunc(cables, func(a, b ethernet.Cable) int { return words.Natural(a.A.String(), b.A.String()) })
	var err error
	r.cabling, err = ethernet.NewCabling(r.names, cables)
	return err
}
