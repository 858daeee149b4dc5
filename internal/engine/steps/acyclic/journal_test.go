package acyclic

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
)

// A journal leads back to every checkpoint, whatever was added and removed since, and what it had
// added can be restored after something else was tried. What it refuses closes a cycle in the graph of that moment.
func TestJournal(t *testing.T) {
	f := testnet.Build(t, "torus:4x4,hosts=1")
	var all []Dependency
	for in := range fabric.ChannelID(f.Trunks()) {
		first, end := f.TrunksFrom(f.Heads()[in])
		for out := first; out < end; out++ {
			all = append(all, Dependency{in, out})
		}
	}
	rng := rand.New(rand.NewPCG(1, 0))
	for range 20 {
		j := Journal{Lanes: NewLanes(f, 1, func(func(in, out fabric.ChannelID)) {})}
		has := func() (list []Dependency) {
			for _, d := range all {
				if j.Has(d.In, d.Out) {
					list = append(list, d)
				}
			}
			return list
		}
		admit := func() (refused int) {
			for range 100 {
				d := all[rng.IntN(len(all))]
				if j.Admit(d.In, d.Out) {
					continue
				}
				refused++
				if NewLanes(f, 1, func(yield func(in, out fabric.ChannelID)) {
					for _, d := range append(has(), d) {
						yield(d.In, d.Out)
					}
				}) != nil {
					t.Fatalf("%v is refused, and closes no cycle", d)
				}
			}
			return refused
		}
		if admit() == 0 {
			t.Error("no dependency is refused: the case tests little")
		}
		at := j.Checkpoint()
		admit()
		j.Rollback(at)
		admit()
		j.Forget()
		before, refusals := has(), len(j.refusals)
		admit()
		first, added := has(), j.Added()
		if at = j.Checkpoint(); at != len(added) || at != len(first)-len(before) {
			t.Errorf("%d changes, %d of them added, for %d dependencies more", at, len(added), len(first)-len(before))
		}
		j.Rollback(0)
		if !slices.Equal(has(), before) {
			t.Error("not as it was at the beginning")
		}
		if len(j.refusals) < refusals {
			t.Error("refusals from before Forget, which hold for good, are looked for again")
		}
		admit()
		j.Restore(added)
		if !slices.Equal(has(), first) {
			t.Error("not what is restored")
		}
		at = j.Checkpoint()
		for _, d := range first[:len(first)/2] {
			j.Remove(d)
		}
		admit()
		j.Rollback(at)
		if !slices.Equal(has(), first) {
			t.Error("not as it was at the checkpoint")
		}
	}
}
