package layer_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/lanes/layer"
	"github.com/weft-fabric/weft/internal/engine/paths/shortest"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

var ctx = context.Background()

// assigners is both assigners with their last step and without.
var assigners = map[string]routing.LaneAssigner{
	"first-fit":                layer.FirstFit{},
	"first-fit unbalanced":     layer.FirstFit{Unbalanced: true},
	"break-cycles":             layer.BreakCycles{},
	"break-cycles, not spread": layer.BreakCycles{Unbalanced: true},
}

func slimFly(t testing.TB, q, hosts int) *fabric.Fabric {
	t.Helper()
	return testnet.Build(t, fmt.Sprintf("slimfly:q=%d,hosts=%d", q, hosts))
}

func paths(t testing.TB, f *fabric.Fabric, p routing.PathFinder) *routing.Forwarding {
	t.Helper()
	fw, err := p.Paths(ctx, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fw
}

// assign has lanes assigned as the papers take for granted, each way by itself.
func assign(t testing.TB, f *fabric.Fabric, fw *routing.Forwarding, a routing.LaneAssigner, vls int) *routing.Lanes {
	t.Helper()
	l, err := a.Lanes(ctx, f, fw, routing.Budget{VLs: vls, Contract: routing.Directed}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func verdict(t testing.TB, f *fabric.Fabric, fw *routing.Forwarding, l *routing.Lanes) *deadlock.Verdict {
	t.Helper()
	v, err := deadlock.Verify(ctx, &routing.Tables{Fabric: f, Forwarding: fw, Lanes: l}, deadlock.Options{Contract: routing.Directed})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// IPDPS 2011, Figure 2: five switches in a ring, each sends two hops clockwise.
// One layer holds four of the five messages, two hold all.
func TestRingOfTheDFSSSPPaper(t *testing.T) {
	f := testnet.Build(t, "ring:5")
	fw := routing.NewForwarding(f)
	for _, e := range f.Endpoints() {
		if e.Class != fabric.HostAdapter {
			continue
		}
		row := fw.Row(e.LID)
		for hop := range fabric.NodeID(2) {
			s := (e.Switch + 3 + hop) % 5
			first, end := f.TrunksFrom(s)
			for c := first; c < end; c++ {
				if f.Heads()[c] == (s+1)%5 {
					row[s] = f.Channel(c).FromPort
				}
			}
		}
		row[e.Switch] = f.Channel(e.Deliver).FromPort
	}
	if v := verdict(t, f, fw, routing.OneSL(f, routing.LanePerSL(8))); v.Free() || len(v.Cycle) != 5 || v.Dependencies != 5 {
		t.Fatalf("on one lane: %+v", v)
	}
	for name, a := range assigners {
		l := assign(t, f, fw, a, 2)
		if l.Needed != 2 {
			t.Errorf("%s needs %d lanes, want 2", name, l.Needed)
		}
		if v := verdict(t, f, fw, l); !v.Free() || v.Dependencies != 5 {
			t.Errorf("%s: %+v", name, v)
		}
		var few *routing.TooFewLanes
		if _, err := a.Lanes(ctx, f, fw, routing.Budget{VLs: 1}, nil); !errors.As(err, &few) || few.Need != 2 || few.AtLeast {
			t.Errorf("%s on one lane: %v", name, err)
		}
	}
}

// IPDPS 2011, Figure 3: the paths bc, abc and cdab close a cycle; two layers
// cover them. The letters are trunks here, of a ring of four. A packet that went
// cdab would come back to the switch it started from, which no forwarding by
// destination can want; cda closes the cycle as well.
func TestCoverOfTheDFSSSPPaper(t *testing.T) {
	var b fabric.Builder
	var sw []fabric.Ref
	for i := range 4 {
		sw = append(sw, b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Ports: 4}, ""))
	}
	host := func(guid int, at int, port uint8) {
		b.Cable(b.Node(fabric.Node{GUID: fabric.GUID(guid), Kind: fabric.Adapter, Ports: 1}, ""), 1, sw[at], port, fabric.Rate{})
	}
	for i := range sw {
		b.Cable(sw[i], 2, sw[(i+1)%4], 3, fabric.Rate{}) // a leads from switch 0 to 1, b to 2, c to 3, d to 0
	}
	host(10, 0, 1) // LID 5, sends abc
	host(11, 1, 1) // LID 6, sends bc
	host(12, 2, 1) // LID 7, sends cda to LID 6
	host(13, 3, 1) // LID 8, where abc and bc end
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	fw := routing.NewForwarding(f)
	copy(fw.Row(8), []uint8{2, 2, 2, 1}) // abc, and its ends bc and c
	copy(fw.Row(6), []uint8{2, 1, 2, 2}) // cda, and its ends da and a
	if v := verdict(t, f, fw, routing.OneSL(f, routing.LanePerSL(8))); v.Free() {
		// ab, bc, cd and da are there: the cycle of the figure.
		t.Fatalf("on one lane: %+v", v)
	}
	for name, a := range assigners {
		l := assign(t, f, fw, a, 2)
		if l.Needed != 2 || !verdict(t, f, fw, l).Free() {
			t.Errorf("%s needs %d lanes, want 2", name, l.Needed)
		}
	}
}

// TPDS 2006, section 5.2: "If we have minimal connectivity so that the network has
// the shape of a tree, one virtual layer suffices ... Furthermore, networks with
// maximal connectivity will also need only one layer, because no packet will
// traverse more than one link".
func TestTreesAndCompleteGraphsNeedOneLayer(t *testing.T) {
	for _, spec := range []string{
		"mesh:12", "karytree:k=3,n=3", "xgft:m=3x4,w=1x1", "random:switches=32,links=31,seed=5", // trees
		"dragonfly:p=1,a=6,h=1,g=1", "random:switches=12,links=66", "random:switches=7,links=30", // complete
	} {
		f := testnet.Build(t, spec)
		for _, p := range []routing.PathFinder{shortest.Finder{}, sssp.Finder{}} {
			fw := paths(t, f, p)
			for name, a := range assigners {
				if l := assign(t, f, fw, a, 1); l.Needed != 1 {
					t.Errorf("%s on %s needs %d lanes", name, spec, l.Needed)
				}
			}
		}
	}
}

// TPDS 2006, section 5.2: "Even for networks as big as 128 switches, we never
// encountered a single topology that required more than six virtual layers ... For
// networks with 32 switches, even as few as three layers sufficed for all tested
// topologies ... the difference between the most demanding and the least demanding
// topology was hardly ever more than one layer", from a tree upwards.
func TestLayersOfRandomNetworks(t *testing.T) {
	for _, c := range []struct{ switches, most int }{{32, 3}, {128, 6}} {
		seeds := 6
		if testing.Short() {
			seeds = 1
		}
		for _, links := range []int{c.switches - 1, c.switches * 5 / 4, c.switches * 3 / 2, c.switches * 2, c.switches * 5 / 2, c.switches * 4, c.switches * 12} {
			least, most := 64, 0
			for seed := range seeds {
				f := testnet.Build(t, fmt.Sprintf("random:switches=%d,links=%d,seed=%d", c.switches, links, seed))
				l := assign(t, f, paths(t, f, shortest.Finder{}), layer.FirstFit{Unbalanced: true}, 8)
				least, most = min(least, l.Needed), max(most, l.Needed)
			}
			if most > c.most || most > least+1 {
				t.Errorf("%d switches, %d links: %d to %d layers, the paper needs %d at the most", c.switches, links, least, most, c.most)
			}
		}
	}
}

// TPDS 2006, section 6: "observe that all but one arbitrarily chosen of them can be
// discarded", of the paths of a pair that do not fit.
func TestDiscardsAllButOne(t *testing.T) {
	f, err := testnet.Build(t, "torus:4x4").WithLMC(2)
	if err != nil {
		t.Fatal(err)
	}
	fw := paths(t, f, sssp.MultiPath{})
	if _, err := (layer.FirstFit{}).Lanes(ctx, f, fw, routing.Budget{VLs: 2, Contract: routing.Directed}, nil); err == nil {
		t.Fatal("all paths fit into two lanes: no test")
	}
	l := assign(t, f, fw, layer.FirstFit{Discard: true}, 2)
	if v := verdict(t, f, fw, l); !v.Free() || v.VLs != 2 {
		t.Errorf("%+v", v)
	}
	left := 0
	for i := range f.Endpoints() {
		e := f.Endpoint(fabric.EndpointID(i))
		for s := range fabric.NodeID(f.Switches()) {
			from, kept := f.Attached(s)[1], 0
			for a := range fabric.LID(1) << e.LMC {
				if l.SL(from, e.LID+a) != routing.NoSL {
					kept++
				}
			}
			left += 1<<e.LMC - kept
			if kept == 0 {
				t.Fatalf("switch %d has no way to endpoint %d", s, i)
			}
		}
	}
	if left == 0 {
		t.Error("nothing is discarded")
	}
}

// IPDPS 2011, section IV: "Simulations with random topologies, consisting of 64
// switches, 1024 endpoints, and 128 links to connect the switches, revealed that
// the best of our heuristics is to break the weakest edge of the cycle. Depending
// on the random topology, the needed number of virtual channels ranges from 3 to 5
// for this heuristic, whereas the range for the pseudo-random heuristic is 4 to 8.
// The third was the worst heuristic with a range from 4 to 16."
//
// As printed ours need 5 to 6, 5 to 7 and 6 to 10 on networks of that size, drawn by
// another generator, and stand in the same order. With what still fits put back and
// layers squeezed all three need 3 or 4.
func TestHeuristicsOfTheDFSSSPPaper(t *testing.T) {
	seeds := 6
	if testing.Short() {
		seeds = 2
	}
	sum := map[layer.Heuristic]int{}
	for seed := 1; seed <= seeds; seed++ {
		f := testnet.Build(t, fmt.Sprintf("random:switches=64,links=128,hosts=16,seed=%d", seed))
		fw := paths(t, f, sssp.Finder{})
		for h, between := range map[layer.Heuristic][2]int{layer.Weakest: {5, 6}, layer.First: {5, 7}, layer.Strongest: {6, 10}} {
			l := assign(t, f, fw, layer.BreakCycles{Heuristic: h, AsPrinted: true, Unbalanced: true}, 15)
			sum[h] += l.Needed
			if l.Needed < between[0] || l.Needed > between[1] {
				t.Errorf("%s, seed %d: %d lanes as printed, expected %v", h, seed, l.Needed, between)
			}
			if l := assign(t, f, fw, layer.BreakCycles{Heuristic: h, Unbalanced: true}, 15); l.Needed > 4 {
				t.Errorf("%s, seed %d: %d lanes with all that saves them", h, seed, l.Needed)
			}
		}
	}
	if sum[layer.Weakest] >= sum[layer.First] || sum[layer.First] >= sum[layer.Strongest] {
		t.Errorf("lanes of %d networks by heuristic: %v; the weakest is not the best, or the strongest not the worst", seeds, sum)
	}
}

// HOTI 2016, section VI.A and Figure 10: "For the topologies with more than 50 switches
// (350 hosts), the DF-SSSP heuristic is suboptimal, it requires three instead of two VLs";
// and on Dragonflies ever more with their size.
func TestDFSSSPOfTheDFDNPaper(t *testing.T) {
	for spec, want := range map[string]int{"slimfly:q=7,hosts=11": 3, "dragonfly:p=2": 3, "dragonfly:p=3": 4, "dragonfly:p=4": 4} {
		f := testnet.Build(t, spec)
		if l := assign(t, f, paths(t, f, sssp.Finder{}), layer.BreakCycles{AsPrinted: true, Unbalanced: true}, 15); l.Needed != want {
			t.Errorf("%s: %d lanes as printed, want %d", spec, l.Needed, want)
		}
	}
}

// HOTI 2016, section VI.A: "LASH is able to find deadlock free configurations with
// two VLs for all networks", Slim Flies from 50 switches up; section VI.B: "For
// Dragonfly topologies LASH and DF-DN ... both deliver the optimal result of 3 VLs".
func TestLASHOfTheDFDNPaper(t *testing.T) {
	for _, c := range []struct {
		f    *fabric.Fabric
		name string
		want int
	}{
		{slimFly(t, 5, 7), "Slim Fly of 50 switches", 2},
		{slimFly(t, 13, 9), "Slim Fly of 338 switches", 2},
		{testnet.Build(t, "dragonfly:p=2"), "dragonfly p=2", 3},
		{testnet.Build(t, "dragonfly:p=3"), "dragonfly p=3", 3},
		{testnet.Build(t, "dragonfly:p=4"), "dragonfly p=4", 3},
	} {
		if l := assign(t, c.f, paths(t, c.f, shortest.Finder{}), layer.FirstFit{Unbalanced: true}, 8); l.Needed != c.want {
			t.Errorf("%s: %d lanes, the paper needs %d", c.name, l.Needed, c.want)
		}
	}
}
