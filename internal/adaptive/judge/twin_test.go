package judge_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/adaptive/judge"
	"github.com/weft-fabric/weft/routing"
)

// twin judges an adaptive routing the slow way: every flow by itself, every
// place by search, sets as maps. It reads the contract of routing.Adaptive anew.
type twin struct {
	t         *adaptive.Tables
	ends      []bool
	switching judge.Switching

	pairs, unreachable, flows, astray, stranded int64
	hops                                        int
	minimal                                     bool
	edges                                       map[[2]judge.Hop]bool
}

// flow is a source and an address.
type flow struct {
	source fabric.NodeID
	a      adaptive.Address
}

// place is where a packet is: on a lane of a trunk or, with no trunk, at its source.
type place = judge.Hop

func atSource() place { return place{Trunk: fabric.None} }

func (w *twin) at(fl flow, p place) fabric.NodeID {
	if p.Trunk == fabric.None {
		return fl.source
	}
	return w.t.Fabric.Channel(p.Trunk).To
}

// next is where a packet may go, and whether by the routing subfunction.
func (w *twin) next(fl flow, p place) map[place]bool {
	next := map[place]bool{}
	at := w.at(fl, p)
	if at == w.t.Destination(fl.a) {
		return next
	}
	allowed := w.t.Allowed(fl.source, fl.a)
	for lane, l := range w.t.Lanes {
		open, relied := true, false
		phase := uint8(0)
		if p.Trunk == fabric.None {
			for _, any := range w.t.Lanes {
				relied = relied || any.Rely>>lane&1 == 1
			}
		} else {
			from := w.t.Lanes[p.Lane]
			open, relied = from.Next>>lane&1 == 1, from.Rely>>lane&1 == 1
			if from.Choices == l.Choices {
				phase = l.Choices.Phase(p.Trunk)
			}
		}
		if !open || allowed>>lane&1 == 0 {
			continue
		}
		set := l.Choices.Set(fl.a, phase)
		for c := range fabric.ChannelID(w.t.Fabric.Trunks()) {
			if w.t.Fabric.Channel(c).From == at && set.Has(c) {
				next[place{Trunk: c, Lane: uint8(lane)}] = relied
			}
		}
	}
	return next
}

// reach is every place a packet can get to from some, by ways that fit; those
// themselves included.
func (w *twin) reach(fl flow, from []place, fits func(relied bool) bool) map[place]bool {
	seen := map[place]bool{}
	for _, p := range from {
		seen[p] = true
	}
	for len(from) > 0 {
		p := from[0]
		from = from[1:]
		for q, relied := range w.next(fl, p) {
			if fits(relied) && !seen[q] {
				seen[q] = true
				from = append(from, q)
			}
		}
	}
	return seen
}

func newTwin(t *adaptive.Tables, scope routing.Scope, s judge.Switching) *twin {
	f := t.Fabric
	w := &twin{t: t, switching: s, minimal: true, edges: map[[2]judge.Hop]bool{}, ends: make([]bool, f.Switches())}
	for _, e := range f.Endpoints() {
		if e.Switch != fabric.None && scope.Includes(e.Class) {
			w.ends[e.Switch] = true
		}
	}
	for s := range fabric.NodeID(f.Switches()) {
		for d := range fabric.NodeID(f.Switches()) {
			if s == d || !w.ends[s] || !w.ends[d] {
				continue
			}
			w.pairs++
			arrives := false
			for a, end := t.AddressesOf(d); a < end; a++ {
				if t.Allowed(s, a) != 0 {
					arrives = w.judge(flow{s, a}) || arrives
				}
			}
			if !arrives {
				w.unreachable++
			}
		}
	}
	return w
}

func anyWay(bool) bool { return true }

// judge looks at a flow and says whether it is sure to arrive.
func (w *twin) judge(fl flow) bool {
	w.flows++
	places := w.reach(fl, []place{atSource()}, anyWay)
	dest := w.t.Destination(fl.a)
	stranded := false
	for p := range places {
		next := w.next(fl, p)
		offers := false
		for _, relied := range next {
			offers = offers || relied
		}
		stranded = stranded || !offers && w.at(fl, p) != dest
		if p.Trunk == fabric.None {
			continue
		}
		ch := w.t.Fabric.Channel(p.Trunk)
		w.minimal = w.minimal && hopsBetween(w.t.Fabric, ch.To, dest) < hopsBetween(w.t.Fabric, ch.From, dest)
		w.depend(fl, p)
	}
	if stranded {
		w.stranded++
	}
	longest, ok := w.longest(fl, places)
	if !ok {
		w.astray++
		return false
	}
	w.hops = max(w.hops, longest)
	return true
}

// depend adds the dependencies of a packet that holds a place.
func (w *twin) depend(fl flow, p place) {
	offered := func(at place) {
		for q, relied := range w.next(fl, at) {
			if relied {
				w.edges[[2]judge.Hop{p, q}] = true
			}
		}
	}
	offered(p)
	if w.switching == judge.Wormhole {
		for q := range w.reach(fl, []place{p}, func(relied bool) bool { return !relied }) {
			offered(q)
		}
	}
}

// longest is the longest way from the source to the destination, if all ways end
// there: it counts up as long as some way goes on.
func (w *twin) longest(fl flow, places map[place]bool) (int, bool) {
	front := map[place]bool{atSource(): true}
	for n := 0; n <= len(places); n++ {
		after := map[place]bool{}
		for p := range front {
			next := w.next(fl, p)
			if len(next) == 0 && w.at(fl, p) != w.t.Destination(fl.a) {
				return 0, false
			}
			for q := range next {
				after[q] = true
			}
		}
		if len(after) == 0 {
			return n, true
		}
		front = after
	}
	return 0, false
}

func hopsBetween(f *fabric.Fabric, from, to fabric.NodeID) int {
	front := map[fabric.NodeID]bool{from: true}
	for n := 0; n <= f.Switches(); n++ {
		if front[to] {
			return n
		}
		after := maps.Clone(front)
		for _, c := range f.Channels()[:f.Trunks()] {
			if front[c.From] {
				after[c.To] = true
			}
		}
		front = after
	}
	return f.Switches() + 1
}

// shortestCycle is the length of one, 0 without.
func (w *twin) shortestCycle() int {
	best := 0
	for start := range w.edges {
		hops := map[judge.Hop]int{start[0]: 0}
		queue := []judge.Hop{start[0]}
		for len(queue) > 0 {
			p := queue[0]
			queue = queue[1:]
			for e := range w.edges {
				if e[0] != p {
					continue
				}
				if n := hops[p] + 1; e[1] == start[0] && (best == 0 || n < best) {
					best = n
				}
				if _, seen := hops[e[1]]; !seen {
					hops[e[1]] = hops[p] + 1
					queue = append(queue, e[1])
				}
			}
		}
	}
	return best
}

// agrees says where a verdict differs from the twin's.
func (w *twin) agrees(v *judge.Verdict) error {
	got := []int64{v.Pairs, v.Unreachable, v.Flows, v.MayNotArrive, v.Stranded, int64(v.Hops), int64(v.Dependencies), int64(len(v.Cycle))}
	want := []int64{w.pairs, w.unreachable, w.flows, w.astray, w.stranded, int64(w.hops), int64(len(w.edges)), int64(w.shortestCycle())}
	if !slices.Equal(got, want) || v.Minimal != w.minimal {
		return fmt.Errorf("pairs, unreachable, flows, astray, stranded, hops, dependencies, cycle, minimal:\n%v %v, want\n%v %v", got, v.Minimal, want, w.minimal)
	}
	if free := w.shortestCycle() == 0 && w.stranded == 0; v.Free() != free {
		return fmt.Errorf("free: %v, want %v", v.Free(), free)
	}
	if v.Free() {
		return w.rises(v.Certificate)
	}
	for i := range v.Cycle {
		if err := w.happens(&v.Cycle[i], v.Cycle[(i+1)%len(v.Cycle)].Hop); err != nil {
			return fmt.Errorf("step %d: %w: %+v", i, err, v.Cycle)
		}
	}
	return nil
}

func (w *twin) rises(c *judge.Certificate) error {
	rank := func(h judge.Hop) int32 { return c.Rank[int(h.Trunk)*c.Lanes+int(h.Lane)] }
	for e := range w.edges {
		if rank(e[0]) == deadlock.Unused || rank(e[0]) >= rank(e[1]) {
			return fmt.Errorf("the rank does not rise along %v", e)
		}
	}
	return nil
}

// happens walks the packet of a step of a cycle.
func (w *twin) happens(s *judge.Step, wanted judge.Hop) error {
	fl := flow{s.Source, s.Address}
	if len(s.Route) == 0 || s.Route[len(s.Route)-1] != s.Hop {
		return fmt.Errorf("the route does not lead there")
	}
	at := atSource()
	for _, h := range s.Route {
		if _, open := w.next(fl, at)[h]; !open {
			return fmt.Errorf("the route does not go on from %v to %v", at, h)
		}
		at = h
	}
	for _, h := range s.Via {
		if relied, open := w.next(fl, at)[h]; !open || relied {
			return fmt.Errorf("it does not go on from %v to %v beyond the subfunction", at, h)
		}
		at = h
	}
	if !w.next(fl, at)[wanted] {
		return fmt.Errorf("it is not offered %v", wanted)
	}
	direct := w.reach(fl, []place{atSource()}, func(relied bool) bool { return relied })[s.Hop]
	want := map[[2]bool]judge.Dependency{
		{true, true}: judge.Direct, {false, true}: judge.Cross, {true, false}: judge.Indirect, {false, false}: judge.IndirectCross,
	}[[2]bool{direct, len(s.Via) == 0}]
	// Another source of the same lanes may reach the hop by the subfunction.
	if s.Kind != want && direct {
		return fmt.Errorf("it is %s, want %s", s.Kind, want)
	}
	return nil
}
