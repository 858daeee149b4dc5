package regrow_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/lanes/single"
	"github.com/weft-fabric/weft/internal/engine/paths/shortest"
	"github.com/weft-fabric/weft/internal/engine/paths/updown"
	"github.com/weft-fabric/weft/internal/engine/steps/regrow"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Whatever paths are given, with whatever entries missing: afterwards every address is
// reached from everywhere, and the judge finds no loop on one lane.
func TestWhatever(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := testnet.Build(t, rapid.SampledFrom([]string{
			"ring:7", "torus:4x4", "mesh:3x4", "hypercube:3", "xgft:m=3x4,w=2x2,hosts=3", "random:switches=12,links=30,seed=2", "dragonfly:p=2",
		}).Draw(t, "network"))
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		var gone []fabric.ChannelID
		for range rng.IntN(5) {
			gone = append(gone, fabric.ChannelID(rng.IntN(f.Trunks())))
		}
		f, err := f.Without(gone, nil)
		if err != nil {
			t.Fatal(err)
		}
		whole := rapid.Bool().Draw(t, "whole")
		var finder routing.PathFinder = shortest.Finder{Pick: shortest.Random, Seed: rng.Uint64()}
		if whole {
			finder = updown.Finder{}
		}
		fw, err := finder.Paths(context.Background(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !whole {
			for lid := range f.LIDs() {
				for range rng.IntN(4) {
					if s := rng.IntN(f.Switches()); fabric.NodeID(s) != f.Endpoint(f.Owner(lid)).Switch {
						fw.Row(lid)[s] = routing.NoPort
					}
				}
			}
		}
		order := fabric.All[fabric.ChannelID](f.Trunks())
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		if _, err := regrow.Paths(context.Background(), f, fw, order); err != nil {
			t.Fatal(err)
		}
		lanes, err := single.Assigner{}.Lanes(context.Background(), f, fw, routing.Budget{Scope: routing.All}, nil)
		if err != nil {
			t.Fatal(err)
		}
		v, err := deadlock.Verify(context.Background(), &routing.Tables{Fabric: f, Forwarding: fw, Lanes: lanes}, deadlock.Options{Contract: routing.Any, Scope: routing.All})
		if err != nil {
			t.Fatal(err)
		}
		if !v.Free() || v.Unreachable > routing.All.Disconnected(f) {
			t.Fatalf("free %v, %d pairs without a path", v.Free(), v.Unreachable)
		}
	})
}

// An address is routed anew only where it has to be: of shortest paths in a tree most stay.
func TestMostStay(t *testing.T) {
	f := testnet.Build(t, "xgft:m=4x4,w=4x4,hosts=4")
	fw, err := shortest.Finder{}.Paths(t.Context(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	before := fw.Clone()
	if _, err := regrow.Paths(t.Context(), f, fw, fabric.All[fabric.ChannelID](f.Trunks())); err != nil {
		t.Fatal(err)
	}
	kept, all := 0, 0
	for lid := range f.LIDs() {
		all++
		if slices.Equal(before.Row(lid), fw.Row(lid)) {
			kept++
		}
	}
	if 2*kept < all {
		t.Errorf("%d of %d rows stay", kept, all)
	}
}
