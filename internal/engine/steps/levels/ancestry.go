package levels

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Sets is a set of switches for every switch, as bits.
type Sets struct {
	words int      // of a set
	bits  []uint64 // [switch × words + member / 64]
}

func newSets(n int) *Sets {
	w := (n + 63) / 64
	return &Sets{words: w, bits: make([]uint64, n*w)}
}

// of is the words of a switch's set.
func (s *Sets) of(n fabric.NodeID) []uint64 {
	return s.bits[int(n)*s.words : (int(n)+1)*s.words]
}

func (s *Sets) add(n, member fabric.NodeID) { s.of(n)[member/64] |= 1 << (member % 64) }

// join adds the members of a switch's set to that of another.
func (s *Sets) join(into, from fabric.NodeID) {
	a, b := s.of(into), s.of(from)
	for i, w := range b {
		a[i] |= w
	}
}

// Sum adds up the weights, [switch], of the members of a switch's set.
func (s *Sets) Sum(n fabric.NodeID, weight []int64) int64 {
	total := int64(0)
	for i, w := range s.of(n) {
		for ; w != 0; w &= w - 1 {
			total += weight[i*64+bits.TrailingZeros64(w)]
		}
	}
	return total
}

// Reach is, for every switch of an order from high to low, the switches with
// weight, [switch], on the ways down from it, itself included; other switches have empty sets.
func (l *Levels) Reach(order []fabric.NodeID, weight []int64) *Sets {
	r := newSets(len(l.Height))
	for i := len(order) - 1; i >= 0; i-- {
		s := order[i]
		if weight[s] > 0 {
			r.add(s, s)
		}
		last := fabric.NodeID(fabric.None) // parallel cables mostly sit side by side
		for _, v := range l.Fabric.Neighbours(s) {
			if l.Height[v] < l.Height[s] && v != last {
				r.join(s, v)
			}
			last = v
		}
	}
	return r
}

// turnOver changes the heights of tops of the core so that they are below their neighbours: a top that
// joins no more than one of its neighbours does alone (an idle leaf, a spine
// with few cables left), and one with hosts that the greater part of the hosts
// has no way up to (a switch added behind two leaves). All neighbours of a top are on
// one level, so that every cable still joins neighbouring levels.
func (l *Levels) turnOver() {
	const mostTurns = 4 // of one switch, so that it ends
	turned, total := make([]uint8, len(l.Height)), l.hostsByPart()
	for {
		order := l.coreByHeight()
		reach := l.Reach(order, l.hostsBelow)
		var over []fabric.NodeID
		for _, s := range order {
			if turned[s] < mostTurns && l.coreTop(s) && (l.joinsNothing(reach, s) || l.isTail(reach, s, total[l.Part[s]])) {
				over = append(over, s)
			}
		}
		if len(over) == 0 {
			return
		}
		for _, s := range over {
			l.Height[s] -= 2
			turned[s]++
		}
	}
}

// hostsByPart is the hosts of every part of the network, [part].
func (l *Levels) hostsByPart() []int64 {
	total := make([]int64, l.parts)
	for s, n := range l.Hosts {
		total[l.Part[s]] += n
	}
	return total
}

// raiseSpines puts spines that measure took for leaves, since they have a few hosts and their neighbours
// none, above these neighbours. It takes for one a leaf of the core with fewer than half of the hosts
// that leaves have in the mean, which then is above nine tenths of the hosts of its part, while no
// neighbour is above more than two thirds of these; what a leaf of a pod would be above is what each
// switch above it is above already. There are such spines in 40 of 120 networks of test/bench/patchwork;
// with them at the top ftree takes .88 of the time for phases there, dmodc .77 and weave-any .91, in the
// mean.
func (l *Levels) raiseSpines() {
	total, onLeaves, leaves := l.hostsByPart(), make([]int64, l.parts), make([]int64, l.parts)
	for s, n := range l.Hosts {
		if p := l.Part[s]; l.Height[s] == 0 { // a leaf of the core: others have no height yet
			leaves[p]++
			onLeaves[p] += n
		}
	}
	reach := l.Reach(l.coreByHeight(), l.hostsBelow)
	for s := range fabric.NodeID(len(l.Height)) {
		p := l.Part[s]
		if l.Height[s] != 0 || 2*l.Hosts[s]*leaves[p] >= onLeaves[p] {
			continue
		}
		most := int64(0)
		for _, v := range l.Fabric.Neighbours(s) {
			if l.inCore(v) {
				most = max(most, reach.Sum(v, l.hostsBelow))
				reach.join(s, v) // no other set is made of that of s any more
			}
		}
		if all := reach.Sum(s, l.hostsBelow); 10*all >= 9*total[p] && 3*most <= 2*all {
			l.Height[s] = 2
		}
	}
}

// coreByHeight lists the core of the parts with hosts, the highest first.
func (l *Levels) coreByHeight() []fabric.NodeID {
	var order []fabric.NodeID
	for s := range l.Height {
		if at := fabric.NodeID(s); l.inCore(at) && !l.Idle[l.Part[s]] {
			order = append(order, at)
		}
	}
	l.sortByHeight(order)
	return order
}

// coreTop reports whether s has neighbours in the core, all of them below it.
func (l *Levels) coreTop(s fabric.NodeID) bool {
	below, above := 0, 0
	for _, v := range l.Fabric.Neighbours(s) {
		switch {
		case !l.inCore(v):
		case l.Height[v] > l.Height[s]:
			above++
		default:
			below++
		}
	}
	return below > 0 && above == 0
}

// joinsNothing reports whether some neighbour in the core reaches all that a top does, except the top
// itself.
func (l *Levels) joinsNothing(reach *Sets, s fabric.NodeID) bool {
	nothing := false
	for _, v := range l.Fabric.Neighbours(s) {
		if nothing || !l.inCore(v) {
			continue
		}
		nothing = true
		for i, w := range reach.of(v) {
			own := uint64(0)
			if int(s)/64 == i {
				own = 1 << (s % 64)
			}
			nothing = nothing && reach.of(s)[i]&^w&^own == 0
		}
	}
	return nothing
}

// isTail reports whether a top has hosts and reaches fewer than half of its part's hosts, total.
func (l *Levels) isTail(reach *Sets, s fabric.NodeID, total int64) bool {
	return l.Hosts[s] > 0 && 2*reach.Sum(s, l.hostsBelow) < total
}

// ancestry is how far a part of the network is a tree: how many pairs of hosts are joined, by
// a switch that is above both, or is the switch of one and above the other.
type ancestry struct {
	joined, pairs int64         // ordered pairs of hosts, a host with itself included
	isolated      fabric.NodeID // the switch whose hosts are joined with the fewest others; None
	joinedWith    int64         // with how many
	hosts         int64         // of the part
}

// ancestries counts the pairs of hosts that are joined, [part].
func (l *Levels) ancestries() []ancestry {
	common := make([]ancestry, l.parts)
	for i := range common {
		common[i].isolated = fabric.None
	}
	total := l.hostsByPart()
	joined := l.Reach(l.Order, l.Hosts) // of a switch, in the end, those whose hosts its own are joined with
	for _, s := range l.Order {         // from high to low: a switch is joined with all that those above it are
		for _, v := range l.Fabric.Neighbours(s) {
			if l.Height[v] > l.Height[s] {
				joined.join(s, v)
			}
		}
		if l.Hosts[s] == 0 {
			continue
		}
		j := &common[l.Part[s]]
		n := joined.Sum(s, l.Hosts)
		j.joined += n * l.Hosts[s]
		j.pairs += total[l.Part[s]] * l.Hosts[s]
		if j.isolated == fabric.None || n < j.joinedWith {
			j.isolated, j.joinedWith, j.hosts = s, n, total[l.Part[s]]
		}
	}
	return common
}

// share is the share of the pairs that are joined, 1 where there are none.
func share(common []ancestry) float64 {
	var joined, pairs int64
	for _, j := range common {
		joined += j.joined
		pairs += j.pairs
	}
	if pairs == 0 {
		return 1
	}
	return float64(joined) / float64(pairs)
}

// Joined is the share of the pairs of hosts that have a switch above both, 1 where there
// are none.
func (l *Levels) Joined() float64 { return share(l.common) }

// apart counts the ordered pairs of hosts without a switch above both.
func (l *Levels) apart() int64 {
	n := int64(0)
	for _, j := range l.common {
		n += j.pairs - j.joined
	}
	return n
}

// tooFewJoined refuses a part of the network in which fewer than half of the pairs
// of hosts have a switch above both.
func (l *Levels) tooFewJoined() *routing.Refusal {
	for _, j := range l.common {
		if 2*j.joined < j.pairs {
			return routing.Refuse(l.Fabric, ruleJoined, j.isolated, 0, "its hosts have a way up and down to %d of %d hosts, and only %.0f %% of all pairs have one",
				j.joinedWith, j.hosts, 100*float64(j.joined)/float64(j.pairs))
		}
	}
	return nil
}

// Find finds the levels of f. It refuses networks without levels, and those in which
// fewer than half of the pairs of hosts have a switch above both.
func Find(f *fabric.Fabric) (*Levels, *routing.Refusal) {
	l, refusal := measureAll(f)
	if refusal == nil {
		refusal = l.tooFewJoined()
	}
	if refusal != nil {
		return nil, refusal
	}
	return l, nil
}

// measureAll finds levels, taking the leaves of the core by each of three counts of hosts in turn:
// ownOrBelow and below, since where some switches of the core have hosts, these or those with hosts
// hanging below them may be its leaves; and unpeeled, for networks in which every leaf has one cable
// up. It returns the levels with which most pairs of hosts have a switch above both, of several the
// first; if no count gives levels, the first refusal.
func measureAll(f *fabric.Fabric) (best *Levels, refusal *routing.Refusal) {
	for _, leaves := range []func(*Levels) []int64{(*Levels).ownOrBelow, (*Levels).below, (*Levels).unpeeled} {
		l := newLevels(f)
		if no := l.measure(leaves(l)); no != nil {
			if refusal == nil {
				refusal = no
			}
			continue
		}
		l.common = l.ancestries()
		if best == nil || share(l.common) > share(best.common) {
			best = l
		}
		if share(best.common) == 1 {
			break
		}
	}
	if best != nil {
		return best, nil
	}
	return nil, refusal
}

// below is the hosts on every switch and on all that hangs below it.
func (l *Levels) below() []int64 { return l.hostsBelow }

// unpeeled puts everything back into the core of l, and returns the hosts on every switch.
func (l *Levels) unpeeled() []int64 {
	for s := range l.hangsBelow {
		l.hangsBelow[s] = fabric.None
	}
	copy(l.hostsBelow, l.Hosts)
	return l.Hosts
}

// ownOrBelow is the hosts on every switch, or, in a part whose core has none,
// those on it and on what hangs below it: measure would not end with hosts in a part and none in its core.
func (l *Levels) ownOrBelow() []int64 {
	own := make([]bool, l.parts)
	for s, n := range l.Hosts {
		own[l.Part[s]] = own[l.Part[s]] || n > 0 && l.inCore(fabric.NodeID(s))
	}
	weight := make([]int64, len(l.Hosts))
	for s := range weight {
		if weight[s] = l.hostsBelow[s]; own[l.Part[s]] {
			weight[s] = l.Hosts[s]
		}
	}
	return weight
}
