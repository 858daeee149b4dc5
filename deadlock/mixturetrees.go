package deadlock

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// treesOf is the trees of several tables, united by group: while one replaces the other, a
// switch copies packets by the ports of either. sls is the service levels of all of them, as
// bits; 0: there are none.
func treesOf(tables []*routing.Tables) (trees []routing.MulticastTree, sls uint16) {
	at := map[fabric.LID]int{}
	for _, t := range tables {
		if t.Multicast == nil {
			continue
		}
		sls |= t.Multicast.SLs
		for _, tree := range t.Multicast.Trees {
			i, known := at[tree.MLID]
			if !known {
				at[tree.MLID] = len(trees)
				trees = append(trees, routing.MulticastTree{MLID: tree.MLID, Nodes: slices.Clone(tree.Nodes)})
				continue
			}
			trees[i].Nodes = unitedNodes(trees[i].Nodes, tree.Nodes)
		}
	}
	return trees, sls
}

// unitedNodes is the switches of either tree with the ports that they have in either.
func unitedNodes(a, b []routing.TreeNode) (all []routing.TreeNode) {
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Switch < b[0].Switch:
			all, a = append(all, a[0]), a[1:]
		case len(a) == 0 || b[0].Switch < a[0].Switch:
			all, b = append(all, b[0]), b[1:]
		default:
			n := a[0]
			for port := range b[0].Ports.All() {
				n.Ports.Add(port)
			}
			all, a, b = append(all, n), a[1:], b[1:]
		}
	}
	return all
}

// spreader is for the groups of all tables, by the SL2VL maps of any.
func (m *mixture) spreader() *spreader {
	trees, sls := treesOf(m.tables)
	if !slices.ContainsFunc(m.tables, func(t *routing.Tables) bool { return representatives(t, sls) == sls }) {
		sls &= -sls
	}
	return spreaderOf(m.f, trees, sls, m.lanes, func(s fabric.NodeID, in, out, sl uint8, came uint16) uint16 {
		return mapped(m.tables, s, in, out, sl, came)
	})
}

// addMulticast adds the dependencies of the trees to those of unicast.
func (m *mixture) addMulticast() {
	trees, sls := treesOf(m.tables)
	if sls == 0 {
		return
	}
	v := &MulticastVerdict{Groups: len(trees), SLs: sls}
	w := m.spreader()
	w.each(func() {
		w.note(m.matrix, m.inUse)
		if !slices.Contains(v.Circling, w.tree.MLID) && w.circles() {
			v.Circling = append(v.Circling, w.tree.MLID)
		}
	})
	m.verdict.Multicast = v
}

// causeOf is how to find what causes a step of a loop.
func (m *mixture) causeOf() func(hold, want hop, answer bool) (MixtureStep, bool) {
	if m.verdict.Multicast == nil {
		return m.cause
	}
	multicast := m.spreader()
	return func(hold, want hop, answer bool) (MixtureStep, bool) {
		step, found := m.cause(hold, want, answer)
		if !found && answer {
			step.LoopStep, found = multicast.cause(hold, want)
		}
		return step, found
	}
}
