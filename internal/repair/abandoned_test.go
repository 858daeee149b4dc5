package repair

import (
	"slices"
	"testing"

	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// Where no other order leaves fewer destinations, nothing stays of those that were tried: the tables,
// the loads by which ties break, and the graph are those of the first.
func TestAbandonedOrders(t *testing.T) {
	f := testnet.Build(t, "random:switches=24,links=40,hosts=1,seed=3")
	e, err := engines.Named("weave-any")
	if err != nil {
		t.Fatal(err)
	}
	was, err := e.Route(t.Context(), f, engines.Options{}, routing.Budget{VLs: 8, Scope: routing.Adapters}, nil)
	if err != nil {
		t.Fatal(err)
	}
	abandoned := 0
	for c := range fabric.ChannelID(f.Trunks()) {
		live, err := f.Without([]fabric.ChannelID{c}, nil)
		if err != nil {
			t.Fatal(err)
		}
		before, err := transition.On(live, was, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := newShared(before, was, Options{Contract: e.Contract, Slack: defaultSlack}).newStep(before)
		if err := s.derive(t.Context()); err != nil {
			t.Fatal(err)
		}
		m, load := newMender(s), slices.Clone(s.load)
		if err := m.inOrder(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if len(m.left) == 0 {
			continue
		}
		tables, loads, graph := m.Tables, slices.Clone(m.load), dependenciesOf(s)
		if err := m.otherOrders(t.Context(), load); err != nil {
			t.Fatal(err)
		}
		if m.Tables != tables {
			continue // another order is better
		}
		abandoned++
		if !slices.Equal(m.load, loads) {
			t.Errorf("without trunk %d: the loads are not those of the tables", c)
		}
		if !slices.Equal(dependenciesOf(s), graph) {
			t.Errorf("without trunk %d: the graph is not that of the tables", c)
		}
	}
	if abandoned == 0 {
		t.Error("no order was abandoned: the case tests nothing")
	}
}
