package mplash_test

import (
	"context"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/adaptive/judge"
	"github.com/weft-fabric/weft/internal/engine/mplash"
	"github.com/weft-fabric/weft/internal/testnet"
)

// Both versions of the full form are proven free of deadlock, minimal, and open
// every shortest path to its source; with one layer for each path layers are used
// evenly as far as paths fit.
func TestRoutingIsProven(t *testing.T) {
	for _, spec := range []string{"random:switches=16,links=32,hosts=1,seed=3", "torus:4x4,hosts=1", "ring:6", "karytree:k=2,n=3"} {
		f := testnet.Build(t, spec)
		a, err := mplash.Analyse(context.Background(), f, mplash.Options{Spread: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range []bool{true, false} {
			r := a.Routing(one)
			v, err := judge.Verify(context.Background(), r, judge.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !v.Free() || v.Unreachable != 0 || !v.Minimal {
				t.Errorf("%s, one layer %v: free %v, %d pairs without a way, minimal %v", spec, one, v.Free(), v.Unreachable, v.Minimal)
			}
			if r.Needed != a.Layers || len(r.Lanes) != a.Layers {
				t.Errorf("%s: %d lanes, %d needed, for %d layers", spec, len(r.Lanes), r.Needed, a.Layers)
			}
			if int64(r.Addresses()) != a.Paths {
				t.Errorf("%s: %d addresses for %d paths", spec, r.Addresses(), a.Paths)
			}
			several := false
			for d := range adaptive.Address(r.Addresses()) {
				senders := 0
				for s := range fabric.NodeID(f.Switches()) {
					if lanes := r.Allowed(s, d); lanes != 0 {
						senders++
						several = several || lanes&(lanes-1) != 0
					}
				}
				if senders != 1 {
					t.Fatalf("%s: address %d has %d senders", spec, d, senders)
				}
			}
			if one && several {
				t.Errorf("%s: a path has several layers", spec)
			}
		}
	}
}

// LASH as source routes: one shortest path of each pair, other ones with another seed, and
// as many layers as are given.
func TestOnePathOfEachPair(t *testing.T) {
	f := testnet.Build(t, "random:switches=16,links=32,hosts=1,seed=3")
	differ := 0
	var before map[[2]fabric.NodeID]string
	for seed := range uint64(3) {
		a, err := mplash.Analyse(context.Background(), f, mplash.Options{One: true, Seed: seed, Spread: true, AtLeast: 5})
		if err != nil {
			t.Fatal(err)
		}
		paths := map[[2]fabric.NodeID]string{}
		a.Each(func(path []fabric.ChannelID, _ uint64) {
			pair := [2]fabric.NodeID{f.Channel(path[0]).From, f.Channel(path[len(path)-1]).To}
			if paths[pair] != "" {
				t.Fatalf("%v has two paths", pair)
			}
			for _, c := range path {
				paths[pair] += string(rune(c + 1))
			}
		})
		if len(paths) != 16*15 {
			t.Fatalf("%d pairs have a path, not 240", len(paths))
		}
		for pair, way := range paths {
			if before != nil && before[pair] != way {
				differ++
			}
		}
		before = paths
		r := a.Routing(true)
		v, err := judge.Verify(context.Background(), r, judge.Options{})
		if err != nil || !v.Free() || !v.Complete() || !v.Minimal || len(r.Lanes) != 5 || r.Addresses() != 240 {
			t.Errorf("seed %d: %+v, %v, %d lanes", seed, v, err, len(r.Lanes))
		}
	}
	if differ < 50 {
		t.Errorf("%d paths differ between seeds", differ)
	}
}
