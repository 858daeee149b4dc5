package bench

import (
	"bytes"
	"context"
	"testing"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// networks is what the benchmarks run on; the two largest are the ones with
// limits of their own.
var networks = []string{
	"karytree:k=4,n=3",
	"deimos",
	"dragonfly:p=4",
	"torus:8x8x8,hosts=2",
	"random:switches=128,links=256,hosts=16,seed=1",
	"dragonfly:p=6",
	"xgft:m=18x36,w=18x18,hosts=18",
	"dragonfly:p=8",
}

// BenchmarkPaths measures every path finder.
func BenchmarkPaths(b *testing.B) {
	for _, spec := range networks {
		f := testnet.Build(b, spec)
		for _, finder := range engines.Finders() {
			b.Run(spec+"/"+finder.Name, func(b *testing.B) {
				b.ReportAllocs()
				var paths *routing.Forwarding
				for b.Loop() {
					paths = findPaths(b, f, finder)
				}
				l := congestion.Count(f, paths, routing.HCA)
				b.ReportMetric(float64(l.Max), "max-load")
				b.ReportMetric(l.MeanHops(), "hops")
			})
		}
	}
}

// BenchmarkLanes measures every lane assigner on the paths of sssp and shortest.
func BenchmarkLanes(b *testing.B) {
	for _, spec := range networks {
		f := testnet.Build(b, spec)
		for _, name := range []string{"sssp", "shortest"} {
			finder, err := engines.FinderNamed(name)
			if err != nil {
				b.Fatal(err)
			}
			paths := findPaths(b, f, finder)
			for _, assigner := range engines.Assigners() {
				b.Run(spec+"/"+name+"+"+assigner.Name, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						lanes, err := assigner.New(engines.Options{}).Lanes(context.Background(), f, paths, routing.Budget{VLs: routing.MaxDataVLs, Scope: routing.Adapters}, nil)
						if err != nil {
							b.Skip(err)
						}
						b.ReportMetric(float64(lanes.Needed), "lanes")
					}
				})
			}
		}
	}
}

// BenchmarkVerify measures the judge on tables with lanes and on tables with a
// credit loop to find.
func BenchmarkVerify(b *testing.B) {
	for _, spec := range networks {
		f := testnet.Build(b, spec)
		for _, name := range []string{"minhop", "dfsssp"} {
			e, err := engines.Named(name)
			if err != nil {
				b.Fatal(err)
			}
			t, err := e.Route(context.Background(), f, engines.Options{}, routing.Budget{VLs: routing.MaxDataVLs, Scope: routing.Adapters}, nil)
			if err != nil {
				continue // refused: nothing to judge
			}
			b.Run(spec+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					v, err := deadlock.Verify(context.Background(), t, deadlock.Options{})
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(v.Dependencies), "dependencies")
				}
			})
		}
	}
}

// BenchmarkMixture measures the judge of changes: from tables to those of another engine, and to the same
// tables with one destination in 50 cut off at every third switch.
func BenchmarkMixture(b *testing.B) {
	for _, c := range []struct{ network, before, after string }{
		{"karytree:k=4,n=3", "minhop", "ftree"},
		{"xgft:m=18x36,w=18x18,hosts=18", "minhop", "ftree"},
		{"dragonfly:p=4", "dfsssp", ""},
		{"dragonfly:p=6", "weave", ""},
		{"torus:8x8x8,hosts=2", "weave", ""},
	} {
		f := testnet.Build(b, c.network)
		route := func(name string) *routing.Tables {
			return routed.Of(b, f, name, routing.Budget{VLs: routing.MaxDataVLs, Scope: routing.Adapters})
		}
		before := route(c.before)
		after := &routing.Tables{Fabric: f, Forwarding: routing.NewForwarding(f), Lanes: before.Lanes}
		if c.after != "" {
			after = route(c.after)
		}
		for lid := range f.LIDs() {
			row := after.Forwarding.Row(lid)
			if c.after == "" {
				copy(row, before.Forwarding.Row(lid))
			}
			for s := 0; s < len(row) && lid%50 == 0; s += 3 {
				row[s] = routing.NoPort
			}
		}
		b.Run(c.network+"/"+c.before+c.after, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				v, err := deadlock.VerifyMixture(context.Background(), []*routing.Tables{before, after}, deadlock.Options{})
				if err != nil || !v.Free() {
					b.Fatal(v, err)
				}
				b.ReportMetric(float64(v.Dependencies), "dependencies")
			}
		})
	}
}

// BenchmarkRead measures reading a dump of about 5,000 endpoints.
func BenchmarkRead(b *testing.B) {
	f := testnet.Build(b, "xgft:m=16x20,w=16x8,hosts=16")
	var text bytes.Buffer
	if err := ibnet.Write(&text, f); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ibnet.Read(bytes.NewReader(text.Bytes()), "dump"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(f.Count().HCA), "endpoints")
}

func findPaths(b *testing.B, f *fabric.Fabric, finder engines.Finder) *routing.Forwarding {
	b.Helper()
	paths, err := finder.New(engines.Options{}).Paths(context.Background(), f, nil)
	if err != nil {
		b.Skip(err)
	}
	return paths
}
