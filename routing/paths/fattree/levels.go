package fattree

import (
	"cmp"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// levels is a height for every switch; a cable leads up towards the higher end.
type levels struct {
	f      *fabric.Fabric
	part   []int32         // [switch] which part of the network it is in
	parts  int             //
	hosts  []int64         // [switch] host adapter ports on it
	height []int32         // [switch] its level, 0 the lowest of its part
	idle   []bool          // [part] without hosts: management only
	order  []fabric.NodeID // every switch, the highest first, then by number

	// Scratch.
	above      []fabric.NodeID // [switch] what it hangs below, if it is not in the core; None
	hostsBelow []int64         // [switch] hosts on it and on all that hangs below it
	seed       []bool          // [switch] taken for a leaf
}

const unknown = -1

// newLevels prepares the search for levels: parts, hosts, and what hangs below
// one switch only.
func newLevels(f *fabric.Fabric) *levels {
	n := f.Switches()
	l := &levels{
		f:      f,
		part:   make([]int32, n),
		height: make([]int32, n),
		above:  make([]fabric.NodeID, n),
		seed:   make([]bool, n),
	}
	for _, n := range routing.HCA.PerSwitch(f) {
		l.hosts = append(l.hosts, int64(n))
	}
	parts := f.Parts()
	l.parts = len(parts)
	l.idle = make([]bool, len(parts))
	for i, switches := range parts {
		l.idle[i] = true
		for _, s := range switches {
			l.part[s] = int32(i)
			l.idle[i] = l.idle[i] && l.hosts[s] == 0
		}
	}
	l.hostsBelow = slices.Clone(l.hosts)
	l.peel()
	return l
}

// peel hangs every switch that is cabled to one other switch only below it, and
// again what then is: leaves with one spine, tails, whole trees. What is left is
// the core, in which every switch has two neighbours, or a single switch.
func (l *levels) peel() {
	n := l.f.Switches()
	degree := make([]int32, n)
	var queue []fabric.NodeID
	for s := range fabric.NodeID(n) {
		l.above[s] = fabric.None
		degree[s] = l.distinct(s)
		if degree[s] == 1 {
			queue = append(queue, s)
		}
	}
	for i := 0; i < len(queue); i++ {
		s := queue[i]
		if degree[s] == 0 { // the last of a tree: its root
			continue
		}
		degree[s] = 0
		for _, v := range l.f.Neighbours(s) {
			if degree[v] > 0 {
				l.above[s] = v
			}
		}
		v := l.above[s]
		l.hostsBelow[v] += l.hostsBelow[s]
		if degree[v]--; degree[v] == 1 {
			queue = append(queue, v)
		}
	}
}

// distinct is the number of switches that s is cabled to.
func (l *levels) distinct(s fabric.NodeID) int32 {
	seen := slices.Clone(l.f.Neighbours(s))
	slices.Sort(seen)
	return int32(len(slices.Compact(seen)))
}

// measure finds heights with the core's leaves taken by the hosts of weight:
// those with more than none and no fewer than any neighbour. It returns the
// cable that lies within a level, if there is one.
func (l *levels) measure(weight []int64) *routing.Refusal {
	for s := range l.seed {
		n := fabric.NodeID(s)
		l.seed[s] = l.inCore(n) && weight[s] > 0
		for _, v := range l.f.Neighbours(n) {
			l.seed[s] = l.seed[s] && (weight[v] <= weight[s] || !l.inCore(v))
		}
	}
	l.seedTheRest()
	dropped := make([]int64, l.parts)
	for {
		l.spread()
		c := l.flat()
		if c == fabric.None {
			break
		}
		if !l.drop(c, weight, dropped) {
			return l.within(c)
		}
	}
	l.turnOver()
	l.hang()
	return nil
}

// within refuses a cable within a level.
func (l *levels) within(c fabric.ChannelID) *routing.Refusal {
	ch := l.f.Channel(c)
	if h := l.height[ch.From]; h > 0 {
		return routing.Refuse(l.f, ruleLevels, ch.From, ch.FromPort, "the cable to %s, port %d, joins two switches that both have the nearest leaves %d hops away",
			l.f.Label(ch.To), ch.ToPort, h)
	}
	return routing.Refuse(l.f, ruleLevels, ch.From, ch.FromPort, "the cable to %s, port %d, joins two leaves: both have hosts, and no neighbour with more",
		l.f.Label(ch.To), ch.ToPort)
}

func (l *levels) inCore(s fabric.NodeID) bool { return l.above[s] == fabric.None }

// seedTheRest takes the first switch of the core of a part without hosts.
func (l *levels) seedTheRest() {
	seeded := make([]bool, l.parts)
	for s, is := range l.seed {
		seeded[l.part[s]] = seeded[l.part[s]] || is
	}
	for s := range l.seed {
		if p := l.part[s]; !seeded[p] && l.inCore(fabric.NodeID(s)) {
			l.seed[s], seeded[p] = true, true
		}
	}
}

// spread makes the height of every switch of the core its distance from the
// nearest leaf.
func (l *levels) spread() {
	var queue []fabric.NodeID
	for s := range l.height {
		l.height[s] = unknown
		if l.seed[s] {
			l.height[s] = 0
			queue = append(queue, fabric.NodeID(s))
		}
	}
	for i := 0; i < len(queue); i++ {
		for _, v := range l.f.Neighbours(queue[i]) {
			if l.height[v] == unknown && l.inCore(v) {
				l.height[v] = l.height[queue[i]] + 1
				queue = append(queue, v)
			}
		}
	}
}

// flat is the first trunk within a level of a part with hosts, or None.
func (l *levels) flat() fabric.ChannelID {
	heads := l.f.Heads()
	for s := range fabric.NodeID(l.f.Switches()) {
		for c, end := l.f.TrunksFrom(s); c < end; c++ {
			if l.inCore(s) && l.inCore(heads[c]) && l.height[s] == l.height[heads[c]] && !l.idle[l.part[s]] {
				return c
			}
		}
	}
	return fabric.None
}

// drop handles leaves at different levels: a switch with hosts that hangs right
// below the roots of a tree of three levels makes the roots seem low. Of the two
// ends of a trunk within a level, the one whose nearest leaves have fewer hosts
// is taken to be misled, and its leaves lose that standing; but not more than a
// third of the hosts on leaves, and never where leaves themselves are neighbours.
func (l *levels) drop(c fabric.ChannelID, weight, dropped []int64) bool {
	ch := l.f.Channel(c)
	if l.height[ch.From] == 0 {
		return false
	}
	part := l.part[ch.From]
	total := dropped[part]
	for s, w := range weight {
		if l.part[s] == part && l.seed[s] {
			total += w
		}
	}
	a, hostsA := l.nearest(ch.From, weight)
	b, hostsB := l.nearest(ch.To, weight)
	if hostsB < hostsA {
		a, hostsA = b, hostsB
	}
	if dropped[part] += hostsA; dropped[part]*3 > total {
		return false
	}
	for _, s := range a {
		l.seed[s] = false
	}
	return true
}

// nearest is the leaves nearest to s, with their hosts.
func (l *levels) nearest(s fabric.NodeID, weight []int64) (leaves []fabric.NodeID, hosts int64) {
	seen := map[fabric.NodeID]bool{s: true}
	queue := []fabric.NodeID{s}
	for i := 0; i < len(queue); i++ {
		u := queue[i]
		if l.seed[u] {
			leaves = append(leaves, u)
			hosts += weight[u]
		}
		for _, v := range l.f.Neighbours(u) {
			if l.inCore(v) && l.height[v] == l.height[u]-1 && !seen[v] {
				seen[v] = true
				queue = append(queue, v)
			}
		}
	}
	return leaves, hosts
}

// hang puts what was peeled off below the core, makes 0 the lowest level of
// every part, and orders the switches.
func (l *levels) hang() {
	for s := range l.height {
		l.hangOne(fabric.NodeID(s))
	}
	lowest := make([]int32, l.parts)
	for s, h := range l.height {
		lowest[l.part[s]] = min(lowest[l.part[s]], h)
	}
	l.order = make([]fabric.NodeID, len(l.height))
	for s := range l.height {
		l.height[s] -= lowest[l.part[s]]
		l.order[s] = fabric.NodeID(s)
	}
	l.sortByHeight(l.order)
}

// sortByHeight sorts switches, given by number, from high to low.
func (l *levels) sortByHeight(switches []fabric.NodeID) {
	slices.SortStableFunc(switches, func(a, b fabric.NodeID) int { return cmp.Compare(l.height[b], l.height[a]) })
}

// hangOne gives s its height by that of the core it hangs below.
func (l *levels) hangOne(s fabric.NodeID) {
	at, depth := s, int32(0)
	for !l.inCore(at) {
		at = l.above[at]
		depth++
	}
	l.height[s] = l.height[at] - depth
}
