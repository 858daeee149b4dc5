package bound

import (
	"container/heap"
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/par"
)

const (
	dualWork   = 300_000_000 // trunks that the search for shortest ways looks at: rounds × switches with hosts × trunks × 8
	dualRounds = 60          // at most; with fewer than 8, for want of work, none
	dualUnit   = 1 << 16     // the longest length
)

// AllToAll is the bound for what the fullest channel carries when all hosts send to all.
func (n *Network) AllToAll(ctx context.Context) (Routes, error) {
	var r Routes
	for _, c := range n.cuts {
		if most := ceil(int64(c.Hosts)*int64(len(n.hosts)-c.Hosts), int64(c.Cables)); most > r.Most {
			r.Most, r.Cut = most, c
		}
	}
	var leaves []fabric.NodeID
	for s, hosts := range n.hostsOn {
		if hosts > 0 {
			leaves = append(leaves, fabric.NodeID(s))
		}
	}
	rounds := min(dualRounds, int(dualWork/(8*int64(len(leaves)+1)*int64(n.f.Trunks()+1))))
	if len(leaves) < 2 || rounds < 8 {
		return r, ctx.Err()
	}
	weight := make([]float64, n.f.Trunks())
	for c := range weight {
		weight[c] = 1
	}
	lengths := make([]int64, n.f.Trunks())
	for range rounds {
		most := 0.0
		for _, w := range weight {
			most = max(most, w)
		}
		for c, w := range weight {
			lengths[c] = int64(w / most * dualUnit)
		}
		bound, load, err := n.dual(ctx, leaves, lengths)
		if err != nil {
			return r, err
		}
		if bound > r.Most {
			r.Most, r.Lengths = bound, append([]int64(nil), lengths...)
		}
		fullest := int64(1)
		for _, l := range load {
			fullest = max(fullest, l)
		}
		for c, l := range load {
			weight[c] *= 1 + .3*float64(l)/float64(fullest)
		}
	}
	return r, nil
}

// dual is the bound that lengths make, and what shortest ways load on every trunk. Whatever the
// routes, they are together no shorter than all shortest ways, so that some trunk carries at least
// that sum divided by the lengths of all trunks. Fuller trunks get longer from round to round.
//
//	1 ── 2 ── 3 ── 4 ── 5      a host on each switch, and a trunk each way
//	   1    1    1    1        all ways 40, trunks 8: the fullest carries at least 5
//	   0    1    1    0        all ways 24, trunks 4: at least 6, as from 1 and 2 to the others
func (n *Network) dual(ctx context.Context, leaves []fabric.NodeID, lengths []int64) (bound int64, load []int64, err error) {
	type work struct {
		sum  int64
		load []int64
	}
	all := make([]work, par.Workers(len(leaves)))
	err = par.For(ctx, len(leaves), func(worker, i int) {
		w := &all[worker]
		if w.load == nil {
			w.load = make([]int64, n.f.Trunks())
		}
		w.sum += n.shortest(leaves[i], lengths, w.load)
	})
	load = make([]int64, n.f.Trunks())
	sum, total := int64(0), int64(0)
	for _, w := range all {
		sum += w.sum
		for c, l := range w.load {
			load[c] += l
		}
	}
	for _, l := range lengths {
		total += l
	}
	return ceil(sum, total), load, err
}

// shortest adds the routes between the hosts on root and all others, along shortest ways from root, to load, and
// returns the sum of their lengths.
func (n *Network) shortest(root fabric.NodeID, lengths, load []int64) (sum int64) {
	const far = int64(1) << 60
	dist, from := make([]int64, n.f.Switches()), make([]fabric.ChannelID, n.f.Switches())
	for s := range dist {
		dist[s], from[s] = far, fabric.None
	}
	dist[root] = 0
	q := &queue{{s: root, far: 0}}
	var order []fabric.NodeID
	heads := n.f.Heads()
	for q.Len() > 0 {
		at, _ := heap.Pop(q).(place)
		if at.far > dist[at.s] {
			continue
		}
		order = append(order, at.s)
		for c, end := n.f.TrunksFrom(at.s); c < end; c++ {
			if d := at.far + lengths[c]; d < dist[heads[c]] {
				dist[heads[c]], from[heads[c]] = d, c
				heap.Push(q, place{s: heads[c], far: d})
			}
		}
	}
	routes := make([]int64, n.f.Switches())
	for i := len(order) - 1; i > 0; i-- {
		s := order[i]
		own := int64(n.hostsOn[s]) * int64(n.hostsOn[root])
		sum += own * dist[s]
		routes[s] += own
		load[from[s]] += routes[s]
		routes[n.f.Channel(from[s]).From] += routes[s]
	}
	return sum
}

// place is a switch with its distance from the root.
type place struct {
	s   fabric.NodeID
	far int64
}

// queue is places, the nearest first, of equals by number.
type queue []place

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].far < q[j].far || q[i].far == q[j].far && q[i].s < q[j].s
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any) {
	at, _ := x.(place)
	*q = append(*q, at)
}
func (q *queue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}
