// Package multipath gives each address of an endpoint another tree of shortest
// paths.
//
// It is the source adaptivity of O. Lysne et al.: Layered Routing in Irregular
// Networks, IEEE TPDS 17(1), 2006, section 6, in its InfiniBand form: an endpoint
// with LMC n has 2^n LIDs, and a source chooses the path by choosing the LID. It
// is sssp with one more aim: first of all, the trees of one endpoint share as few
// channels as can be.
//
// Guarantee: connected within each part of the network, every path minimal, of
// every address. Deadlock-free only together with a lane assigner.
//
// Complexity: that of sssp; D counts all addresses.
//
// Deviation from the paper: not all shortest paths, but the 2^n trees that
// destination addresses can express, since paths to one address form an in-tree.
package multipath

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/paths/dag"
)

// Finder finds a tree for each address. The zero Finder is ready to use.
type Finder struct{}

// overlap is the cost of a channel that an earlier tree of the endpoint uses: more
// than the loads of a path can sum up to, so that it decides before they do.
const overlap = 1 << 44

// Paths implements routing.PathFinder.
func (Finder) Paths(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	t := routing.NewForwarding(f)
	w := newWeights(f)
	err := dag.ByDestination(ctx, f, dag.Shortest, func(d *dag.DAG, lids []fabric.LID) {
		for _, lid := range lids {
			e := f.Endpoint(f.Owner(lid))
			if lid == e.LID {
				clear(w.trees)
			}
			w.choose(d, t.Row(lid), f)
			t.Row(lid)[d.Root] = dag.LastPort(f, e)
			if e.Class != fabric.SwitchPort {
				w.charge(d, f.Heads())
			}
		}
		p.Report(int(d.Root)+1, f.Switches())
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

type weights struct {
	load    []uint64           // [trunk] routes on it so far
	trees   []uint64           // [trunk] trees of the endpoint at hand that use it
	sources []uint64           // [switch] adapter and router ports on it
	sum     []uint64           // [switch] cost of its path to the destination
	out     []fabric.ChannelID // [switch] first trunk of its path
	routes  []uint64           // [switch] sources in its subtree
}

func newWeights(f *fabric.Fabric) *weights {
	n := f.Switches()
	w := &weights{
		load: make([]uint64, f.Trunks()), trees: make([]uint64, f.Trunks()),
		sources: make([]uint64, n), sum: make([]uint64, n), out: make([]fabric.ChannelID, n), routes: make([]uint64, n),
	}
	for s := range w.sources {
		w.sources[s] = uint64(len(f.Attached(fabric.NodeID(s))) - 1)
	}
	return w
}

// choose finds the cheapest path from every switch to d.Root and writes it.
func (w *weights) choose(d *dag.DAG, row []uint8, f *fabric.Fabric) {
	channels := f.Channels()
	w.sum[d.Root] = 0
	for i := 1; i < len(d.Order); i++ {
		u, out := d.Order[i], d.Choices(i)
		heads := d.Head[d.First[i]:d.First[i+1]]
		best := 0
		least := ^uint64(0)
		for j, c := range out {
			if sum := w.sum[heads[j]] + w.load[c] + overlap*w.trees[c]; sum < least {
				least, best = sum, j
			}
		}
		w.sum[u], w.out[u] = least, out[best]
		row[u] = channels[out[best]].FromPort
	}
}

// charge adds the tree to the loads, and to the trees of the endpoint.
func (w *weights) charge(d *dag.DAG, heads []fabric.NodeID) {
	for _, u := range d.Order {
		w.routes[u] = w.sources[u]
	}
	for i := len(d.Order) - 1; i > 0; i-- {
		u := d.Order[i]
		c := w.out[u]
		w.load[c] += w.routes[u]
		w.trees[c]++
		w.routes[heads[c]] += w.routes[u]
	}
}
