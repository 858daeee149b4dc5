package repair

import (
	"slices"
	"testing"

	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/minhop"
	"github.com/weft-fabric/weft/internal/engine/weave"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// What is counted from step to step, there and back, is what anybody counts who reads all
// rows anew, with one lane or several; and the graph
// and the loads are the same where nothing is counted.
func TestCountedOnce(t *testing.T) {
	rows, lanes := 0, map[int]bool{}
	for _, c := range []struct {
		spec string
		vls  int
	}{{"xgft:m=4x4,w=4x4,hosts=2", 1}, {"torus:4x4,hosts=2", 4}, {"random:switches=16,links=40,hosts=2,seed=3", 4}} {
		f := testnet.Build(t, c.spec)
		was, err := weave.Any{Paths: []routing.PathFinder{minhop.Finder{}}}.Route(t.Context(), f, routing.Budget{VLs: c.vls}, nil)
		if err != nil {
			t.Fatal(err)
		}
		gone := f.Endpoint(routing.HCA.Endpoints(f)[1]).Node
		live, err := f.Without([]fabric.ChannelID{fabric.ChannelID(f.Trunks() / 3)}, []fabric.NodeID{gone})
		if err != nil {
			t.Fatal(err)
		}
		before, err := transition.On(live, was, nil)
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Contract: routing.Any, Slack: defaultSlack, Steps: defaultSteps}
		plan, err := Mend(t.Context(), before, was, o)
		if err != nil || len(plan.Steps) == 0 {
			t.Fatalf("%s: %v, %d steps", c.spec, err, len(plan.Steps))
		}
		in := newProblem(before, was, o)
		if len(in.gone) == 0 {
			t.Fatalf("%s: no host is gone", c.spec)
		}
		for _, tables := range []*routing.Tables{before, plan.end(before), before} {
			a, fresh := in.newAttempt(tables), newProblem(before, was, o).newAttempt(tables)
			lanes[in.sources.Lanes] = true
			if err := a.derive(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := fresh.derive(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(in.uses, fresh.problem.uses) || !slices.Equal(a.load, fresh.load) {
				t.Errorf("%s: what is counted from tables to tables is not what they cause", c.spec)
			}
			read := map[[2]fabric.ChannelID]bool{}
			clear(fresh.load)
			if err := fresh.readAll(t.Context(), func(in, out fabric.ChannelID) { read[[2]fabric.ChannelID{in, out}] = true }); err != nil {
				t.Fatal(err)
			}
			a.packets.Dependencies().Each(func(int) bool { return true }, func(in, out fabric.ChannelID) {
				if a.graph.Has(in, out) != read[[2]fabric.ChannelID{in, out}] {
					t.Errorf("%s: the dependency of %d on %d is in the graph: %v", c.spec, in, out, a.graph.Has(in, out))
				}
			})
			if !slices.Equal(a.load, fresh.load) || slices.Max(a.load) == 0 {
				t.Errorf("%s: loads %v, counted %v", c.spec, fresh.load, a.load)
			}
			rows += len(read)
		}
	}
	if rows == 0 || len(lanes) < 2 {
		t.Errorf("%d dependencies, %v lanes: too few to say anything", rows, lanes)
	}
}

// The rows with dead entries are those in which a switch other than the destination's leads
// nowhere; the others are not looked at again.
func TestDeadRows(t *testing.T) {
	f := testnet.Build(t, "torus:4x4,hosts=1")
	tables, err := minhop.Finder{}.Paths(t.Context(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	live, err := f.Without([]fabric.ChannelID{5}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := newDeadRows(live, newEmptyEntries(live, newHistory(live, nil), routing.HCA))
	d.scan(tables)
	dead := 0
	for lid, owner := range live.LIDs() {
		want := false
		for s := range fabric.NodeID(live.Switches()) {
			out := live.Out(s, tables.Port(s, lid))
			want = want || s != live.Endpoint(owner).Switch && (out == fabric.None || int(out) >= live.Trunks())
		}
		if got := d.has(tables.Row(lid), lid, live.Endpoint(owner).Switch); got != want {
			t.Errorf("LID %d has dead entries: %v, want %v", lid, got, want)
		}
		if want {
			dead++
		}
	}
	if dead == 0 || dead == int(live.TopLID()) {
		t.Errorf("%d rows have dead entries", dead)
	}
	if !d.anyRow(tables) {
		t.Error("some rows have dead entries, and none is said to")
	}
}

// Entries are counted by the LIDs that are there, not by the highest.
func TestSparseLIDs(t *testing.T) {
	var b fabric.Builder
	var switches [2]fabric.Ref
	for i := range switches {
		switches[i] = b.Node(fabric.Node{GUID: fabric.GUID(1 + i), Ports: 2}, "")
		host := b.Node(fabric.Node{GUID: fabric.GUID(3 + i), Ports: 1, Kind: fabric.Adapter}, "")
		b.Port(host, 1, fabric.Port{LID: 900 + fabric.LID(i)})
		b.Cable(host, 1, switches[i], 1, fabric.Rate{})
	}
	b.Cable(switches[0], 2, switches[1], 2, fabric.Rate{})
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	tables := &routing.Tables{Fabric: f, Forwarding: routing.NewForwarding(f), Lanes: routing.OneSL(f, routing.LanePerSL(1))}
	if n := newProblem(tables, nil, Options{}).entries; n != 4 || f.TopLID() != 901 {
		t.Errorf("%d entries of two switches for two hosts, highest LID %d", n, f.TopLID())
	}
}

// The history of one LID after another is the hops of its own paths, on the fabric of before.
func TestHistory(t *testing.T) {
	f := testnet.Build(t, "mesh:2x3,hosts=1")
	fw, err := minhop.Finder{}.Paths(t.Context(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	live, err := f.Without([]fabric.ChannelID{0}, nil)
	if err != nil {
		t.Fatal(err)
	}
	h := newHistory(live, &routing.Tables{Fabric: f, Forwarding: fw})
	for lid, owner := range f.LIDs() {
		hops := f.Hops(f.Endpoint(owner).Switch)
		for s := range fabric.NodeID(live.Switches()) {
			if got, want := h.hops(s, lid), hops[f.NodeByGUID(live.Node(s).GUID)]; got != want {
				t.Errorf("LID %d had %d hops from %s, want %d", lid, got, live.Label(s), want)
			}
		}
	}
}
