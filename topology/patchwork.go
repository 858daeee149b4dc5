package topology

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// patchwork is a machine room as it comes about over the years: a tree in which hardly
// anything is as in another part of it. It is not taken from a paper; what it draws was seen
// in the field. Everything that is not given is drawn by the seed, each parameter from the
// range that its text names, and what is given changes nothing of what is drawn for the
// others:
//
//	patchwork:seed=7            patchwork:seed=7,tails=0,missing=30
//
//	tops      sw-top-T, or directors: sw-dD-leaf-I under sw-dD-spine-J
//	             │  cables of each mid, dealt out over all tops: a top reaches a leaf by several mids
//	mids      sw-pP-mid-M          as many as the cables of the pod's leaves need
//	             │  1 to Parallel cables
//	leaves    sw-pP-leaf-L         hosts by its own oversubscription, some without any
//	             ║
//	tails     sw-tail-N            behind a leaf, a mid or a top; some are behind a tail
//
// With two levels there are no mids, pods differ in their date only, and leaves are no more
// than a top has ports, so that most reach all of them; except below directors.
//
//   - A pod has from half to one and a half times Leaves leaves, its own number of cables
//     between two switches up to Parallel, and its own oversubscription up to Over, from which
//     leaves differ. Pods of an older date, Old in a hundred, have slower hosts and cables.
//   - With Rails above 1 hosts have so many adapters, each on another leaf of a set.
//   - Hosts are named rack by rack, and racks are in another order than their leaves; in one
//     of three, hosts alternate between two leaves.
//   - Missing cables, in thousandths, lie in groups of up to six on a switch, as behind a
//     line card; none is taken without which the network would be in parts.
//   - In a hundred switches Sharp have an aggregation node; Upper hosts are on mids or tops.
//
// Order: by pod, its switches as they were delivered, which is drawn, then tops and
// directors, then tails; hosts by rack. Switches have Ports ports or as many as they need.
// Ports: hosts on the lowest, then cables as they were laid. The draws are math/rand/v2's
// PCG with Seed and a constant stream.
type patchwork struct {
	Seed     uint64
	P        int // ports of a switch
	Levels   int // 2 or 3, directors not counted
	Pods     int
	Leaves   int // of a pod, about
	Hosts    int // on a leaf at most
	Over     int // most oversubscription, in hundredths
	Parallel int // most cables between two switches
	Rails    int // adapters of a host

	// One more than the number, so that zero means drawn.
	Directors, Tails, Upper, Sharp, Old, Missing int
}

// patchworkStream is the second half of the PCG seed: "weft" and "patc" in ASCII.
const patchworkStream = 0x77656674_70617463

func (t *patchwork) declare(p *params) size {
	p.seed(&t.Seed, "of all that is not given (default 0)")
	rng := rand.New(rand.NewPCG(t.Seed, patchworkStream))
	// Small is likelier than large: the logarithm is drawn.
	between := func(lo, hi int) int {
		return int(math.Exp(math.Log(float64(lo)) + rng.Float64()*math.Log(float64(hi+1)/float64(lo))))
	}
	// From 1 to most, with the probability often; otherwise 0.
	some := func(often float64, most int) int {
		n := between(1, most)
		if rng.Float64() >= often {
			return 0
		}
		return n
	}
	p.number("ports", &t.P, []int{24, 36, 36, 36, 40, 40, 64}[rng.IntN(7)], 8, fabric.MaxPorts/2, "ports of a switch (drawn: 24, 36, 40 or 64)")
	p.number("levels", &t.Levels, 2+min(1, rng.IntN(3)), 2, 3, "levels of switches, without directors and tails (drawn)")
	p.number("pods", &t.Pods, between(2, 12), 1, 200, "pods, each of a date of its own (drawn: 2 to 12)")
	p.number("leaves", &t.Leaves, between(3, 18), 1, 200, "leaves of a pod, which has from half to one and a half times as many (drawn: 3 to 18)")
	p.number("hosts", &t.Hosts, between(8, 40), 1, 120, "most hosts on a leaf (drawn: 8 to 40)")
	p.number("over", &t.Over, between(100, 250), 100, 1000, "most oversubscription of a leaf or a mid, in hundredths (drawn: 100 to 250)")
	p.number("parallel", &t.Parallel, between(1, 14), 1, 14, "most cables between two switches, where so many are not needed otherwise (drawn: 1 to 14)")
	p.number("rails", &t.Rails, max(1, some(.25, 8)), 1, 8, "adapters of a host, each on another leaf (drawn: mostly 1, up to 8)")
	p.upTo("directors", &t.Directors, some(.2, 4), 8, "directors in place of tops, as their crossbars (drawn: mostly 0, up to 4)")
	p.upTo("tails", &t.Tails, some(.7, 4), 100, "switches that hang behind others: for management, or added later (drawn: 0 to 4)")
	p.upTo("upper", &t.Upper, some(.6, 12), 500, "hosts on mids or tops (drawn: 0 to 12)")
	p.upTo("sharp", &t.Sharp, some(.5, 100), 100, "in a hundred switches, those with an aggregation node (drawn: 0 to 100)")
	p.upTo("old", &t.Old, some(.5, 60), 100, "in a hundred pods, those with slower hosts and cables (drawn: 0 to 60)")
	p.upTo("missing", &t.Missing, some(.7, 30), 300, "in a thousand cables, those that are missing, in groups (drawn: 0 to 30)")
	if p.fault != nil {
		return size{}
	}
	if leaves := product(t.Pods, t.Leaves, 2); product(leaves, t.Hosts) > 8*int(fabric.MaxLID) {
		return size{switches: saturated}
	}
	return t.draw().size()
}

// Build makes the fabric.
func (t patchwork) Build() (*fabric.Fabric, error) { return built(&t) }

func (t patchwork) String() string { return specOf(&t) }

// patches is the network that is drawn, before ports are given out. Switches are named by
// their index.
type patches struct {
	rng      *rand.Rand
	switches []patch
	cables   []patchCable
	hosts    []patchHost
}

// patch is a switch.
type patch struct {
	name   string
	system int  // first switch of its director, or itself
	sharp  bool // it has an aggregation node
}

// patchCable joins two switches.
type patchCable struct {
	a, z int
	rate fabric.Rate
}

// patchHost is an adapter of a host, on a switch.
type patchHost struct {
	sw   int
	name string // of the host
	rail int    // which of its adapters
	rate fabric.Rate
}

// pod is a pod while it is drawn.
type pod struct {
	leaves  []int // switches
	hosts   []int // [of leaves] adapters on it
	up      []int // [of leaves] cables up
	rate    fabric.Rate
	over    float64 // about the oversubscription of its leaves and mids
	highest []int   // switches that are cabled to tops: its mids, or its leaves where there are none
	toTops  []int   // [of highest] cables up
}

// draw draws the network; every parameter has its value. declare asks for its size, and lay
// for all of it; both get the same.
func (t *patchwork) draw() *patches {
	n := &patches{rng: rand.New(rand.NewPCG(t.Seed, patchworkStream+1))}
	pods := make([]*pod, t.Pods)
	for i := range pods {
		pods[i] = t.pod(n, i)
	}
	tops := t.tops(n, pods)
	n.joinParts(tops[0])
	t.tails(n, pods, tops)
	n.lose(len(n.cables) * (t.Missing - 1) / 1000)
	for range t.Upper - 1 {
		s := tops[n.rng.IntN(len(tops))]
		if p := pods[n.rng.IntN(len(pods))]; t.Levels == 3 && n.rng.IntN(2) == 0 {
			s = p.highest[n.rng.IntN(len(p.highest))]
		}
		n.hosts = append(n.hosts, patchHost{sw: s, name: fmt.Sprintf("service%03d", len(n.hosts)), rate: linkRate})
	}
	for i := range n.switches {
		n.switches[i].sharp = n.rng.IntN(100) < t.Sharp-1
	}
	return n
}

// drawOver draws an oversubscription of about so much, from 1 to Over.
func (t *patchwork) drawOver(rng *rand.Rand, about float64) float64 {
	return max(1, min(float64(t.Over)/100, about*(.8+.4*rng.Float64())))
}

// pod draws a pod: its switches, hosts and cables, except those to the tops.
func (t *patchwork) pod(n *patches, number int) *pod {
	rng := n.rng
	p := &pod{rate: linkRate, over: 1 + rng.Float64()*float64(t.Over-100)/100}
	if rng.IntN(100) < t.Old-1 {
		p.rate.Speed = []fabric.Speed{fabric.EDR, fabric.EDR, fabric.FDR}[rng.IntN(3)]
	}
	leaves := max(1, int(float64(t.Leaves)*(.5+rng.Float64())+.5))
	if t.Levels == 2 && t.Directors == 1 {
		leaves = min(leaves, max(1, t.P/t.Pods))
	}
	if t.Rails > 1 {
		leaves = ceilDiv(leaves, t.Rails) * t.Rails
	}
	parallel := 1 + rng.IntN(t.Parallel)
	mostUp, allUp := 0, 0
	for i := range leaves {
		over := t.drawOver(rng, p.over)
		room := max(1, int(float64(t.P)*over/(1+over)))
		hosts := min(t.Hosts, room)
		if rng.IntN(3) == 0 {
			hosts = 1 + rng.IntN(hosts)
		}
		if rng.IntN(25) == 0 {
			hosts = 0
		}
		if t.Rails > 1 && i%t.Rails > 0 {
			hosts = min(p.hosts[i-1], t.P-1)
		}
		up := max(1, int(math.Ceil(float64(hosts)/over)))
		if hosts == 0 {
			up = 1 + rng.IntN(max(1, t.P/4))
		}
		p.hosts, p.up = append(p.hosts, hosts), append(p.up, up)
		mostUp, allUp = max(mostUp, up), allUp+up
	}
	mids := 0
	if t.Levels == 3 {
		mids = max(ceilDiv(mostUp, parallel), ceilDiv(3*allUp, 2*t.P)) // a third of their ports is left to lead up
	}
	names := make([]string, 0, leaves+mids)
	for i := range leaves {
		names = append(names, fmt.Sprintf("sw-p%d-leaf-%d", number, i))
	}
	for i := range mids {
		names = append(names, fmt.Sprintf("sw-p%d-mid-%d", number, i))
	}
	at := make([]int, len(names)) // in the order of delivery
	for _, i := range rng.Perm(len(names)) {
		at[i] = n.add(names[i])
	}
	p.leaves = at[:leaves]
	n.seatHosts(p, t.Rails)
	if t.Levels == 2 {
		p.highest, p.toTops = p.leaves, p.up
		return p
	}
	p.highest = at[leaves:]
	first := 0
	down := make([]int, mids)
	for i, leaf := range p.leaves {
		for c := range p.up[i] {
			m := (first + c) % mids
			n.cable(leaf, p.highest[m], p.rate)
			down[m]++
		}
		if rng.IntN(2) == 0 { // some installers go on where the last leaf ended
			first += p.up[i]
		}
	}
	for m := range p.highest {
		p.toTops = append(p.toTops, max(1, min(int(math.Ceil(float64(down[m])/t.drawOver(rng, p.over))), t.P-down[m])))
	}
	return p
}

// tops draws the tops, or the directors in their place, and the cables of the pods to them; it
// lists the switches that these lead to.
func (t *patchwork) tops(n *patches, pods []*pod) (tops []int) {
	all, most := 0, 0
	for _, p := range pods {
		for _, up := range p.toTops {
			all, most = all+up, max(most, up)
		}
	}
	parallel := 1 + n.rng.IntN(t.Parallel)
	if t.Directors > 1 {
		const radix = 36
		each := ceilDiv(all, t.Directors-1)
		leaves := max(2, ceilDiv(each, radix/2))
		for d := range t.Directors - 1 {
			tops = append(tops, n.director(d, leaves, ceilDiv(leaves, 2), radix)...)
		}
	} else {
		for i := range max(1, ceilDiv(all, t.P-2), ceilDiv(most, parallel)) {
			tops = append(tops, n.add(fmt.Sprintf("sw-top-%d", i)))
		}
	}
	next := 0
	for _, p := range pods {
		for i, s := range p.highest {
			for range p.toTops[i] {
				n.cable(s, tops[next%len(tops)], p.rate)
				next++
			}
			if p.toTops[i] > len(tops) && n.rng.IntN(2) == 0 { // the next switch begins at the same top
				next -= p.toTops[i] % len(tops)
			}
		}
	}
	return tops
}

// director adds the crossbars of a director and lists those that have outer ports.
func (n *patches) director(number, leaves, spines, radix int) (outer []int) {
	system := len(n.switches)
	for i := range leaves {
		outer = append(outer, n.add(fmt.Sprintf("sw-d%d-leaf-%d", number, i)))
	}
	for i := range spines {
		n.add(fmt.Sprintf("sw-d%d-spine-%d", number, i))
	}
	for i := range leaves * radix / 2 {
		n.cable(outer[i/(radix/2)], system+leaves+i%spines, linkRate)
	}
	for i := range n.switches[system:] {
		n.switches[system+i].system = system
	}
	return outer
}

// tails hangs switches behind others, with a few hosts each.
func (t *patchwork) tails(n *patches, pods []*pod, tops []int) {
	last := -1
	for i := range t.Tails - 1 {
		s := n.add(fmt.Sprintf("sw-tail-%d", i))
		p := pods[n.rng.IntN(len(pods))]
		behind := p.leaves[n.rng.IntN(len(p.leaves))]
		switch n.rng.IntN(4) {
		case 0:
			behind = tops[n.rng.IntN(len(tops))]
		case 1:
			behind = p.highest[n.rng.IntN(len(p.highest))]
		case 2:
			if last >= 0 {
				behind = last
			}
		}
		cables := 1 + n.rng.IntN(t.Parallel)
		for range cables {
			n.cable(s, behind, p.rate)
		}
		for h := range 1 + n.rng.IntN(min(3*cables, t.Hosts)) {
			n.hosts = append(n.hosts, patchHost{sw: s, name: fmt.Sprintf("tail%02d-%02d", i, h), rate: p.rate})
		}
		last = s
	}
}

// seatHosts names the hosts of a pod rack by rack and puts them on its leaves. A rack is a leaf,
// or a set of as many as hosts have rails; now and then the hosts of two alternate.
func (n *patches) seatHosts(p *pod, rails int) {
	racks := n.rng.Perm(len(p.leaves) / rails)
	for k := 0; k < len(racks); k++ {
		sets := racks[k : k+1]
		if rails == 1 && k+1 < len(racks) && n.rng.IntN(3) == 0 {
			sets = racks[k : k+2]
			k++
		}
		left := make([]int, len(sets))
		for i, s := range sets {
			left[i] = p.hosts[s*rails]
		}
		for i := 0; slices.Max(left) > 0; i = (i + 1) % len(sets) {
			if left[i] == 0 {
				continue
			}
			left[i]--
			name := fmt.Sprintf("node%05d", len(n.hosts))
			for r := range rails {
				n.hosts = append(n.hosts, patchHost{sw: p.leaves[sets[i]*rails+r], name: name, rail: r, rate: p.rate})
			}
		}
	}
}

// add adds a switch and returns its index.
func (n *patches) add(name string) int {
	n.switches = append(n.switches, patch{name: name, system: len(n.switches)})
	return len(n.switches) - 1
}

func (n *patches) cable(a, z int, rate fabric.Rate) {
	n.cables = append(n.cables, patchCable{a: a, z: z, rate: rate})
}

// parts is a number for every switch, the same for those that are joined.
func (n *patches) parts() []int {
	to := countUp(0, len(n.switches))
	find := func(s int) int {
		for to[s] != s {
			to[s] = to[to[s]]
			s = to[s]
		}
		return s
	}
	for _, c := range n.cables {
		to[find(c.a)] = find(c.z)
	}
	for s := range to {
		to[s] = find(s)
	}
	return to
}

// joinParts lays a cable to a switch from every part that is not joined to it, from the switch
// there that was added last: of a pod the highest.
func (n *patches) joinParts(with int) {
	for part := n.parts(); ; part = n.parts() {
		apart := len(part) - 1
		for apart >= 0 && part[apart] == part[with] {
			apart--
		}
		if apart < 0 {
			return
		}
		n.cable(apart, with, linkRate)
	}
}

// lose takes count cables away, in groups on a switch; fewer if without more the network would
// be in parts.
func (n *patches) lose(count int) {
	for tries := 0; count > 0 && tries < 200; tries++ {
		s := n.rng.IntN(len(n.switches))
		var on []int
		for i, c := range n.cables {
			if c.a == s || c.z == s {
				on = append(on, i)
			}
		}
		first, some := n.rng.IntN(max(1, len(on))), min(count, 1+n.rng.IntN(6))
		gone := on[min(len(on), first):min(len(on), first+some)]
		before := n.cables
		n.cables = nil
		for i, c := range before {
			if !slices.Contains(gone, i) {
				n.cables = append(n.cables, c)
			}
		}
		if part := n.parts(); slices.Min(part) != slices.Max(part) {
			n.cables = before
			continue
		}
		count -= len(gone)
	}
}

// used is how many ports of every switch have a host, an aggregation node or a cable.
func (n *patches) used() []int {
	used := make([]int, len(n.switches))
	for _, h := range n.hosts {
		used[h.sw]++
	}
	for s, sw := range n.switches {
		if sw.sharp {
			used[s]++
		}
	}
	for _, c := range n.cables {
		used[c.a]++
		used[c.z]++
	}
	return used
}

func (n *patches) size() size {
	nodes := len(n.hosts)
	for _, s := range n.switches {
		if s.sharp {
			nodes++
		}
	}
	return size{switches: len(n.switches), hosts: nodes, ports: slices.Max(n.used())}
}

func (t *patchwork) lay(l *layout) {
	n := t.draw()
	next := make([]uint8, len(n.switches)) // [switch] last port in use
	port := func(s int) uint8 { next[s]++; return next[s] }
	for s, used := range n.used() {
		sw := n.switches[s]
		l.addCrossbar(sw.name, max(t.P, used), sw.system)
	}
	// The adapters of a host have GUIDs in a row.
	slices.SortStableFunc(n.hosts, func(a, b patchHost) int { return cmp.Compare(a.name, b.name) })
	for _, h := range n.hosts {
		name := h.name
		if t.Rails > 1 {
			name = fmt.Sprintf("%s mlx5_%d", h.name, h.rail)
		}
		host := l.adapter(name, hostDevice)
		l.b.Cable(host, 1, l.switches[h.sw], port(h.sw), h.rate)
	}
	for s, sw := range n.switches {
		if sw.sharp {
			node := l.adapter("Mellanox Technologies Aggregation Node", fabric.AggregationDevice)
			l.b.Cable(node, 1, l.switches[s], port(s), linkRate)
		}
	}
	for _, c := range n.cables {
		l.b.Cable(l.switches[c.a], port(c.a), l.switches[c.z], port(c.z), c.rate)
	}
}
