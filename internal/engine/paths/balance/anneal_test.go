package balance

import (
	"context"
	"math"
	"slices"
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
		x.phased = newPhased(x.network, x.plan, small)
		x.countAll(context.Background())
		a := newAnnealer(x, 1<<40)
		if x.share > 0 && rapid.Bool().Draw(rt, "pairs count") {
			a.weighPairs(rapid.Float64Range(.05, .95).Draw(rt, "bandwidth"))
		}
		total := func() (sum float64) {
			for cell := range x.width {
				sum += float64(a.cost(cell))
			}
			if a.pairs == 0 {
				return sum
			}
			for d := range x.dests {
				sum += a.pairs * float64(x.dests[d].weight*a.metOnTheWayTo(int32(d))) / 2
			}
			return sum
		}
		for range rapid.IntRange(0, 3).Draw(rt, "hot sweeps") {
			a.sweep(1e9)
		}
		before := total()
		a.sweep(0)
		if after := total(); after > before*(1+1e-9) {
			rt.Fatalf("without heat the costs rise from %g to %g", before, after)
		}
		loads, both := slices.Clone(x.trunks), slices.Clone(x.both)
		x.unload()
		for d := range x.dests {
			x.charge(&x.roots[x.dests[d].root], x.picks(int32(d)), x.dests[d].weight)
		}
		if a.pairs > 0 && (!slices.Equal(loads, x.trunks) || !slices.Equal(both, x.both)) {
			rt.Fatal("loads do not fit the routing any more")
		}
		longest, trunks := map[int32]int64{}, map[int32]int32{}
		for k, n := range x.metAtOffsets(fabric.None) {
			at := x.orders[k.order].base + int32(k.block)
			if got := x.phased.get(k.trunk, at); int(got) != n {
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

// cost is what a cell counts.
func (a *annealer) cost(cell int32) int64 {
	longest, trunks := a.duration(cell)
	return a.counts(cell, longest, trunks)
}

// What a way would cost more is what all cells cost more once it is taken.
func TestWhatAWayWouldCost(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := phasedTrial(rt)
		x.lay(0)
		x.phased = newPhased(x.network, x.plan, small)
		x.countAll(context.Background())
		a := newAnnealer(x, 1<<40)
		cost := func() (sum int64) {
			for cell := range x.width {
				sum += a.cost(cell)
			}
			return sum
		}
		for range rapid.IntRange(0, 3).Draw(rt, "hot sweeps") {
			a.sweep(1e9)
		}
		for i := range x.dests {
			d := &x.dests[i]
			r, pick := &x.roots[d.root], x.picks(int32(i))
			x.phased.old(r, pick)
			for j := int32(1); int(j) < len(r.order); j++ {
				ways := int(r.first[j+1] - r.first[j])
				if ways < 2 || x.behind(d, r, j) == 0 {
					continue
				}
				a.exchange(r, pick, j, another(x.random, ways, pick[j]))
				before, would := cost(), a.would(a.off, a.on)
				a.move(a.off, a.on)
				if more := cost() - before; more != would {
					rt.Fatalf("from %v to %v costs %d more, would cost %d", a.off, a.on, more, would)
				}
				a.move(a.on, a.off)
			}
		}
	})
}

// What a few sweeps cannot do is not begun, and annealing ends by the clock.
func TestAnnealingEnds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := phasedTrial(rt)
		x.lay(0)
		x.phased = newPhased(x.network, x.plan, small)
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

// What routes to a destination meet, counted pair by pair: none from the same host on
// their first trunk. If a switch takes another way, it changes by what meets says.
func TestMeets(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, err := newNetwork(context.Background(), random(rt), Finder{Aim: Mixed, Uniform: true})
		if err != nil {
			rt.Fatal(err)
		}
		if len(n.dests) == 0 {
			return
		}
		x := newTrial(n, plan{share: 2, from: &start{figures: figures{durations: []float64{2}}}}, 1)
		x.phased = newPhased(n, x.plan, small)
		for i := range x.pick {
			x.pick[i] = 0
		}
		x.countAll(context.Background())
		a := &annealer{trial: x}
		d := int32(rapid.IntRange(0, len(n.dests)-1).Draw(rt, "destination"))
		r, pick := &n.roots[n.dests[d].root], x.picks(d)
		want := int64(0)
		for s := range fabric.NodeID(n.f.Switches()) {
			way := x.route(s, d)
			if len(way) == 0 {
				continue
			}
			want += 2 * unit * x.src[s] * x.met(way, d)
			for other := range n.dests {
				if theirs := x.route(s, int32(other)); int32(other) != d && len(theirs) > 0 && theirs[0] == way[0] {
					want -= 2 * unit * x.square[s] * n.dests[other].weight
				}
			}
		}
		got := a.metOnTheWayTo(d)
		if got != want {
			rt.Fatalf("routes to %d meet %d, counted %d", d, got, want)
		}
		x.charge(r, pick, -n.dests[d].weight)
		for j := int32(1); int(j) < len(r.order); j++ {
			to := uint8(rapid.IntRange(0, int(r.first[j+1]-r.first[j])-1).Draw(rt, "way"))
			more := a.meets(r, pick, j, to) - a.meets(r, pick, j, pick[j])
			if x.tree[j].routes == 0 {
				continue
			}
			pick[j] = to
			x.phased.old(r, pick)
			x.charge(r, pick, n.dests[d].weight)
			after := a.metOnTheWayTo(d)
			x.charge(r, pick, -n.dests[d].weight)
			if after-got != more {
				rt.Fatalf("after another way of %d routes to %d meet %d more, not %d", j, d, after-got, more)
			}
			got = after
		}
	})
}

// Flows that each meet m others in the mean get (1-exp(-m))/m of what they would alone.
func TestSteepness(t *testing.T) {
	for _, m := range []float64{.01, .3, 1, 4} {
		bandwidth := func(m float64) float64 { return (1 - math.Exp(-m)) / m }
		want := -math.Log(bandwidth(m*1.001)/bandwidth(m)) / math.Log(1.001)
		if got := steepness(bandwidth(m)); math.Abs(got-want) > 1e-3 {
			t.Errorf("%g others: %g, want %g", m, got, want)
		}
	}
}
