package balance_test

import (
	"context"
	"testing"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/balance"
	"github.com/weft-fabric/weft/internal/engine/paths/dor"
	"github.com/weft-fabric/weft/internal/engine/paths/fattree"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// lambda is the effective bisection bandwidth, all links alike. Two of the same
// seed draw the same bisections.
func lambda(t testing.TB, f *fabric.Fabric, fw *routing.Forwarding, runs int) float64 {
	t.Helper()
	return bandwidth(t, f, fw, congestion.Options{UniformRates: true, Seed: 2026, Runs: runs})
}

// bandwidth is the effective bisection bandwidth.
func bandwidth(t testing.TB, f *fabric.Fabric, fw *routing.Forwarding, o congestion.Options) float64 {
	t.Helper()
	bisect, err := traffic.Parse("bisect")
	if err != nil {
		t.Fatal(err)
	}
	o.Pattern, o.Placement = bisect, routing.HCA.Endpoints(f)
	tables := &routing.Tables{Fabric: f, Forwarding: fw, Lanes: routing.OneSL(f, routing.LanePerSL(1))}
	r, err := congestion.Simulate(context.Background(), tables, o)
	if err != nil {
		t.Fatal(err)
	}
	return r.Lambda
}

func paths(t testing.TB, f *fabric.Fabric, p routing.PathFinder) *routing.Forwarding {
	t.Helper()
	fw, err := p.Paths(context.Background(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fw
}

// statistical is what sampling may add or take.
const statistical = 0.003

// The figures of the prototype, where a real fabric or a generator has them, and
// those of OpenSM's dfsssp, ftree and nue as ORCS measured them.
func TestBandwidthOfRealFabrics(t *testing.T) {
	for _, c := range []struct {
		name  string
		least float64
	}{
		{"topograph-ndr-dgx-2025", 0.789},
		{"psmn-x5-2020", 0.752},
		{"kalcher-stage-2014", 0.556},
	} {
		f := testnet.Dump(t, c.name)
		got := lambda(t, f, paths(t, f, balance.Finder{Aim: balance.Bisection}), 1500)
		t.Logf("%s: %.4f, to reach %.3f", c.name, got, c.least)
		if got < c.least-statistical {
			t.Errorf("%s: effective bisection bandwidth %.4f, want %.3f", c.name, got, c.least)
		}
	}
}

// No network that these take does better by the routing made for it, or by sssp.
func TestBandwidthOfOthers(t *testing.T) {
	for _, spec := range testnet.First([]string{
		"xgft:m=4x8,w=4x4,hosts=4", // 80 switches: the 4-ary 3-tree of the floor, .755
		"karytree:k=4,n=3", "karytree:k=8,n=2", "karytree:k=2,n=4",
		"xgft:m=16,w=4,hosts=16", "xgft:m=12,w=6", "xgft:m=8x6,w=3x4,hosts=6", "xgft:m=6x9,w=4x3,hosts=8", "xgft:m=3x4x4,w=2x2x2",
		"deimos", "torus:6x6,hosts=3", "torus:5x5x4,hosts=2", "mesh:6x5,hosts=3", "hypercube:6,hosts=2",
		"dragonfly:p=3", "random:switches=40,links=120,hosts=6,seed=1",
	}, 4) {
		f := testnet.Build(t, spec)
		got := lambda(t, f, paths(t, f, balance.Finder{Aim: balance.Bisection}), 600)
		for name, other := range map[string]routing.PathFinder{"sssp": sssp.Finder{}, "ftree": fattree.Finder{}, "dor": dor.Finder{}} {
			fw, err := other.Paths(context.Background(), f, nil)
			if err != nil {
				continue // refused: not its kind of network
			}
			theirs := lambda(t, f, fw, 600)
			t.Logf("%s: %.4f, %s %.4f", spec, got, name, theirs)
			if got < theirs-statistical {
				t.Errorf("%s: effective bisection bandwidth %.4f, %s has %.4f", spec, got, name, theirs)
			}
		}
	}
}

// Where leaves have more hosts than cables, what is gained is gained by routes
// that stay together: more than loads alone can.
func TestRoutesStayTogether(t *testing.T) {
	for spec, gain := range map[string]float64{"xgft:m=8x6,w=3x4,hosts=6": 1.04, "xgft:m=6x9,w=4x3,hosts=8": 1.03} {
		f := testnet.Build(t, spec)
		got, theirs := lambda(t, f, paths(t, f, balance.Finder{Aim: balance.Bisection}), 400), lambda(t, f, paths(t, f, sssp.Finder{}), 400)
		if got < gain*theirs {
			t.Errorf("%s: effective bisection bandwidth %.4f, sssp has %.4f", spec, got, theirs)
		}
	}
}

// For everybody to everybody no trunk has more routes than by sssp; mostly far fewer.
func TestAllToAll(t *testing.T) {
	for spec, most := range map[string]float64{
		"karytree:k=4,n=3": 1, "xgft:m=8x6,w=3x4,hosts=6": 1, "deimos": 0.9, "torus:6x5,hosts=2": 0.8, "mesh:6x5,hosts=3": 1,
		"dragonfly:p=3": 0.75, "random:switches=40,links=120,hosts=6,seed=1": 0.95,
	} {
		f := testnet.Build(t, spec)
		ours := congestion.Count(f, paths(t, f, balance.Finder{Aim: balance.AllToAll}), routing.HCA)
		theirs := congestion.Count(f, paths(t, f, sssp.Finder{}), routing.HCA)
		t.Logf("%s: %d routes on the fullest trunk, sssp %d", spec, ours.Max, theirs.Max)
		if float64(ours.Max) > most*float64(theirs.Max) {
			t.Errorf("%s: %d routes on the fullest trunk, sssp %d", spec, ours.Max, theirs.Max)
		}
	}
}

func BenchmarkPaths(b *testing.B) {
	for _, spec := range []string{"deimos", "dragonfly:p=6", "torus:8x8x8,hosts=2", "xgft:m=10x36,w=6x10,hosts=10", "xgft:m=18x36,w=18x18,hosts=18"} {
		f := testnet.Build(b, spec)
		b.Run(spec, func(b *testing.B) {
			b.ReportAllocs()
			var fw *routing.Forwarding
			for b.Loop() {
				fw = paths(b, f, balance.Finder{Aim: balance.Bisection})
			}
			b.ReportMetric(lambda(b, f, fw, 20), "lambda")
		})
	}
}
