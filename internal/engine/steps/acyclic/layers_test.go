package acyclic

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
)

// Layers take turns, several at once and some twice, exactly if searching everything finds no cycle, in
// the first layer where that is so: while they grow, when they begin again in the orders of others,
// and while turns are taken out, when nothing is to be refused that was not looked for.
func TestLayers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := network(t)
		if f.Trunks() == 0 {
			return
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "turns"), 4))
		draw := func() (turns []Turn) {
			for range 1 + rng.IntN(4) {
				in := fabric.ChannelID(rng.IntN(f.Trunks()))
				first, end := f.TrunksFrom(f.Heads()[in])
				out := first + fabric.ChannelID(rng.IntN(int(end-first)))
				turns = append(turns, Turn{int32(f.Turn(in, out)), in, out})
			}
			return turns
		}
		const limit = 4
		l := NewLayers(f)
		for range 2 {
			layers := make([]naive, limit)
			for step := range 100 {
				turns := draw()
				want := 0
				for want < limit && !layers[want].takes(turns) {
					want++
				}
				switch got, ok := l.First(turns, limit); {
				case ok != (want < limit) || ok && got != want:
					t.Fatalf("step %d: %v into layer %d, %v, want %d", step, turns, got, ok, want)
				case ok:
					layers[want] = layers[want].with(turns)
				}
			}
			for i, g := range l.graphs {
				if err := valid(g, layers[i], f); err != nil {
					t.Fatalf("layer %d: %v", i, err)
				}
			}
			before := make([]uint8, l.Len())
			for i, layer := range rng.Perm(l.Len()) {
				before[i] = uint8(layer)
			}
			l.BeginAgain(before)
			if l.Len() != 0 {
				t.Fatalf("%d layers at the beginning", l.Len())
			}
		}

		l.AtLeast(1)
		l.ResetRefused()
		n := naive{}
		var taken [][]Turn
		for step := range 100 {
			if turns := draw(); l.Into(0, turns) {
				if !n.takes(turns) {
					t.Fatalf("step %d: took %v", step, turns)
				}
				n, taken = n.with(turns), append(taken, turns)
			}
			if rng.IntN(3) == 0 && len(taken) > 0 {
				i := rng.IntN(len(taken))
				l.Remove(0, taken[i])
				for _, c := range taken[i] {
					if n[turn{c.In, c.Out}]--; n[turn{c.In, c.Out}] == 0 {
						delete(n, turn{c.In, c.Out})
					}
				}
				taken[i] = taken[len(taken)-1]
				taken = taken[:len(taken)-1]
			}
		}
		if err := valid(l.graphs[0], n, f); err != nil {
			t.Fatal(err)
		}
		l.ResetRefused()
		turns := draw()
		if want := n.takes(turns); l.Into(0, turns) != want {
			t.Fatalf("with nothing refused: taking %v is not %v", turns, want)
		}
	})
}

// takes reports whether some turns close no cycle, by searching everything after each.
func (n naive) takes(turns []Turn) bool {
	more := naive{}
	for c := range n {
		more[c] = 1
	}
	for _, c := range turns {
		if more.reaches(c.Out, c.In, map[fabric.ChannelID]bool{}) {
			return false
		}
		more[turn{c.In, c.Out}] = 1
	}
	return true
}

// with is the set with turns added.
func (n naive) with(turns []Turn) naive {
	more := naive{}
	for c, times := range n {
		more[c] = times
	}
	for _, c := range turns {
		more[turn{c.In, c.Out}]++
	}
	return more
}

// Turns are not taken out of layers that were not told so.
func TestGrowingLayersLoseNothing(t *testing.T) {
	l := layersOfOne(t)
	l.AtLeast(1)
	defer func() {
		if r := recover(); r == nil || fmt.Sprint(r) != "acyclic: layers that only grow lose turns" {
			t.Errorf("panic: %v", r)
		}
	}()
	l.Remove(0, nil)
}
