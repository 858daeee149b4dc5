package wire

import (
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// treeOf is the spanning tree of tables, for an answer: up is the port towards the root, [row], where the root is row
// 0, and groups the service levels, as bits, of the groups that it is for. Without a tree they are nil and 0.
func treeOf(t *routing.Tables, rows []fabric.NodeID) (groups uint16, up []uint8, err error) {
	if t.Multicast == nil {
		return 0, nil, nil
	}
	f, tree := t.Fabric, t.Multicast.One()
	if tree == nil {
		return 0, nil, fmt.Errorf("%d trees for multicast where one spans all switches", len(t.Multicast.Trees))
	}
	row := make([]int, f.Switches()) // [switch]
	for i, s := range rows {
		row[s] = i
	}
	up = make([]uint8, len(rows))
	reached := make([]bool, f.Switches())
	reached[rows[0]] = true
	queue := []fabric.NodeID{rows[0]}
	for i := 0; i < len(queue); i++ {
		ports := tree.At(queue[i])
		for port := range ports.All() {
			c := f.Trunk(queue[i], port)
			if c == fabric.None || i > 0 && port == up[row[queue[i]]] {
				continue
			}
			u := f.Heads()[c]
			if reached[u] {
				return 0, nil, fmt.Errorf("the tree for multicast has a ring through %s", f.Label(u))
			}
			reached[u] = true
			up[row[u]] = f.Channel(c).ToPort
			queue = append(queue, u)
		}
	}
	if len(queue) < len(rows) {
		return 0, nil, fmt.Errorf("the tree for multicast joins %d of %d switches", len(queue), len(rows))
	}
	return t.Multicast.SLs, up, nil
}
