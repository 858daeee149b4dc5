package congestion_test

import (
	"context"
	"testing"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// BenchmarkBisect measures bisect patterns, an operation each; the table of routes
// is made once for all of them. hosts/switches are those that the peers' figures
// are about.
func BenchmarkBisect(b *testing.B) {
	b.Run("x5-88", func(b *testing.B) { bisect(b, openSM(b, "psmn-x5-2020", "x5-minhop")) })
	for _, c := range []struct{ name, spec, engine string }{
		{"1246-on-160", "random:switches=160,links=480,hosts=8,seed=1", "sssp"},
		{"4341-on-666", "random:switches=666,links=2664,hosts=7,seed=1", "sssp"},
		{"dragonfly-1056", "dragonfly:p=4", "sssp"},
		{"xgft-11664", "xgft:m=18x36,w=18x18,hosts=18", "ftree"},
	} {
		b.Run(c.name, func(b *testing.B) { bisect(b, routed(b, c.spec, c.engine)) })
	}
}

func bisect(b *testing.B, tables *routing.Tables) {
	for _, model := range []congestion.Model{congestion.Bottleneck, congestion.MaxMin} {
		b.Run(model.String(), func(b *testing.B) {
			b.ReportAllocs()
			simulate(b, tables, congestion.Options{
				Pattern: pattern(b, "bisect"), Placement: hosts(b, tables.Fabric), Model: model, UniformRates: true, Runs: b.N,
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "patterns/s")
		})
	}
}

// routed is a computed network with the tables of an engine.
func routed(t testing.TB, spec, engine string) *routing.Tables {
	t.Helper()
	f := testnet.Build(t, spec)
	e, err := engines.Named(engine)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := e.Route(context.Background(), f, engines.Options{}, routing.Budget{VLs: routing.MaxDataVLs, Scope: routing.HCA}, func(string) (routing.Progress, func()) {
		return nil, func() {}
	})
	if err != nil {
		t.Fatal(err)
	}
	return tables
}
