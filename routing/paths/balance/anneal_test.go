package balance

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
)

// However many ways were taken and given back, the counts are those of the paths as they
// are, and each shift takes as long as the trunk with most routes of its offset. Without
// heat nothing gets worse.
func TestAnnealing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := phasedTrial(rt)
		x.lay(0)
		x.phased = newPhased(x.network, x.plan)
		x.countAll(context.Background())
		a := newAnnealer(x, 1<<40)
		total := func() (sum int64) {
			for cell := range x.width {
				sum += a.cost(cell)
			}
			return sum
		}
		for range rapid.IntRange(0, 3).Draw(rt, "hot sweeps") {
			a.sweep(1e9)
		}
		before := total()
		a.sweep(0)
		if after := total(); after > before {
			rt.Fatalf("without heat the costs rise from %d to %d", before, after)
		}
		longest, trunks := map[int32]int64{}, map[int32]int32{}
		for k, n := range x.metAtOffsets(fabric.None) {
			at := x.orders[k.order].base + int32(k.block)
			if got := x.phased.row(k.trunk)[at]; int(got) != n {
				rt.Fatalf("trunk %d has %d routes in cell %d, want %d", k.trunk, got, at, n)
			}
			switch takes := int64(n) * x.inverse[k.trunk]; {
			case takes > max(longest[at], x.slowest()):
				longest[at], trunks[at] = takes, 1
			case takes == longest[at]:
				trunks[at]++
			}
		}
		for at := range x.width {
			got, full := a.duration(at)
			if want := max(longest[at], x.slowest()); got != want || full != trunks[at] {
				rt.Fatalf("cell %d takes %d, on %d trunks; want %d on %d", at, got, full, want, trunks[at])
			}
		}
	})
}

// What a few sweeps cannot do is not begun, and annealing ends by the clock.
func TestAnnealingEnds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := phasedTrial(rt)
		x.lay(0)
		x.phased = newPhased(x.network, x.plan)
		x.countAll(context.Background())
		a := newAnnealer(x, 0)
		a.sweep(0)
		sweep := -a.left
		if sweep == 0 {
			return
		}
		a.left = sweep
		if a.run(context.Background(), time.Time{}, .3) {
			rt.Fatal("work for a sweep was enough")
		}
		a.left = 1 << 60
		a.run(context.Background(), time.Now(), .3)
		if done := 1<<60 - a.left; done > 3*sweep {
			rt.Fatalf("work of %d after the time, a sweep is %d", done, sweep)
		}
	})
}
