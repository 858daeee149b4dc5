package installed

import (
	"context"
	"errors"
	"slices"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/internal/engine/spanning"
	"github.com/weft-fabric/weft/routing"
)

// A tree for multicast is kept as long as its cables are there. What is left of it is part of the
// next one, so that switches which copy packets by the one or the other do so on one tree. Where
// that does not go together with the paths, another tree takes its place, and nothing is proven
// about multicast until it is in use; where none does, the move is about unicast alone.

// fewRoots is how many roots are tried for a tree within a step, which has to come soon.
const fewRoots = 4

// candidate is a tree that a move may have.
type candidate struct {
	tree    *routing.Multicast
	newTree bool // it takes the place of the tree in use, which is no part of it
}

// inUse is the tree that the switches have, on the fabric as it is, without cables that are gone; nil: they have none
// of ours.
func (c *carrier) inUse() (*routing.Multicast, error) {
	if c.Sent.Multicast == nil {
		return nil, nil
	}
	on, err := transition.On(c.live, c.Sent, nil)
	if err != nil {
		return nil, err
	}
	return on.Multicast, nil
}

// besideTree is tables in force with the tree that new paths of a repair have to go together with: the tree in use, if
// it is whole; else one that what is left of it is a part of, if that goes together with what is left of the paths;
// else what is left of it.
func (c *carrier) besideTree(ctx context.Context, before *routing.Tables) (*routing.Tables, error) {
	if c.Sent.Multicast == nil || len(c.o.Groups) == 0 {
		return before, nil
	}
	on, err := transition.On(before.Fabric, c.Sent, nil)
	if err != nil {
		return nil, err
	}
	for _, next := range []func() (*candidate, error){
		func() (*candidate, error) { return c.stillWhole(before, on.Multicast), nil },
		func() (*candidate, error) { return c.mendedTree(ctx, before, nil, on.Multicast) },
	} {
		p, err := next()
		if err != nil {
			return nil, err
		}
		if p != nil {
			return withTrees(before, p.tree), nil
		}
	}
	return withTrees(before, on.Multicast), nil
}

// addTree gives the tables of a move the first of several trees with which every mixture with mixed, what packets may
// meet before, is free of loops, or none if there is no such tree. It sets m.Tables, m.Union, the verdict, and m.NewTree.
// The verdict has a loop if even paths alone do not go together.
func (c *carrier) addTree(ctx context.Context, m *Move, mixed []*routing.Tables, judge deadlock.Options) error {
	was, err := c.inUse()
	if err != nil {
		return err
	}
	given := m.Tables.Multicast
	m.Union, m.NewTree = nil, false
	const newTree = true
	for _, next := range []func() (*candidate, error){
		func() (*candidate, error) { return c.asGiven(given, was, !newTree), nil },
		func() (*candidate, error) { return c.stillWhole(m.Tables, was), nil },
		func() (*candidate, error) { return c.mendedTree(ctx, m.Tables, mixed, was) },
		func() (*candidate, error) { return c.asGiven(given, was, newTree), nil },
		func() (*candidate, error) { return c.anotherTree(ctx, m) },
	} {
		p, err := next()
		if err != nil {
			return err
		}
		if p == nil {
			continue
		}
		before := was
		if p.newTree {
			before = nil // nothing is proven about multicast until the new tree is in use
		}
		tables := withTrees(m.Tables, p.tree)
		union, err := c.union(ctx, append(allWithTrees(mixed, before), tables), judge)
		if err != nil {
			return err
		}
		if union.Free() {
			m.Tables, m.Union, m.NewTree = tables, union, p.newTree
			return nil
		}
		if m.Union != nil { // judged already: paths alone go together
			continue
		}
		if err := c.treeless(ctx, m, mixed, judge); err != nil || !m.Union.Free() {
			return err
		}
	}
	if m.Union != nil {
		return nil
	}
	return c.treeless(ctx, m, mixed, judge)
}

// treeless takes the tree out of a move, and sets m.Union to the verdict about every mixture without trees.
func (c *carrier) treeless(ctx context.Context, m *Move, mixed []*routing.Tables, judge deadlock.Options) (err error) {
	m.Tables = withTrees(m.Tables, nil)
	m.Union, err = c.union(ctx, append(slices.Clone(mixed), m.Tables), judge)
	return err
}

// withTrees is tables with other trees.
func withTrees(t *routing.Tables, m *routing.Multicast) *routing.Tables {
	with := *t
	with.Multicast = m
	return &with
}

// allWithTrees is tables that have the same trees.
func allWithTrees(tables []*routing.Tables, m *routing.Multicast) (list []*routing.Tables) {
	for _, t := range tables {
		list = append(list, withTrees(t, m))
	}
	return list
}

// asGiven is the tree that the tables of a move came with, nil if they came with none: with newTree in place of the one
// in use (was), else as one of which that may be a part, which the judge finds out.
func (c *carrier) asGiven(given, was *routing.Multicast, newTree bool) *candidate {
	if given == nil || !newTree && (was == nil || was.SLs&^given.SLs != 0) {
		return nil
	}
	return &candidate{tree: given, newTree: newTree}
}

// stillWhole is the tree in use, if all of it is left; else nil.
func (c *carrier) stillWhole(t *routing.Tables, was *routing.Multicast) *candidate {
	if was == nil || len(c.o.Groups) == 0 {
		return nil
	}
	if whole := spanning.Whole(t.Fabric, was.One()); whole != nil {
		return &candidate{tree: &routing.Multicast{SLs: was.SLs, Trees: []routing.MulticastTree{*whole}}}
	}
	return nil
}

// mendedTree is a tree that what is left of the tree in use is a part of, beside the paths of t and of mixed; nil:
// none is found.
func (c *carrier) mendedTree(ctx context.Context, t *routing.Tables, mixed []*routing.Tables, was *routing.Multicast) (*candidate, error) {
	if was == nil || len(c.o.Groups) == 0 {
		return nil, nil
	}
	o := spanning.Options{Contract: c.o.Contract, Scope: c.o.Scope, SLs: was.SLs, Keep: was.One(), Roots: fewRoots}
	for _, m := range mixed {
		o.Others = append(o.Others, m.Forwarding)
	}
	return found(spanning.Tree(ctx, withTrees(t, nil), o))
}

// anotherTree is a tree that has nothing to do with that in use: the first that there is, for the
// service levels of multicast in the order of preference. The judge may refuse it all the same.
func (c *carrier) anotherTree(ctx context.Context, m *Move) (*candidate, error) {
	if m.Kind == Full && m.More == 0 {
		return nil, nil // tables that were routed anew came with a tree (asGiven), unless there is none
	}
	for _, sls := range c.o.Groups {
		o := spanning.Options{Contract: c.o.Contract, Scope: c.o.Scope, SLs: sls, Roots: fewRoots}
		p, err := found(spanning.Tree(ctx, withTrees(m.Tables, nil), o))
		if p != nil {
			p.newTree = true
		}
		if p != nil || err != nil {
			return p, err
		}
	}
	return nil, nil
}

// found is a tree that was searched for as a candidate, or nil where there is none.
func found(tree *routing.Multicast, err error) (*candidate, error) {
	none := (*spanning.None)(nil)
	switch {
	case errors.As(err, &none), errors.Is(err, spanning.ErrLoop):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &candidate{tree: tree}, nil
}
