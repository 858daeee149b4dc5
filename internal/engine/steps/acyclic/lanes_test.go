package acyclic

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
)

// Dependencies between lanes of trunks are taken and refused as a search of all of them
// says, after a start with some and after some are taken out again.
func TestLanes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := network(t)
		if f.Turns() == 0 {
			return
		}
		lanes := rapid.IntRange(1, 3).Draw(t, "lanes")
		draw := func(name string) []turn {
			return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) turn {
				for {
					in := fabric.ChannelID(rapid.IntRange(0, f.Trunks()-1).Draw(t, "in"))
					if first, end := f.TrunksFrom(f.Heads()[in]); first < end {
						out := first + fabric.ChannelID(rapid.IntRange(0, int(end-first)-1).Draw(t, "out"))
						lane := func(name string) fabric.ChannelID {
							return fabric.ChannelID(rapid.IntRange(0, lanes-1).Draw(t, name))
						}
						return turn{in*fabric.ChannelID(lanes) + lane("from"), out*fabric.ChannelID(lanes) + lane("to")}
					}
				}
			}), 0, 60).Draw(t, name)
		}
		all := naive{}
		closes := func(d turn) bool { return all.reaches(d.out, d.in, map[fabric.ChannelID]bool{}) }
		begin := draw("begin")
		cyclic := false
		for _, d := range begin {
			cyclic = cyclic || closes(d)
			all[d] = 1
		}
		g := NewLanes(f, lanes, func(yield func(in, out fabric.ChannelID)) {
			for _, d := range begin {
				yield(d.in, d.out)
			}
		})
		if (g == nil) != cyclic {
			t.Fatalf("a graph %v of dependencies with a cycle: %v", g != nil, cyclic)
		}
		if g == nil {
			return
		}
		for i, d := range draw("then") {
			if g.Has(d.in, d.out) != (all[d] > 0) {
				t.Fatalf("%v is held: %v", d, all[d] == 0)
			}
			switch {
			case all[d] > 0 && i%3 == 0:
				g.Remove(d.in, d.out)
				delete(all, d)
			case all[d] > 0:
			case g.Add(d.in, d.out) != !closes(d):
				t.Fatalf("%v closes a cycle: %v", d, closes(d))
			case !closes(d):
				all[d] = 1
			}
			for d := range all {
				if g.label[d.in] >= g.label[d.out] {
					t.Fatalf("%v goes against the order", d)
				}
			}
		}
	})
}
