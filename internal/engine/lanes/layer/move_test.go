package layer

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Moving the bundles over some turns, one after another, moves those bundles and no
// others, as walking all of them shows; what is counted is what is left, and then what is
// in the next layer. Destinations share words of eight with those of the same switch and
// of others, whose paths part soon.
func TestMoveTakesWhatMakesTheTurn(t *testing.T) {
	for _, spec := range []string{"ring:6,hosts=2", "torus:4x4,hosts=3", "dragonfly:p=2", "xgft:m=4x5,w=3x2,hosts=2", "random:switches=20,links=40,hosts=5,seed=3", "random:switches=9,links=13,hosts=40,seed=1"} {
		for _, contract := range []routing.Contract{routing.Directed, routing.Honored} {
			f := testnet.Build(t, spec)
			fw, err := sssp.Finder{}.Paths(context.Background(), f, nil)
			if err != nil {
				t.Fatal(err)
			}
			b, err := routing.Budget{VLs: 8, Contract: contract}.WithDefaults()
			if err != nil {
				t.Fatal(err)
			}
			bc, err := newBreaker(context.Background(), newPathSet(f, fw, b))
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			for layer := range uint8(2) {
				for range 15 {
					in, out, turn := bc.draw(rng)
					if bc.count[turn] == 0 {
						break
					}
					want := bc.layers()
					for i, over := range bc.over(turn) {
						if over && want[i] == layer {
							want[i]++
						}
					}
					bc.move(in, out, layer)
					if !bytes.Equal(bc.layers(), want) {
						t.Fatalf("%s, %s, layer %d: other bundles than those over turn %d to %d were moved", spec, contract, layer, in, out)
					}
					agrees(t, bc, layer)
				}
				bc.post = fabric.All[fabric.ChannelID](f.Trunks())
				bc.next(layer, false)
				agrees(t, bc, layer+1)
			}
		}
	}
}

// draw is a turn of the layer at hand, if there is any.
func (bc *breaker) draw(rng *rand.Rand) (in, out fabric.ChannelID, turn int) {
	f := bc.Fabric
	start := rng.IntN(f.Trunks())
	for i := range f.Trunks() {
		in = fabric.ChannelID((start + i) % f.Trunks())
		first, end := f.TrunksFrom(f.Heads()[in])
		for out = first; out < end; out++ {
			if turn = f.Turn(in, out); bc.count[turn] > 0 {
				return in, out, turn
			}
		}
	}
	return in, out - 1, turn
}

// layers is the layer of every bundle.
func (bc *breaker) layers() (layers []uint8) {
	for d, s := range bc.all {
		layers = append(layers, d.sl[s])
	}
	return layers
}

// over says of every bundle whether it has a turn.
func (bc *breaker) over(turn int) (over []bool) {
	for d, s := range bc.all {
		over = append(over, slices.ContainsFunc(bc.appendTurns(nil, d, s), func(t acyclic.Turn) bool { return int(t.ID) == turn }))
	}
	return over
}

// agrees counts the paths of a layer anew.
func agrees(t *testing.T, bc *breaker, layer uint8) {
	t.Helper()
	for i := range bc.dests {
		for s, in := range bc.dests[i].sl {
			if in > 0 && bc.sources[s] == 0 {
				t.Fatalf("layer %d: switch %d, which sends nothing, has paths in it", in, s)
			}
		}
	}
	count := make([]uint32, len(bc.count))
	i := 0
	for d, s := range bc.all {
		for d != &bc.dests[i] {
			i++
		}
		if held := bc.held[int(s)*bc.width+i/eight]>>(i%eight)&1 == 1; !bc.both && held != (d.sl[s] == layer) {
			t.Fatalf("the path from switch %d to LID %d is in layer %d; held in layer %d: %v", s, d.lids[0], d.sl[s], layer, held)
		}
		if d.sl[s] != layer {
			continue
		}
		for _, turn := range bc.appendTurns(nil, d, s) {
			count[turn.ID] += bc.weight(d, s)
		}
	}
	if !slices.Equal(count, bc.count) {
		t.Fatalf("layer %d: the counts of turns differ", layer)
	}
}
