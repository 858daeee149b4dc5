package levels

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Sets is a set of switches for every switch, as bits.
type Sets struct {
	words int
	bits  []uint64
}

func newSets(n int) *Sets {
	w := (n + 63) / 64
	return &Sets{words: w, bits: make([]uint64, n*w)}
}

func (s *Sets) of(n fabric.NodeID) []uint64 {
	return s.bits[int(n)*s.words : (int(n)+1)*s.words]
}

func (s *Sets) add(n, member fabric.NodeID) { s.of(n)[member/64] |= 1 << (member % 64) }

func (s *Sets) join(into, from fabric.NodeID) {
	a, b := s.of(into), s.of(from)
	for i, w := range b {
		a[i] |= w
	}
}

// Sum adds up the weights of the members.
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
// weight on the ways down from it, its own included.
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

// turnOver turns tops of the core over to hang below their neighbours: one that
// joins no more than one of its neighbours does alone (an idle leaf, a spine
// with few cables left), and one with hosts that the greater part of the hosts
// has no way up to (a switch added behind two leaves). All its neighbours are on
// one level, so that every cable still joins neighbouring levels.
func (l *Levels) turnOver() {
	const often = 4 // so that it ends
	turned := make([]uint8, len(l.Height))
	total := make([]int64, l.parts)
	for s, n := range l.Hosts {
		total[l.Part[s]] += n
	}
	for {
		order := l.coreByHeight()
		reach := l.Reach(order, l.hostsBelow)
		var over []fabric.NodeID
		for _, s := range order {
			if turned[s] < often && l.coreTop(s) && (l.joinsNothing(reach, s) || l.isTail(reach, s, total[l.Part[s]])) {
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

// coreByHeight lists the core of the parts with hosts, the highest first.
func (l *Levels) coreByHeight() []fabric.NodeID {
	var order []fabric.NodeID
	for s := range l.Height {
		if n := fabric.NodeID(s); l.inCore(n) && !l.Idle[l.Part[s]] {
			order = append(order, n)
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

func (l *Levels) isTail(reach *Sets, s fabric.NodeID, total int64) bool {
	return l.Hosts[s] > 0 && 2*reach.Sum(s, l.hostsBelow) < total
}

// ancestry is how far a part of the network is a tree: for how many pairs of hosts
// there is a switch above both, or that is one's and above the other.
type ancestry struct {
	joined, pairs int64         // ordered pairs of hosts, a host with itself included
	isolated      fabric.NodeID // the switch whose hosts are joined with the fewest others; None
	with, of      int64         // with how many, of how many hosts
}

// ancestries counts the pairs of hosts with a switch above both, by part of the network.
func (l *Levels) ancestries() []ancestry {
	common := make([]ancestry, l.parts)
	for i := range common {
		common[i].isolated = fabric.None
	}
	total := make([]int64, l.parts)
	for s, n := range l.Hosts {
		total[l.Part[s]] += n
	}
	joined := l.Reach(l.Order, l.Hosts) // with a switch above both
	for _, s := range l.Order {         // from high to low: what those above reach, s reaches by them
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
		if j.isolated == fabric.None || n < j.with {
			j.isolated, j.with, j.of = s, n, total[l.Part[s]]
		}
	}
	return common
}

// share is the part of the pairs that is joined, 1 where there are none.
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

// Joined is the part of the pairs of hosts that have a switch above both, 1 where there
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
				j.with, j.of, 100*float64(j.joined)/float64(j.pairs))
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

// measureAll finds levels by several sets of leaves. Where some switches of the core have hosts, they
// or what hangs below them may be its leaves; and where every leaf has one cable up,
// nothing hangs below the core and all of it counts. Of these, the one that leaves most
// pairs of hosts with a switch above both is taken, the first of several.
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

// unpeeled puts everything back into the core, and is the hosts on every switch.
func (l *Levels) unpeeled() []int64 {
	for s := range l.above {
		l.above[s] = fabric.None
	}
	copy(l.hostsBelow, l.Hosts)
	return l.Hosts
}

// ownOrBelow is the hosts on every switch, or, in a part whose core has none,
// those that hang below it.
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
