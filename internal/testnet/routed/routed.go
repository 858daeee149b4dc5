// Package routed has tables for tests: what an engine makes of a network, by their names. It
// imports all engines, so that tests inside these cannot use it.
package routed

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/adaptive/minimal"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// By is the tables that an engine makes of the network of a spec, on as many lanes as there are.
func By(t testnet.TB, spec, engine string) *routing.Tables {
	t.Helper()
	return Of(t, testnet.Build(t, spec), engine, routing.Budget{VLs: routing.MaxDataVLs})
}

// Of is the tables that an engine makes of a network within a budget.
func Of(t testnet.TB, f *fabric.Fabric, engine string, b routing.Budget) *routing.Tables {
	t.Helper()
	e, err := engines.Named(engine)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := e.Route(context.Background(), f, engines.Options{}, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

// Choosing is tables of an engine with groups of all ports that keep the proof; spoiled, some
// groups have other ports, lose some, or are of another private table.
func Choosing(t testing.TB, spec, engine string, seed uint64, spoiled bool) *routing.Tables {
	t.Helper()
	made := *By(t, spec, engine)
	groups, err := minimal.Groups(t.Context(), &made, routing.Any, routing.HCA, nil)
	if err != nil {
		t.Fatal(err)
	}
	made.Groups = groups
	if !spoiled {
		return &made
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	f := made.Fabric
	groups.AddTable()
	for lid := range f.LIDs() {
		copy(groups.Static(1).Row(lid), made.Forwarding.Row(lid))
		for s := range groups.Row(1, lid) {
			switch rng.IntN(40) {
			case 0:
				groups.Static(1).Row(lid)[s] = routing.NoPort
			case 1:
				groups.Static(1).Row(lid)[s] = uint8(1 + rng.IntN(f.Node(fabric.NodeID(s)).Ports))
			default:
				groups.Row(1, lid)[s] = groups.Row(0, lid)[s]
			}
		}
	}
	for s := range fabric.NodeID(f.Switches()) {
		for in := range uint8(f.Node(s).Ports + 1) {
			groups.SetTable(s, in, 0, uint8(rng.IntN(2)))
		}
		if rng.IntN(8) == 0 {
			groups.SetLevels(s, 0)
		}
		if sets := groups.Sets(s); len(sets) > 0 && rng.IntN(6) == 0 {
			set := sets[rng.IntN(len(sets))]
			set.Add(uint8(1 + rng.IntN(f.Node(s).Ports)))
			groups.Set(s, rng.IntN(len(sets)), set)
		}
	}
	return &made
}
