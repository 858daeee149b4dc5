package change_test

import (
	"bytes"
	"testing"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
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
		was := route(t, f, "weave-any")
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
		p, err := change.Remove(t.Context(), was, less, o)
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
			if !bytes.Equal(back.After.Forwarding.Row(lid), was.Forwarding.Row(lid)) {
				t.Fatalf("%s: the row of LID %d is not as before", c.spec, lid)
			}
		}
	}
}

// A switch that goes with its hosts: until it is pulled, they reach everybody and
// everybody reaches them.
func TestAwayWithHosts(t *testing.T) {
	f := testnet.Build(t, "xgft:m=4x4,w=4x4,hosts=2")
	was := route(t, f, "updn")
	leaf := f.Endpoint(routing.HCA.Endpoints(f)[0]).Switch
	less, err := f.Without(nil, []fabric.NodeID{leaf})
	if err != nil {
		t.Fatal(err)
	}
	p, err := change.Remove(t.Context(), was, less, change.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Left) > 0 || p.CutBefore+p.CutAfter+p.Exposed() > 0 {
		t.Errorf("%d destinations left, %d pairs cut after, %d meanwhile", len(p.Left), p.CutAfter, p.Exposed())
	}
}

// Where no repair does without a cable there are no steps away from it: the tables
// stay, and what stands in the way is named.
func TestAwayCannot(t *testing.T) {
	f := testnet.Build(t, "mesh:3x3,hosts=2")
	was := route(t, f, "weave-any")
	cannot := 0
	for c := range fabric.ChannelID(f.Trunks()) {
		less, err := f.Without([]fabric.ChannelID{c}, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := change.Remove(t.Context(), was, less, change.Options{Contract: routing.Any})
		if err != nil {
			t.Fatal(err)
		}
		after := congestion.Count(f, p.After.Forwarding, routing.HCA)
		switch {
		case len(p.Left) > 0 && len(p.Steps) > 0:
			t.Errorf("trunk %d: %d steps to where %d destinations need it", c, len(p.Steps), len(p.Left))
		case len(p.Left) > 0:
			cannot++
		case after.Routes[c]+after.Routes[f.Channel(c).Reverse] > 0:
			t.Errorf("trunk %d still carries routes", c)
		}
	}
	if cannot == 0 {
		t.Error("every cable can be done without; the test shows nothing")
	}
}
