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
		a := newProblem(before, was, Options{Contract: e.Contract, Slack: defaultSlack}).newAttempt(before)
		if err := a.derive(t.Context()); err != nil {
			t.Fatal(err)
		}
		load := slices.Clone(a.load)
		if err := a.inOrder(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if len(a.left) == 0 {
			continue
		}
		tables, loads, graph := a.step.Tables, slices.Clone(a.load), dependenciesOf(a)
		if err := a.otherOrders(t.Context(), load); err != nil {
			t.Fatal(err)
		}
		if a.step.Tables != tables {
			continue // another order is better
		}
		abandoned++
		if !slices.Equal(a.load, loads) {
			t.Errorf("without trunk %d: the loads are not those of the tables", c)
		}
		if !slices.Equal(dependenciesOf(a), graph) {
			t.Errorf("without trunk %d: the graph is not that of the tables", c)
		}
	}
	if abandoned == 0 {
		t.Error("no order was abandoned: the case tests nothing")
	}
}
