//go:build unix

package failures

import (
	"context"
	"net/netip"
	"os"
	"syscall"
	"testing"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/judge"
	"github.com/weft-fabric/weft/internal/ethernet/bgp"
	"github.com/weft-fabric/weft/internal/ethernet/testcables"
)

// clos is a Clos of three levels of switches with k ports: k pods of k/2 leaves and k/2 switches above
// them, (k/2)² switches at the top, and k³/4 hosts.
func clos(t *testing.T, k int) (*ethernet.Cabling, []int) {
	t.Helper()
	half := k / 2
	p := testcables.Devices(2*k*half + half*half)
	leaf := func(pod, i int) int { return pod*half + i }
	middle := func(pod, i int) int { return k*half + pod*half + i }
	for pod := range k {
		for i := range half {
			for j := range half {
				p.Join(leaf(pod, i), middle(pod, j))
				p.Join(middle(pod, j), 2*k*half+j*half+i)
			}
		}
	}
	hosts := make([]int, 2*k*half+half*half)
	for i := range k * half {
		hosts[i] = half
	}
	return p.Cabling(t), hosts
}

// A Clos of three levels of switches with 32 ports, 8,192 hosts, and two lossless priorities: on two
// processors a verdict takes no more than 5 s and all failures of single links no more than 5
// minutes, in 2 GiB; on AMD EPYC 0.4 s and 49 s. What counts is the time of processors, so that a
// busy machine measures the same.
func TestLarge(t *testing.T) {
	if os.Getenv("WEFT_THOROUGH") == "" {
		t.Skip("takes a minute: set WEFT_THOROUGH")
	}
	c, hosts := clos(t, 32)
	n := &ethernet.Network{Cabling: c, Classes: bgp.Subnets(c, hosts), Priorities: ethernet.Uniform(c, []uint8{3, 4})}
	leaves := bgp.Leaves(n.Classes)
	plan, err := bgp.NewPlan(c, leaves, bgp.BGP, bgp.Numbers(c, leaves, bgp.PerSwitch))
	if err != nil {
		t.Fatal(err)
	}
	plan.Fill(n.Classes)
	before, _ := used(t)
	v, err := judge.Verify(context.Background(), n, judge.Options{})
	if err != nil || !v.Free() || !v.Complete() || len(c.Names) != 1280 || c.Cables() != 16_384 {
		t.Fatalf("%v, %+v", err, v)
	}
	verdict, _ := used(t)
	r, err := Run(context.Background(), plan, n, Options{})
	if err != nil || r.Tried != c.Cables() || r.Loops > 0 || r.Cuts > 0 {
		t.Fatalf("%v, %+v", err, r)
	}
	end, bytes := used(t)
	t.Logf("processor time: verdict %.2f s, %d failures %.1f s; %d MiB at the peak", verdict-before, r.Tried, end-verdict, bytes>>20)
	if verdict-before > 2*5 || end-verdict > 2*300 || bytes > 2<<30 {
		t.Error("too much")
	}
}

// used is the processor time of this process in seconds, and the most memory that it had in bytes.
func used(t *testing.T) (seconds float64, bytes int64) {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9, u.Maxrss << 10
}

// All failures of single links of a network with a pin for each adapter, as Pins are judged: 8,192 of them below three tiers of 32-port switches take
// 40 s of one processor on AMD EPYC, and have three times as much here.
func TestLargePins(t *testing.T) {
	if os.Getenv("WEFT_THOROUGH") == "" {
		t.Skip("takes a minute: set WEFT_THOROUGH")
	}
	const k, half = 32, 16
	c, hosts := clos(t, k)
	n := &ethernet.Network{Cabling: c, Classes: bgp.Subnets(c, hosts), Priorities: ethernet.Uniform(c, []uint8{3})}
	leaves := bgp.Leaves(n.Classes)
	plan, err := bgp.NewPlan(c, leaves, bgp.BGP, bgp.Numbers(c, leaves, bgp.PerLeaf))
	if err != nil {
		t.Fatal(err)
	}
	plan.Fill(n.Classes)
	var pins []bgp.Pin
	for i, class := range n.Classes {
		for j := range half {
			leaf := class.At[0]
			pod := int(leaf) / half
			ip := class.Prefix().Addr()
			for range j + 1 {
				ip = ip.Next()
			}
			up := []ethernet.DeviceID{ethernet.DeviceID(k*half + pod*half + j), ethernet.DeviceID(2*k*half + j*half + int(leaf)%half)}
			pins = append(pins, bgp.Pin{Prefix: netip.PrefixFrom(ip, 32), At: leaf, Up: up, Under: i})
		}
	}
	if n.Classes, err = plan.SetPins(n.Classes, pins); err != nil {
		t.Fatal(err)
	}
	before, _ := used(t)
	r, err := Run(context.Background(), plan, n, Options{Converging: true})
	if err != nil || r.Tried != c.Cables() || r.Loops > 0 || r.Cuts > 0 {
		t.Fatalf("%v, %+v", err, r)
	}
	end, _ := used(t)
	t.Logf("%d pins, %d failures: %.1f s of processor time", len(pins), r.Tried, end-before)
	if end-before > 120 {
		t.Error("too much")
	}
}
