package repair

import (
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
	sh := newShared(before, was, Options{Contract: routing.Any, Slack: defaultSlack})
	stuck := live.Endpoint(routing.HCA.Endpoints(live)[0]).LID
	r := newRebuilder(sh, before, []Left{{LID: stuck}})
	placed, err := r.upDown(t.Context(), orient.Centres(f))
	if err != nil || !placed {
		t.Fatalf("placed %v, %v", placed, err)
	}
	rows, changed := 0, 0
	for lid := range routing.HCA.LIDs(live) {
		n := 0
		for s, port := range r.Tables.Forwarding.Row(lid) {
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
	sh := newShared(was, nil, Options{Contract: routing.Any, Slack: defaultSlack})
	r := newRebuilder(sh, was, nil)
	r.graph = acyclic.NewLanes(r.f, r.flow.lanes, func(func(in, out fabric.ChannelID)) {})
	r.orientAround(orient.Centres(r.f))
	r.twins, r.placed = newTwins(sh.levels), make([]bool, r.f.TopLID()+1)
	grown := 0
	for lid := range routing.HCA.LIDs(r.f) {
		r.stuck[lid] = true // so that its row grows
		before := dependenciesOf(r.step)
		if r.twins.of(lid, was.Forwarding) != lid || !r.place(lid) {
			continue // nothing is added
		}
		more := len(dependenciesOf(r.step)) - len(before)
		if n := len(r.added); n > more {
			t.Fatalf("LID %d: %d dependencies can be taken back, its row added %d", lid, n, more)
		}
		grown += more
	}
	if grown == 0 {
		t.Error("no row added anything: the case tests nothing")
	}
}

// dependenciesOf is what the graph of a step has.
func dependenciesOf(s *step) (list []acyclic.Dependency) {
	numbering{s.f, fabric.ChannelID(s.flow.lanes)}.each(func(int) bool { return true }, func(in, out fabric.ChannelID) {
		if s.graph.Has(in, out) {
			list = append(list, acyclic.Dependency{In: in, Out: out})
		}
	})
	return list
}
