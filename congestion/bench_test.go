//go:build unix

package congestion_test

import (
	"syscall"
	"testing"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/internal/counters/explain"
	"github.com/weft-fabric/weft/internal/dumped"
	"github.com/weft-fabric/weft/internal/engine/adaptive/minimal"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
)

// BenchmarkBisect measures bisect patterns, an operation each; the table of routes
// is made once for all of them. hosts/switches are those that the peers' figures
// are about. patterns/cpu-s does not suffer from what else the machine does: it is
// by the time of one core.
func BenchmarkBisect(b *testing.B) {
	b.Run("x5-88", func(b *testing.B) {
		bisect(b, dumped.Tables(b, testnet.Corpus(b), "x5-minhop", testnet.Dump(b, "psmn-x5-2020")))
	})
	for _, c := range []struct{ name, spec, engine string }{
		{"1246-on-160", "random:switches=160,links=480,hosts=8,seed=1", "sssp"},
		{"4341-on-666", "random:switches=666,links=2664,hosts=7,seed=1", "sssp"},
		{"dragonfly-1056", "dragonfly:p=4", "sssp"},
		{"xgft-11664", "xgft:m=18x36,w=18x18,hosts=18", "ftree"},
	} {
		b.Run(c.name, func(b *testing.B) { bisect(b, routed.By(b, c.spec, c.engine)) })
	}
}

func bisect(b *testing.B, tables *routing.Tables) {
	for _, model := range []congestion.Model{congestion.Bottleneck, congestion.MaxMin} {
		b.Run(model.String(), func(b *testing.B) {
			b.ReportAllocs()
			before := cpuSeconds(b)
			simulate(b, tables, congestion.Options{
				Pattern: pattern(b, "bisect"), Placement: hosts(b, tables.Fabric), Model: model, UniformRates: true, Runs: b.N,
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "patterns/s")
			b.ReportMetric(float64(b.N)/(cpuSeconds(b)-before), "patterns/cpu-s")
		})
	}
}

func cpuSeconds(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// BenchmarkExplainWithGroups names the cable at which waiting ends where switches choose and hosts use all
// service levels, an operation each.
func BenchmarkExplainWithGroups(b *testing.B) {
	tables := *routed.By(b, "xgft:m=8x12,w=8x8,hosts=8", "updn")
	f := tables.Fabric
	groups, err := minimal.Groups(b.Context(), &tables, routing.Any, routing.HCA, nil)
	if err != nil {
		b.Fatal(err)
	}
	tables.Groups, tables.Lanes = groups, routing.NewLanes(f, tables.Lanes.SL2VL)
	for lid := range f.LIDs() {
		for i := range tables.Lanes.SLRow(lid) {
			tables.Lanes.SLRow(lid)[i] = uint8(i % routing.SLs)
		}
	}
	loads, err := congestion.CountTables(b.Context(), &tables, routing.HCA)
	if err != nil {
		b.Fatal(err)
	}
	n := len(f.Channels())
	c := explain.Counted{Bytes: make([]float64, n), Wait: make([]float64, n), Known: make([]bool, n), Seconds: 1, Tick: 1}
	for i, ch := range f.Channels() {
		c.Bytes[i], c.Known[i] = 1e6, true
		if ch.To == 0 { // a switch
			c.Wait[i] = .5
		}
	}
	b.ReportAllocs()
	before := cpuSeconds(b)
	for range b.N {
		if m := explain.Trunks(&tables, loads, c); len(m.Findings) == 0 || m.Findings[0].Kind != explain.Slow {
			b.Fatal("no cable is named")
		}
	}
	b.ReportMetric((cpuSeconds(b)-before)/float64(b.N), "cpu-s/op")
}
