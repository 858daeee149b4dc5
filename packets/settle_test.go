package packets

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Two hosts share a cable that carries half of what they offer. Told that the throughput is
// asked for, a run warms up for less and measures the same; told that the verdict is, it
// measures for less and says the same. A load that is delivered is not touched by either.
func TestEndsOnceItIsClear(t *testing.T) {
	f := testnet.Build(t, "mesh:1x2,hosts=2")
	n, err := New(tablesOf(t, f, "updn", 1), unit(16, 128))
	if err != nil {
		t.Fatal(err)
	}
	across := pattern{{From: 0, To: 2}, {From: 1, To: 3}, {From: 2, To: 0}, {From: 3, To: 1}}
	for _, load := range []float64{0.3, 0.9} {
		l := Injection{Offered: load, Pattern: across, Placement: routing.HCA.Endpoints(f), Seed: 3}
		w := Window{Length: 200_000, WarmUp: 200_000}
		whole := measured(t, n, l, w)
		w.Throughput = true
		throughput := measured(t, n, l, w)
		w.Verdict = true
		verdict := measured(t, n, l, w)
		if load < 0.5 {
			if diff := cmp.Diff(whole, verdict); diff != "" {
				t.Errorf("at %g: %s", load, diff)
			}
			continue
		}
		switch {
		case throughput.WarmUp > whole.WarmUp/2 || throughput.Window != whole.Window:
			t.Errorf("at %g: a warm-up of %d, else %d", load, throughput.WarmUp, whole.WarmUp)
		case math.Abs(throughput.Accepted/whole.Accepted-1) > 0.02 || throughput.Status != Saturated:
			t.Errorf("at %g: %s, %g accepted, else %g", load, throughput.Status, throughput.Accepted, whole.Accepted)
		case verdict.Window > whole.Window/4 || verdict.Status != Saturated:
			t.Errorf("at %g: %s after %d", load, verdict.Status, verdict.Window)
		}
	}
}

// The tests by themselves, at either side of their limits.
func TestSettled(t *testing.T) {
	arrived := func(n ...int64) (parts []part) {
		for _, v := range n {
			parts = append(parts, part{n: v})
		}
		return parts
	}
	for _, c := range []struct {
		what    string
		offered float64 // packets a batch
		parts   []part
		want    bool
	}{
		{"half of what is offered, settled", 10_000, arrived(5000, 5000, 5000, 5000, 5000, 5000, 5000, 5000), true},
		{"too few batches", 10_000, arrived(5000, 5000, 5000, 5000, 5000, 5000, 5000), false},
		{"still falling", 10_000, arrived(6000, 5900, 5800, 5700, 5000, 4900, 4800, 4700), false},
		{"nearly all is delivered", 10_000, arrived(9600, 9600, 9600, 9600, 9600, 9600, 9600, 9600), false},
		{"the beginning does not count", 10_000, arrived(100, 5000, 5000, 5000, 5000, 5000, 5000, 5000, 5000), true},
		{"few packets, a tenth less than offered by chance", 20, arrived(18, 18, 18, 18, 18, 18, 18, 18), false},
		{"few packets, much less than offered", 20, arrived(8, 8, 8, 8, 8, 8, 8, 8), true},
	} {
		if got := overloaded(c.parts, c.offered); got != c.want {
			t.Errorf("%s: %t", c.what, got)
		}
	}
	// Of 40,000 packets one in 50 is what counts, of 400 four times their square root.
	for _, c := range []struct {
		packets         int64
		accepted, times float64
		want            bool
	}{{40_000, 0.979, 1, true}, {40_000, 0.981, 1, false}, {40_000, 0.979, 2, false}, {40_000, 0.959, 2, true}, {400, 0.81, 1, false}, {400, 0.79, 1, true}} {
		if got := short(c.packets, c.accepted, 1, c.times); got != c.want {
			t.Errorf("%d packets, %g of 1, by %g: %t", c.packets, c.accepted, c.times, got)
		}
	}
}

// An interval from few batches is wider, and there is none from one.
func TestHalfWidth(t *testing.T) {
	means := func(v ...float64) (parts []part) {
		for _, m := range v {
			parts = append(parts, part{1, m})
		}
		return parts
	}
	twenty := means(1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3)
	for _, c := range []struct {
		parts []part
		want  float64 // the quantile times the standard deviation over the root of the batches
	}{
		{nil, 0}, {means(5), 0}, {means(1, 3), 12.706 * math.Sqrt(2./2)}, {means(1, 3, 5), 4.303 * math.Sqrt(4./3)},
		{twenty, 2.093 * math.Sqrt(20./19/20)}, {append(twenty, means(1, 3)...), 2.093 * math.Sqrt(22./21/22)},
	} {
		if got := halfWidth(c.parts); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%d batches: %g, not %g", len(c.parts), got, c.want)
		}
	}
}
