//go:build unix

package bench

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// BenchmarkVerifyAgain measures the judge after one cable of the largest fat tree broke, or came back: by
// itself, and by what it keeps of the tables before (deadlock.Memory); again/alone is what the second takes of the first.
func BenchmarkVerifyAgain(b *testing.B) {
	f := testnet.Build(b, "xgft:m=18x36,w=18x18,hosts=18")
	live, err := f.Without([]fabric.ChannelID{fabric.ChannelID(f.Trunks() / 3)}, nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, engine := range []string{"ftree", "sssp", "dfsssp"} { // the last with a service level for each pair
		b.Run(engine, func(b *testing.B) {
			was := routed.Of(b, f, engine, routing.Budget{VLs: routing.DefaultVLs})
			p, err := change.Mend(b.Context(), was, live, change.Options{})
			if err != nil {
				b.Fatal(err)
			}
			var memory deadlock.Memory
			verify := func(t *routing.Tables, m *deadlock.Memory) time.Duration {
				began := cpuTime(b)
				v, err := deadlock.Verify(b.Context(), t, deadlock.Options{Memory: m})
				if err != nil || !v.Free() || !v.Complete() {
					b.Fatal(v, err)
				}
				return cpuTime(b) - began
			}
			for _, t := range []*routing.Tables{was, p.After, was} {
				verify(t, &memory)
			}
			const times = 10 // as many changes as take about as long as one proof, or more
			var alone, again time.Duration
			for b.Loop() {
				alone += verify(p.After, nil) + verify(was, nil)
				runtime.GC() // of what that left behind
				for range times {
					again += verify(p.After, &memory) + verify(was, &memory)
				}
			}
			n := float64(2 * b.N)
			b.ReportMetric(alone.Seconds()*1000/n, "alone-cpu-ms/op")
			b.ReportMetric(again.Seconds()*1000/n/times, "again-cpu-ms/op")
			b.ReportMetric(again.Seconds()/alone.Seconds()/times, "again/alone")
		})
	}
}

// cpuTime is the processor time of this process so far, which other programs do not lengthen much.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// BenchmarkJudge measures the proof of dfsssp's tables beside the paths of sssp, in processor time, on the large networks:
// judge/paths is what the proof costs of what the routing does.
func BenchmarkJudge(b *testing.B) {
	for _, spec := range networks[len(networks)-3:] {
		b.Run(spec, func(b *testing.B) {
			f := testnet.Build(b, spec)
			finder, err := engines.FinderNamed("sssp")
			if err != nil {
				b.Fatal(err)
			}
			tables := routed.Of(b, f, "dfsssp", routing.Budget{VLs: routing.MaxDataVLs})
			var paths, proof time.Duration
			for b.Loop() {
				began := cpuTime(b)
				findPaths(b, f, finder)
				found := cpuTime(b)
				if v, err := deadlock.Verify(b.Context(), tables, deadlock.Options{}); err != nil || !v.Free() {
					b.Fatal(v, err)
				}
				paths, proof = paths+found-began, proof+cpuTime(b)-found
			}
			b.ReportMetric(paths.Seconds()/float64(b.N), "paths-cpu-s/op")
			b.ReportMetric(proof.Seconds()/float64(b.N), "judge-cpu-s/op")
			b.ReportMetric(proof.Seconds()/paths.Seconds(), "judge/paths")
		})
	}
}
