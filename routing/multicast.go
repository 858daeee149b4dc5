package routing

import (
	"fmt"

	"github.com/weft-fabric/weft/fabric"
)

// FirstMLID is the lowest address of a multicast group; MLIDs go up to 0xFFFE.
const FirstMLID fabric.LID = 0xC000

// Multicast is the trees of multicast groups. A switch copies a packet to every port that
// its tree has there, but the one that the packet came in by.
type Multicast struct {
	SLs   uint16 // service levels of the groups, as bits
	Trees []MulticastTree
}

// One is the tree where there is just one, such as a spanning tree of which the trees of all
// groups are parts; else nil, also of no Multicast.
func (m *Multicast) One() *MulticastTree {
	if m == nil || len(m.Trees) != 1 {
		return nil
	}
	return &m.Trees[0]
}

// MulticastTree is the tree of a group.
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
	low, high := 0, len(t.Nodes)
	for low < high {
		if mid := (low + high) / 2; t.Nodes[mid].Switch < s {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low < len(t.Nodes) && t.Nodes[low].Switch == s {
		return t.Nodes[low].Ports
	}
	return PortSet{}
}

// check says what is wrong with the trees, if anything.
func (m *Multicast) check(f *fabric.Fabric) error {
	if m.SLs == 0 {
		return fmt.Errorf("multicast groups without a service level")
	}
	for _, t := range m.Trees {
		for i, n := range t.Nodes {
			if int(n.Switch) >= f.Switches() || i > 0 && n.Switch <= t.Nodes[i-1].Switch {
				return fmt.Errorf("the tree of MLID %#x has switch %d at place %d", uint16(t.MLID), n.Switch, i)
			}
		}
	}
	return nil
}
