package deadlock_test

import (
	"slices"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// A ring of four, all hosts in one group: a tree has no loop, all ports have one, and a
// tree without one of its cables is in pieces. A loop of trees counts even if unicast has
// none.
func TestTreesOfARing(t *testing.T) {
	f := ring(t, 4)
	fw := routing.NewForwarding(f)
	for lid, e := range f.LIDs() {
		fw.Row(lid)[f.Endpoint(e).Switch] = f.Endpoint(e).Port
	}
	judge := func(ports ...[]uint8) *deadlock.Verdict {
		tree := routing.MulticastTree{MLID: routing.FirstMLID}
		for s, list := range ports {
			n := routing.TreeNode{Switch: fabric.NodeID(s)}
			for _, p := range list {
				n.Ports.Add(p)
			}
			tree.Nodes = append(tree.Nodes, n)
		}
		v, err := deadlock.Verify(t.Context(), &routing.Tables{
			Fabric: f, Forwarding: fw, Lanes: routing.OneSL(f, routing.LanePerSL(1)),
			Multicast: &routing.Multicast{SLs: 1, Trees: []routing.MulticastTree{tree}},
		}, deadlock.Options{Contract: routing.Any})
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(v.Outside(), "multicast") {
			t.Error("multicast is outside of a verdict about it")
		}
		return v
	}
	if v := judge([]uint8{1, 2}, []uint8{1, 2, 3}, []uint8{1, 2, 3}, []uint8{1, 3}); !v.Free() || v.Multicast.Circling != nil || v.Multicast.Split != nil || v.Multicast.OneSided != nil || v.Dependencies != 4 {
		t.Errorf("a tree: %d dependencies, free %v, %+v", v.Dependencies, v.Free(), v.Multicast)
	}
	all := []uint8{1, 2, 3}
	if v := judge(all, all, all, all); v.Free() || len(v.Cycle) != 4 || !v.Cycle[0].Multicast || len(v.Multicast.Circling) != 1 || v.Multicast.Split != nil {
		t.Errorf("a ring: free %v, %+v, %+v", v.Free(), v.Cycle, v.Multicast)
	}
	if v := judge([]uint8{1, 2}, []uint8{1, 3}, []uint8{1, 2}, []uint8{1, 3}); !v.Free() || v.Multicast.Circling != nil || len(v.Multicast.Split) != 1 {
		t.Errorf("in pieces: free %v, %+v", v.Free(), v.Multicast)
	}
	for what, ports := range map[string][][]uint8{
		"to a switch outside": {{1, 2}, {1, 2, 3}, {1, 2, 3}}, "to a port outside": {{1, 2}, {1, 2, 3}, {1, 2, 3}, {1}}, "without a cable": {{0, 1, 2}, {1, 3, 4}},
	} {
		if v := judge(ports...); len(v.Multicast.OneSided) != 1 {
			t.Errorf("%s: %+v", what, v.Multicast)
		}
	}
}
