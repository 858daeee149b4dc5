package topology

import (
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// directors is the family director: one director-class switch with its inner switches (see
// director, of which Deimos has three and Odin one), for instance the 288
// ports from 24-port crossbars in the clusters of the DFSSSP paper: a fat tree of two
// levels and full bisection bandwidth. (T. Hoefler, T. Schneider, A. Lumsdaine:
// Multistage Switches are not Crossbars, CLUSTER 2008.)
//
//	sw-d0-spine-0   …   sw-d0-spine-(L/2-1)     L/2 spine crossbars
//	      │     each leaf to each spine     │
//	sw-d0-leaf-0    …    sw-d0-leaf-(L-1)       L leaf crossbars, Radix/2 cables up
//	    1 … Radix/2           …    Ports        L · Radix/2 = Ports outer ports
//
// Leaf i has outer ports 1 to Radix/2; its cables up are distributed round robin over
// the spines, leaf by leaf. With 24 ports a crossbar, 288 ports are 24 leaves and 12
// spines with one cable between each two; 144 ports are 12 and 6 with two cables.
//
// Hosts take the outer ports from the bottom, one on each leaf round robin. All
// crossbars have the SystemGUID of the first.
//
// Order: the leaves, then the spines; hosts by leaf.
type directors struct {
	Ports int // outer ports, a multiple of Radix/2, up to Radix²/2; zero: 12·Radix, or that limit if it is smaller
	Radix int // ports of a crossbar, even, from 4; zero: 24
	Hosts int // on all leaves in total; zero: Ports
}

func (d *directors) declare(p *params) size {
	even := make([]int, 0, fabric.MaxPorts/2)
	for radix := 4; radix <= fabric.MaxPorts; radix += 2 {
		even = append(even, radix)
	}
	p.choice("radix", &d.Radix, 24, even, "it is an even number from 4 to 254", "ports of a crossbar (default 24)")
	half := max(1, min(d.Radix, fabric.MaxPorts)/2)
	var multiples []int
	for leaves := 2; leaves <= 2*half; leaves++ {
		multiples = append(multiples, leaves*half)
	}
	why := fmt.Sprintf("it is a multiple of radix/2 from %d to %d", 2*half, 2*half*half)
	p.choice("ports", &d.Ports, min(24, 2*half)*half, multiples, why, "outer ports, a multiple of radix/2 (default 24 leaves, or radix)")
	p.number("hosts", &d.Hosts, d.Ports, 1, d.Ports, "hosts on all leaves together (default ports)")
	if p.fault != nil {
		return size{}
	}
	in := d.inside()
	return size{switches: in.leaves + in.spines, hosts: d.Hosts, ports: d.Radix}
}

func (d *directors) inside() director { return directorOf(d.Ports, d.Radix) }

// Build makes the fabric.
func (d directors) Build() (*fabric.Fabric, error) { return built(&d) }

func (d *directors) lay(l *layout) {
	in := d.inside()
	in.add(l, 0, dealHosts(in.outerPorts(), d.Hosts))
}

func (d directors) String() string { return specOf(&d) }

// director is the inner switches of one director of a cluster.
type director struct {
	radix          int // ports of a crossbar; half of those of a leaf are outer ports
	leaves, spines int
}

func directorOf(ports, radix int) director {
	leaves := ports / (radix / 2)
	return director{radix: radix, leaves: leaves, spines: ceilDiv(leaves, 2)}
}

// outerPorts is the number of outer ports of each leaf.
func (d director) outerPorts() []int {
	return slices.Repeat([]int{d.radix / 2}, d.leaves)
}

// add adds the crossbars of the director with a number, and hosts[i] hosts on leaf i; it
// returns the switch number of the first leaf.
func (d director) add(l *layout, number int, hosts []int) int {
	first := len(l.switches)
	for i := range d.leaves {
		l.addCrossbar(fmt.Sprintf("sw-d%d-leaf-%d", number, i), d.radix, first)
	}
	for j := range d.spines {
		l.addCrossbar(fmt.Sprintf("sw-d%d-spine-%d", number, j), d.radix, first)
	}
	for i, n := range hosts {
		l.addHosts(first+i, n)
	}
	dealUp(l, countUp(first, d.leaves), d.radix/2, d.radix/2, countUp(first+d.leaves, d.spines))
	return first
}
