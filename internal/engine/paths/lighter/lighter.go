// Package lighter asks several path finders and takes the paths of the first, unless
// those of another have noticeably less on their fullest channel, or not noticeably more and
// phases of half the time: where an odd part of a network is so narrow that no paths have less on its
// channels, the fullest says nothing of the rest.
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

// shorter is how many times shorter phases must be. On 11 of the 60 networks for tuning sssp's are, and none is worse for
// it. Less is not worth the lanes: for an eighth, dfsssp takes 13 lanes for 7 on a torus of 6x5x5.
const shorter = 2

// Finder takes the best of several finders.
type Finder struct {
	Of []routing.PathFinder
}

// Paths implements routing.PathFinder.
func (o Finder) Paths(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	var best *routing.Forwarding
	var least load
	for i, finder := range o.Of {
		t, err := finder.Paths(ctx, f, nil)
		if err != nil {
			return nil, err
		}
		p.Report(i+1, len(o.Of))
		if l := (load{fullest(f, t), phases(f, t)}); best == nil || l.lighter(least) {
			best, least = t, l
		}
	}
	if best == nil {
		return nil, errors.New("no path finder to ask; give at least one")
	}
	return best, nil
}

// load is what paths are judged by.
type load struct{ fullest, phases uint64 }

func (l load) lighter(than load) bool {
	return less(l.fullest, than.fullest) || !less(than.fullest, l.fullest) && l.phases*shorter < than.phases
}

// less reports whether a is noticeably less than b.
func less(a, b uint64) bool { return a < b-b/noticeable }

// mostFlows is about how many flows phases follows.
const mostFlows = 300_000

// phases is the flows on the fullest trunk of a phase of all to all, added up over a sample: in each, every
// adapter and router sends to the one so many further on, by switch.
func phases(f *fabric.Fabric, t *routing.Forwarding) uint64 {
	ranks := f.ByPort(routing.Adapters.Endpoints(f))
	sum, n := uint64(0), len(ranks)
	on := make([]uint64, f.Trunks())
	most := min(n-1, max(32, mostFlows/max(1, n)))
	for i := range most {
		apart := 1 + i*(n-1)/most
		clear(on)
		worst := uint64(0)
		for rank, from := range ranks {
			to := f.Endpoint(ranks[(rank+apart)%n])
			at := f.Endpoint(from).Switch
			for range f.Switches() {
				c := f.Trunk(at, t.Port(at, to.LID))
				if at == to.Switch || c == fabric.None {
					break
				}
				on[c]++
				worst = max(worst, on[c])
				at = f.Heads()[c]
			}
		}
		sum += worst
	}
	return sum
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
