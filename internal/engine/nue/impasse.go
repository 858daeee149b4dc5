package nue

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/intree"
)

// step is a turn that switch u would use after a move; the graph has it already.
type step struct {
	u       fabric.NodeID
	in, out fabric.ChannelID
	fresh   bool // it is new in the graph
}

// backtrack is the local backtracking of the paper, which Settle tries last. Switch u has neighbours
// so many hops from the destination, but the turn is blocked at each of them. backtrack moves one of
// them to another trunk, without more hops, so that u can follow it, and settles u. False: no move
// helps; the tree is as it was.
func (s *search) backtrack(u fabric.NodeID, choices []fabric.ChannelID, hops int32) bool {
	if hops == 0 {
		return false
	}
	t := s.tree
	for _, c := range choices {
		v := s.heads[c]
		if t.Hops[v] != hops || t.Frozen(v) {
			continue
		}
		first, end := s.f.TrunksFrom(v)
		for alt := first; alt < end; alt++ {
			x := s.heads[alt]
			if alt == t.Out[v] || t.Hops[x] != hops-1 {
				continue
			}
			if s.move(u, c, v, alt) {
				s.put(u, c, s.steps[0].fresh)
				return true
			}
		}
	}
	return false
}

// move moves v to trunk alt, if u can follow by trunk c and all that follow v
// already still can. Else it returns false and leaves the tree as it was. The first of s.steps is
// then the turn of u, which the caller settles.
func (s *search) move(u fabric.NodeID, c fabric.ChannelID, v fabric.NodeID, alt fabric.ChannelID) bool {
	t := s.tree
	s.steps = s.steps[:0]
	if !s.tryStep(u, c, alt) {
		return false
	}
	x := s.heads[alt]
	if t.Out[x] != fabric.None && !s.tryStep(v, alt, t.Out[x]) {
		return s.takeBack()
	}
	own := s.steps[1:] // the turn of v itself, if there is one
	first, end := s.f.TrunksFrom(v)
	for back := first; back < end; back++ {
		child, in := s.heads[back], s.reverses[back]
		if t.Hops[child] != intree.NoPath && t.Out[child] == in && !s.tryStep(child, in, alt) {
			return s.takeBack()
		}
	}
	// The turns of the old place are not needed any more.
	old := t.Out[v]
	if s.fresh[v] {
		s.remove(old, t.Out[s.heads[old]])
	}
	s.fresh[v] = len(own) > 0 && own[0].fresh
	for _, p := range s.steps[1+len(own):] {
		if s.fresh[p.u] {
			s.remove(p.in, old)
		}
		s.fresh[p.u] = p.fresh
	}
	t.Out[v], t.Sum[v] = alt, t.Sum[x]+s.loads.On[alt]
	return true
}

// tryStep adds a turn that u would use to the graph, if it is not there, and to steps. It returns
// false if the turn is blocked.
func (s *search) tryStep(u fabric.NodeID, in, out fabric.ChannelID) bool {
	turn := s.f.Turn(in, out)
	fresh := s.state[turn] == unused
	if s.state[turn] == blocked || fresh && !s.add(in, out, turn) {
		return false
	}
	s.steps = append(s.steps, step{u: u, in: in, out: out, fresh: fresh})
	return true
}

// takeBack takes the turns that steps added out of the graph again. It returns false, for move.
func (s *search) takeBack() bool {
	for _, p := range s.steps {
		if p.fresh {
			s.remove(p.in, p.out)
		}
	}
	return false
}
