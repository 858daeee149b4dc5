package dor_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/internal/engine/paths/dor"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/grid/gridtest"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/topology"
)

type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

func build(t failer, b gridtest.Box, seed uint64) *fabric.Fabric {
	t.Helper()
	f, err := b.Build(seed)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func paths(t failer, f *fabric.Fabric) *routing.Forwarding {
	t.Helper()
	fw, err := dor.Finder{}.Paths(context.Background(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fw
}

// judge wants complete tables, and free ones on one lane if safe.
func judge(t failer, f *fabric.Fabric, fw *routing.Forwarding, safe bool) {
	t.Helper()
	for _, part := range f.Parts() {
		for _, s := range part {
			for _, to := range part {
				if lid := f.Endpoint(f.Attached(to)[0]).LID; fw.Port(s, lid) == routing.NoPort {
					t.Fatalf("%s has no port for %s", f.Label(s), f.Label(to))
				}
			}
		}
	}
	tables := &routing.Tables{Fabric: f, Forwarding: fw, Lanes: routing.OneSL(f, routing.UniformSL2VL([routing.SLs]uint8{}))}
	for _, scope := range []routing.Scope{routing.HCA, routing.Adapters, routing.All} {
		v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Contract: routing.Any, Scope: scope})
		if err != nil {
			t.Fatal(err)
		}
		if whole := len(f.Parts()) == 1; v.Complete() != whole || v.Loops > 0 || safe && !v.Free() {
			t.Fatalf("scope %s: complete %v, free %v: %v", scope, v.Complete(), v.Free(), v.Cycle)
		}
	}
}

// minimal wants shortest paths.
func minimal(t failer, f *fabric.Fabric, fw *routing.Forwarding) {
	t.Helper()
	var d dag.DAG
	var tree routing.Tree
	for lid, e := range f.LIDs() {
		s := f.Endpoint(e).Switch
		dag.Shortest(&d, f, s)
		tree.Build(f, fw.Row(lid), s)
		for x := range fabric.NodeID(f.Switches()) {
			if tree.Depth(x) != int(d.Hops[x]) {
				t.Fatalf("LID %d: %d hops from %s, not %d", lid, tree.Depth(x), f.Label(x), d.Hops[x])
			}
		}
	}
}

// safe reports whether a box has no ring of five or more.
func safe(b gridtest.Box) bool {
	for d, k := range b.Size {
		if k >= 5 && b.Ring != nil && b.Ring[d] {
			return false
		}
	}
	return true
}

func TestEverySize(t *testing.T) {
	for i, b := range []gridtest.Box{
		gridtest.Mesh(1), gridtest.Mesh(2), gridtest.Mesh(7), gridtest.Torus(3), gridtest.Torus(4), gridtest.Torus(5), gridtest.Torus(8),
		gridtest.Mesh(2, 2), gridtest.Mesh(2, 3), gridtest.Mesh(3, 3), gridtest.Mesh(5, 4), gridtest.Torus(2, 3), gridtest.Torus(3, 3),
		gridtest.Torus(3, 4), gridtest.Torus(4, 4), gridtest.Torus(5, 4), gridtest.Torus(6, 6), gridtest.Torus(7, 2),
		gridtest.Mesh(2, 2, 2), gridtest.Mesh(2, 3, 4), gridtest.Mesh(3, 3, 3), gridtest.Torus(3, 3, 3), gridtest.Torus(4, 4, 4),
		gridtest.Torus(5, 5, 5), gridtest.Torus(3, 4, 5), gridtest.Mesh(2, 2, 2, 2, 2, 2, 2), gridtest.Torus(3, 3, 3, 3), gridtest.Torus(2, 3, 4, 2),
		{Size: []int{6, 5}, Ring: []bool{true, false}, Hosts: 2, Every: 3},
		{Size: []int{4, 3, 2}, Ring: []bool{true, false, true}, Hosts: 1, Cables: 3},
		{Size: []int{4, 4}, Hosts: 0},
	} {
		t.Run(b.String(), func(t *testing.T) {
			f := build(t, b, uint64(i))
			fw := paths(t, f)
			judge(t, f, fw, safe(b))
			minimal(t, f, fw)
			for _, finding := range (dor.Finder{}).Explain(f) {
				if !finding.OK || finding.Why == "" {
					t.Errorf("%+v", finding)
				}
			}
		})
	}
}

func TestAnyBox(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "dimensions")
		b := gridtest.Box{Ring: make([]bool, n), Hosts: rapid.IntRange(0, 2).Draw(t, "hosts"), Every: rapid.IntRange(1, 3).Draw(t, "every"),
			Cables: rapid.IntRange(1, 3).Draw(t, "cables")}
		for d := range n {
			b.Size = append(b.Size, rapid.IntRange(1, 8-n).Draw(t, "size"))
			b.Ring[d] = rapid.Bool().Draw(t, "ring")
		}
		f := build(t, b, rapid.Uint64().Draw(t, "seed"))
		fw := paths(t, f)
		judge(t, f, fw, safe(b))
		minimal(t, f, fw)
	})
}

// Every path moves along one dimension after the other, never back to one: with
// the coordinates that the generator wrote into the names.
func TestDimensionsAreInOrder(t *testing.T) {
	b := gridtest.Mesh(5, 4, 3)
	f := build(t, b, 3)
	fw := paths(t, f)
	order := map[[2]int]bool{} // a turn from one dimension to another was seen
	for lid, e := range f.LIDs() {
		for s := range fabric.NodeID(f.Switches()) {
			last := -1
			for at := s; at != f.Endpoint(e).Switch; {
				c := f.Channel(f.Out(at, fw.Port(at, lid)))
				d := along(t, b, f.Node(at).Name, f.Node(c.To).Name)
				if last >= 0 && d != last {
					order[[2]int{last, d}] = true
				}
				last, at = d, c.To
			}
		}
	}
	if len(order) != 3 {
		t.Errorf("turns between dimensions: %v, want three, none with its reverse", order)
	}
	for turn := range order {
		if order[[2]int{turn[1], turn[0]}] {
			t.Errorf("turns %v and back", turn)
		}
	}
}

func along(t *testing.T, b gridtest.Box, from, to string) int {
	var p, q int
	if _, err := fmt.Sscanf(from+" "+to, "point %d point %d", &p, &q); err != nil {
		t.Fatal(err)
	}
	weight := b.Points()
	for d, k := range b.Size {
		weight /= k
		if p/weight%k != q/weight%k {
			return d
		}
	}
	t.Fatalf("%s and %s are one", from, to)
	return 0
}

// Of parallel cables each carries its share, within one destination.
func TestParallelCablesAreShared(t *testing.T) {
	b := gridtest.Torus(4, 3)
	b.Cables, b.Hosts = 3, 3
	f := build(t, b, 9)
	fw := paths(t, f)
	carried := make([]int, f.Trunks())
	for lid, e := range f.LIDs() {
		if f.Endpoint(e).Class == fabric.SwitchPort {
			continue
		}
		for s := range fabric.NodeID(f.Switches()) {
			if c := f.Out(s, fw.Port(s, lid)); int(c) < f.Trunks() {
				carried[c]++
			}
		}
	}
	for c := range carried {
		for d := range carried {
			x, y := f.Channel(fabric.ChannelID(c)), f.Channel(fabric.ChannelID(d))
			if x.From == y.From && x.To == y.To && carried[c] > carried[d]+1 {
				t.Errorf("from %s to %s one cable carries %d destinations and another %d", f.Label(x.From), f.Label(x.To), carried[c], carried[d])
			}
		}
	}
}

// Two lanes are what a ring of five needs and one of four does not.
func TestRings(t *testing.T) {
	for k := 3; k <= 8; k++ {
		f := build(t, gridtest.Torus(k), 1)
		tables := &routing.Tables{Fabric: f, Forwarding: paths(t, f), Lanes: routing.OneSL(f, routing.LanePerSL(1))}
		v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if v.Free() != (k < 5) {
			t.Errorf("ring of %d: free %v", k, v.Free())
		}
	}
}

func TestDamage(t *testing.T) {
	for _, c := range []struct {
		box     gridtest.Box
		survive bool // any one cable
	}{
		{gridtest.Torus(5, 5), true}, {gridtest.Torus(4, 4, 4), true}, {gridtest.Torus(3, 3, 3), true}, {gridtest.Torus(6, 3), true},
		{gridtest.Mesh(2, 2, 2, 2), true}, {gridtest.Mesh(5, 5), false}, {gridtest.Mesh(3, 3, 3), false},
		{gridtest.Box{Size: []int{4, 4}, Hosts: 1, Cables: 2}, true},
	} {
		f := build(t, c.box, 5)
		for i := range fabric.ChannelID(f.Trunks()) {
			if i%7 != 0 {
				continue
			}
			g, err := f.Without([]fabric.ChannelID{i}, nil)
			if err != nil {
				t.Fatal(err)
			}
			fw, err := dor.Finder{}.Paths(context.Background(), g, nil)
			if !c.survive {
				named(t, err, f.Label(f.Channel(i).From), f.Label(f.Channel(i).To))
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", c.box, err)
				continue
			}
			judge(t, g, fw, safe(c.box))
		}
	}
}

// named wants a refusal that names one of two switches, and an explanation of it.
func named(t *testing.T, err error, labels ...string) {
	t.Helper()
	var refusal *routing.Refusal
	if !errors.As(err, &refusal) || refusal.Rule == "" {
		t.Errorf("got %v", err)
		return
	}
	if !slices.Contains(labels, refusal.Label) {
		t.Errorf("%v names none of %v", err, labels)
	}
}

func TestMissingSwitchIsRefused(t *testing.T) {
	for _, b := range []gridtest.Box{gridtest.Torus(5, 5), gridtest.Torus(4, 4, 4), gridtest.Torus(5, 4, 3), gridtest.Mesh(2, 2, 2, 2)} {
		f := build(t, b, 7)
		g, err := f.Without(nil, []fabric.NodeID{3})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = (dor.Finder{}).Paths(context.Background(), g, nil); err == nil {
			t.Errorf("%s is routed without a switch", b)
			continue
		}
		var near []string
		for c := range f.Channels() {
			if ch := f.Channel(fabric.ChannelID(c)); ch.To == 3 {
				near = append(near, f.Label(ch.From))
			}
		}
		named(t, err, near...)
		findings := dor.Finder{}.Explain(g)
		if findings[len(findings)-2].OK {
			t.Errorf("%s: %+v", b, findings)
		}
	}
}

// Whatever is taken away, tables are whole or refused, and free where the notes
// say so.
func TestAnyDamage(t *testing.T) {
	boxes := []gridtest.Box{gridtest.Torus(5, 5), gridtest.Torus(4, 3, 3), gridtest.Mesh(4, 4, 3), gridtest.Mesh(2, 2, 2, 2), gridtest.Torus(6), gridtest.Torus(5, 2)}
	routed := 0
	testnet.CheckCounted(t, func(t *rapid.T) {
		f := build(t, rapid.SampledFrom(boxes).Draw(t, "box"), rapid.Uint64().Draw(t, "seed"))
		var cables []fabric.ChannelID
		for range rapid.IntRange(0, 6).Draw(t, "cables") {
			cables = append(cables, fabric.ChannelID(rapid.IntRange(0, f.Trunks()-1).Draw(t, "cable")))
		}
		var nodes []fabric.NodeID
		for range rapid.IntRange(0, 2).Draw(t, "switches") {
			nodes = append(nodes, fabric.NodeID(rapid.IntRange(0, f.Switches()-1).Draw(t, "switch")))
		}
		g, err := f.Without(cables, nodes)
		if err != nil {
			t.Fatal(err)
		}
		fw, err := dor.Finder{}.Paths(context.Background(), g, nil)
		if err != nil {
			if refusal := (*routing.Refusal)(nil); !errors.As(err, &refusal) {
				t.Fatal(err)
			}
			return
		}
		routed++
		judge(t, g, fw, !slices.ContainsFunc(fw.Notes, func(n string) bool { return !strings.HasSuffix(n, "free of deadlock on one lane") }))
	}, func() {
		if routed == 0 {
			t.Error("nothing was routed")
		}
	})
}

// Real fabrics are routed, as the smallest ones, or refused with a reason.
func TestRealDumps(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testnet.Corpus(t), "fabrics", "*.ibnetdiscover"))
	if err != nil || len(files) == 0 {
		t.Skip("no real dumps: set WEFT_CORPUS")
	}
	for _, file := range files {
		r, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		f, err := ibnet.Read(r, filepath.Base(file))
		r.Close()
		if err != nil {
			continue
		}
		fw, err := dor.Finder{}.Paths(context.Background(), f, nil)
		if err == nil {
			judge(t, f, fw, true)
			continue
		}
		if refusal := (*routing.Refusal)(nil); !errors.As(err, &refusal) || refusal.Node == fabric.None {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (dor.Finder{}).Paths(ctx, build(t, gridtest.Torus(5, 5), 1), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

func BenchmarkTorus(b *testing.B) {
	for _, k := range []int{8, 16} {
		b.Run(fmt.Sprint(k), func(b *testing.B) {
			f, err := topology.Build(fmt.Sprintf("torus:%dx%dx%d,hosts=2", k, k, k))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := (dor.Finder{}).Paths(context.Background(), f, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
