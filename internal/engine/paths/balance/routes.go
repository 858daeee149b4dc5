package balance

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/par"
)

// routes is flows whose trunks are looked up again and again, for every trial. Flows with the
// same ends share a way, which is walked once: on small networks there are many more flows than
// ways. How long each way can be does not depend on the trial.
type routes struct {
	way    []int32 // [flow] its way; ways are in the order of the first flows on them
	ends   []ends  // [way]
	first  []int32 // [way, plus one at the end] into the trunks of all, for the longest of them
	byDest []int32 // ways, those to one destination in a row, since they share its tree
}

// ends is where a flow begins and ends.
type ends struct {
	from fabric.NodeID
	dest int32
}

func newRoutes(n *network, flows []ends) *routes {
	x := &routes{way: make([]int32, len(flows))}
	x.share(n, flows)
	x.first, x.byDest = make([]int32, len(x.ends)+1), byDest(n, x.ends)
	var hops []int32 // [position] of the longest way to the root at hand
	last := int32(fabric.None)
	for _, i := range x.byDest { // the paths to one root after another
		e := x.ends[i]
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
	for i := range x.ends {
		x.first[i+1] += x.first[i]
	}
	return x
}

// share finds the ways of flows.
func (x *routes) share(n *network, flows []ends) {
	same := slices.Repeat([]int32{fabric.None}, n.f.Switches()) // [switch] the first flow from there to the destination at hand
	sorted := byDest(n, flows)
	for at := 0; at < len(sorted); {
		to, end := flows[sorted[at]].dest, at
		for ; end < len(sorted) && flows[sorted[end]].dest == to; end++ {
			i := sorted[end]
			if s := flows[i].from; same[s] == fabric.None {
				same[s] = i
			}
			x.way[i] = same[flows[i].from]
		}
		for _, i := range sorted[at:end] {
			same[flows[i].from] = fabric.None
		}
		at = end
	}
	for i, first := range x.way {
		if int(first) == i {
			x.way[i] = int32(len(x.ends))
			x.ends = append(x.ends, flows[i])
		} else {
			x.way[i] = x.way[first]
		}
	}
}

// byDest is the numbers of flows, those to one destination in a row, and else as they come.
func byDest(n *network, flows []ends) []int32 {
	list := make([]int32, len(flows))
	next := make([]int32, len(n.dests)+1) // [dest, plus one] its flows; then where the next of them belongs
	for _, e := range flows {
		next[e.dest+1]++
	}
	for d := range n.dests {
		next[d+1] += next[d]
	}
	for i, e := range flows {
		list[next[e.dest]] = int32(i)
		next[e.dest]++
	}
	return list
}

// walked is the trunks of all ways in a trial, at first, with None behind shorter ones.
type walked struct {
	*routes
	trunks []fabric.ChannelID
}

func (t *trial) walk(x *routes) walked {
	const chunk = 4096
	all := make([]fabric.ChannelID, x.first[len(x.ends)])
	// It is over soon: a context that ends is noticed between trials.
	_ = par.For(context.Background(), (len(x.ends)+chunk-1)/chunk, func(_, k int) {
		for _, i := range x.byDest[k*chunk : min((k+1)*chunk, len(x.ends))] {
			e := x.ends[i]
			r, pick := &t.roots[t.dests[e.dest].root], t.picks(e.dest)
			at := r.at[e.from]
			way := all[x.first[i]:x.first[i+1]]
			for h := range way {
				if at == 0 {
					way[h] = fabric.None
					break
				}
				w := r.ways[r.first[at]+int32(pick[at])]
				way[h], at = w.trunk, w.head
			}
		}
	})
	return walked{x, all}
}

// of is the trunks of a flow, up to the first None.
func (w walked) of(flow int) []fabric.ChannelID {
	i := w.way[flow]
	return w.trunks[w.first[i]:w.first[i+1]]
}
