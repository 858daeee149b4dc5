package packets

import (
	"testing"

	"github.com/weft-fabric/weft/internal/engine/paths/updown"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// A crossbar with queues at its inputs loses throughput to packets that wait behind
// others at the head of their line: 2 - √2 of it is left (Karol et al. 1987). Classes of
// traffic with lanes of their own win some of it back, with no more buffer in all.
func TestClassesLoseLessToHeadsOfLines(t *testing.T) {
	f := testnet.Build(t, "xgft:m=1,w=1,hosts=16")
	accepted := func(classes int) float64 {
		paths, err := updown.Finder{}.Paths(t.Context(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		tables := &routing.Tables{Fabric: f, Forwarding: paths, Lanes: routing.OneSL(f, routing.LanePerSL(1))}
		tables.Lanes.Needed = 1
		if tables, err = tables.InClasses(classes); err != nil {
			t.Fatal(err)
		}
		c, err := PresetNamed("unit")
		if err != nil {
			t.Fatal(err)
		}
		c.Buffer = 8 * 128 * Block / classes
		n, err := New(tables, c)
		if err != nil {
			t.Fatal(err)
		}
		if n.Lanes() != classes {
			t.Fatalf("%d classes have %d lanes", classes, n.Lanes())
		}
		r, err := n.Measure(t.Context(), Injection{Offered: 1, Placement: routing.HCA.Endpoints(f), Seed: 1}, Window{Length: 40_000, WarmUp: 20_000, Exactly: true})
		if err != nil {
			t.Fatal(err)
		}
		return r.Accepted
	}
	one, two, four := accepted(1), accepted(2), accepted(4)
	if one < 0.57 || one > 0.66 || two < one+0.05 || four < two+0.03 {
		t.Errorf("of 16 hosts at full load 1, 2 and 4 classes accept %.3f, %.3f, %.3f", one, two, four)
	}
}

// The packets of a flow are all of one class, and each class has its own packets.
func TestClassOfFlows(t *testing.T) {
	f := testnet.Build(t, "xgft:m=4,w=2,hosts=4")
	lanes := routing.OneSL(f, routing.LanePerSL(1))
	tables, err := (&routing.Tables{Fabric: f, Forwarding: routing.NewForwarding(f), Lanes: lanes}).InClasses(3)
	if err != nil {
		t.Fatal(err)
	}
	n := &Network{Fabric: f, tables: tables}
	flows := [3]int{}
	hosts := routing.HCA.Endpoints(f)
	for _, from := range hosts {
		for _, to := range hosts {
			flows[n.trafficClass(&packet{src: int32(from), dst: int32(to)})]++
		}
	}
	for class, count := range flows {
		if want := len(hosts) * len(hosts) / 3; count < want*3/4 || count > want*5/4 {
			t.Errorf("class %d has %d of %d flows, want about %d", class, count, len(hosts)*len(hosts), want)
		}
	}
	n.tables = &routing.Tables{Fabric: f, Lanes: lanes}
	if got := n.trafficClass(&packet{src: int32(hosts[0]), dst: int32(hosts[1])}); got != 0 {
		t.Errorf("without classes a packet is of class %d", got)
	}
}
