// Package levels finds the levels of a fat tree from its cables alone.
//
// What is cabled to one other switch only hangs below it. In what is left, the core, a
// leaf is a switch with hosts and no neighbour with more: so hosts on a spine do not make
// it a leaf, and aggregation nodes do not count. A level is the distance from the nearest
// leaf; leaves that contradict most others are put at the level where they fit; a spine with
// a few hosts, whose neighbours have fewer, goes back to the top; a top that joins nothing, or
// that carries hosts but is above fewer than half of them, is hung below its neighbours.
//
// Complexity: O(S·(S + C)) for S switches and C trunks; O(S²/64) words for the sets of
// hosts below a switch.
package levels

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/routing"
)

// Levels is a height for every switch; a cable leads up towards the higher end.
type Levels struct {
	Fabric *fabric.Fabric
	Part   []int32         // [switch] which part of the network it is in
	Hosts  []int64         // [switch] host adapter ports on it
	Height []int32         // [switch] its level, 0 the lowest of its part
	Idle   []bool          // [part] without hosts: management only
	Order  []fabric.NodeID // every switch, the highest first, then by number

	common []ancestry // [part]
	parts  int        // how many; a part is a connected component

	// Scratch.
	hangsBelow []fabric.NodeID // [switch] the switch that it hangs below; None: it is in the core
	hostsBelow []int64         // [switch] hosts on it and on all that hangs below it
	seed       []bool          // [switch] taken for a leaf, from which heights are counted
}

// unknown is the height of a switch that no leaf reaches, in spread.
const unknown = -1

// newLevels prepares the search for levels, which measure does: parts, hosts, and what hangs below
// one switch only. measureAll begins with new ones for each way to count hosts.
func newLevels(f *fabric.Fabric) *Levels {
	switches := f.Switches()
	l := &Levels{
		Fabric:     f,
		Height:     make([]int32, switches),
		hangsBelow: make([]fabric.NodeID, switches),
		seed:       make([]bool, switches),
	}
	for _, ports := range routing.HCA.PerSwitch(f) {
		l.Hosts = append(l.Hosts, int64(ports))
	}
	parts := f.Parts()
	l.parts, l.Part = len(parts), f.PartOf(parts)
	l.Idle = make([]bool, len(parts))
	for i, part := range parts {
		l.Idle[i] = !slices.ContainsFunc(part, func(s fabric.NodeID) bool { return l.Hosts[s] > 0 })
	}
	l.hostsBelow = slices.Clone(l.Hosts)
	l.peel()
	return l
}

// peel hangs every switch that is cabled to one other switch only below it, and
// again what then is: leaves with one spine, tails, whole trees. What is left is
// the core, in which every switch has two neighbours, or a single switch. Adjacent has each neighbour once,
// Neighbours once for each cable.
func (l *Levels) peel() {
	n := l.Fabric.Switches()
	degree := make([]int32, n)
	var queue []fabric.NodeID
	for s := range fabric.NodeID(n) {
		l.hangsBelow[s] = fabric.None
		degree[s] = int32(len(list.Once(l.Fabric.Neighbours(s))))
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
		for _, v := range l.Fabric.Neighbours(s) {
			if degree[v] > 0 {
				l.hangsBelow[s] = v
			}
		}
		v := l.hangsBelow[s]
		l.hostsBelow[v] += l.hostsBelow[s]
		if degree[v]--; degree[v] == 1 {
			queue = append(queue, v)
		}
	}
}

// measure sets Height and Order, or refuses a cable within a level. weight, [switch], is how many hosts
// each switch counts for: measureAll has three such counts tried, and takes the best levels. Leaves are the
// switches of the core with hosts by weight, no neighbour of which in the core has more. Every part with hosts
// has some by weight in its core (see ownOrBelow), and so a leaf.
//
// It ends: each drop takes away a leaf or more, and leaves with two thirds of the hosts stay, so that all of
// the core has a height. Without hosts by weight in the core, a cable of an odd ring would be found and dropped for ever.
func (l *Levels) measure(weight []int64) *routing.Refusal {
	for s := range l.seed {
		at := fabric.NodeID(s)
		l.seed[s] = l.inCore(at) && weight[s] > 0
		for _, v := range l.Fabric.Neighbours(at) {
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
			return l.within(c, weight)
		}
	}
	l.raiseSpines()
	l.turnOver()
	l.hang()
	return nil
}

// within refuses a cable within a level. weight, [switch], is that of measure.
func (l *Levels) within(c fabric.ChannelID, weight []int64) *routing.Refusal {
	ch := l.Fabric.Channel(c)
	refuse := func(what string) *routing.Refusal {
		return routing.Refuse(l.Fabric, ruleLevels, ch.From, ch.FromPort, "the cable to %s, port %d, joins %s", l.Fabric.Label(ch.To), ch.ToPort, what)
	}
	h := l.Height[ch.From]
	if h > 0 {
		what := fmt.Sprintf("two switches that both have the nearest leaves %s away", words.Plural(int64(h), "hop"))
		for _, s := range []fabric.NodeID{ch.From, ch.To} {
			if l.Hosts[s] > 0 {
				what += fmt.Sprintf("; %s has %s and counts for no leaf, since %s", l.Fabric.Label(s), words.Plural(l.Hosts[s], "host"), l.whyNoLeaf(s, weight))
			}
		}
		return refuse(what)
	}
	has := "hosts"
	if l.Hosts[ch.From] == 0 || l.Hosts[ch.To] == 0 {
		has = "hosts on them or hanging below"
	}
	return refuse("two leaves: both have " + has + ", and no neighbour with more")
}

// whyNoLeaf says why measure does not take a switch with hosts for a leaf.
func (l *Levels) whyNoLeaf(s fabric.NodeID, weight []int64) string {
	for _, v := range l.Fabric.Neighbours(s) {
		if l.inCore(v) && weight[v] > weight[s] {
			return fmt.Sprintf("its neighbour %s has more", l.Fabric.Label(v))
		}
	}
	return "most other leaves contradict that"
}

// inCore reports whether a switch is left after peel.
func (l *Levels) inCore(s fabric.NodeID) bool { return l.hangsBelow[s] == fabric.None }

// seedTheRest takes the first switch of the core for a leaf in each part without any, which has no hosts.
func (l *Levels) seedTheRest() {
	seeded := make([]bool, l.parts)
	for s, leaf := range l.seed {
		seeded[l.Part[s]] = seeded[l.Part[s]] || leaf
	}
	for s := range l.seed {
		if p := l.Part[s]; !seeded[p] && l.inCore(fabric.NodeID(s)) {
			l.seed[s], seeded[p] = true, true
		}
	}
}

// spread makes the height of every switch of the core its distance from the
// nearest leaf.
func (l *Levels) spread() {
	var queue []fabric.NodeID
	for s := range l.Height {
		l.Height[s] = unknown
		if l.seed[s] {
			l.Height[s] = 0
			queue = append(queue, fabric.NodeID(s))
		}
	}
	for i := 0; i < len(queue); i++ {
		for _, v := range l.Fabric.Neighbours(queue[i]) {
			if l.Height[v] == unknown && l.inCore(v) {
				l.Height[v] = l.Height[queue[i]] + 1
				queue = append(queue, v)
			}
		}
	}
}

// flat is the first trunk within a level of a part with hosts, or None.
func (l *Levels) flat() fabric.ChannelID {
	heads := l.Fabric.Heads()
	for s := range fabric.NodeID(l.Fabric.Switches()) {
		for c, end := l.Fabric.TrunksFrom(s); c < end; c++ {
			if l.inCore(s) && l.inCore(heads[c]) && l.Height[s] == l.Height[heads[c]] && !l.Idle[l.Part[s]] {
				return c
			}
		}
	}
	return fabric.None
}

// drop handles leaves at different levels: a switch with hosts that hangs right
// below the roots of a tree of three levels makes the roots seem low. Of the two
// ends of c, a trunk within a level, it takes the one whose nearest leaves have fewer hosts
// by weight, [switch], and takes these for leaves no longer. It returns false, and keeps all leaves, if the ends are
// leaves themselves, or if the leaves dropped would come to more than a third of all hosts on leaves of the part,
// with those dropped before: their hosts are added to dropped, [part].
func (l *Levels) drop(c fabric.ChannelID, weight, dropped []int64) bool {
	ch := l.Fabric.Channel(c)
	if l.Height[ch.From] == 0 {
		return false
	}
	part := l.Part[ch.From]
	total := dropped[part]
	for s, w := range weight {
		if l.Part[s] == part && l.seed[s] {
			total += w
		}
	}
	leaves, hosts := l.nearest(ch.From, weight)
	if others, fewer := l.nearest(ch.To, weight); fewer < hosts {
		leaves, hosts = others, fewer
	}
	if dropped[part] += hosts; dropped[part]*3 > total {
		return false
	}
	for _, s := range leaves {
		l.seed[s] = false
	}
	return true
}

// nearest is the leaves nearest to s, with their hosts by weight, [switch].
func (l *Levels) nearest(s fabric.NodeID, weight []int64) (leaves []fabric.NodeID, hosts int64) {
	seen := map[fabric.NodeID]bool{s: true}
	queue := []fabric.NodeID{s}
	for i := 0; i < len(queue); i++ {
		u := queue[i]
		if l.seed[u] {
			leaves = append(leaves, u)
			hosts += weight[u]
		}
		for _, v := range l.Fabric.Neighbours(u) {
			if l.inCore(v) && l.Height[v] == l.Height[u]-1 && !seen[v] {
				seen[v] = true
				queue = append(queue, v)
			}
		}
	}
	return leaves, hosts
}

// hang puts what was peeled off below the core, makes 0 the lowest level of
// every part, and orders the switches.
func (l *Levels) hang() {
	for s := range l.Height {
		l.hangOne(fabric.NodeID(s))
	}
	lowest := make([]int32, l.parts)
	for s, h := range l.Height {
		lowest[l.Part[s]] = min(lowest[l.Part[s]], h)
	}
	l.Order = make([]fabric.NodeID, len(l.Height))
	for s := range l.Height {
		l.Height[s] -= lowest[l.Part[s]]
		l.Order[s] = fabric.NodeID(s)
	}
	l.sortByHeight(l.Order)
}

// sortByHeight sorts switches, given by number, from high to low.
func (l *Levels) sortByHeight(switches []fabric.NodeID) {
	slices.SortStableFunc(switches, func(a, b fabric.NodeID) int { return cmp.Compare(l.Height[b], l.Height[a]) })
}

// hangOne gives s its height by that of the core it hangs below.
func (l *Levels) hangOne(s fabric.NodeID) {
	at, depth := s, int32(0)
	for !l.inCore(at) {
		at = l.hangsBelow[at]
		depth++
	}
	l.Height[s] = l.Height[at] - depth
}
