package walk_test

import (
	"math/rand/v2"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/walk"
	"github.com/weft-fabric/weft/routing"
)

// By one row packets arrive that have a depth in the tree, from as many switches as that and one; by
// two rows the fates are the worst of all ways that packets can go.
func TestWalk(t *testing.T) {
	f := testnet.Build(t, "torus:3x3,hosts=1")
	rng := rand.New(rand.NewPCG(1, 0))
	seen := map[walk.Fate]int{}
	for range 200 {
		home := fabric.NodeID(rng.IntN(f.Switches()))
		rows := [2][]uint8{make([]uint8, f.Switches()), make([]uint8, f.Switches())}
		hops := f.Hops(home)
		for s := range rows[0] {
			first, end := f.TrunksFrom(fabric.NodeID(s))
			for _, row := range rows {
				row[s] = routing.NoPort
				for c := first; c < end && rng.IntN(30) > 0; c++ {
					if row[s] = f.TailPorts()[c]; hops[f.Heads()[c]] < hops[s] || rng.IntN(12) == 0 {
						break // mostly nearer
					}
				}
			}
		}
		var by walk.Walk
		var tree routing.Tree
		by.Along(f, home, rows[0])
		tree.Build(f, rows[0], home)
		for s, fate := range by.Fate {
			depth := tree.Depth(fabric.NodeID(s))
			if (fate == walk.Arrive) != (depth >= 0) || depth >= 0 && int(by.Left[s]) != depth+1 {
				t.Fatalf("switch %d: fate %d after %d switches, depth %d", s, fate, by.Left[s], depth)
			}
		}
		by.Along(f, home, rows[:]...)
		for s, fate := range by.Fate {
			if want := worst(f, rows[:], home, fabric.NodeID(s), map[fabric.NodeID]bool{}); fate != want {
				t.Fatalf("switch %d: fate %d, want %d", s, fate, want)
			}
			seen[fate]++
		}
	}
	if len(seen) != 3 {
		t.Errorf("fates %v: the case tests little", seen)
	}
}

// worst follows every way that packets can go.
func worst(f *fabric.Fabric, rows [][]uint8, home, s fabric.NodeID, on map[fabric.NodeID]bool) walk.Fate {
	if s == home {
		return walk.Arrive
	}
	if on[s] {
		return walk.Circle
	}
	on[s] = true
	defer delete(on, s)
	fate := walk.Arrive
	for _, row := range rows {
		if c := f.Trunk(s, row[s]); c != fabric.None {
			fate = max(fate, worst(f, rows, home, f.Heads()[c], on))
		} else {
			fate = max(fate, walk.Dropped)
		}
	}
	return fate
}
