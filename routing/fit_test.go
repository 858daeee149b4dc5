package routing_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/topology"
)

func ring(t *testing.T, n int) *fabric.Fabric {
	t.Helper()
	f, err := topology.Build(fmt.Sprintf("ring:%d,hosts=1", n))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Tables of another fabric, and values that do not exist, are told apart.
func TestTablesThatDoNotFit(t *testing.T) {
	three, four := ring(t, 3), ring(t, 4)
	lanes := func(f *fabric.Fabric) *routing.Lanes { return routing.NewLanes(f, routing.LanePerSL(1)) }
	fits := &routing.Tables{Fabric: three, Forwarding: routing.NewForwarding(three), Lanes: lanes(three)}
	if err := fits.Check(); err != nil {
		t.Fatal(err)
	}
	wrongSL := lanes(three)
	wrongSL.SLRow(three.Endpoint(0).LID)[1] = 16
	wrongRow := lanes(three)
	wrongRow.Row[2] = 3
	tree := func(switches ...fabric.NodeID) routing.Tables {
		one := routing.MulticastTree{MLID: routing.FirstMLID}
		for _, s := range switches {
			one.Nodes = append(one.Nodes, routing.TreeNode{Switch: s})
		}
		return routing.Tables{Fabric: three, Forwarding: fits.Forwarding, Lanes: fits.Lanes, Multicast: &routing.Multicast{SLs: 1, Trees: []routing.MulticastTree{one}}}
	}
	perPort := routing.NewLanes(three, routing.LanePerSL(1).PerPort(four))
	for _, c := range []struct {
		name string
		t    routing.Tables
		want string
	}{
		{"forwarding", routing.Tables{Fabric: four, Forwarding: routing.NewForwarding(three), Lanes: lanes(four)}, "forwarding tables are for 3 switches"},
		{"lanes", routing.Tables{Fabric: three, Forwarding: routing.NewForwarding(three), Lanes: lanes(four)}, "service levels are for 8 endpoints"},
		{"service level", routing.Tables{Fabric: three, Forwarding: routing.NewForwarding(three), Lanes: wrongSL}, "SL 16"},
		{"row", routing.Tables{Fabric: three, Forwarding: routing.NewForwarding(three), Lanes: wrongRow}, "row 3 of 3"},
		{"map", routing.Tables{Fabric: three, Forwarding: routing.NewForwarding(three), Lanes: perPort}, "SL2VL maps are for 4 switches"},
		{"no switch", tree(-1), "has switch -1 at place 0"},
		{"switch beyond", tree(1, 3), "has switch 3 at place 1"},
		{"switch twice", tree(1, 1), "has switch 1 at place 1"},
	} {
		if err := c.t.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", c.name, err, c.want)
		}
	}
}

func TestBudgetHasLimits(t *testing.T) {
	for b, want := range map[routing.Budget]routing.Budget{
		{}:                   {VLs: routing.DefaultVLs, SLs: routing.SLs},
		{VLs: 1, SLs: 1}:     {VLs: 1, SLs: 1},
		{VLs: 15, SLs: 16}:   {VLs: 15, SLs: 16},
		{Scope: routing.All}: {VLs: routing.DefaultVLs, SLs: routing.SLs, Scope: routing.All},
	} {
		if got, err := b.WithDefaults(); err != nil || got != want {
			t.Errorf("%+v is %+v, %v; want %+v", b, got, err, want)
		}
	}
	for _, b := range []routing.Budget{{VLs: 16}, {VLs: -1}, {SLs: 17}, {SLs: -1}} {
		if _, err := b.WithDefaults(); err == nil {
			t.Errorf("%+v is taken", b)
		}
	}
}
