package symmetric

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
)

// none is the absent link.
const none = 255

// system is a path for every pair of switches, as far as they are chosen.
type system struct {
	*network
	next     []uint8  // [to × n + from] the first link of the path, counted at from; none
	apart    int      // pairs whose way back is chosen by itself
	cost     []uint64 // [link] the load on each of its cables, and what is expected, in units
	expected []uint64 // [link] the load to expect: of the passes before
	ways     [none + 1]uint8

	// Every pass takes the same pairs in the same order, so what nearer finds for those that have a choice is
	// kept: the number of links, then these, pair by pair.
	kept    []uint8
	at      int  // where the next pair's begin
	keeping bool // what is not there yet is added
}

// mostKept bounds system.kept; of further pairs it is found in every pass.
const mostKept = 1 << 25

// newSystem has the paths that are the only shortest ones: no pass chooses others.
func newSystem(n *network) *system {
	return &system{network: n, next: n.first, cost: make([]uint64, len(n.To)), expected: make([]uint64, len(n.To))}
}

// route chooses all other paths anew.
func (s *system) route(ctx context.Context, pairs []pair) error {
	copy(s.cost, s.expected)
	s.apart, s.at = 0, 0
	for i, p := range pairs {
		if i%(1<<14) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		only := s.only[int(p.b)*s.n+int(p.a)]
		if !only {
			there, back := s.choose(p.a, p.b)
			s.set(p.a, p.b, there)
			s.set(p.b, p.a, back)
		}
		if only || s.apart == 0 {
			s.chargeBoth(p.a, p.b)
			continue
		}
		s.charge(p.a, p.b)
		s.charge(p.b, p.a)
	}
	return ctx.Err()
}

// choose is the first links of the paths between two switches both ways, all shorter
// paths being chosen.
func (s *system) choose(a, b fabric.NodeID) (there, back uint8) {
	there, back = s.lightest(a, b, s.nearerInTurn(a, b), true)
	if there == none {
		s.apart++
		there, _ = s.lightest(a, b, s.nearer(a, b), false)
		back, _ = s.lightest(b, a, s.nearer(b, a), false)
	}
	return there, back
}

// nearerInTurn is nearer for the pairs that choose, in their order.
func (s *system) nearerInTurn(a, b fabric.NodeID) []uint8 {
	if s.at < len(s.kept) {
		n := int(s.kept[s.at])
		ways := s.kept[s.at+1:][:n]
		s.at += n + 1
		return ways
	}
	ways := s.nearer(a, b)
	if s.keeping = s.keeping && len(s.kept)+1+len(ways) <= mostKept; s.keeping {
		s.kept = append(append(s.kept, uint8(len(ways))), ways...)
		s.at = len(s.kept)
	}
	return ways
}

// lightest is the first link of the path from a to b with the least load, of the links to nearer
// switches, and, if only such paths count that can be had in reverse, that of the way back.
func (s *system) lightest(a, b fabric.NodeID, ways []uint8, symmetric bool) (there, back uint8) {
	links := s.neighbours(a)
	there, back = none, none
	least := uint64(0)
	for _, i := range ways {
		c, last := links[i], uint8(none)
		if symmetric {
			var ok bool
			if last, ok = s.mirror(a, b, c); !ok {
				continue
			}
		}
		if len(ways) == 1 {
			return i, last
		}
		if sum := s.cost[s.First[a]+int32(i)] + s.sum(c, b); there == none || sum < least {
			there, back, least = i, last, sum
		}
	}
	return there, back
}

// nearer is the links of a switch to those nearer to another, of several beginning with another at every pair. There is no
// jump on what is nearer, which no processor foresees.
func (s *system) nearer(a, b fabric.NodeID) []uint8 {
	links, hops := s.neighbours(a), s.hops[int(b)*s.n:][:s.n]
	begin, want := int(a+b)%len(links)+1, hops[a]-1
	n := uint8(0) // of fewer than none
	for i := begin; i < len(links); i++ {
		s.ways[n] = uint8(i)
		if hops[links[i]] == want {
			n++
		}
	}
	for i, c := range links[:begin] {
		s.ways[n] = uint8(i)
		if hops[c] == want {
			n++
		}
	}
	return s.ways[:n]
}

// mirror is the first link of the way back, if the path from a to b by neighbour c, which is not b, can
// be had in reverse.
func (s *system) mirror(a, b, c fabric.NodeID) (back uint8, ok bool) {
	back = s.next[int(c)*s.n+int(b)]
	y := s.neighbours(b)[back]
	if y == c {
		return back, true
	}
	return back, s.neighbours(a)[s.next[int(y)*s.n+int(a)]] == c
}

// out is the first link of the path from a to b.
func (s *system) out(a, b fabric.NodeID) int32 {
	return s.First[a] + int32(s.next[int(b)*s.n+int(a)])
}

// sum is the load on the path from a to b.
func (s *system) sum(a, b fabric.NodeID) uint64 {
	sum := uint64(0)
	for a != b {
		l := s.out(a, b)
		sum += s.cost[l]
		a = s.To[l]
	}
	return sum
}

func (s *system) set(a, b fabric.NodeID, first uint8) { s.next[int(b)*s.n+int(a)] = first }

// charge adds the routes from a to b to the loads.
func (s *system) charge(a, b fabric.NodeID) {
	routes := uint64(s.hosts[a]) * uint64(s.hosts[b])
	if routes == 0 {
		return
	}
	for a != b {
		l := s.out(a, b)
		s.cost[l] += routes * s.share[l]
		a = s.To[l]
	}
}

// chargeBoth is charge for both directions between two switches, where the way back is the same: where no pair was apart
// so far, or the path is the only shortest one.
func (s *system) chargeBoth(a, b fabric.NodeID) {
	routes := uint64(s.hosts[a]) * uint64(s.hosts[b])
	if routes == 0 {
		return
	}
	to := s.next[int(b)*s.n:][:s.n]
	for a != b {
		l := s.First[a] + int32(to[a])
		back, more := s.back[l], routes*s.share[l]
		s.cost[l] += more
		s.cost[back] += more
		a = s.To[l]
	}
}

// load is that of each cable of a link, in units.
func (s *system) load(link int) uint64 { return s.cost[link] - s.expected[link] }

// squares is the sum of the squares of the loads of all cables.
func (s *system) squares() float64 {
	sum := 0.0
	for l := range s.cost {
		routes := float64(s.load(l)) / unit
		// The conversion keeps the product from being fused with the sum, which would
		// give another sum on other machines.
		sum += float64(routes*routes) * float64(unit/s.share[l])
	}
	return sum
}

// expect notes the loads of a pass, half and half with those of the passes before.
func (s *system) expect() {
	known := false
	for _, e := range s.expected {
		known = known || e > 0
	}
	for l, cost := range s.cost {
		if s.expected[l] = cost; known {
			s.expected[l] /= 2
		}
	}
}
