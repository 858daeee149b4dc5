package nue

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing/internal/dag"
)

// step is a turn that switch u would use after a move.
type step struct {
	u       fabric.NodeID
	in, out fabric.ChannelID
	fresh   bool // it is new in the graph
}

// makeWay is the local backtracking. Switch u has neighbours as near to the
// destination as it wants, but the turn is blocked at each of them. It looks for
// one of them that can move to another trunk, as near, so that u can follow it.
func (s *search) makeWay(u fabric.NodeID, choices []fabric.ChannelID, hops int32) bool {
	for _, c := range choices {
		v := s.heads[c]
		if s.place[v] < 0 || s.hops[v] != hops || s.frozen[v] {
			continue
		}
		first, end := s.f.TrunksFrom(v)
		for alt := first; alt < end; alt++ {
			x := s.heads[alt]
			if alt == s.out[v] || s.place[x] == unsettled || s.hops[x] != hops-1 {
				continue
			}
			if s.move(u, c, v, alt) {
				s.put(u, c, hops+1, s.steps[0].fresh)
				return true
			}
		}
	}
	return false
}

// move moves v to trunk alt, if u can follow by trunk c and all that follow v
// already still can. It fails leaving the tree as it was.
func (s *search) move(u fabric.NodeID, c fabric.ChannelID, v fabric.NodeID, alt fabric.ChannelID) bool {
	s.steps = s.steps[:0]
	if !s.step(u, c, alt) {
		return false
	}
	x := s.heads[alt]
	if s.place[x] != arrived && !s.step(v, alt, s.out[x]) {
		return s.stepBack()
	}
	own := s.steps[1:] // the turn of v itself, if there is one
	first, end := s.f.TrunksFrom(v)
	for back := first; back < end; back++ {
		child, in := s.heads[back], s.reverses[back]
		if s.place[child] >= 0 && s.out[child] == in && !s.step(child, in, alt) {
			return s.stepBack()
		}
	}
	// The turns of the old place are not needed any more.
	old := s.out[v]
	if s.fresh[v] {
		s.take(old, s.out[s.heads[old]])
	}
	s.fresh[v] = len(own) > 0 && own[0].fresh
	for _, p := range s.steps[1+len(own):] {
		if s.fresh[p.u] {
			s.take(p.in, old)
		}
		s.fresh[p.u] = p.fresh
	}
	s.out[v], s.place[v] = alt, int32(alt-first)
	s.sum[v] = s.sum[x] + s.load[alt]
	return true
}

// step makes sure that the graph holds a turn that u would use.
func (s *search) step(u fabric.NodeID, in, out fabric.ChannelID) bool {
	turn := s.f.Turn(in, out)
	fresh := s.state[turn] == unused
	if s.state[turn] == blocked || fresh && !s.add(in, out, turn) {
		return false
	}
	s.steps = append(s.steps, step{u, in, out, fresh})
	return true
}

// stepBack takes the steps so far back. It returns false.
func (s *search) stepBack() bool {
	for _, p := range s.steps {
		if p.fresh {
			s.take(p.in, p.out)
		}
	}
	return false
}

// escape begins the tree anew, with the late switches and all between them and
// the destination on their escape paths.
func (s *search) escape(d *dag.DAG) {
	for _, u := range s.order {
		if s.fresh[u] {
			s.take(s.out[u], s.out[s.heads[s.out[u]]])
		}
	}
	s.retry()
	for _, u := range s.late {
		for ; u != d.Root && !s.frozen[u]; u = s.heads[s.escapes.out(s.f, u, d.Root)] {
			s.frozen[u] = true
		}
	}
	s.plant(d.Root)
	s.late = append(s.late, d.Order[1:]...)
	for s.settleFrozen() {
	}
}

// settleFrozen settles the late switches whose escape path leads to a settled
// one. It says whether there were any.
func (s *search) settleFrozen() bool {
	before := len(s.late)
	s.late = slices.DeleteFunc(s.late, func(u fabric.NodeID) bool {
		if !s.frozen[u] {
			return false
		}
		c := s.escapes.out(s.f, u, s.order[0])
		v := s.heads[c]
		if s.place[v] == unsettled {
			return false
		}
		s.put(u, c, s.hops[v]+1, false)
		return true
	})
	return len(s.late) < before
}
