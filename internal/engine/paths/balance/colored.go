package balance

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/coloring"
)

// mostColored is how many demands are colored at most.
const mostColored = 1 << 20

// colored is paths to begin with on which demands of a fat tree meet as little as they can, if they are equally large and each
// destination has one from each switch at most; others have the paths of base. nil: it is no such tree.
func (n *network) colored(m *matrix, base []uint8) *start {
	t := coloring.Of(n.f)
	if t == nil || m.total == 0 {
		return nil
	}
	var from, to, dests []int32
	for d, all := range m.sent {
		leaf := t.Leaf[n.roots[n.dests[d].root].order[0]]
		for _, s := range all {
			if t.Leaf[s.from] < 0 || leaf < 0 || len(from) == mostColored {
				return nil
			}
			from, to, dests = append(from, t.Leaf[s.from]), append(to, leaf), append(dests, int32(d))
		}
	}
	pick := slices.Clone(base)
	for i, w := range t.Color(from, to, nil) {
		d := dests[i]
		r := &n.roots[n.dests[d].root]
		p, q := t.Pod[from[i]], t.Pod[to[i]]
		way := []fabric.NodeID{t.Leaves[from[i]], t.Spines[p][w.Plane]}
		cables := []int32{w.Cable}
		if w.Beyond {
			way, cables = append(way, t.Tops[w.Plane][w.Top], t.Spines[q][w.Plane]), append(cables, w.TopCable, w.TopCable)
		}
		way, cables = append(way, t.Leaves[to[i]]), append(cables, w.Cable)
		for k, s := range way[:len(way)-1] {
			if !n.lead(r, pick[int(d)*n.f.Switches():], s, way[k+1], cables[k]) {
				return nil
			}
		}
	}
	return &start{name: "an edge coloring", pick: pick}
}

// lead has a switch take one of its cables to another, if that is a way to the root.
func (n *network) lead(r *root, pick []uint8, s, next fabric.NodeID, cable int32) bool {
	j := r.at[s]
	for k, w := range r.ways[r.first[j]:r.first[j+1]] {
		if r.order[w.head] != next {
			continue
		}
		if cable == 0 {
			pick[j] = uint8(k)
			return true
		}
		cable--
	}
	return false
}
