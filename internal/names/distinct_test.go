package names

import (
	"testing"

	"github.com/weft-fabric/weft/fabric"
)

// A name that an error offers for a node finds that node, whatever others are called; and
// a LID with a zero before it is decimal.
func TestOfferedNamesFindTheirNode(t *testing.T) {
	var b fabric.Builder
	for i, name := range []string{"MF0;sw-a:MQM8700/U1", "sw-a", "MF0;sw-b:MQM9700/U1"} {
		ref := b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Kind: fabric.Switch, Ports: 4}, name)
		b.Port(ref, 0, fabric.Port{LID: fabric.LID(8 + i)})
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	x := New(f)
	for n := range fabric.NodeID(len(f.Nodes())) {
		offered := x.distinct(n)
		if found := x.find(offered, nodes); len(found) != 1 || found[0] != n {
			t.Errorf("%q is offered for %q and finds %v", offered, f.Node(n).Name, found)
		}
	}
	if e := x.byLID("010"); e == fabric.None || f.Endpoint(e).LID != 10 {
		t.Errorf("LID 010 is endpoint %d", e)
	}
}
