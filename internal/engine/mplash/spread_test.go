package mplash_test

import (
	"maps"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/mplash"
	"github.com/weft-fabric/weft/internal/testnet"
)

// turnSet is the turns of a layer.
type turnSet map[[2]fabric.ChannelID]bool

func turnsOf(path []fabric.ChannelID) turnSet {
	turns := turnSet{}
	for i := 1; i < len(path); i++ {
		turns[[2]fabric.ChannelID{path[i-1], path[i]}] = true
	}
	return turns
}

// acyclic takes trunks away that nothing follows, until none is left.
func (s turnSet) acyclic() bool {
	left := maps.Clone(s)
	for {
		leads := map[fabric.ChannelID]bool{}
		for t := range left {
			leads[t[0]] = true
		}
		before := len(left)
		maps.DeleteFunc(left, func(t [2]fabric.ChannelID, _ bool) bool { return !leads[t[1]] })
		if len(left) == before {
			return before == 0
		}
	}
}

// Section 6, step 4: every path is in every layer that takes it. What a path lacks
// closes a cycle, and layers are acyclic; without the step a path has one layer.
func TestEveryPathIsInEveryLayerThatTakesIt(t *testing.T) {
	gained, lacking := 0, 0
	for _, spec := range []string{"ring:6", "torus:3x3,hosts=1", "torus:4x4,hosts=1", "hypercube:3", "random:switches=10,links=18,hosts=1,seed=4", "random:switches=12,links=16,hosts=1,seed=2"} {
		f := testnet.Build(t, spec)
		once, all := analyse(t, f, mplash.Options{}), analyse(t, f, mplash.Options{Spread: true})
		if once.Layers != all.Layers {
			t.Errorf("%s: %d layers, with step 4 %d", spec, once.Layers, all.Layers)
		}
		held := make([]turnSet, all.Layers)
		for l := range held {
			held[l] = turnSet{}
		}
		all.Each(func(path []fabric.ChannelID, layers uint64) {
			for l := range held {
				if layers>>l&1 == 1 {
					maps.Copy(held[l], turnsOf(path))
				}
			}
		})
		for l := range held {
			if !held[l].acyclic() {
				t.Errorf("%s: layer %d has a cycle", spec, l)
			}
		}
		var first []uint64
		once.Each(func(_ []fabric.ChannelID, layers uint64) { first = append(first, layers) })
		i := 0
		all.Each(func(path []fabric.ChannelID, layers uint64) {
			if layers&first[i] == 0 || layers&(layers-1) != 0 {
				gained++
			}
			for l := range held {
				if layers>>l&1 == 1 {
					continue
				}
				lacking++
				with := maps.Clone(held[l])
				maps.Copy(with, turnsOf(path))
				if with.acyclic() {
					t.Fatalf("%s: path %v fits into layer %d and is not in it: %b", spec, path, l, layers)
				}
			}
			i++
		})
	}
	if gained == 0 || lacking == 0 {
		t.Errorf("%d paths have more than one layer, %d lack one", gained, lacking)
	}
}

// Progress ends at the whole, for either.
func TestProgress(t *testing.T) {
	for _, spread := range []bool{false, true} {
		last, of := 0, -1
		analyse(t, testnet.Build(t, "torus:4x4,hosts=1"), mplash.Options{Spread: spread, Progress: func(done, total int) {
			if done < 0 || done > total {
				t.Errorf("%d of %d", done, total)
			}
			last, of = done, total
		}})
		if !spread && last != of {
			t.Errorf("ends at %d of %d", last, of)
		}
	}
}
