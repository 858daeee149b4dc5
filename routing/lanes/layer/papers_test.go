package layer_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/lanes/layer"
	"github.com/weft-fabric/weft/routing/paths/shortest"
	"github.com/weft-fabric/weft/routing/paths/sssp"
	"github.com/weft-fabric/weft/topology"
)

var ctx = context.Background()

// assigners is both assigners with their last step and without.
var assigners = map[string]routing.LaneAssigner{
	"first-fit":                layer.FirstFit{},
	"first-fit unbalanced":     layer.FirstFit{Unbalanced: true},
	"break-cycles":             layer.BreakCycles{},
	"break-cycles, not spread": layer.BreakCycles{Unbalanced: true},
}

func build(t testing.TB, format string, args ...any) *fabric.Fabric {
	t.Helper()
	family, err := topology.Parse(fmt.Sprintf(format, args...))
	if err != nil {
		t.Fatal(err)
	}
	f, err := family.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func paths(t testing.TB, f *fabric.Fabric, p routing.PathFinder) *routing.Forwarding {
	t.Helper()
	fw, err := p.Paths(ctx, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fw
}

func assign(t testing.TB, f *fabric.Fabric, fw *routing.Forwarding, a routing.LaneAssigner, vls int) *routing.Lanes {
	t.Helper()
	l, err := a.Lanes(ctx, f, fw, routing.Budget{VLs: vls}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func verdict(t testing.TB, f *fabric.Fabric, fw *routing.Forwarding, l *routing.Lanes) *deadlock.Verdict {
	t.Helper()
	v, err := deadlock.Verify(ctx, &routing.Tables{Fabric: f, Forwarding: fw, Lanes: l}, deadlock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// IPDPS 2011, Figure 2: five switches in a ring, each sends two hops clockwise.
// One layer holds four of the five messages, two hold all.
func TestRingOfTheDFSSSPPaper(t *testing.T) {
	f := build(t, "ring:5")
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

// TPDS 2006, section 5.2: a tree closes no cycle, and where all are neighbours
// there is nothing to depend on.
func TestTreesAndCompleteGraphsNeedOneLayer(t *testing.T) {
	for _, spec := range []string{
		"mesh:12", "karytree:k=3,n=3", "xgft:m=3x4,w=1x1", "random:switches=32,links=31,seed=5", // trees
		"dragonfly:p=1,a=6,h=1,g=1", "random:switches=12,links=66", "random:switches=7,links=30", // complete
	} {
		f := build(t, "%s", spec)
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

// TPDS 2006, section 5.2: never more than six layers on 128 switches, nor more
// than three on 32, at any connectivity.
func TestLayersOfRandomNetworks(t *testing.T) {
	for _, c := range []struct{ switches, most int }{{32, 3}, {128, 6}} {
		seeds := 4
		if testing.Short() {
			seeds = 1
		}
		for _, degree := range []int{3, 4, 5, 8} {
			for seed := range seeds {
				f := build(t, "random:switches=%d,links=%d,seed=%d", c.switches, c.switches*degree/2, seed)
				if l := assign(t, f, paths(t, f, shortest.Finder{}), layer.FirstFit{}, 8); l.Needed > c.most {
					t.Errorf("%d switches of degree %d, seed %d: %d layers, the paper needs %d at the most", c.switches, degree, seed, l.Needed, c.most)
				}
			}
		}
	}
}

// IPDPS 2011, section IV: 3 to 5 lanes on random networks of 64 switches, 128
// links and 1,024 endpoints.
func TestLanesOfTheDFSSSPPaper(t *testing.T) {
	seeds := 3
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		f := build(t, "random:switches=64,links=128,hosts=16,seed=%d", seed)
		l := assign(t, f, paths(t, f, sssp.Finder{}), layer.BreakCycles{}, 8)
		if l.Needed < 3 || l.Needed > 5 {
			t.Errorf("seed %d: %d lanes, the paper needs 3 to 5", seed, l.Needed)
		}
	}
}
