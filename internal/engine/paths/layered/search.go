package layered

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
)

// search is the state of builder.detour.
type search struct {
	path, best  []fabric.ChannelID // at hand; the best so far, if not empty
	passed      []fabric.NodeID    // the switches that the trunks of path leave
	least       uint64             // weight of best, on to the root
	bestHops    int32              // hops of best, on to the root
	lower, most int32              // between which the hops to the root must be
}

// detour is the lightest path from a switch into the tree with which its path to the root is longer
// than minimal, by at most so many hops; nil: there is none. Of equally light ones
// it takes the one with the fewest hops, and of several the first. It is valid until the next call.
func (b *builder) detour(s fabric.NodeID, most int32) []fabric.ChannelID {
	q := &b.search
	q.path, q.best, q.passed = q.path[:0], q.best[:0], q.passed[:0]
	q.lower = b.d.Hops[s] + 1
	q.most = min(b.d.Hops[s]+most, b.far+1)
	b.extend(s, 0)
	if len(q.best) == 0 {
		return nil
	}
	return q.best
}

// extend tries all ways on from a switch, to which the path so far has some weight.
func (b *builder) extend(s fabric.NodeID, weight uint64) {
	q := &b.search
	q.passed = append(q.passed, s)
	first, end := b.f.TrunksFrom(s)
	for _, c := range b.near[first:end] {
		v := b.heads[c]
		made := int32(len(q.path)) + 1
		if b.d.Hops[v] == dag.NoPath || made+b.d.Hops[v] > q.most {
			break // the trunks after it lead to switches no nearer to the root
		}
		on := weight + b.weight(c)
		if len(q.best) > 0 && on > q.least || slices.Contains(q.passed, v) {
			continue
		}
		q.path = append(q.path, c)
		if b.hops[v] == dag.NoPath {
			b.extend(v, on)
		} else if hops := made + b.hops[v]; hops >= q.lower && hops <= q.most {
			b.offer(v, on, hops)
		}
		q.path = q.path[:len(q.path)-1]
	}
	q.passed = q.passed[:len(q.passed)-1]
}

// offer takes the path at hand, which leads to a switch of the tree, if it is the best so far.
func (b *builder) offer(v fabric.NodeID, weight uint64, hops int32) {
	q := &b.search
	for ; v != b.d.Root; v = b.heads[b.out[v]] {
		weight += b.weight(b.out[v])
	}
	if len(q.best) == 0 || weight < q.least || weight == q.least && hops < q.bestHops {
		q.best, q.least, q.bestHops = append(q.best[:0], q.path...), weight, hops
	}
}
