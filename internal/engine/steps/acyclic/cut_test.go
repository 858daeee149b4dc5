package acyclic

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
)

// A cut leaves no way from one vertex to another and spares what has to stay, and no set of
// dependencies that does so weighs less, as trying all of them shows.
func TestCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := network(t)
		if f.Turns() == 0 {
			return
		}
		lanes := rapid.IntRange(1, 2).Draw(t, "lanes")
		g := NewLanes(f, lanes, func(func(in, out fabric.ChannelID)) {})
		all := naive{}
		weights := map[Dependency]int{}
		for range rapid.IntRange(1, 12).Draw(t, "dependencies") {
			in := fabric.ChannelID(rapid.IntRange(0, f.Trunks()*lanes-1).Draw(t, "in"))
			first, end := f.TrunksFrom(f.Heads()[in/fabric.ChannelID(lanes)])
			out := first*fabric.ChannelID(lanes) + fabric.ChannelID(rapid.IntRange(0, int(end-first)*lanes-1).Draw(t, "out"))
			if !g.Has(in, out) && g.Add(in, out) {
				all[turn{in, out}] = 1
				weights[Dependency{in, out}] = rapid.IntRange(-1, 4).Draw(t, "weight")
			}
		}
		from := fabric.ChannelID(rapid.IntRange(0, f.Trunks()*lanes-1).Draw(t, "from"))
		to := fabric.ChannelID(rapid.IntRange(0, f.Trunks()*lanes-1).Draw(t, "to"))
		if from == to {
			return
		}
		most := rapid.IntRange(0, 12).Draw(t, "most")
		least := leastCut(all, weights, from, to)
		cut, total, ok := g.Cut(from, to, most, func(d Dependency) int { return weights[d] })
		if want := least >= 0 && least <= most; ok != want || ok && total != least {
			t.Fatalf("a cut of %d, %v; the least weighs %d, allowed are %d", total, ok, least, most)
		}
		if !ok {
			return
		}
		for _, d := range cut {
			if weights[d] < 0 {
				t.Fatalf("%v is cut and has to stay", d)
			}
			total -= weights[d]
			delete(all, turn{d.In, d.Out})
		}
		if total != 0 || all.reaches(from, to, map[fabric.ChannelID]bool{}) {
			t.Fatalf("%v are cut: %d too much, and %d is reached: %v", cut, total, to, total == 0)
		}
	})
}

// leastCut tries every set of dependencies; -1: none will do.
func leastCut(all naive, weights map[Dependency]int, from, to fabric.ChannelID) int {
	var list []turn
	for d := range all {
		list = append(list, d)
	}
	least := -1
	for set := range 1 << len(list) {
		rest, weight := naive{}, 0
		for i, d := range list {
			switch w := weights[Dependency{d.in, d.out}]; {
			case set>>i&1 == 0:
				rest[d] = 1
			case w < 0:
				weight = 1 << 20
			default:
				weight += w
			}
		}
		if weight < 1<<20 && (least < 0 || weight < least) && !rest.reaches(from, to, map[fabric.ChannelID]bool{}) {
			least = weight
		}
	}
	return least
}
