package orient

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
)

// mostWork bounds the search of Shorter for the paths to all switches, in switches and
// trunks looked at: a second or two. It depends on the network only.
const mostWork = 400_000_000

// Shorter is a dag.Builder like Legal, whose paths are shorter where they can be. Going
// down wherever that is possible makes detours after an order that is deep, such as a
// depth-first one: a switch may have a long way down to root and a short one that begins
// upwards. But forwarding by destination gives a switch one way for all packets, and those
// that came from above may not be sent up again. So some switches are barred from going
// down, and those above them must do without them.
//
// Which to bar is searched for root by root: a switch at a time, as long as that makes the
// paths from the switches that send shorter in sum; sends is [switch]. Without any, or
// where the work is used up, it is Legal.
func (o *Orientation) Shorter(sends []bool) dag.Builder {
	return func(d *dag.DAG, f *fabric.Fabric, root fabric.NodeID) {
		s := search{o: o, f: f, root: root, sends: sends, barred: make([]bool, f.Switches())}
		s.left = mostWork / max(1, f.Switches()) / (f.Switches() + f.Trunks())
		o.legal(d, f, root, s.barred, nil)
		for s.sweep(d) {
		}
		o.legal(d, f, root, s.barred, nil)
	}
}

type search struct {
	o      *Orientation
	f      *fabric.Fabric
	root   fabric.NodeID
	sends  []bool
	barred []bool // [switch]
	left   int    // graphs that may still be built
	tried  dag.DAG
}

// sweep tries every switch once, those with most to gain first, and says whether any of
// them made paths shorter. d is the graph at hand, before and after.
func (s *search) sweep(d *dag.DAG) (better bool) {
	hops := s.sum(d)
	order := s.candidates(d)
	for _, u := range order {
		if s.left--; s.left < 0 {
			return false
		}
		s.barred[u] = !s.barred[u]
		s.o.legal(&s.tried, s.f, s.root, s.barred, nil)
		if now := s.sum(&s.tried); len(s.tried.Order) == len(d.Order) && now < hops {
			hops, better = now, true
		} else {
			s.barred[u] = !s.barred[u]
		}
	}
	if better {
		s.o.legal(d, s.f, s.root, s.barred, nil)
	}
	return better
}

// candidates is the switches that go down though a way up is shorter, those that gain
// most first, then those that are barred.
func (s *search) candidates(d *dag.DAG) (list []fabric.NodeID) {
	gain := make([]int32, len(s.barred))
	heads := s.f.Heads()
	for _, u := range d.Order {
		for c, end := s.f.TrunksFrom(u); c < end; c++ {
			if h := d.Hops[heads[c]]; u != s.root && !s.barred[u] && s.o.Up[c] && h != dag.NoPath {
				gain[u] = max(gain[u], d.Hops[u]-h-1)
			}
		}
		if gain[u] > 0 || s.barred[u] {
			list = append(list, u)
		}
	}
	slices.SortStableFunc(list, func(a, b fabric.NodeID) int { return int(gain[b] - gain[a]) })
	return list
}

// sum is the hops from all switches that send.
func (s *search) sum(d *dag.DAG) (hops int64) {
	for _, u := range d.Order {
		if s.sends[u] {
			hops += int64(d.Hops[u])
		}
	}
	return hops
}
