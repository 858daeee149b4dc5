package deadlock_test

import (
	"reflect"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// ringOf is a ring of three switches with some hosts on each, from port 3: port 1 leads to the next, port 2 to the one before.
func ringOf(t *testing.T, hosts ...int) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	var sw [3]fabric.Ref
	for i := range sw {
		sw[i] = b.Node(fabric.Node{GUID: fabric.GUID(1 + i), Ports: 8}, "")
	}
	lid := fabric.LID(10)
	for i, n := range hosts {
		for k := range n {
			h := b.Node(fabric.Node{GUID: fabric.GUID(100 + lid), Kind: fabric.Adapter, Ports: 1}, "")
			b.Port(h, 1, fabric.Port{LID: lid})
			b.Cable(h, 1, sw[i], uint8(3+k), fabric.Rate{})
			lid++
		}
		b.Cable(sw[i], 1, sw[(i+1)%3], 2, fabric.Rate{})
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// nearest is entries along the cable that joins two switches of ringOf, and to the hosts there.
func nearest(f *fabric.Fabric) *routing.Forwarding {
	fw := routing.NewForwarding(f)
	for lid, e := range f.LIDs() {
		at := f.Endpoint(e).Switch
		for s := range fabric.NodeID(3) {
			fw.Row(lid)[s] = []uint8{f.LastPort(f.Endpoint(e)), 1, 2}[(at-s+3)%3]
		}
	}
	return fw
}

// Where switches have groups that no entry names, and where they look up lanes by lanes that are those of the service level,
// all is counted as it is without: sources on one switch of two kinds, switches from which nobody sends, and service levels
// whatever the contract.
func TestFiguresOfEveryWalker(t *testing.T) {
	f := ringOf(t, 2, 1, 0)
	for _, c := range []struct {
		name              string
		entries           [3]uint8 // for the host of switch 1
		lost, loops, free int
		contract          routing.Contract
	}{
		{"all arrives", [3]uint8{1, 3, 2}, 0, 0, 1, routing.Single(0)},
		{"no entry on a switch with sources of two kinds", [3]uint8{routing.NoPort, 3, 2}, 1, 0, 1, routing.Honored},
		{"no entry on a switch without sources", [3]uint8{1, 3, routing.NoPort}, 0, 0, 1, routing.Honored},
		{"packets circle", [3]uint8{2, 3, 1}, 2, 2, 0, routing.Directed},
	} {
		fw := nearest(f)
		copy(fw.Row(12), c.entries[:])
		made := func(byLane bool) *routing.Tables {
			maps := routing.LanePerSL(2).PerPort(f)
			if byLane {
				for s := range fabric.NodeID(3) {
					maps.SetByLane(s, 1<<routing.SLs-1)
				}
			}
			row := make([]int32, len(f.Endpoints())) // of the three hosts, each has its own
			for i := range row {
				row[i] = max(0, int32(f.Endpoint(fabric.EndpointID(i)).LID)-10)
			}
			row[0], row[1], row[2] = 0, 0, 0 // the switches themselves
			l := routing.NewLanesByRow(f, maps, row, 3)
			l.SLRow(12)[1] = 1
			return &routing.Tables{Fabric: f, Forwarding: fw, Lanes: l}
		}
		o := deadlock.Options{Contract: c.contract, Lost: -1}
		plain, groups, byLane := made(false), made(false), made(true)
		groups.Groups = routing.NewGroups(f, 1)
		want, err := deadlock.Verify(t.Context(), plain, o)
		if err != nil {
			t.Fatal(err)
		}
		if want.SLs != 2 || len(want.Lost) != c.lost || int(want.Loops) != c.loops || want.Free() != (c.free == 1) {
			t.Errorf("%s: %+v", c.name, want)
		}
		for name, tables := range map[string]*routing.Tables{"with groups": groups, "lanes by lanes": byLane} {
			got, err := deadlock.Verify(t.Context(), tables, o)
			if err != nil {
				t.Fatal(err)
			}
			got.Escape, got.Cycle = nil, want.Cycle
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s: %s\nwant %s", c.name, name, shown(got), shown(want))
			}
		}
	}
}

// Sources on a switch with the same service levels of their own may answer on different ones. Where packets on these go by other
// entries, those alone are cut off who send them, and a loop names one of these.
func TestAnswersByThemselves(t *testing.T) {
	f := ringOf(t, 2, 1, 1)
	for _, circle := range []bool{false, true} {
		l := routing.NewLanes(f, routing.LanePerSL(2))
		l.SLRow(11)[1] = 1 // the host of switch 1 asks the second of switch 0 on level 1, who answers on it
		g := routing.NewGroups(f, 2)
		for s := range fabric.NodeID(3) {
			for in := range uint8(f.Node(s).Ports + 1) {
				g.SetTable(s, in, 1, 1)
			}
		}
		for lid := range f.LIDs() {
			copy(g.Static(1).Row(lid), nearest(f).Row(lid))
		}
		if g.Static(1).Row(12)[0] = routing.NoPort; circle {
			copy(g.Static(1).Row(12), []uint8{2, 3, 1})
		}
		v, err := deadlock.Verify(t.Context(), &routing.Tables{Fabric: f, Forwarding: nearest(f), Lanes: l, Groups: g}, deadlock.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if v.Unreachable != 1 || v.Free() == circle {
			t.Errorf("circle %v: %+v", circle, v)
		}
		for _, s := range v.Cycle {
			if second := f.Owner(11); s.Src != second || s.Dst != 12 || s.SL != 1 || !s.Answer {
				t.Errorf("the loop has %+v, and only endpoint %d sends so", s, second)
			}
		}
	}
}
