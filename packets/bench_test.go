//go:build unix

package packets

import (
	"context"
	"fmt"
	"syscall"
	"testing"

	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// cpuSeconds is the time that this process spent on processors: on a busy machine
// it says more than the clock.
func cpuSeconds(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// BenchmarkBookSim is the reference networks of BookSim2, uniform traffic at some
// of the loads: flit-hops as BookSim2's figures count them, channels of endpoints
// included.
func BenchmarkBookSim(b *testing.B) {
	for _, config := range []string{"ib_fly_k4n3_vc1_p16", "ib_mesh8x8_dor_vc1_p16", "ib_torus8x8_dor_vc2_p16"} {
		n, nodes, sink := bookSimNetwork(b, config)
		for _, load := range []float64{0.2, 0.9} {
			b.Run(fmt.Sprintf("%s/%.1f", config, load), func(b *testing.B) {
				b.ReportAllocs()
				moved, before := int64(0), cpuSeconds(b)
				for b.Loop() {
					r := measured(b, n, Injection{Offered: load, Pattern: bookSimPattern("uniform", nodes, sink), Placement: routing.HCA.Endpoints(n.Fabric), Seed: 1}, Window{Length: 100_000, WarmUp: 10_000, Exactly: true})
					moved += r.Moved
				}
				b.ReportMetric(float64(moved)/(cpuSeconds(b)-before)/1e6, "Mflit-hops/cpu-s")
			})
		}
	}
}

// BenchmarkFatTree is a fat tree of 3 levels with 11,664 hosts, uniform traffic at
// half the load, for some of its time.
func BenchmarkFatTree(b *testing.B) {
	t := tablesOf(b, testnet.Build(b, "xgft:m=18x36,w=18x18,hosts=18"), "ftree", 1)
	n, err := New(t, mustPreset(b, "ib-hdr"))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	moved, before := int64(0), cpuSeconds(b)
	for b.Loop() {
		r := measured(b, n, Injection{Offered: 0.5, Placement: routing.HCA.Endpoints(n.Fabric), Seed: 1}, Window{Length: 50_000_000, WarmUp: 10_000_000, Exactly: true})
		moved += r.Moved
	}
	b.ReportMetric(float64(moved)/(cpuSeconds(b)-before)/1e6, "Mblock-hops/cpu-s")
}

// Once the largest number of packets was reached, nothing is allocated for another.
func TestNothingIsAllocatedForAPacket(t *testing.T) {
	n := routed(t, "torus:4x4", "dfsssp", 4, unit(16, 64))
	s := newSim(n)
	s.begin(1, 0)
	g, err := n.prepare(&Injection{Offered: 0.6, Placement: routing.HCA.Endpoints(n.Fabric)}, s.sending.random)
	if err != nil {
		t.Fatal(err)
	}
	s.generate(g)
	ctx := context.Background()
	until := Time(200_000)
	if err := s.run(ctx, until); err != nil {
		t.Fatal(err)
	}
	before := s.counted().delivered
	allocated := testing.AllocsPerRun(10, func() {
		until += 20_000
		if err := s.run(ctx, until); err != nil {
			t.Fatal(err)
		}
	})
	if each := s.counted().delivered - before; allocated > 2 || each < 1000 {
		t.Errorf("%.0f allocations in %d packets", allocated, each/10)
	}
}
