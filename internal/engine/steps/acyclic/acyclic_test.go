package acyclic

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
)

// network draws a network of switches with as many cables as ports allow.
func network(t *rapid.T) *fabric.Fabric {
	var b fabric.Builder
	n := rapid.IntRange(2, 8).Draw(t, "switches")
	// Up to 80 ports: more trunks at a switch than a word has bits.
	ports := rapid.SampledFrom([]int{2, 4, 80}).Draw(t, "ports")
	refs := make([]fabric.Ref, n)
	used := make([]int, n)
	for i := range refs {
		refs[i] = b.Node(fabric.Node{Kind: fabric.Switch, Ports: ports}, fmt.Sprintf("%03d", i))
	}
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "wiring"), 1))
	for range n * ports {
		a, z := rng.IntN(n), rng.IntN(n)
		if a == z || used[a] == ports || used[z] == ports {
			continue
		}
		used[a]++
		used[z]++
		b.Cable(refs[a], uint8(used[a]), refs[z], uint8(used[z]), fabric.Rate{})
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

type turn struct{ in, out fabric.ChannelID }

// naive is a set of turns that answers by searching all of it.
type naive map[turn]int

// reaches reports whether to can be reached from trunk c.
func (n naive) reaches(c, to fabric.ChannelID, seen map[fabric.ChannelID]bool) bool {
	if c == to {
		return true
	}
	seen[c] = true
	for t := range n {
		if t.in == c && !seen[t.out] && n.reaches(t.out, to, seen) {
			return true
		}
	}
	return false
}

// valid says what is wrong with the order and the neighbours that a graph keeps.
func valid(g *Graph, n naive, f *fabric.Fabric) error {
	end := fabric.ChannelID(f.Trunks())
	seen := 0
	for c := g.next[end]; c != end; c = g.next[c] {
		if next := g.next[c]; g.prev[next] != c || next != end && g.label[c] >= g.label[next] {
			return fmt.Errorf("the list is broken at trunk %d", c)
		}
		seen++
	}
	if seen != f.Trunks() {
		return fmt.Errorf("%d of %d trunks are on the list", seen, f.Trunks())
	}
	for in := range end {
		first, last := f.TrunksFrom(f.Heads()[in])
		for out := first; out < last; out++ {
			held := n[turn{in, out}] > 0
			if g.Has(f.Turn(in, out)) != held {
				return fmt.Errorf("turn %d to %d: held %v, want %v", in, out, !held, held)
			}
			if held && g.label[in] >= g.label[out] {
				return fmt.Errorf("turn %d to %d goes against the order", in, out)
			}
			ahead, behind := out-g.ahead.base[in], f.Reverses()[in]-g.behind.base[out]
			if a := g.ahead.words[g.ahead.first[in]+int32(ahead/64)]>>(ahead%64)&1 == 1; a != held {
				return fmt.Errorf("turn %d to %d: neighbour ahead %v, want %v", in, out, a, held)
			}
			if b := g.behind.words[g.behind.first[out]+int32(behind/64)]>>(behind%64)&1 == 1; b != held {
				return fmt.Errorf("turn %d to %d: neighbour behind %v, want %v", in, out, b, held)
			}
		}
	}
	return nil
}

// Turns come and go at random; a naive graph says which of them close a cycle.
func TestAgreesWithSearchingEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := network(t)
		if f.Trunks() == 0 {
			return
		}
		g, n := New(f), naive{}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "turns"), 2))
		adds := rapid.IntRange(5, 10).Draw(t, "adds in 10")
		every := fabric.ChannelID(rapid.SampledFrom([]int{1, 5, 13}).Draw(t, "every so many of the trunks")) // few are dense with turns
		for i := range 300 * int(every*every) {
			in := fabric.ChannelID(rng.IntN(f.Trunks()))
			first, end := f.TrunksFrom(f.Heads()[in])
			c := turn{in, first + fabric.ChannelID(rng.IntN(int(end-first)))}
			if c.in%every != 0 || c.out%every != 0 {
				continue
			}
			switch {
			case rng.IntN(10) < adds:
				want := n[c] > 0 || !n.reaches(c.out, c.in, map[fabric.ChannelID]bool{})
				if got := g.Add(c.in, c.out); got != want {
					t.Fatalf("step %d: adding %v: %v, want %v", i, c, got, want)
				}
				if want {
					n[c]++
				}
			case n[c] > 0 && rng.IntN(4) == 0:
				g.Again(f.Turn(c.in, c.out))
				n[c]++
			case n[c] > 0:
				g.Remove(c.in, c.out)
				if n[c]--; n[c] == 0 {
					delete(n, c)
				}
			}
			if i%(50*int(every*every)) == 0 {
				if err := valid(g, n, f); err != nil {
					t.Fatalf("step %d: %v", i, err)
				}
			}
		}
		// A graph made from the counts and the order goes on like this one.
		var order []fabric.ChannelID
		for c := g.next[f.Trunks()]; int(c) != f.Trunks(); c = g.next[c] {
			order = append(order, c)
		}
		if err := valid(From(f, g.count, order), n, f); err != nil {
			t.Fatalf("made from counts: %v", err)
		}
	})
}

// Moving to one place again and again uses up the labels there; then all are
// spaced anew.
func TestRelabels(t *testing.T) {
	const n = 40
	trunks := make([]fabric.ChannelID, n)
	for i := range trunks {
		trunks[i] = fabric.ChannelID(i)
	}
	o := newOrder(trunks)
	want := append([]fabric.ChannelID{}, trunks...)
	for i := range 2000 {
		c := fabric.ChannelID(1 + i%(n-1))
		o.moveAfter(0, []fabric.ChannelID{c})
		moved := []fabric.ChannelID{0, c}
		for _, w := range want[1:] {
			if w != c {
				moved = append(moved, w)
			}
		}
		want = moved
		at := fabric.ChannelID(n)
		for _, w := range want {
			if at = o.next[at]; at != w {
				t.Fatalf("move %d: found %d in the place of %d", i, at, w)
			}
			if prev := o.prev[at]; prev != n && o.label[prev] >= o.label[at] {
				t.Fatalf("move %d: label %d does not rise to %d", i, o.label[prev], o.label[at])
			}
		}
	}
}

// layersOfOne is the layers of a network of one switch.
func layersOfOne(t *testing.T) *Layers {
	t.Helper()
	var b fabric.Builder
	b.Node(fabric.Node{Kind: fabric.Switch, Ports: 1}, "")
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return NewLayers(f)
}

// First says 0 where it found no layer, as its callers hand on.
func TestFirstFindsNone(t *testing.T) {
	l := layersOfOne(t)
	if layer, ok := l.First(nil, 0); layer != 0 || ok || l.Len() != 0 {
		t.Errorf("layer %d, %v, of %d", layer, ok, l.Len())
	}
}
