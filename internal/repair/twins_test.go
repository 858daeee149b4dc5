package repair

import (
	"maps"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/updown"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/orient"
	"github.com/weft-fabric/weft/internal/engine/steps/packetset"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
)

// oneForSwitch is tables in which all hosts of a switch have the row of its first.
func oneForSwitch(t *testing.T, spec, engine string, c routing.Contract) *routing.Tables {
	t.Helper()
	f := testnet.Build(t, spec)
	tables := routed.Of(t, f, engine, routing.Budget{VLs: 8, Contract: c})
	sameOnSwitch(f, tables.Forwarding)
	return tables
}

func sameOnSwitch(f *fabric.Fabric, fw *routing.Forwarding) {
	first := map[fabric.NodeID]fabric.LID{}
	for lid, owner := range routing.HCA.LIDs(f) {
		e := f.Endpoint(owner)
		if first[e.Switch] == 0 {
			first[e.Switch] = lid
		}
		copy(fw.Row(lid), fw.Row(first[e.Switch]))
		fw.Row(lid)[e.Switch] = f.LastPort(e)
	}
}

// The packets of twins cause the same dependencies, whatever decides their service levels, and
// an entry that differs makes them strangers.
func TestTwins(t *testing.T) {
	for _, c := range []struct {
		engine   string
		contract routing.Contract
	}{{"weave-any", routing.Any}, {"dfsssp", routing.Honored}, {"lash", routing.Honored}, {"lash", routing.Directed}} {
		tables := oneForSwitch(t, "torus:4x4,hosts=3", c.engine, c.contract)
		f := tables.Fabric
		in := newProblem(tables, nil, Options{Contract: c.contract})
		p := packetset.New(in.sources)
		caused := func(lid fabric.LID) map[acyclic.Dependency]bool {
			all := map[acyclic.Dependency]bool{}
			p.Begin(tables.Forwarding.Row(lid), lid)
			p.Start(func(in, out fabric.ChannelID) bool { all[acyclic.Dependency{In: in, Out: out}] = true; return true })
			return all
		}
		same, found, last := newTwins(in), 0, fabric.LID(0)
		for lid := range routing.HCA.LIDs(f) {
			first := same.of(lid, tables.Forwarding)
			if first == lid {
				continue
			}
			found, last = found+1, lid
			if !maps.Equal(caused(lid), caused(first)) {
				t.Errorf("%s, %v: the packets to LID %d cause other dependencies than those to its twin %d", c.engine, c.contract, lid, first)
			}
		}
		if found < 16 {
			t.Errorf("%s, %v: %d of 48 destinations have a twin", c.engine, c.contract, found)
			continue
		}
		away := (packetset.Home(f, last) + 1) % fabric.NodeID(f.Switches())
		tables.Forwarding.Row(last)[away]++
		if same.of(last, tables.Forwarding) != last {
			t.Errorf("%s, %v: LID %d has a twin with another entry at switch %d", c.engine, c.contract, last, away)
		}
	}
}

// What holds for the first of some twins is what each would find by itself: which entries lead
// towards other tables, and whether it has a row beside others.
func TestTwinsChangeAlike(t *testing.T) {
	from := oneForSwitch(t, "random:switches=16,links=32,hosts=3,seed=2", "weave-any", routing.Any)
	f := from.Fabric
	target, err := updown.Finder{}.Paths(t.Context(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	sameOnSwitch(f, target)
	in := newProblem(from, nil, Options{Contract: routing.Any, Slack: defaultSlack})
	var both [2]*migration
	for i := range both {
		a := in.newAttempt(from)
		if err := a.derive(t.Context()); err != nil {
			t.Fatal(err)
		}
		both[i] = &migration{a: a, target: target, twins: newTwins(in)}
	}
	changed, barred := 0, 0
	for lid := range routing.HCA.LIDs(f) {
		for _, m := range both {
			m.destination(lid)
		}
		both[1].twins = newTwins(in) // it finds none
		row := both[0].a.row(lid)
		if !slices.Equal(row, both[1].a.row(lid)) {
			t.Errorf("LID %d: another row than it finds by itself", lid)
		}
		for s, port := range target.Row(lid) {
			if row[s] != port {
				barred++
			} else if from.Forwarding.Port(fabric.NodeID(s), lid) != port {
				changed++
			}
		}
	}
	if a, b := both[0].a, both[1].a; a.step.Mended != b.step.Mended || len(a.left) != len(b.left) || changed == 0 || barred == 0 || len(a.left) == 0 {
		t.Errorf("%d and %d entries change, %d and %d destinations are left; %d entries as in the target, %d not", a.step.Mended, b.step.Mended, len(a.left), len(b.left), changed, barred)
	}

	// A destination that is routed beside Up*/Down* turns has a row whose dependencies are in the
	// graph, and one that is not would not be by itself either.
	r := newRebuilder(in, from, nil)
	r.orientAround(orient.Centres(f))
	r.begin(r.upDownTurns)
	kept, grown := 0, 0
	for lid := range routing.HCA.LIDs(f) {
		first := r.twins.of(lid, from.Forwarding)
		if !r.route(lid) || !r.takeRow(lid, r.a.row(lid)) || r.a.graph.Checkpoint() > 0 {
			t.Fatalf("LID %d, first of its twins %d: no row, or one beside the graph: %d dependencies more", lid, first, r.a.graph.Checkpoint())
		}
		switch {
		case first == lid:
		case r.takeRow(lid, from.Forwarding.Row(lid)):
			kept++
		default:
			grown++
		}
	}
	if kept == 0 || grown == 0 {
		t.Errorf("%d destinations keep their rows and %d do not", kept, grown)
	}
}
