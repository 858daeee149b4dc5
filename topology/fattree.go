package topology

import "github.com/weft-fabric/weft/fabric"

// fatTree is the fat tree of two or three levels of switches with P ports each (C.
// Clos: A Study of Non-Blocking Switching Networks, Bell System Technical Journal
// 32(2), 1953, folded; C. E. Leiserson: Fat-Trees, IEEE Transactions on Computers
// C-34(10), 1985), with any oversubscription. T. Hoefler, T. Schneider and A. Lumsdaine
// route it with 24 ports (Optimized Routing for Large-Scale InfiniBand Networks, HOTI
// 2009, Figure 4c).
//
//	two levels                          three levels
//
//	sw-l1-0 … sw-l1-(S-1)  tops         sw-l2-0-0 … sw-l2-(U-1)-(S-1)       tops
//	    │  each to each │                    │   plane j: agg j of each pod  │
//	sw-l0-0 … sw-l0-(L-1)  leaves       ┌─ sw-l1-0-j, j < U  aggs ┐     ┌───────┐
//	  Hosts down, U up                  │      each to each       │  …  │ Pods  │
//	                                    └─ sw-l0-0-i  Leaves ─────┘     └───────┘
//
// A leaf has Hosts ports down and the other U = P - Hosts up: the oversubscription is
// Hosts:U, one to one by default. With three levels a pod has Leaves leaves and U
// middle switches ("aggs"), with one cable between each two; an agg has Leaves ports
// down and P - Leaves up, which may be oversubscribed too. The aggs of all pods with
// the same number form a plane and have tops of their own.
//
// There are as many tops as the cables to them need: S = ⌈L·U/P⌉ for two levels, and
// ⌈Pods·(P-Leaves)/P⌉ in each plane for three. The cables are distributed over them
// round robin, so that every leaf (agg) reaches all tops (of its plane), by several
// cables if the tree is smaller than it could be. Full trees have P leaves, or P pods.
//
//	fattree:ports=24,hosts=16            24 leaves and 8 tops: 384 hosts, 2:1
//	fattree:ports=24,leaves=12           12 leaves and 6 tops: the 144-port director
//	fattree:ports=36,levels=3            11,664 hosts, full bisection bandwidth
//	fattree:ports=36,levels=3,pods=12,hosts=24     5,184 hosts, 2:1
//
// Order: by level, leaves first; in a level by pod (plane), then by number. Ports:
// those down, then those up; ports of a top that get no cable are unused.
type fatTree struct {
	P      int // ports of a switch, from 2
	Levels int // 2 or 3; zero: 2
	Hosts  int // on each leaf, up to P-1; zero: P/2
	Leaves int // number of leaves, up to P; with three levels, in each pod, up to P-1; zero: P, or P/2
	Pods   int // number of pods, up to P with three levels, else 1; zero: P with three levels
}

func (t *fatTree) declare(p *params) size {
	p.number("ports", &t.P, 0, 2, fabric.MaxPorts, "ports of a switch")
	p.number("levels", &t.Levels, 2, 2, 3, "levels of switches (default 2)")
	p.number("hosts", &t.Hosts, max(1, t.P/2), 1, t.P-1, "hosts on each leaf (default ports/2); the other ports lead up")
	if t.Levels == 2 {
		p.number("leaves", &t.Leaves, t.P, 1, t.P, leavesMeaning)
		p.number("pods", &t.Pods, 1, 1, 1, podsMeaning)
	} else {
		p.number("leaves", &t.Leaves, max(1, t.P/2), 1, t.P-1, leavesMeaning)
		p.number("pods", &t.Pods, t.P, 1, t.P, podsMeaning)
	}
	if p.fault != nil {
		return size{}
	}
	leaves, up := product(t.Pods, t.Leaves), t.P-t.Hosts
	need := size{switches: leaves + t.tops(), hosts: product(leaves, t.Hosts), ports: t.P}
	if t.Levels == 3 {
		need.switches = leaves + t.Pods*up + up*t.tops()
	}
	return need
}

const (
	leavesMeaning = "leaves (default ports), with three levels of each pod (default ports/2)"
	podsMeaning   = "pods, with three levels (default ports)"
)

// tops is the number of top switches, in each plane if there are three levels.
func (t *fatTree) tops() int {
	if t.Levels == 2 {
		return ceilDiv(t.Leaves*(t.P-t.Hosts), t.P)
	}
	return ceilDiv(t.Pods*(t.P-t.Leaves), t.P)
}

// Build makes the fabric.
func (t fatTree) Build() (*fabric.Fabric, error) { return built(&t) }

func (t *fatTree) lay(l *layout) {
	up := t.P - t.Hosts
	if t.Levels == 2 {
		leaves := t.addLevel(l, 0, t.Leaves)
		tops := t.addLevel(l, 1, t.tops())
		t.hangHosts(l, leaves)
		dealUp(l, leaves, t.Hosts, up, tops)
		return
	}
	leaves := t.addLevel(l, 0, t.Pods, t.Leaves)
	aggs := t.addLevel(l, 1, t.Pods, up)
	tops := t.addLevel(l, 2, up, t.tops())
	t.hangHosts(l, leaves)
	for pod := range t.Pods {
		dealUp(l, leaves[pod*t.Leaves:][:t.Leaves], t.Hosts, up, aggs[pod*up:][:up])
	}
	for plane := range up {
		lower := make([]int, t.Pods)
		for pod := range lower {
			lower[pod] = aggs[pod*up+plane]
		}
		dealUp(l, lower, t.Leaves, t.P-t.Leaves, tops[plane*t.tops():][:t.tops()])
	}
}

// addLevel adds the switches of a level, whose names are numbers in a mixed radix, and
// returns their switch numbers.
func (t *fatTree) addLevel(l *layout, level int, radix ...int) []int {
	first, n := len(l.switches), product(radix...)
	at := make([]int, len(radix))
	for s := range n {
		digitsOf(s, radix, at)
		l.addSwitch(levelName(level, at), t.P)
	}
	return countUp(first, n)
}

func (t *fatTree) hangHosts(l *layout, leaves []int) {
	for _, leaf := range leaves {
		l.addHosts(leaf, t.Hosts)
	}
}

func (t fatTree) String() string { return specOf(&t) }
