package fattree_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/internal/engine/paths/minhop"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Trees as they grow are routed, damaged too, on shortest paths between hosts while they
// are whole. No turn can join all their spines where two of a group are on a plane; then
// these stay apart, a note says so, and nobody else does.
func TestGrownTrees(t *testing.T) {
	apart := 0
	for planes := 1; planes <= 3; planes++ {
		for wide := 1; wide <= 3; wide++ {
			for seed := range uint64(12) {
				rng := rand.New(rand.NewPCG(seed, 4))
				f := grown(rng, planes, 2+int(seed%3), wide, int(seed%3)).build(t)
				if seed > 0 {
					f = harm(t, f, rng, int(seed), int(seed%2))
				}
				fw, refusal := paths(t, f)
				if refusal != nil {
					if planes > 1 || wide > 1 { // else a cable is all that joins a leaf to the others
						t.Errorf("%d planes, %d wide, seed %d: %v", planes, wide, seed, refusal)
					}
					continue
				}
				judge(t, f, fw)
				if fw.Apart != strings.Contains(fw.Notes[0], "stay empty") {
					t.Errorf("apart is %v, and the note is %q", fw.Apart, fw.Notes[0])
				}
				if fw.Apart {
					apart++
				}
				if seed > 0 {
					continue
				}
				shortest, err := minhop.Finder{}.Paths(context.Background(), f, nil)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := congestion.Count(f, fw, routing.HCA), congestion.Count(f, shortest, routing.HCA); got.Hops != want.Hops {
					t.Errorf("%d planes, %d wide: %d hops between hosts, shortest paths have %d", planes, wide, got.Hops, want.Hops)
				}
			}
		}
	}
	if apart == 0 {
		t.Error("nothing stays apart: no test")
	}
}

// Turns near the destination leave paths to all: with those of the switches of lowest number, 28
// entries stayed empty here.
func TestTurnsNearTheDestination(t *testing.T) {
	fw, refusal := paths(t, testnet.Build(t, "patchwork:24"))
	if refusal != nil {
		t.Fatal(refusal)
	}
	if fw.Apart || !strings.Contains(fw.Notes[0], "turns from down to up") {
		t.Errorf("apart: %v, the note is %q", fw.Apart, fw.Notes[0])
	}
}

// Where no turn is left that would join two leaves, destinations are routed anew until one
// is, and every host reaches every other without a loop.
func TestNoTurnLeft(t *testing.T) {
	f := testnet.Build(t, "patchwork:5")
	fw, refusal := paths(t, f)
	if refusal != nil {
		t.Fatal(refusal)
	}
	if !strings.Contains(fw.Notes[0], "routed anew") {
		t.Errorf("the note is %q: no test", fw.Notes[0])
	}
	lanes := routing.OneSL(f, routing.UniformSL2VL([routing.SLs]uint8{}))
	v, err := deadlock.Verify(t.Context(), &routing.Tables{Fabric: f, Forwarding: fw, Lanes: lanes}, deadlock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !v.Free() || v.Unreachable > 0 {
		t.Errorf("free: %v, %d pairs without a path", v.Free(), v.Unreachable)
	}
}
