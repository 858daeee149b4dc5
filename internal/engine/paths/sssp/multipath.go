package sssp

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/intree"
	"github.com/weft-fabric/weft/routing"
)

// MultiPath gives each address of an endpoint another tree of shortest paths: the
// source adaptivity of O. Lysne et al.: Layered Routing in Irregular Networks,
// IEEE TPDS 17(1), 2006, section 6, in its InfiniBand form. An endpoint with LMC
// n has 2^n LIDs, and a source chooses the path by choosing the LID. It is
// P-SSSP with one more aim, which comes first: the trees of one endpoint share
// as few channels as can be.
//
// Guarantee: connected within each part of the network, every path minimal, of
// every address. Deadlock-free only together with a lane assigner.
//
// Deviation from the paper: not all shortest paths, but the 2^n trees that
// destination addresses can express, since paths to one address form an in-tree.
type MultiPath struct{}

// overlap is the cost of a channel that an earlier tree of the endpoint uses: more
// than the loads of a path can sum up to, so that it decides before they do.
const overlap = 1 << 44

// Paths implements routing.PathFinder.
func (MultiPath) Paths(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	t := routing.NewForwarding(f)
	w := newWeights(f)
	trees := make([]uint64, f.Trunks()) // [trunk] how many trees of the endpoint at hand use it
	err := dag.ByDestination(ctx, f, dag.Shortest, func(d *dag.DAG, lids []fabric.LID) {
		for _, lid := range lids {
			e := f.Endpoint(f.Owner(lid))
			if lid == e.LID {
				clear(trees)
			}
			w.chooseApart(d, trees)
			intree.Write(f, t.Row(lid), lid, d.Order, w.out)
			if e.Class != fabric.SwitchPort {
				w.Charge(d.Order, w.out, 1)
				for _, u := range d.Order[1:] {
					trees[w.out[u]]++
				}
			}
		}
		p.Report(int(d.Root)+1, f.Switches())
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// chooseApart sets out to the lightest shortest paths among those that share the fewest trunks with
// earlier trees of the endpoint; trees is how many use each trunk, [trunk].
func (w *weights) chooseApart(d *dag.DAG, trees []uint64) {
	w.sum[d.Root] = 0
	for i := 1; i < len(d.Order); i++ {
		heads := d.Head[d.First[i]:d.First[i+1]]
		best, least := fabric.ChannelID(fabric.None), ^uint64(0)
		for j, c := range d.Choices(i) {
			if sum := w.sum[heads[j]] + w.On[c] + overlap*trees[c]; sum < least {
				least, best = sum, c
			}
		}
		u := d.Order[i]
		w.sum[u], w.out[u] = least, best
	}
}
