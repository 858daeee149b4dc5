package change_test

import (
	"bytes"
	"testing"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/transition"
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

// On a sparse network other destinations make way, so that every cable can be taken out;
// where it is the only way for some destinations these are named.
func TestAwayOnSparseNetworks(t *testing.T) {
	for _, c := range []struct {
		spec   string
		needed bool // every cable is
	}{{"mesh:3x3,hosts=2", false}, {"xgft:m=3x3,w=1x1,hosts=2", true}} {
		f := testnet.Build(t, c.spec)
		was := route(t, f, "weave-any")
		for trunk := range fabric.ChannelID(f.Trunks()) {
			less, err := f.Without([]fabric.ChannelID{trunk}, nil)
			if err != nil {
				t.Fatal(err)
			}
			p, err := change.Remove(t.Context(), was, less, change.Options{Contract: routing.Any})
			if err != nil {
				t.Fatal(err)
			}
			after := congestion.Count(f, p.After.Forwarding, routing.HCA)
			carries := after.Routes[trunk]+after.Routes[f.Channel(trunk).Reverse] > 0
			if needed := len(p.Left) > 0; needed != c.needed || !needed && carries {
				t.Errorf("%s, trunk %d: %d destinations need it, it carries routes: %v", c.spec, trunk, len(p.Left), carries)
			}
		}
	}
}

// Where steps towards the tables of the repair are barred while the old paths are in use, others
// lead to other tables without the part, and back by the same steps. What nothing else joins is
// named.
func TestAwayBesideOldPaths(t *testing.T) {
	f := testnet.Build(t, "random:switches=96,links=210")
	r, err := weft.Route(t.Context(), f, weft.Request{Engine: "weave-any"})
	if err != nil {
		t.Fatal(err)
	}
	was, o := r.Tables, change.Options{Contract: r.Contract}
	for _, s := range []fabric.NodeID{3, 6, 25, 51, 57} {
		less, err := f.Without(nil, []fabric.NodeID{s})
		if err != nil {
			t.Fatal(err)
		}
		p, err := change.Remove(t.Context(), was, less, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Left) > 0 || len(p.Steps) == 0 || p.CutBefore+p.CutAfter+p.Exposed() > 0 {
			t.Errorf("%s: %d destinations left, %d steps, cut %d, %d, %d", f.Label(s), len(p.Left), len(p.Steps), p.CutBefore, p.Exposed(), p.CutAfter)
		}
		pulled, err := change.Mend(t.Context(), p.After, less, o)
		if err != nil {
			t.Fatal(err)
		}
		if entries, _ := pulled.Entries(); pulled.CutBefore > 0 || entries > 0 {
			t.Errorf("%s: pulling it cuts %d pairs, and %d entries have to change", f.Label(s), pulled.CutBefore, entries)
		}
		back, err := p.Undo(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if n := transition.CostOf(back.After, was).Entries; n > 0 || len(back.Steps) != len(p.Steps) || back.Exposed() > 0 {
			t.Errorf("%s: the way back has %d of %d steps, %d pairs are cut meanwhile, and %d entries differ", f.Label(s), len(back.Steps), len(p.Steps), back.Exposed(), n)
		}
	}
	less, err := f.Without(nil, []fabric.NodeID{54}) // only it joins sw-72 to the rest
	if err != nil {
		t.Fatal(err)
	}
	p, err := change.Remove(t.Context(), was, less, o)
	if err != nil {
		t.Fatal(err)
	}
	if !p.Apart || len(p.Steps) > 0 || len(p.Left) != f.Switches()-1 {
		t.Errorf("sw-54: apart %v, %d steps, %d destinations left", p.Apart, len(p.Steps), len(p.Left))
	}
}
