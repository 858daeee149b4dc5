package topology

import "github.com/weft-fabric/weft/fabric"

// planes is a large cluster as clusters grow in practice, with the properties that make
// such trees hard to route: three levels of switches of P ports; the spines of a group
// on planes that share no switch above; and tails, which are leaves that were added
// behind a leaf by several parallel cables. It is not taken from a paper.
//
//	tops      sw-l2-j-0 … sw-l2-j-(Tops-1)        of plane j, and of no other
//	             │  Up cables of each spine, distributed round robin
//	spines    sw-l1-g-j                            group g's spine on plane j; of several
//	             │                                 (wide) sw-l1-g-j-0 … sw-l1-g-j-(Wide-1)
//	             │  one cable to each leaf of the group
//	leaves    sw-l0-g-0 … sw-l0-g-(Leaves-1)       with hosts on the ports left over
//	             ║  Trunk cables from the last leaf, in the first Tails groups
//	tail      sw-tail-g-0 ═ sw-tail-g-1 …          a chain of Tail leaves
//
// Group g is on the On planes g, g+1, … mod Planes. If these are all planes, every two
// hosts outside the tails have a switch above both; if not, groups on different planes
// are connected only through leaves of others. Two spines of different planes never
// have a switch above both.
//
// A network of 666 switches and 4,341 hosts: seven of the 14 groups have two leaves
// behind their last one, and five pairs of groups have no plane in common, so that
// shortest paths go up again at leaves and close credit loops:
//
//	planes:groups=14,leaves=26,on=9,up=10,hosts=4341
//
// the same size with all groups on all planes, where shortest paths do not:
//
//	planes:groups=14,hosts=4341
//
// with two spines of a group on each of nine planes, where not all spines can reach each
// other:
//
//	planes:groups=14,planes=9,wide=2,hosts=4341
//
// and small ones with the properties of the first and the last:
//
//	planes:ports=8,groups=3,leaves=3,on=2,tails=2,trunk=2
//	planes:ports=8,groups=3,planes=2,wide=2,tails=2,trunk=2
//
// Order: group by group, its leaves, then its tail; then the spines by group and plane;
// then the tops by plane. Hosts are distributed over all leaves, one to each round
// robin while it has a free port. Ports: hosts on the lowest; the highest On ports of a
// leaf lead up to its spines by plane, the Trunk ports below those to its tail; in a
// tail the highest Trunk ports lead up and the Trunk ports below those to the next
// leaf. Spines have their leaves on ports 1 to Leaves and the cables up on the ports
// after those.
type planes struct {
	P      int // ports of a switch, from 6; zero: 36
	Groups int // groups of leaves
	Leaves int // in each group, without its tail; zero: P/2-1
	Planes int // planes of spines and tops; zero: P/2
	Wide   int // spines of a group on each of its planes; zero: 1
	On     int // planes that a group is on; zero: all
	Up     int // cables from a spine to the tops; zero: P/2
	Tops   int // in each plane; zero: P/4, or as many as the cables of its spines need
	Tails  int // groups with a tail; zero: half of them
	Tail   int // leaves in a tail; zero: 2
	Trunk  int // parallel cables between two switches of a tail; zero: 2P/5
	Hosts  int // in total; zero: as many as there are ports for
}

func (t *planes) declare(p *params) size {
	p.number("ports", &t.P, 36, 6, fabric.MaxPorts, "ports of a switch (default 36)")
	ports := min(max(t.P, 6), fabric.MaxPorts)
	p.number("groups", &t.Groups, 0, 1, int(fabric.MaxLID)/4, "groups of leaves")
	p.number("leaves", &t.Leaves, ports/2-1, 1, ports-1, "leaves in each group, its tail not counted (default ports/2-1)")
	p.number("planes", &t.Planes, ports/2, 1, int(fabric.MaxLID)/4, "planes of spines and tops (default ports/2)")
	p.number("wide", &t.Wide, 1, 1, max(1, (ports-2)/t.leastOn()), "spines of a group on each of its planes (default 1)")
	wide := min(max(1, t.Wide), ports)
	p.number("on", &t.On, max(1, min(t.Planes, max(ports/2/wide, t.leastOn()))), t.leastOn(), max(1, min(t.Planes, (ports-2)/wide)), "planes that each group is on (default all, up to ports/2 spines)")
	p.number("up", &t.Up, max(1, min(ports/2, ports-t.Leaves)), 1, max(1, ports-t.Leaves), "cables from each spine to the tops of its plane (default ports/2)")
	need := max(1, ceilDiv(product(max(1, t.groupsOn()), wide, max(1, t.Up)), ports))
	p.number("tops", &t.Tops, max(need, min(ports/4, t.Up)), need, max(1, t.Up), "tops of each plane (default ports/4); each spine has a cable to all of them")
	p.number("tails", &t.Tails, max(1, t.Groups/2), 1, max(1, t.Groups), "groups with a tail (default half of them)")
	p.number("tail", &t.Tail, 2, 1, int(fabric.MaxLID)/4, "leaves in each tail, one behind the other (default 2)")
	most := max(1, min(ports-product(max(1, t.On), wide), (ports-1)/min(2, max(1, t.Tail))))
	p.number("trunk", &t.Trunk, max(1, min(2*ports/5, most)), 1, most, "cables that join a tail, and each of its leaves to the next (default 2/5 of ports)")
	if p.fault != nil {
		p.number("hosts", &t.Hosts, 1, 1, saturated, hostsInAll)
		return size{}
	}
	leaves := t.Groups*t.Leaves + product(t.Tails, t.Tail)
	var room int
	if leaves <= int(fabric.MaxLID) {
		for _, n := range t.free() {
			room += n
		}
	}
	p.number("hosts", &t.Hosts, max(1, room), 1, max(1, room), hostsInAll)
	return size{
		switches: min(saturated, leaves+product(t.Groups, t.On, t.Wide)+product(t.Planes, t.Tops)),
		hosts:    t.Hosts,
		ports:    t.P,
	}
}

const hostsInAll = "hosts on all leaves together (default as many as there are ports for)"

// leastOn is the least number of planes for each group such that every plane has a
// group and all groups are connected.
func (t *planes) leastOn() int { return max(1, min(2, t.Planes), t.Planes-t.Groups+1) }

// groupsOn is the largest number of groups on a plane.
func (t *planes) groupsOn() int {
	if t.Planes < 1 || t.On >= t.Planes {
		return t.Groups
	}
	return product(max(0, t.Groups/t.Planes), max(0, t.On)) + min(max(0, t.On), t.Groups%t.Planes)
}

// spines is the number of spines of a group.
func (t *planes) spines() int { return t.On * t.Wide }

// free is the number of ports for hosts of every leaf, by group, those of the tail
// last.
func (t *planes) free() []int {
	var free []int
	for g := range t.Groups {
		for range t.Leaves {
			free = append(free, t.P-t.spines())
		}
		if g >= t.Tails {
			continue
		}
		free[len(free)-1] -= t.Trunk
		for i := range t.Tail {
			n := t.P - t.Trunk
			if i+1 < t.Tail {
				n -= t.Trunk
			}
			free = append(free, n)
		}
	}
	return free
}

// Build makes the fabric.
func (t planes) Build() (*fabric.Fabric, error) { return built(&t) }

func (t *planes) lay(l *layout) {
	first := make([]int, t.Groups) // [group] its first leaf
	for g := range t.Groups {
		first[g] = len(l.switches)
		for i := range t.Leaves {
			l.addSwitch(levelName(0, []int{g, i}), t.P)
		}
		for i := range t.Tail {
			if g < t.Tails {
				l.addSwitch(named("sw-tail", g, i), t.P)
			}
		}
	}
	for leaf, n := range dealHosts(t.free(), t.Hosts) {
		l.addHosts(leaf, n)
	}
	members := make([][]int, t.Planes) // [plane] its spines
	for g := range t.Groups {
		t.cableGroup(l, g, first[g], members)
	}
	for plane, spines := range members {
		tops := make([]int, t.Tops)
		for i := range tops {
			tops[i] = l.addSwitch(levelName(2, []int{plane, i}), t.P)
		}
		dealUp(l, spines, t.Leaves, t.Up, tops)
	}
}

// cableGroup adds the spines of group g, whose first leaf has number leaf: to the network, and
// to members, by plane. It cables the leaves to them, and the tail.
func (t *planes) cableGroup(l *layout, g, leaf int, members [][]int) {
	for i := range t.spines() {
		plane := (g + i/t.Wide) % t.Planes
		name := []int{g, plane}
		if t.Wide > 1 {
			name = append(name, i%t.Wide)
		}
		spine := l.addSwitch(levelName(1, name), t.P)
		members[plane] = append(members[plane], spine)
		for k := range t.Leaves {
			l.cable(leaf+k, t.P-t.spines()+1+i, spine, 1+k)
		}
	}
	if g >= t.Tails {
		return
	}
	last := leaf + t.Leaves - 1
	top := t.P - t.spines() // the highest port of the switch before that leads further into the tail
	for i := range t.Tail {
		for c := range t.Trunk {
			l.cable(last+i, top-t.Trunk+1+c, last+i+1, t.P-t.Trunk+1+c)
		}
		top = t.P - t.Trunk
	}
}

func (t planes) String() string { return specOf(&t) }
