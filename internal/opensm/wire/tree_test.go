package wire_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/spanning"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// A spanning tree arrives as the port of every switch towards the first; one with a ring or in
// pieces is not sent.
func TestTree(t *testing.T) {
	f := testnet.Build(t, "ring:n=5")
	tables, proof := routed(t, f, "updn")
	m, err := spanning.Tree(t.Context(), tables, spanning.Options{Contract: proof.Contract, Scope: proof.Scope, SLs: 5})
	if err != nil {
		t.Fatal(err)
	}
	q := backwards(wire.Of(f, 9))
	with := *tables
	with.Multicast = m
	var b bytes.Buffer
	if err := wire.WriteTables(&b, q, "updn", &with, proof); err != nil {
		t.Fatal(err)
	}
	a, err := wire.ReadAnswer(&b, q)
	if err != nil {
		t.Fatal(err)
	}
	if a.Groups != 5 || len(a.Tree) != f.Switches() || a.Tree[0] != 0 || a.Number == wire.Number(tables) {
		t.Errorf("groups %d, tree %v, number %x as without", a.Groups, a.Tree, a.Number)
	}
	row := 0
	for i := range q.Nodes {
		if q.Nodes[i].Kind != fabric.Switch {
			continue
		}
		s := f.NodeByGUID(q.Nodes[i].GUID)
		if ports := m.Trees[0].At(s); row > 0 && (!ports.Has(a.Tree[row]) || int(f.Out(s, a.Tree[row])) >= f.Trunks()) {
			t.Errorf("%s: port %d towards the root is not in the tree", f.Label(s), a.Tree[row])
		}
		row++
	}
	for name, change := range map[string]func(*routing.TreeNode){
		"has a ring": func(n *routing.TreeNode) {
			for port := range uint8(f.Node(n.Switch).Ports) {
				n.Ports.Add(port + 1)
			}
		},
		"joins": func(n *routing.TreeNode) { n.Ports = routing.PortSet{} },
	} {
		spoilt := with
		spoilt.Multicast = &routing.Multicast{SLs: 1, Trees: []routing.MulticastTree{{Nodes: slices.Clone(m.Trees[0].Nodes)}}}
		for i := range spoilt.Multicast.Trees[0].Nodes {
			change(&spoilt.Multicast.Trees[0].Nodes[i])
		}
		if err := wire.WriteTables(&b, q, "updn", &spoilt, proof); err == nil || !strings.Contains(err.Error(), name) || b.Len() > 0 {
			t.Errorf("%s: %v, %d bytes were written", name, err, b.Len())
		}
	}
}
