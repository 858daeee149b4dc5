package shape

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/ethernet/bgp"
	"github.com/weft-fabric/weft/internal/ethernet/testcables"
)

// clos is two tiers of devices, without some of the cables between d0…d3 and d4…d6.
func clos(t *testing.T, without ...[2]int) *ethernet.Network {
	t.Helper()
	p := testcables.Devices(7)
	for a := range 4 {
		for b := 4; b < 7; b++ {
			if !slices.Contains(without, [2]int{a, b}) {
				p.Join(a, b)
			}
		}
	}
	c := p.Cabling(t)
	n := &ethernet.Network{Cabling: c, Classes: bgp.Subnets(c, []int{1, 1, 1, 1, 0, 0, 0}), Priorities: ethernet.Uniform(c, []uint8{3})}
	plan, err := bgp.NewPlan(c, bgp.Leaves(n.Classes), bgp.ECMP, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan.Fill(n.Classes)
	return n
}

func text(s *Shape) string {
	var lines []string
	for _, f := range s.Odd {
		lines = append(lines, f.Kind+": "+f.Text)
	}
	return fmt.Sprintf("%v\n%s", s.Tiers, strings.Join(lines, "\n"))
}

func TestShape(t *testing.T) {
	if got, want := text(Of(clos(t))), "[{4 4 12 0 0 [0 0 0 12] 0 0} {3 0 0 12 0 [0 12] 0 0}]\n"; got != want {
		t.Errorf("%s", got)
	}
	if got, want := text(Of(clos(t, [2]int{0, 5}, [2]int{0, 6}))), `[{4 4 10 0 0 [0 6 0 6]} {3 0 0 10 0 [0 10]}]
narrow-group: d0 has 1 next hop to 3 prefixes, and others of its tier as far away have up to 3
one-uplink: d0 has one cable up: without it, it is cut off
uneven-cables: d0 has 1 cable up, and 3 of 4 devices of tier 0 have 3
uneven-cables: d4 has 4 cables down, and 2 of 3 devices of tier 1 have 3`; !strings.Contains(got, strings.SplitN(want, "\n", 2)[1]) {
		t.Errorf("%s", got)
	}
	fast := clos(t)
	fast.Speeds = slices.Repeat([]uint32{100_000}, len(fast.Links))
	fast.Speeds[0] = 40_000 // the slower end counts
	if tiers := Of(fast).Tiers; tiers[0].UpMbps != 1_140_000 || tiers[1].DownMbps != 1_140_000 || tiers[0].DownMbps != 0 {
		t.Errorf("%+v", tiers)
	}
	fast.Speeds[0] = 0
	if tiers := Of(fast).Tiers; tiers[0].UpMbps != 0 || tiers[1].DownMbps != 0 {
		t.Errorf("%+v", tiers)
	}
	n := clos(t)
	n.Priorities.Lane[0] = ethernet.Lossy
	n.Remove(n.Classes[0].Next, n.LinkAt(n.Device("d1"), "e3"))
	for b := 4; b < 7; b++ {
		for i := range n.Classes {
			n.Each(n.Words(n.Classes[i].Next, n.Device("d3")), n.Device("d3"), func(l ethernet.LinkID) { n.Remove(n.Classes[i].Next, l) })
		}
	}
	got := text(Of(n))
	for _, line := range []string{"one-way-lossless: from d0, e0 to d4, e0 nothing is lossless, and back the lossless priorities are 3",
		"narrow-group: d1 has 2 next hops to 1 prefix, and others of its tier as far away have up to 3", "no-route: d3 has no route to 3 prefixes with hosts"} {
		if !strings.Contains(got, line) {
			t.Errorf("%q is missing from\n%s", line, got)
		}
	}
}

// Whatever the network, looking at it ends, and says the same each time.
func TestAnyNetwork(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 300 {
		n := testcables.Network(t, r)
		if a, b := text(Of(n)), text(Of(n)); a != b {
			t.Fatalf("%s\n%s", a, b)
		}
	}
}
