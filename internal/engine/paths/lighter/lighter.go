// Package lighter asks several path finders and takes the paths of the first, unless
// those of another have noticeably less on their fullest channel.
//
// Complexity: that of the finders, and O(D·S) for D destination LIDs and S switches.
package lighter

import (
	"bytes"
	"context"
	"errors"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/intree"
	"github.com/weft-fabric/weft/routing"
)

// noticeable is the part of the largest load, one in so many, that other paths must
// save.
const noticeable = 8

// Finder takes the best of several finders.
type Finder struct {
	Of []routing.PathFinder
}

// Paths implements routing.PathFinder.
func (o Finder) Paths(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	var best *routing.Forwarding
	least := uint64(0)
	for i, finder := range o.Of {
		t, err := finder.Paths(ctx, f, nil)
		if err != nil {
			return nil, err
		}
		p.Report(i+1, len(o.Of))
		if most := fullest(f, t); best == nil || most < least-least/noticeable {
			best, least = t, most
		}
	}
	if best == nil {
		return nil, errors.New("no path finder to ask; give at least one")
	}
	return best, nil
}

// fullest is the routes over the fullest trunk when each adapter and router sends to
// every LID of every other.
func fullest(f *fabric.Fabric, t *routing.Forwarding) uint64 {
	loads := intree.NewLoads(f)
	var tree routing.Tree
	var before []uint8 // a row to root, that times addresses have
	root, times := fabric.NodeID(fabric.None), uint64(0)
	charge := func() {
		if times > 0 {
			tree.Build(f, before, root)
			loads.Charge(tree.Order, tree.Out, times)
		}
	}
	for _, e := range routing.Adapters.Endpoints(f) {
		ep := f.Endpoint(e)
		for lid := range ep.LIDs() {
			row := t.Row(lid)
			if s := ep.Switch; s == root && bytes.Equal(row[:s], before[:s]) && bytes.Equal(row[s+1:], before[s+1:]) {
				times++ // all go as to the one before, but for the last cable
				continue
			}
			charge()
			before, root, times = row, ep.Switch, 1
		}
	}
	charge()
	return loads.Most()
}
