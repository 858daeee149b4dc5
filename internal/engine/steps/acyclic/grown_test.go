package acyclic

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
)

// A set that grows from one that there was takes turns, two or three at once, exactly if
// searching everything finds no cycle, and keeps none of those that it refuses.
func TestGrown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := network(t)
		if f.Trunks() == 0 {
			return
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "turns"), 3))
		draw := func() Turn {
			in := fabric.ChannelID(rng.IntN(f.Trunks()))
			first, end := f.TrunksFrom(f.Heads()[in])
			out := first + fabric.ChannelID(rng.IntN(int(end-first)))
			return Turn{int32(f.Turn(in, out)), in, out}
		}
		before, n := New(f), naive{}
		for range rapid.IntRange(0, 20).Draw(t, "before") {
			if c := draw(); before.Add(c.In, c.Out) {
				n[turn{c.In, c.Out}]++
			}
		}
		var order []fabric.ChannelID
		for c := before.next[f.Trunks()]; int(c) != f.Trunks(); c = before.next[c] {
			order = append(order, c)
		}
		g := Grow(f, before.count, order)
		for step := range 200 {
			turns := []Turn{draw()}
			for range rng.IntN(3) {
				if next := draw(); next.ID != turns[0].ID && next.ID != turns[len(turns)-1].ID {
					turns = append(turns, next)
				}
			}
			want, more := true, naive{}
			for c := range n {
				more[c] = 1
			}
			for _, c := range turns {
				want = want && !more.reaches(c.Out, c.In, map[fabric.ChannelID]bool{})
				more[turn{c.In, c.Out}] = 1
			}
			got := len(turns) == 1 && rng.IntN(2) == 0
			if got {
				got = g.Add(turns[0].In, turns[0].Out)
			} else {
				got = g.AddAll(turns)
			}
			if got != want || len(turns) == 1 && g.Has(int(turns[0].ID)) != want {
				t.Fatalf("step %d: adding %v: %v, want %v", step, turns, got, want)
			}
			if want {
				n = more
			}
		}
		for turn := range f.Turns() {
			before.count[turn] = 0
		}
		for c := range n {
			before.count[f.Turn(c.in, c.out)] = 1
		}
		if err := valid(&Graph{f: f, count: before.count, ordered: g.ordered}, n, f); err != nil {
			t.Fatal(err)
		}
	})
}
