package change_test

import (
	"testing"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// What is to be pulled carries nothing when the plan is done, no pair is ever cut, and
// the way back ends at the tables from before.
func TestAway(t *testing.T) {
	for _, c := range []struct {
		spec   string
		cable  fabric.ChannelID
		branch fabric.NodeID // a switch without hosts, or None
	}{
		{"xgft:m=4x4,w=4x4,hosts=2", 3, fabric.None},
		{"xgft:m=4x4,w=4x4,hosts=2", fabric.None, 20},
		{"torus:6x5x5,hosts=2", 0, fabric.None},
		{"dragonfly:p=2", 7, fabric.None},
	} {
		f := testnet.Build(t, c.spec)
		e, err := engines.Named("weave-any")
		if err != nil {
			t.Fatal(err)
		}
		was, err := e.Route(t.Context(), f, engines.Options{}, routing.Budget{VLs: 8, Contract: routing.Any}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var idle []fabric.ChannelID
		var cables []fabric.ChannelID
		var nodes []fabric.NodeID
		if c.cable != fabric.None {
			cables = []fabric.ChannelID{c.cable}
			idle = append(idle, c.cable, f.Channel(c.cable).Reverse)
		} else {
			if len(f.Attached(c.branch)) > 1 {
				t.Fatalf("%s: switch %d has hosts", c.spec, c.branch)
			}
			nodes = []fabric.NodeID{c.branch}
			for i := range fabric.ChannelID(f.Trunks()) {
				if ch := f.Channel(i); ch.From == c.branch || ch.To == c.branch {
					idle = append(idle, i)
				}
			}
		}
		less, err := f.Without(cables, nodes)
		if err != nil {
			t.Fatal(err)
		}
		before := congestion.Count(f, was.Forwarding, routing.HCA)
		o := change.Options{Contract: routing.Any}
		p, err := change.Away(t.Context(), was, less, o)
		if err != nil {
			t.Fatal(err)
		}
		after := congestion.Count(f, p.After.Forwarding, routing.HCA)
		used := uint32(0)
		for _, i := range idle {
			used += before.Routes[i]
			if after.Routes[i] > 0 {
				t.Errorf("%s: %d routes are still on trunk %d", c.spec, after.Routes[i], i)
			}
		}
		if used == 0 || len(p.Left) > 0 || p.CutBefore+p.CutAfter+p.Exposed() > 0 {
			t.Errorf("%s: %d routes before, %d left, cut %d, %d, %d", c.spec, used, len(p.Left), p.CutBefore, p.Exposed(), p.CutAfter)
		}
		back, err := change.Return(t.Context(), p.After, was, o)
		if err != nil {
			t.Fatal(err)
		}
		for lid := range f.LIDs() {
			if string(back.After.Forwarding.Row(lid)) != string(was.Forwarding.Row(lid)) {
				t.Fatalf("%s: the row of LID %d is not as before", c.spec, lid)
			}
		}
	}
}
