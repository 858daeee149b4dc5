//go:build unix

package weft

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/choose"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// spent is the time of all cores that this process has taken so far.
func spent(tb testing.TB) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// Every candidate beside its estimate, and all of auto within its default budget.
func BenchmarkRoute(b *testing.B) {
	for _, spec := range []string{testnet.Grown, "dragonfly:p=6", "torus:8x8x8,hosts=2", "random:switches=128,links=256,hosts=16,seed=1"} {
		f := testnet.Build(b, spec)
		for _, contract := range []routing.Contract{routing.Any, routing.Honored, routing.Directed} {
			w := Request{Contract: new(contract), VLs: routing.DefaultVLs}
			b.Run(spec+" "+contract.String(), func(b *testing.B) {
				for range b.N {
					began := spent(b)
					if _, err := Route(b.Context(), f, w); err != nil {
						b.Fatal(err)
					}
					b.ReportMetric((spent(b) - began).Seconds(), "cpu-s/op")
				}
			})
			b.Run(spec+" "+contract.String()+" estimates", func(b *testing.B) {
				w.Time = time.Hour
				tried, ready := newTries(f, &w), false
				for _, e := range choose.Candidates() {
					if !choose.Fits(e, contract) {
						continue
					}
					estimate := choose.Estimate(e, f, ready)
					ready = ready || choose.Balanced(e)
					began := spent(b)
					if _, err := tried.best(b.Context(), []engines.Engine{e}, nil); err != nil && !errors.As(err, new(*NoneProven)) {
						b.Fatal(err)
					}
					b.Logf("%-10s estimate %6.2f s, took %6.2f s", e.Name, estimate.Seconds(), (spent(b) - began).Seconds())
				}
			})
		}
	}
}
