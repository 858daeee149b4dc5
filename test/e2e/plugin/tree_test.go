package plugin_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/routing"
)

// answerWith is the message with an engine's tables and a spanning tree for multicast groups on
// some service levels, given as bits; 0: without one.
func answerWith(t testing.TB, q *wire.Request, engine string, contract routing.Contract, groups uint16) []byte {
	t.Helper()
	if groups == 0 {
		return answerTo(t, q, engine, contract)
	}
	tables, proof, err := spanned(q, engine, contract, groups)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := wire.WriteTables(&b, q, engine, tables, proof); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// addTree gives tables the tree of an answer, or says what is wrong with that: it is none, or a
// switch drops what members send.
func addTree(tables *routing.Tables, a *wire.Answer) string {
	if a.Groups == 0 {
		return ""
	}
	f := tables.Fabric
	above := make([]fabric.NodeID, f.Switches())
	tree := routing.MulticastTree{MLID: routing.FirstMLID, Nodes: make([]routing.TreeNode, f.Switches())}
	for s := range fabric.NodeID(f.Switches()) {
		tree.Nodes[s].Switch, above[s] = s, fabric.None
		if a.Tree[s] == 0 {
			continue
		}
		c := f.Out(s, a.Tree[s])
		if c == fabric.None || int(c) >= f.Trunks() {
			return fmt.Sprintf("no cable at port %d of switch %d", a.Tree[s], s)
		}
		above[s] = f.Channel(c).To
	}
	for s, up := range above {
		if up != fabric.None {
			tree.Nodes[s].Ports.Add(a.Tree[s])
			tree.Nodes[up].Ports.Add(f.Channel(f.Out(fabric.NodeID(s), a.Tree[s])).ToPort)
		}
	}
	root := fabric.NodeID(fabric.None)
	for s := range fabric.NodeID(f.Switches()) {
		at := s
		for steps := 0; above[at] != fabric.None; at = above[at] {
			if steps++; steps > f.Switches() {
				return fmt.Sprintf("switch %d leads to a ring", s)
			}
		}
		if root != fabric.None && at != root {
			return "two roots"
		}
		root = at
	}
	tables.Multicast = &routing.Multicast{SLs: a.Groups, Trees: []routing.MulticastTree{tree}}
	for _, n := range tree.Nodes {
		for out := range n.Ports.All() {
			ins := slices.Collect(n.Ports.All())
			for _, e := range f.Attached(n.Switch) {
				ins = append(ins, f.LastPort(f.Endpoint(e)))
			}
			for _, in := range ins {
				for sl := range uint8(routing.SLs) {
					if in != out && a.Groups>>sl&1 == 1 && tables.Lanes.SL2VL.VL(n.Switch, in, out, sl) >= routing.MaxDataVLs {
						return fmt.Sprintf("switch %d drops SL %d", n.Switch, sl)
					}
				}
			}
		}
	}
	return ""
}
