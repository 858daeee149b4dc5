//go:build unix

package bench

import (
	"syscall"
	"testing"
	"time"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
)

// BenchmarkVerifyAgain measures the judge after one cable of the largest fat tree broke, or came back: by
// itself, and by what it keeps of the tables before (deadlock.Memory).
func BenchmarkVerifyAgain(b *testing.B) {
	f := testnet.Build(b, "xgft:m=18x36,w=18x18,hosts=18")
	was := routed.Of(b, f, "ftree", routing.Budget{VLs: routing.DefaultVLs})
	live, err := f.Without([]fabric.ChannelID{fabric.ChannelID(f.Trunks() / 3)}, nil)
	if err != nil {
		b.Fatal(err)
	}
	p, err := change.Mend(b.Context(), was, live, change.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		memory *deadlock.Memory
	}{{"alone", nil}, {"again", new(deadlock.Memory)}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			next, after := p.After, was
			if _, err := deadlock.Verify(b.Context(), was, deadlock.Options{Memory: c.memory}); err != nil {
				b.Fatal(err)
			}
			began := cpuTime(b)
			for b.Loop() {
				v, err := deadlock.Verify(b.Context(), next, deadlock.Options{Memory: c.memory})
				if err != nil || !v.Free() || !v.Complete() {
					b.Fatal(v, err)
				}
				next, after = after, next
			}
			b.ReportMetric(float64((cpuTime(b)-began).Microseconds())/1000/float64(b.N), "cpu-ms/op")
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
