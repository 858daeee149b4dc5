// Package exact finds the fewest layers that paths can be parted into so that
// every layer by itself is free of cycles, or says between which bounds they are.
//
// J. Domke, T. Hoefler, W. E. Nagel: Deadlock-Free Oblivious Routing for
// Arbitrary Topologies, IPDPS 2011, section III.A: the acyclic path partitioning
// problem, which is NP-complete (Theorem 1). So this is for small networks, and
// for saying how far the heuristics of package layer are from the best on those
// in between. It solves the problem as the paper states it: whole paths, each in
// one layer; package hop gets by with fewer lanes where paths may change lanes.
//
// How. Dependencies that lie on no cycle and paths whose dependencies another
// path has too are left out first. Two paths that pass two channels in opposite
// order cannot share a layer; a clique of such paths is the first lower bound,
// first fit the first upper bound. In between, for each number of layers, a
// search in clauses (conflict-driven, J. Marques-Silva, K. Sakallah: GRASP, IEEE
// Trans. Computers 48(5), 1999): each path in some layer, and in no layer all
// dependencies of a cycle. There are far too many cycles and often too many paths
// to write down, so both are added as they are needed: cycles when a layer of the
// answer has them, paths when they fit into no layer of it. No answer for some of
// the paths means none for all.
//
// Guarantee: bounds that hold, and layers that are free of cycles. The effort is
// counted in steps of the search and not in seconds: the same input has the same
// answer everywhere.
//
// Limits: MaxPaths paths after the reduction, and the effort. Networks that need
// two layers are solved at once up to some 50 switches, all kinds up to some 20;
// beyond, expect bounds: 2 to 4 on a torus of 4x4x4.
package exact

import (
	"context"
	"errors"
	"fmt"
)

// MaxPaths is the number of paths, after the reduction, up to which an instance
// is looked at.
const MaxPaths = 20_000

// DefaultEffort is the steps after which Solve gives up, a few seconds' worth: a
// step is a conflict in the search, or a hundred paths put into layers.
const DefaultEffort = 10_000

// Instance is an acyclic path partitioning problem.
type Instance struct {
	Vertices int       // numbered 0 … Vertices-1; in a network, its channels
	Paths    [][]int32 // the vertices of each path, none twice

	// Bundle is paths that need the same layer, numbered from 0, [path]; nil: each path
	// is free of the others. That is not in the paper, but the same search.
	Bundle []int32
}

// bundle is the bundle of a path; without bundles, the path itself.
func (in *Instance) bundle(p int) int32 {
	if in.Bundle == nil {
		return int32(p)
	}
	return in.Bundle[p]
}

// bundles is how many there are.
func (in *Instance) bundles() int {
	n := int32(0)
	for p := range in.Paths {
		n = max(n, in.bundle(p)+1)
	}
	return int(n)
}

// Result is what is known of the fewest layers.
type Result struct {
	Lower, Upper int   // the fewest layers are no fewer and no more
	Layer        []int // [path] a cover with Upper layers, numbered 0 … Upper-1
	Steps        int   // effort spent
}

// Optimal reports whether the cover is as good as any.
func (r *Result) Optimal() bool { return r.Lower == r.Upper }

// TooLarge is the error for an instance beyond MaxPaths.
type TooLarge struct {
	Paths int // after the reduction, a bundle as one
}

// errCyclic is the error for a bundle that no layer can hold.
var errCyclic = errors.New("the paths of a bundle close a cycle by themselves")

func (e *TooLarge) Error() string {
	return fmt.Sprintf("%d paths are left after the reduction; %d can be looked at", e.Paths, MaxPaths)
}

// Solve finds the fewest layers, or bounds when it gives up after so many
// steps; zero effort is DefaultEffort. Even no path at all needs one layer.
// The error is *TooLarge, for a path that passes a vertex twice or one that does
// not exist, for a bundle with a cycle, or the context's.
func Solve(ctx context.Context, in Instance, effort int) (*Result, error) {
	if effort == 0 {
		effort = DefaultEffort
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	c := reduce(in)
	if len(c.paths) > MaxPaths {
		return nil, &TooLarge{Paths: len(c.paths)}
	}
	w := &work{c: c, clique: c.clique(), best: c.firstFit()}
	if w.best == nil {
		return nil, errCyclic
	}
	w.Lower, w.Upper = max(1, len(w.clique)), max(1, w.best.count())
	// From below with half of the effort, since an answer that so few layers do not suffice helps
	// most; from above with the rest.
	for w.Lower < w.Upper {
		if v, err := w.try(ctx, w.Lower, effort/2); err != nil {
			return nil, err
		} else if v == gaveUp {
			break
		}
	}
	for w.Lower < w.Upper {
		if v, err := w.try(ctx, w.Upper-1, effort); err != nil {
			return nil, err
		} else if v == gaveUp {
			break
		}
	}
	w.Layer = c.expand(in, w.best)
	return &w.Result, nil
}

// work is an instance while its bounds are drawn together.
type work struct {
	Result
	c      *core
	clique []int32
	best   *cover // with Upper layers
}

// try looks for a cover with k layers until so much effort is spent in all, and
// moves the bound that the verdict is about.
func (w *work) try(ctx context.Context, k, effort int) (verdict, error) {
	s := newSearch(w.c, k, w.clique)
	cover, v, err := s.run(ctx, effort-w.Steps)
	w.Steps += s.steps
	switch v {
	case satisfiable:
		w.best, w.Upper = cover, k
	case unsatisfiable:
		w.Lower = k + 1
	}
	return v, err
}

func (in *Instance) check() error {
	if in.Bundle != nil && len(in.Bundle) != len(in.Paths) {
		return fmt.Errorf("%d paths, and bundles for %d", len(in.Paths), len(in.Bundle))
	}
	seen := make([]int, in.Vertices)
	for p, path := range in.Paths {
		for _, v := range path {
			if v < 0 || int(v) >= in.Vertices {
				return fmt.Errorf("path %d passes vertex %d; there are %d", p, v, in.Vertices)
			}
			if seen[v] == p+1 {
				return fmt.Errorf("path %d passes vertex %d twice", p, v)
			}
			seen[v] = p + 1
		}
	}
	return nil
}
