package repair

import (
	"slices"
	"testing"

	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/updown"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/orient"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Rows that lose an entry to the turns of Up*/Down* keep the others: the switches that
// forwarded to one which gets another entry still do.
func TestRebuiltRowsKeepEntries(t *testing.T) {
	f := testnet.Build(t, "torus:5x5,hosts=2")
	fw, err := updown.Finder{}.Paths(t.Context(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	was := &routing.Tables{Fabric: f, Forwarding: fw, Lanes: routing.OneSL(f, routing.UniformSL2VL([routing.SLs]uint8{}))}
	live, err := f.Without([]fabric.ChannelID{0}, nil) // at the centre
	if err != nil {
		t.Fatal(err)
	}
	before, err := transition.On(live, was, nil)
	if err != nil {
		t.Fatal(err)
	}
	in := newProblem(before, was, Options{Contract: routing.Any, Slack: defaultSlack})
	stuck := live.Endpoint(routing.HCA.Endpoints(live)[0]).LID
	r := newRebuilder(in, before, []Left{{LID: stuck}})
	routed, err := r.upDown(t.Context(), orient.Centres(f))
	if err != nil || !routed {
		t.Fatalf("routed %v, %v", routed, err)
	}
	if want, err := loads(t.Context(), &routing.Tables{Fabric: live, Forwarding: r.a.step.Tables.Forwarding, Lanes: before.Lanes}, in.o); err != nil || !slices.Equal(r.a.load, want) {
		t.Errorf("loads of the rows %v, counted on the way %v, %v", want, r.a.load, err)
	}
	rows, changed := 0, 0
	for lid := range routing.HCA.LIDs(live) {
		n := 0
		for s, port := range r.a.row(lid) {
			if port != fw.Port(fabric.NodeID(s), lid) && lid != stuck {
				n++
			}
		}
		rows, changed = rows+min(n, 1), changed+n
	}
	if rows == 0 || changed > 3*rows {
		t.Errorf("%d entries of %d rows change", changed, rows)
	}
}

// What a rebuild can take back is what the row at hand has added to the graph, not what all rows have.
func TestRebuildForgetsEarlierRows(t *testing.T) {
	was, _ := uneven5x5(t)
	in := newProblem(was, nil, Options{Contract: routing.Any, Slack: defaultSlack})
	r := newRebuilder(in, was, nil)
	r.begin(func(func(in, out fabric.ChannelID)) {})
	r.orientAround(orient.Centres(was.Fabric))
	grown := 0
	for lid := range routing.HCA.LIDs(was.Fabric) {
		r.stuck[lid] = true // so that its row grows
		before := dependenciesOf(r.a)
		if r.twins.of(lid, was.Forwarding) != lid || !r.route(lid) {
			continue // nothing is added
		}
		more := len(dependenciesOf(r.a)) - len(before)
		if n := r.a.graph.Checkpoint(); n > more {
			t.Fatalf("LID %d: %d dependencies can be taken back, its row added %d", lid, n, more)
		}
		grown += more
	}
	if grown == 0 {
		t.Error("no row added anything: the case tests nothing")
	}
}

// dependenciesOf is what the graph of an attempt has.
func dependenciesOf(a *attempt) (list []acyclic.Dependency) {
	a.packets.Dependencies().Each(func(int) bool { return true }, func(in, out fabric.ChannelID) {
		if a.graph.Has(in, out) {
			list = append(list, acyclic.Dependency{In: in, Out: out})
		}
	})
	return list
}
