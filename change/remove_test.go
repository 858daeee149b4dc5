package change_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/pulled"
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
		if used == 0 || len(p.Left) > 0 || p.CutBefore+p.CutAfter+p.Cuts() > 0 {
			t.Errorf("%s: %d routes before, %d left, cut %d, %d, %d", c.spec, used, len(p.Left), p.CutBefore, p.Cuts(), p.CutAfter)
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
	if len(p.Left) > 0 || p.CutBefore+p.CutAfter+p.Cuts() > 0 {
		t.Errorf("%d destinations left, %d pairs cut after, %d meanwhile", len(p.Left), p.CutAfter, p.Cuts())
	}
}

// On a sparse network other destinations make way, so that every cable can be taken out; in a tree
// that is a cable to each switch nothing changes, and pulling it cuts the network in two.
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
			if len(p.Left) > 0 || carries != c.needed || (len(p.Steps) == 0) != c.needed {
				t.Errorf("%s, trunk %d: %d destinations left, %d steps, it carries routes: %v", c.spec, trunk, len(p.Left), len(p.Steps), carries)
			}
			goes := pulled.CutOff(p.After, less, routing.HCA)
			if apart := routing.HCA.Disconnected(less); goes.PairsApart != apart || (len(goes.Apart) > 0) != c.needed || len(goes.Gone) > 0 {
				t.Errorf("%s, trunk %d: pulling it cuts %d pairs of %d endpoints, %d are in two parts then", c.spec, trunk, goes.PairsApart, len(goes.Apart), apart)
			}
		}
	}
}

// Where steps towards the tables of the repair are barred while the old paths are in use, others
// lead to other tables without the part, and back by the same steps.
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
		if len(p.Left) > 0 || len(p.Steps) == 0 || p.CutBefore+p.CutAfter+p.Cuts() > 0 {
			t.Errorf("%s: %d destinations left, %d steps, cut %d, %d, %d", f.Label(s), len(p.Left), len(p.Steps), p.CutBefore, p.Cuts(), p.CutAfter)
		}
		mended, err := change.Mend(t.Context(), p.After, less, o)
		if err != nil {
			t.Fatal(err)
		}
		if entries, _ := mended.Entries(); mended.CutBefore > 0 || entries > 0 {
			t.Errorf("%s: pulling it cuts %d pairs, and %d entries have to change", f.Label(s), mended.CutBefore, entries)
		}
		back, err := p.Undo(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if n := transition.CostOf(back.After, was).Entries; n > 0 || len(back.Steps) != len(p.Steps) || back.Cuts() > 0 {
			t.Errorf("%s: the way back has %d of %d steps, %d pairs are cut meanwhile, and %d entries differ", f.Label(s), len(back.Steps), len(p.Steps), back.Cuts(), n)
		}
	}
}

// Where only the parts join some switches to the rest, all other packets leave them, those between
// the two sides keep their paths until the parts are pulled, and the steps lead back.
func TestAwayFromTheOnlyConnection(t *testing.T) {
	tried := 0
	for _, c := range []struct {
		engine, spec string
		barred       []int // failures for which no steps are found
	}{
		{"weave-any", "random:switches=24,links=34,hosts=2,seed=1", nil},
		{"updn", "random:switches=40,links=56,hosts=1,seed=3", []int{4, 7}}, // some by tables other than those of the repair
	} {
		f := testnet.Build(t, c.spec)
		r, err := weft.Route(t.Context(), f, weft.Request{Engine: c.engine})
		if err != nil {
			t.Fatal(err)
		}
		was, o := r.Tables, change.Options{Contract: r.Contract}
		for i, x := range append(change.Switches(f), change.Cables(f)...) {
			less, err := f.Without(x.Channels, x.Nodes)
			if err != nil {
				t.Fatal(err)
			}
			if len(less.Parts()) == 1 {
				continue
			}
			p, err := change.Remove(t.Context(), was, less, o)
			if err != nil {
				t.Fatal(err)
			}
			what := fmt.Sprintf("%s on %s, failure %d", c.engine, c.spec, i)
			neverCuts(t, what, p, 0)
			if (len(p.Left) > 0) != slices.Contains(c.barred, i) || p.CutBefore+p.CutAfter > 0 {
				t.Errorf("%s: %d destinations left, cut %d, %d", what, len(p.Left), p.CutBefore, p.CutAfter)
			}
			if len(p.Left) > 0 {
				continue
			}
			cut := pulled.CutOff(p.After, less, routing.HCA)
			mended, err := change.Mend(t.Context(), p.After, less, o)
			if err != nil {
				t.Fatal(err)
			}
			if cut.PairsApart != routing.HCA.Disconnected(less) || mended.CutBefore != cut.PairsApart {
				t.Errorf("%s: pulling it cuts %d pairs, %d by the judge, %d are in two parts", what, cut.PairsApart, mended.CutBefore, routing.HCA.Disconnected(less))
			}
			undo, err := p.Undo(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if n := transition.CostOf(undo.After, was).Entries; n > 0 || undo.Cuts() > 0 {
				t.Errorf("%s: on the way back %d pairs are cut, and %d entries differ", what, undo.Cuts(), n)
			}
			if len(p.Steps) > 0 {
				tried++
			}
		}
	}
	if tried == 0 {
		t.Error("nothing that has to leave was found")
	}
}

// Pairs that have no path before are not cut while they are given one.
func TestAwayWithPairsThatHaveNoPath(t *testing.T) {
	f := testnet.Build(t, "xgft:m=4x4,w=4x4,hosts=2")
	was := route(t, f, "updn")
	hosts := routing.HCA.Endpoints(f)
	leaf, lid := f.Endpoint(hosts[0]).Switch, f.Endpoint(hosts[len(hosts)-1]).LID
	was.Forwarding.Row(lid)[leaf] = routing.NoPort
	less, err := f.Without(nil, []fabric.NodeID{20})
	if err != nil {
		t.Fatal(err)
	}
	p, err := change.Remove(t.Context(), was, less, change.Options{})
	if err != nil {
		t.Fatal(err)
	}
	exposed := int64(0)
	for _, s := range p.Steps {
		exposed += s.Union.Exposed
	}
	if p.CutBefore != 2 || p.CutAfter != 0 || exposed == 0 || p.Cuts() != 0 {
		t.Errorf("cut before %d, after %d, exposed %d, of them %d had a path", p.CutBefore, p.CutAfter, exposed, p.Cuts())
	}
}

// A leaf takes its hosts along; of parts of a network that were apart before nobody is cut off.
func TestCutOff(t *testing.T) {
	f := testnet.Build(t, "xgft:m=4x4,w=4x4,hosts=2")
	was := route(t, f, "updn")
	hosts := routing.HCA.Endpoints(f)
	leaf := f.Endpoint(hosts[0]).Switch
	less, err := f.Without(nil, []fabric.NodeID{leaf})
	if err != nil {
		t.Fatal(err)
	}
	p := pulled.CutOff(was, less, routing.HCA)
	if want := int64(2*30*2 + 2); !slices.Equal(p.Gone, hosts[:2]) || p.PairsGone != want || len(p.Apart) > 0 || p.PairsApart > 0 {
		t.Errorf("with the leaf go %v, %d pairs; %v stay without %d, want %v and %d pairs", p.Gone, p.PairsGone, p.Apart, p.PairsApart, hosts[:2], want)
	}
	// Its up cables are gone already: what else goes is no news for it.
	var up []fabric.ChannelID
	first, end := f.TrunksFrom(leaf)
	for c := first; c < end; c++ {
		up = append(up, c)
	}
	alone, err := f.Without(up, nil)
	if err != nil {
		t.Fatal(err)
	}
	was = route(t, alone, "updn")
	if less, err = alone.Without([]fabric.ChannelID{0}, nil); err != nil {
		t.Fatal(err)
	}
	if p := pulled.CutOff(was, less, routing.HCA); len(p.Gone)+len(p.Apart) > 0 {
		t.Errorf("%v and %v are cut off", p.Gone, p.Apart)
	}
}

// Cut off is the side with fewer endpoints, though it has more switches.
func TestCutOffCountsEndpoints(t *testing.T) {
	full := testnet.Build(t, "xgft:m=3x3,w=1x1,hosts=2")
	hosts := routing.HCA.Endpoints(full)
	var gone []fabric.NodeID
	for _, e := range hosts[6 : len(hosts)-2] { // those of the first three leaves stay, and two more
		gone = append(gone, full.Endpoint(e).Node)
	}
	f, err := full.Without(nil, gone)
	if err != nil {
		t.Fatal(err)
	}
	was := route(t, f, "updn")
	less, err := f.Without([]fabric.ChannelID{f.Out(9, 4)}, nil) // of the three to the rest
	if err != nil {
		t.Fatal(err)
	}
	left := routing.HCA.Endpoints(f)
	if p := pulled.CutOff(was, less, routing.HCA); !slices.Equal(p.Apart, left[6:]) || p.PairsApart != 2*6*2 {
		t.Errorf("%v are cut off, %d pairs, want %v", p.Apart, p.PairsApart, left[6:])
	}
}

// A host whose own cable is pulled goes with it, also where all other cables of its switch are.
func TestHostsGoWithTheirCables(t *testing.T) {
	f := testnet.Build(t, "mesh:4,hosts=2")
	was, hosts := route(t, f, "updn"), routing.HCA.Endpoints(f)
	first, end := f.TrunksFrom(0)
	if end-first != 1 || f.Endpoint(hosts[1]).Switch != 0 || f.Endpoint(hosts[2]).Switch == 0 {
		t.Fatal("the first switch is not at the end of the line, or has not two hosts")
	}
	for _, c := range []struct {
		cable, hosts, apart   int // cables to another switch and to hosts that are pulled; endpoints that stay and are cut off
		pairsGone, pairsApart int64
	}{
		{0, 1, 0, 2 * 7, 0},
		{1, 0, 2, 0, 2 * 2 * 6},
		{1, 1, 1, 2 * 7, 2 * 6},
		{1, 2, 0, 2*7 + 2*6, 0},
	} {
		var cables []fabric.ChannelID
		for i := range c.cable {
			cables = append(cables, first+fabric.ChannelID(i))
		}
		for _, e := range hosts[:c.hosts] {
			cables = append(cables, f.Endpoint(e).Inject)
		}
		less, err := f.Without(cables, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := change.Remove(t.Context(), was, less, change.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Left)+len(p.Steps) > 0 {
			t.Errorf("%+v: %d destinations left, %d steps where nothing can change", c, len(p.Left), len(p.Steps))
		}
		cut := pulled.CutOff(p.After, less, routing.HCA)
		if !slices.Equal(cut.Gone, hosts[:c.hosts]) || !slices.Equal(cut.Apart, hosts[c.hosts:c.hosts+c.apart]) || cut.PairsGone != c.pairsGone || cut.PairsApart != c.pairsApart {
			t.Errorf("%+v: %v go, %d pairs; %v are cut off, %d pairs", c, cut.Gone, cut.PairsGone, cut.Apart, cut.PairsApart)
		}
	}
}
