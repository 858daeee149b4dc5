package updown

import (
	"context"
	"errors"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/orient"
	"github.com/weft-fabric/weft/routing"
)

// MultiRoot is one Up*/Down* tree for every address of an endpoint, with roots
// as far apart as possible: O. Lysne et al., IEEE TPDS 17(1), 2006, section 4.2.
// Address i of every endpoint (its base LID + i) goes by the tree of the i-th
// root; give it layer i (package address) and the areas round the roots, where
// Up*/Down* piles up its traffic, lie in different places in different layers.
//
// Guarantee: each tree by itself is free of deadlock, so all together are if each
// has a lane of its own. There are as many trees as addresses, 2^LMC; with LMC 0
// this is Up*/Down* with the lowest switch as its root.
//
// Deviation from the paper: none; the choice of roots is step 1 to the letter,
// ties to the lowest node number, which is by GUID.
type MultiRoot struct{}

// Paths implements routing.PathFinder.
func (MultiRoot) Paths(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	t := routing.NewForwarding(f)
	if f.Switches() == 0 {
		return t, nil
	}
	trees := f.Addresses()
	roots := farApart(f, trees)
	for i, root := range roots {
		o := orient.New(f, orient.ByRank(f, []fabric.NodeID{root}))
		err := dag.RouteAddress(ctx, f, t, o.Legal, i, func(done, total int) { p.Report(i*total+done, trees*total) })
		if err != nil {
			return nil, err
		}
	}
	t.Notes = append(t.Notes, "roots, one for each address: "+name(f, roots))
	return t, nil
}

// farApart is n roots by step 1 of section 4.2: each at the largest distance from the
// nearest root before it, the lowest of several; the first is switch 0.
func farApart(f *fabric.Fabric, n int) []fabric.NodeID {
	roots := []fabric.NodeID{0}
	for len(roots) < n {
		hops := f.Hops(roots...)
		best := fabric.NodeID(0)
		for s := range hops {
			if hops[s] > hops[best] {
				best = fabric.NodeID(s)
			}
		}
		roots = append(roots, best)
	}
	return roots
}

// Escape routes one address of every endpoint by Up*/Down* and leaves the others
// as they are: what LASH does with paths that fit no layer (section 5.1).
func Escape(ctx context.Context, f *fabric.Fabric, t *routing.Forwarding, address int, p routing.Progress) error {
	for _, c := range candidates(f) {
		if c.Apart(f) {
			continue
		}
		t.Notes = append(t.Notes, "Up*/Down* layer, "+c.note)
		return dag.RouteAddress(ctx, f, t, c.Legal, address, p)
	}
	return errors.New("no order of the switches joins them all")
}
