package routing

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// FirstMLID is the lowest address of a multicast group; MLIDs go up to 0xFFFE.
const FirstMLID fabric.LID = 0xC000

// Multicast is the trees of multicast groups. A switch copies a packet to every port that
// its tree has there, to hosts too, except the one that the packet came in by.
type Multicast struct {
	SLs   uint16 // service levels of the groups, as bits
	Trees []MulticastTree
}

// One is the tree where there is just one, such as a spanning tree of which the trees of all
// groups are parts. It is nil where there are others, and if m is nil.
func (m *Multicast) One() *MulticastTree {
	if m == nil || len(m.Trees) != 1 {
		return nil
	}
	return &m.Trees[0]
}

// MulticastTree is the tree of a group; that of a spanning tree for all groups is under FirstMLID.
type MulticastTree struct {
	MLID  fabric.LID
	Nodes []TreeNode // ascending by switch
}

// TreeNode is a switch of a tree.
type TreeNode struct {
	Switch fabric.NodeID
	Ports  PortSet
}

// At is the ports of the tree at a switch; none if it is not in the tree.
func (t *MulticastTree) At(s fabric.NodeID) PortSet {
	i, found := slices.BinarySearchFunc(t.Nodes, s, func(n TreeNode, s fabric.NodeID) int { return cmp.Compare(n.Switch, s) })
	if !found {
		return PortSet{}
	}
	return t.Nodes[i].Ports
}

// check says what is wrong with the lists, if anything. Whether they are trees is for the judge.
func (m *Multicast) check(f *fabric.Fabric) error {
	if m.SLs == 0 {
		return fmt.Errorf("multicast groups without a service level")
	}
	for _, t := range m.Trees {
		for i, n := range t.Nodes {
			if n.Switch < 0 || int(n.Switch) >= f.Switches() || i > 0 && n.Switch <= t.Nodes[i-1].Switch {
				return fmt.Errorf("the tree of MLID %#x has switch %d at place %d", uint16(t.MLID), n.Switch, i)
			}
		}
	}
	return nil
}
