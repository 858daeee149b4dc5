package deadlock_test

import (
	"slices"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// ringWithTree makes tables of a ring of four whose switches deliver to their own hosts only,
// with one multicast tree: the ports that each switch copies to.
func ringWithTree(t *testing.T) (with func(ports ...[]uint8) *routing.Tables) {
	f := testnet.Ring(t, 4)
	fw := routing.NewForwarding(f)
	for lid, e := range f.LIDs() {
		fw.Row(lid)[f.Endpoint(e).Switch] = f.Endpoint(e).Port
	}
	return func(ports ...[]uint8) *routing.Tables {
		tree := routing.MulticastTree{MLID: routing.FirstMLID}
		for s, list := range ports {
			n := routing.TreeNode{Switch: fabric.NodeID(s)}
			for _, p := range list {
				n.Ports.Add(p)
			}
			tree.Nodes = append(tree.Nodes, n)
		}
		return &routing.Tables{
			Fabric: f, Forwarding: fw, Lanes: routing.OneSL(f, routing.LanePerSL(1)),
			Multicast: &routing.Multicast{SLs: 1, Trees: []routing.MulticastTree{tree}},
		}
	}
}

// A ring of four, all hosts in one group: a tree has no loop, all ports have one, and a
// tree without one of its cables is in pieces. A loop of trees counts even if unicast has
// none.
func TestTreesOfARing(t *testing.T) {
	with := ringWithTree(t)
	judge := func(ports ...[]uint8) *deadlock.Verdict {
		v, err := deadlock.Verify(t.Context(), with(ports...), deadlock.Options{Contract: routing.Any})
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
		"to a switch outside": {{1, 2}, {1, 2, 3}, {1, 2, 3}}, "to a port outside": {{1, 2}, {1, 2, 3}, {1, 2, 3}, {1}},
	} {
		if v := judge(ports...); len(v.Multicast.OneSided) != 1 {
			t.Errorf("%s: %+v", what, v.Multicast)
		}
	}
}

// While one tree replaces another, packets meet the ports of both: two trees of a ring that
// leave out different cables are a ring together, and the mixture has its loop. A tree and
// what is left of it after a cable was taken out are that tree.
func TestTreesThatReplaceOthers(t *testing.T) {
	with := ringWithTree(t)
	open := with([]uint8{1, 2}, []uint8{1, 2, 3}, []uint8{1, 2, 3}, []uint8{1, 3})
	other := with([]uint8{1, 2, 3}, []uint8{1, 2, 3}, []uint8{1, 3}, []uint8{1, 2})
	less := with([]uint8{1, 2}, []uint8{1, 3}, []uint8{1, 2}, []uint8{1, 3})
	none := &routing.Tables{Fabric: open.Fabric, Forwarding: open.Forwarding, Lanes: open.Lanes}
	for _, c := range []struct {
		name   string
		tables []*routing.Tables
		free   bool
	}{
		{"one tree", []*routing.Tables{open}, true},
		{"two trees", []*routing.Tables{open, other}, false},
		{"what is left", []*routing.Tables{less, open}, true},
		{"one that goes", []*routing.Tables{other, open, none}, false},
	} {
		v, err := deadlock.VerifyMixture(t.Context(), c.tables, deadlock.Options{Contract: routing.Any})
		if err != nil {
			t.Fatal(err)
		}
		if v.Free() != c.free || v.Multicast == nil || v.Multicast.Groups != 1 || (len(v.Multicast.Circling) == 0) != c.free {
			t.Errorf("%s: free %v, want %v; %+v", c.name, v.Free(), c.free, v.Multicast)
		}
		if !c.free && (len(v.Cycle) != 4 || !v.Cycle[0].Multicast || v.Cycle[0].Dst != routing.FirstMLID) {
			t.Errorf("%s: %+v", c.name, v.Cycle)
		}
	}
}

// Packets of one member may be dropped where those of another go on, as they come on other lanes.
func TestTreesSplitByLanes(t *testing.T) {
	var b fabric.Builder
	var sw [5]fabric.Ref
	for i := range sw {
		sw[i] = b.Node(fabric.Node{GUID: fabric.GUID(1 + i), Ports: 4}, "")
		b.Cable(b.Node(fabric.Node{GUID: fabric.GUID(10 + i), Kind: fabric.Adapter, Ports: 1}, ""), 1, sw[i], 4, fabric.Rate{})
	}
	b.Cable(sw[0], 1, sw[2], 1, fabric.Rate{}) // two into one, and on over another to the last
	b.Cable(sw[1], 1, sw[2], 2, fabric.Rate{})
	b.Cable(sw[2], 3, sw[3], 1, fabric.Rate{})
	b.Cable(sw[3], 2, sw[4], 1, fabric.Rate{})
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	tree := routing.MulticastTree{MLID: routing.FirstMLID}
	for s, ports := range [][]uint8{{1, 4}, {1, 4}, {1, 2, 3}, {1, 2}, {1, 4}} {
		n := routing.TreeNode{Switch: fabric.NodeID(s)}
		for _, p := range ports {
			n.Ports.Add(p)
		}
		tree.Nodes = append(tree.Nodes, n)
	}
	for _, vl := range []uint8{1, 15} {
		maps := routing.LanePerSL(1).PerPort(f)
		maps.Set(2, 1, 3, 0, 1) // what comes from switch 0 leaves on lane 1,
		maps.SetByLane(3, 1<<routing.SLs-1)
		maps.Set(3, 1, 2, 1, vl) // and by that it goes on, or is dropped
		tables := &routing.Tables{Fabric: f, Forwarding: nowhere(f), Lanes: routing.OneSL(f, maps), Multicast: &routing.Multicast{SLs: 1, Trees: []routing.MulticastTree{tree}}}
		v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if split := len(v.Multicast.Split) > 0; split != (vl == 15) || v.Multicast.Circling != nil {
			t.Errorf("lane 1 goes on as %d: %+v", vl, v.Multicast)
		}
	}
}

// nowhere is entries by which switches deliver to their own hosts only.
func nowhere(f *fabric.Fabric) *routing.Forwarding {
	fw := routing.NewForwarding(f)
	for lid, e := range f.LIDs() {
		fw.Row(lid)[f.Endpoint(e).Switch] = f.LastPort(f.Endpoint(e))
	}
	return fw
}
