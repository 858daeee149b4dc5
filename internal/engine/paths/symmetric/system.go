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
	only     []bool   // [to × n + from] it is the only shortest path, so that no pass chooses another; known after the first
	again    bool     // only is as known as it gets
	apart    int      // pairs whose way back is chosen by itself
	load     []uint64 // [link] on each of its cables, in units
	expected []uint64 // [link] the load to expect: of the passes before
}

func newSystem(n *network) *system {
	return &system{
		network: n, next: make([]uint8, n.n*n.n), only: make([]bool, n.n*n.n),
		load: make([]uint64, len(n.To)), expected: make([]uint64, len(n.To)),
	}
}

// route chooses all paths anew.
func (s *system) route(ctx context.Context, pairs []pair) error {
	for i := range s.next {
		if !s.only[i] {
			s.next[i] = none
		}
	}
	clear(s.load)
	s.apart = 0
	for i, p := range pairs {
		if i%(1<<14) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if i := int(p.b)*s.n + int(p.a); !s.only[i] {
			there, back := s.choose(p.a, p.b)
			s.set(p.a, p.b, there)
			s.set(p.b, p.a, back)
			if !s.again && s.isOnly(p.a, p.b) {
				s.only[i], s.only[int(p.a)*s.n+int(p.b)] = true, true
			}
		}
		s.charge(p.a, p.b)
		s.charge(p.b, p.a)
	}
	s.again = true
	return ctx.Err()
}

// isOnly says whether the path from a to b is the only shortest one. That is known of all shorter ones.
func (s *system) isOnly(a, b fabric.NodeID) bool {
	nearer, ways, by := s.hops[int(b)*s.n:][:s.n], 0, a
	for _, c := range s.neighbours(a) {
		if nearer[c] == nearer[a]-1 {
			ways, by = ways+1, c
		}
	}
	return ways == 1 && (by == b || s.only[int(b)*s.n+int(by)])
}

// choose is the first links of the paths between two switches both ways, all shorter
// paths being chosen.
func (s *system) choose(a, b fabric.NodeID) (there, back uint8) {
	there, back = s.lightest(a, b, true)
	if there == none {
		s.apart++
		there, _ = s.lightest(a, b, false)
		back, _ = s.lightest(b, a, false)
	}
	return there, back
}

// lightest is the first link of the path from a to b with the least load and, if only
// such paths count that can be had in reverse, that of the way back.
func (s *system) lightest(a, b fabric.NodeID, symmetric bool) (there, back uint8) {
	links := s.neighbours(a)
	nearer := s.hops[int(b)*s.n:][:s.n]
	there, back = none, none
	least := uint64(0)
	i := int(a+b) % len(links) // of several begin with another at every pair
	for range links {
		if i++; i >= len(links) {
			i = 0
		}
		c := links[i]
		if nearer[c] != nearer[a]-1 {
			continue
		}
		last, ok := uint8(none), true
		if symmetric {
			last, ok = s.mirror(a, b, c)
		}
		if !ok {
			continue
		}
		if sum := s.cost(s.First[a]+int32(i)) + s.sum(c, b); there == none || sum < least {
			there, back, least = uint8(i), last, sum
		}
	}
	return there, back
}

// mirror is the first link of the way back, if the path from a to b by neighbour c can
// be had in reverse.
func (s *system) mirror(a, b, c fabric.NodeID) (back uint8, ok bool) {
	if c == b {
		for i, v := range s.neighbours(b) {
			if v == a {
				return uint8(i), true
			}
		}
	}
	back = s.next[int(c)*s.n+int(b)]
	y := s.neighbours(b)[back]
	if y == c {
		return back, true
	}
	return back, s.neighbours(a)[s.next[int(y)*s.n+int(a)]] == c
}

func (s *system) cost(link int32) uint64 { return s.load[link] + s.expected[link] }

// out is the first link of the path from a to b.
func (s *system) out(a, b fabric.NodeID) int32 {
	return s.First[a] + int32(s.next[int(b)*s.n+int(a)])
}

// sum is the load on the path from a to b.
func (s *system) sum(a, b fabric.NodeID) uint64 {
	sum := uint64(0)
	for a != b {
		l := s.out(a, b)
		sum += s.cost(l)
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
		s.load[l] += routes * s.share[l]
		a = s.To[l]
	}
}

// squares is the sum of the squares of the loads of all cables.
func (s *system) squares() float64 {
	sum := 0.0
	for l, load := range s.load {
		routes := float64(load) / unit
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
	for l, load := range s.load {
		if s.expected[l] += load; known {
			s.expected[l] /= 2
		}
	}
}
