// Package lighter asks several path finders and takes the paths of the first, unless
// those of another have noticeably less on their fullest channel.
//
// Complexity: that of the finders, and O(D·S) for D destination LIDs and S switches.
package lighter

import (
	"context"
	"errors"
	"slices"

	"github.com/weft-fabric/weft/fabric"
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
	loads, least := make([]uint64, f.Trunks()), uint64(0)
	for i, finder := range o.Of {
		t, err := finder.Paths(ctx, f, nil)
		if err != nil {
			return nil, err
		}
		p.Report(i+1, len(o.Of))
		count(f, t, loads)
		most := slices.Max(append(loads, 0))
		if best == nil || most < least-least/noticeable {
			best, least = t, most
		}
	}
	if best == nil {
		return nil, errors.New("lighter: no path finder to ask; give at least one")
	}
	return best, nil
}

// count counts the routes over every trunk when each adapter and router sends to every
// LID of every other.
func count(f *fabric.Fabric, t *routing.Forwarding, loads []uint64) {
	clear(loads)
	heads := f.Heads()
	sources := routing.Adapters.PerSwitch(f)
	routes := make([]uint64, f.Switches())
	var tree routing.Tree
	for _, e := range routing.Adapters.Endpoints(f) {
		ep := f.Endpoint(e)
		for a := range fabric.LID(1) << ep.LMC {
			tree.Build(f, t.Row(ep.LID+a), ep.Switch)
			for _, s := range tree.Order {
				routes[s] = uint64(sources[s])
			}
			for _, s := range slices.Backward(tree.Order[1:]) {
				loads[tree.Out[s]] += routes[s]
				routes[heads[tree.Out[s]]] += routes[s]
			}
		}
	}
}
