package deadlock_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// narrow is two switches with a host each; the cable between them runs some data lanes, that
// of the second host 1.
func narrow(t *testing.T, lanes uint8) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	var sw [2]fabric.Ref
	for i := range sw {
		sw[i] = b.Node(fabric.Node{GUID: fabric.GUID(1 + i), Kind: fabric.Switch, Ports: 3, Name: fmt.Sprint("s", i)}, "")
		h := b.Node(fabric.Node{GUID: fabric.GUID(10 + i), Kind: fabric.Adapter, Ports: 1}, "")
		b.Cable(sw[i], 1, h, 1, fabric.Rate{})
		if i == 1 {
			b.DataVLs(h, 1, 1)
		}
	}
	b.Cable(sw[0], 2, sw[1], 2, fabric.Rate{})
	b.DataVLs(sw[0], 2, 8)
	b.DataVLs(sw[1], 2, lanes)
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A lane above those that a cable runs is found, and on the last cable too; Complete does
// not ask for it.
func TestAbsentLanes(t *testing.T) {
	for _, tc := range []struct {
		lanes    uint8
		contract routing.Contract
		want     []string
	}{
		{8, routing.Single(0), nil},
		{4, routing.Single(3), []string{"s1 port 1: SL 3, VL 3 of 1"}},
		{2, routing.Single(3), []string{"s0 port 2: SL 3, VL 3 of 2", "s1 port 2: SL 3, VL 3 of 2", "s1 port 1: SL 3, VL 3 of 1"}},
		{0, routing.Single(1), []string{"s1 port 1: SL 1, VL 1 of 1"}},
	} {
		f := narrow(t, tc.lanes)
		fw := routing.NewForwarding(f)
		for lid, e := range f.LIDs() {
			ep := f.Endpoint(e)
			for s := range fabric.NodeID(f.Switches()) {
				fw.Row(lid)[s] = 2
				if s == ep.Switch {
					fw.Row(lid)[s] = f.LastPort(ep)
				}
			}
		}
		v := verify(t, f, fw, routing.OneSL(f, routing.LanePerSL(8)), tc.contract)
		var got []string
		for _, a := range v.Absent {
			ch := f.Channel(a.Channel)
			got = append(got, fmt.Sprintf("%s port %d: SL %d, VL %d of %d", f.Node(ch.From).Name, ch.FromPort, a.SL, a.VL, ch.DataVLs))
		}
		if !slices.Equal(got, tc.want) || !v.Complete() || !v.Free() {
			t.Errorf("%d lanes, %v: %q, want %q; complete %v", tc.lanes, tc.contract, got, tc.want, v.Complete())
		}
	}
}

// Lanes of groups are found by the service levels of these, though no unicast packet uses them, on
// trunks and at members; ports that packets of the group do not take have none.
func TestAbsentLanesOfTrees(t *testing.T) {
	for _, tc := range []struct {
		lanes uint8
		sls   uint16
		ports [2][]uint8
		want  []string
	}{
		{8, 1, [2][]uint8{{1, 2}, {1, 2}}, nil},
		{4, 1<<0 | 1<<3, [2][]uint8{{1, 2}, {1, 2}}, []string{"s1 port 1: SL 3, VL 3 of 1"}},
		{2, 1 << 3, [2][]uint8{{1, 2}, {1, 2}}, []string{"s0 port 2: SL 3, VL 3 of 2", "s1 port 2: SL 3, VL 3 of 2", "s1 port 1: SL 3, VL 3 of 1"}},
		{2, 1 << 3, [2][]uint8{{1}, {1}}, []string{"s1 port 1: SL 3, VL 3 of 1"}}, // from port 0 of its switch
		{2, 1 << 3, [2][]uint8{{1}, nil}, nil},
	} {
		f := narrow(t, tc.lanes)
		fw := routing.NewForwarding(f)
		for lid, e := range f.LIDs() {
			ep := f.Endpoint(e)
			for s := range fabric.NodeID(f.Switches()) {
				fw.Row(lid)[s] = 2
				if s == ep.Switch {
					fw.Row(lid)[s] = f.LastPort(ep)
				}
			}
		}
		tree := routing.MulticastTree{MLID: 0xc001}
		for s, ports := range tc.ports {
			n := routing.TreeNode{Switch: fabric.NodeID(s)}
			for _, p := range ports {
				n.Ports.Add(p)
			}
			if len(ports) > 0 {
				tree.Nodes = append(tree.Nodes, n)
			}
		}
		tables := &routing.Tables{Fabric: f, Forwarding: fw, Lanes: routing.OneSL(f, routing.LanePerSL(8)), Multicast: &routing.Multicast{SLs: tc.sls, Trees: []routing.MulticastTree{tree}}}
		v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: routing.Single(0)})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range v.Absent {
			ch := f.Channel(a.Channel)
			got = append(got, fmt.Sprintf("%s port %d: SL %d, VL %d of %d", f.Node(ch.From).Name, ch.FromPort, a.SL, a.VL, ch.DataVLs))
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%d lanes, tree %v: %q, want %q", tc.lanes, tc.ports, got, tc.want)
		}
	}
}

// A packet may go back by the cable that it came by, on a lane that this does not run.
func TestAbsentLanesOfReturns(t *testing.T) {
	f := narrow(t, 1)
	fw := routing.NewForwarding(f)
	for lid := range f.LIDs() {
		copy(fw.Row(lid), []uint8{2, 2})
	}
	maps := routing.LanePerSL(1).PerPort(f)
	maps.Set(1, 2, 2, 0, 1) // switch 1 returns on lane 1 what it gets
	v := verify(t, f, fw, routing.OneSL(f, maps), routing.Honored)
	if !slices.ContainsFunc(v.Absent, func(a deadlock.Absent) bool { return f.Channel(a.Channel).From == 1 && a.VL == 1 }) {
		t.Errorf("%+v", v.Absent)
	}
}
