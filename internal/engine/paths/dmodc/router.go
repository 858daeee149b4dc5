package dmodc

import (
	"cmp"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
)

// router routes the destinations on one switch after another.
type router struct {
	closer dag.DAG // trunks to switches with a lower cost
	groups []int32 // scratch: C of the switch at hand, as links
	lids   []fabric.LID
	rows   [][]uint8 // [lids] of the forwarding
}

// route fills the rows of n.t for all LIDs on a switch. It runs on several cores, a router each.
func (r *router) route(n *network, root fabric.NodeID) {
	n.o.Legal(&r.closer, n.f, root)
	r.lids, r.rows = dag.LIDsOn(n.f, root, r.lids[:0]), r.rows[:0]
	for _, lid := range r.lids {
		r.rows = append(r.rows, n.t.Row(lid))
	}
	dag.Deliver(n.f, n.t, r.lids)
	ports := n.f.TailPorts()
	for i, s := range r.closer.Order[1:] {
		r.alternatives(n, i+1)
		among, divider := uint32(len(r.groups)), n.divider[s] // #C and Π
		spread := n.spread && !n.up(r.groups[0])
		for j, lid := range r.lids {
			quotient := n.nid[lid] / divider
			group := quotient % among
			if spread {
				group = n.nid[lid] % among
			}
			cables := n.links.Cables(r.groups[group])
			port := 0
			if len(cables) > 1 {
				port = int(quotient / among % uint32(len(cables)))
			}
			r.rows[j][s] = ports[cables[port]]
		}
	}
}

// alternatives sets groups to the port groups by which the i-th switch of r.closer gets closer, by
// the GUID of the switch that they lead to.
func (r *router) alternatives(n *network, i int) {
	r.groups = r.groups[:0]
	sorted := true
	for _, c := range r.closer.Choices(i) {
		g := n.links.Of[c]
		switch last := len(r.groups) - 1; {
		case sorted && (last < 0 || n.links.To[r.groups[last]] < n.links.To[g]):
		case slices.Contains(r.groups, g):
			continue
		default:
			sorted = false
		}
		r.groups = append(r.groups, g)
	}
	if !sorted {
		slices.SortFunc(r.groups, func(a, b int32) int { return cmp.Compare(n.links.To[a], n.links.To[b]) })
	}
}
