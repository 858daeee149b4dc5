package exact

import (
	"context"
	"slices"
)

// search looks for a cover of the core with a number of layers, by a solver of clauses to which it
// adds core paths and cycles as they turn out to be needed.
type search struct {
	c      *core
	k      int // layers
	solver solver
	member []int32 // [core path] variables, one for each layer: the path is in it; none: not written down yet
	uses   []int32 // [edge] likewise: a path over it is in the layer
	active []int32 // the paths written down
	steps  int     // effort spent
}

func newSearch(c *core, layers int, clique []int32) *search {
	s := &search{c: c, k: layers, member: slices.Repeat([]int32{none}, len(c.paths)), uses: slices.Repeat([]int32{none}, len(c.edges))}
	// Layers are interchangeable, so the paths of a clique, which need one each, can be given theirs.
	for l, p := range clique[:min(layers, len(clique))] {
		s.write(p)
		s.solver.add(isTrue(s.member[p] + int32(l)))
	}
	for _, p := range clique[min(layers, len(clique)):] {
		s.write(p)
	}
	return s
}

// write writes a path down as clauses: it is in some layer, and there its edges are used.
func (s *search) write(p int32) {
	s.active = append(s.active, p)
	s.member[p] = s.solver.variables(s.k)
	var some []literal
	for l := range int32(s.k) {
		some = append(some, isTrue(s.member[p]+l))
		for _, e := range s.c.paths[p] {
			if s.uses[e] == none {
				s.uses[e] = s.solver.variables(s.k)
			}
			s.solver.add(isFalse(s.member[p]+l), isTrue(s.uses[e]+l))
		}
	}
	s.solver.add(some...)
}

// forbid says that no layer has all edges of a cycle.
func (s *search) forbid(cycle []int32) {
	for l := range int32(s.k) {
		var clause []literal
		for _, e := range cycle {
			clause = append(clause, isFalse(s.uses[e]+l))
		}
		s.solver.add(clause...)
	}
}

// morePaths is how many paths are written down at a time, at least.
const morePaths = 8

// pathsPerStep is how many paths put into layers are as much effort as a
// conflict.
const pathsPerStep = 100

// run searches until it finds a cover, knows that there is none, or gives up
// after so many steps.
func (s *search) run(ctx context.Context, effort int) (*cover, verdict, error) {
	for s.steps < effort {
		if err := ctx.Err(); err != nil {
			return nil, gaveUp, err
		}
		// A part of the effort at a time, so that it can be cancelled.
		before := s.solver.conflicts
		found := s.solver.solve(min(effort-s.steps, 1000))
		s.steps += 1 + s.solver.conflicts - before
		switch found {
		case unsatisfiable:
			return nil, found, nil
		case gaveUp:
			continue
		}
		s.steps += len(s.active) / pathsPerStep
		v, cycles := s.answer()
		for _, cycle := range cycles {
			s.forbid(cycle)
		}
		if len(cycles) > 0 {
			continue
		}
		s.steps += len(s.c.paths) / pathsPerStep
		var misfits []int32
		for p := range int32(len(s.c.paths)) {
			if s.member[p] == none && !v.putAnywhere(p) {
				misfits = append(misfits, p)
			}
		}
		if len(misfits) == 0 {
			return v, satisfiable, nil
		}
		for _, p := range misfits[:min(len(misfits), max(morePaths, len(s.active)/4))] {
			s.write(p)
		}
	}
	return nil, gaveUp, nil
}

// answer is the cover with the paths written down in the layers that the solver gave them, without
// those that close cycles, and these cycles, as edges.
func (s *search) answer() (v *cover, cycles [][]int32) {
	v = newCover(s.c, s.k)
	for _, p := range s.active {
		for l := range s.k {
			if s.solver.value(isTrue(s.member[p]+int32(l))) != 1 {
				continue
			}
			edges := s.c.paths[p]
			if i := v.layers[l].insert(edges); i != none {
				cycles = append(cycles, v.layers[l].cycle(edges, edges[i]))
				break
			}
			v.layer[p] = int32(l)
			break
		}
	}
	return v, cycles
}
