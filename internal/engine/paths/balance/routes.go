package balance

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/par"
)

// routes is flows whose trunks are looked up again and again, for every trial. How long
// each route can be does not depend on the trial.
type routes struct {
	flows  []ends
	first  []int32 // [flow, plus one at the end] into the trunks of all, for the longest ways
	byDest []int32 // flows, those to one destination in a row, since they share its tree
}

// ends is where a flow begins and ends.
type ends struct {
	from fabric.NodeID
	dest int32
}

func newRoutes(n *network, flows []ends) *routes {
	x := &routes{flows: flows, first: make([]int32, len(flows)+1), byDest: make([]int32, len(flows))}
	next := make([]int32, len(n.dests)+1) // [dest, plus one] its flows; then where the next of them belongs
	for _, e := range flows {
		next[e.dest+1]++
	}
	for d := range n.dests {
		next[d+1] += next[d]
	}
	for i, e := range flows {
		x.byDest[next[e.dest]] = int32(i)
		next[e.dest]++
	}
	var hops []int32 // [position] of the longest way to the root at hand
	last := int32(fabric.None)
	for _, i := range x.byDest { // the paths to one root after another
		e := flows[i]
		to := n.dests[e.dest].root
		r := &n.roots[to]
		if to != last {
			last, hops = to, append(hops[:0], 0)
			for j := 1; j < len(r.order); j++ {
				most := int32(0)
				for _, w := range r.ways[r.first[j]:r.first[j+1]] {
					most = max(most, hops[w.head])
				}
				hops = append(hops, most+1)
			}
		}
		x.first[i+1] = hops[r.at[e.from]]
	}
	for i := range flows {
		x.first[i+1] += x.first[i]
	}
	return x
}

// walk is the trunks of all routes in a trial, at first, with None behind shorter ones.
func (t *trial) walk(x *routes) []fabric.ChannelID {
	const chunk = 4096
	all := make([]fabric.ChannelID, x.first[len(x.flows)])
	// It is over soon: a context that ends is noticed between trials.
	_ = par.For(context.Background(), (len(x.flows)+chunk-1)/chunk, func(_, k int) {
		for _, i := range x.byDest[k*chunk : min((k+1)*chunk, len(x.flows))] {
			e := x.flows[i]
			r, pick := &t.roots[t.dests[e.dest].root], t.picks(e.dest)
			at := r.at[e.from]
			way := all[x.first[i]:x.first[i+1]]
			for h := range way {
				if at == 0 {
					way[h] = fabric.None
					continue
				}
				w := r.ways[r.first[at]+int32(pick[at])]
				way[h], at = w.trunk, w.head
			}
		}
	})
	return all
}
