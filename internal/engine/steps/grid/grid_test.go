package grid_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/grid"
	"github.com/weft-fabric/weft/internal/engine/steps/grid/gridtest"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// found finds the one grid of a fabric.
func found(t testing.TB, f *fabric.Fabric) *grid.Grid {
	t.Helper()
	all, err := grid.FindAll(f, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 {
		t.Fatalf("%d parts", len(all))
	}
	return all[0]
}

func build(t testing.TB, b gridtest.Box, seed uint64) *fabric.Fabric {
	t.Helper()
	f, err := b.Build(seed)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// canonical is the dimensions to be found for a box: large ones first, pairs of
// twos as rings of four.
func canonical(b gridtest.Box) []grid.Dim {
	var dims []grid.Dim
	twos := 0
	for d, k := range b.Size {
		ring := b.Ring != nil && b.Ring[d]
		switch k {
		case 1:
		case 2:
			twos++
		default:
			dims = append(dims, grid.Dim{Size: k, Ring: ring})
		}
	}
	dims = append(dims, slices.Repeat([]grid.Dim{{Size: 4, Ring: true}}, twos/2)...)
	dims = append(dims, slices.Repeat([]grid.Dim{{Size: 2}}, twos%2)...)
	slices.SortFunc(dims, func(x, y grid.Dim) int {
		return cmp.Or(cmp.Compare(y.Size, x.Size), map[bool]int{true: 0, false: 1}[x.Ring]-map[bool]int{true: 0, false: 1}[y.Ring])
	})
	return dims
}

func TestEverySize(t *testing.T) {
	for _, size := range [][]int{
		{1}, {2}, {3}, {4}, {5}, {6}, {9},
		{2, 2}, {2, 3}, {3, 3}, {2, 4}, {3, 4}, {4, 4}, {2, 5}, {3, 5}, {4, 5}, {5, 5}, {6, 7},
		{2, 2, 2}, {2, 2, 3}, {3, 3, 3}, {2, 3, 4}, {4, 4, 4}, {3, 4, 5}, {5, 5, 5}, {2, 5, 6}, {1, 4, 6},
		{2, 2, 2, 2}, {3, 3, 3, 3}, {2, 3, 4, 5}, {2, 2, 2, 2, 2, 2, 2}, {3, 3, 2, 3, 2},
	} {
		for rings := range 1 << len(size) {
			b := gridtest.Box{Size: size, Ring: make([]bool, len(size)), Cables: 1 + rings%3}
			for d := range size {
				b.Ring[d] = rings>>d&1 == 1
			}
			g := found(t, build(t, b, uint64(rings)))
			if want := canonical(b); !slices.Equal(g.Dims, want) {
				t.Errorf("%s is found to be a %s", b, g)
			}
			if len(g.Holes()) > 0 {
				t.Errorf("%s has holes", b)
			}
		}
	}
}

func TestLinks(t *testing.T) {
	f := build(t, gridtest.Torus(5, 6), 1)
	g := found(t, f)
	stepwise(t, f, g)
	for p := range g.Switch {
		for r := range grid.Dir(4) {
			if len(g.Links(p, r)) != 1 || g.Run(p, r) != g.Dims[r.Dim()].Size {
				t.Errorf("point %d has %d links in direction %d and %d hops to go", p, len(g.Links(p, r)), r, g.Run(p, r))
			}
		}
	}
}

func TestNoGrids(t *testing.T) {
	for _, spec := range []string{
		"karytree:k=4,n=2", "karytree:k=2,n=3", "dragonfly:p=2", "deimos",
		"random:switches=32,links=64,hosts=1,seed=3", "random:switches=9,links=12,hosts=1,seed=1",
	} {
		f := testnet.Build(t, spec)
		_, err := grid.FindAll(f, nil, nil)
		var refusal *routing.Refusal
		if !errors.As(err, &refusal) || refusal.Rule == "" || refusal.Why == "" || refusal.Node == fabric.None {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

// graph makes a fabric of switches joined as listed.
func graph(t *testing.T, n int, cables ...[2]int) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	ports := make([]uint8, n)
	for i := range n {
		b.Node(fabric.Node{GUID: fabric.GUID(i+1) << 8, Ports: 40, Name: fmt.Sprint("s", i)}, "")
	}
	for _, c := range cables {
		ports[c[0]]++
		ports[c[1]]++
		b.Cable(fabric.Ref(c[0]), ports[c[0]], fabric.Ref(c[1]), ports[c[1]], fabric.Rate{})
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestTwistedTorusIsRefused(t *testing.T) {
	for _, k := range [][2]int{{5, 5}, {6, 5}, {4, 3}, {7, 3}} {
		for twist := 1; twist < k[1]; twist++ {
			var cables [][2]int
			at := func(x, y int) int { return x*k[1] + (y%k[1]+k[1])%k[1] }
			for x := range k[0] {
				for y := range k[1] {
					cables = append(cables, [2]int{at(x, y), at(x, y+1)})
					if x+1 < k[0] {
						cables = append(cables, [2]int{at(x, y), at(x+1, y)})
					} else {
						cables = append(cables, [2]int{at(x, y), at(0, y+twist)})
					}
				}
			}
			if all, err := grid.FindAll(graph(t, k[0]*k[1], cables...), nil, nil); err == nil {
				t.Errorf("%dx%d twisted by %d is taken for a %s", k[0], k[1], twist, all[0])
			}
		}
	}
}

// Small graphs that are nearly grids.
func TestNearlyGrids(t *testing.T) {
	for name, f := range map[string]*fabric.Fabric{
		"star":          graph(t, 4, [2]int{0, 1}, [2]int{0, 2}, [2]int{0, 3}),
		"complete":      graph(t, 4, [2]int{0, 1}, [2]int{0, 2}, [2]int{0, 3}, [2]int{1, 2}, [2]int{1, 3}, [2]int{2, 3}),
		"diamond":       graph(t, 4, [2]int{0, 1}, [2]int{0, 2}, [2]int{1, 2}, [2]int{1, 3}, [2]int{2, 3}),
		"K2,3":          graph(t, 5, [2]int{0, 2}, [2]int{0, 3}, [2]int{0, 4}, [2]int{1, 2}, [2]int{1, 3}, [2]int{1, 4}),
		"ring and tail": graph(t, 6, [2]int{0, 1}, [2]int{1, 2}, [2]int{2, 3}, [2]int{3, 4}, [2]int{4, 0}, [2]int{4, 5}),
		"Möbius ladder": graph(t, 8, [2]int{0, 1}, [2]int{1, 2}, [2]int{2, 3}, [2]int{3, 4}, [2]int{4, 5}, [2]int{5, 6}, [2]int{6, 7}, [2]int{7, 0},
			[2]int{0, 4}, [2]int{1, 5}, [2]int{2, 6}, [2]int{3, 7}),
	} {
		all, err := grid.FindAll(f, nil, nil)
		if err == nil {
			t.Errorf("%s is taken for a %s", name, grid.Describe(all))
		}
	}
}

// A mesh with a corner missing is a mesh as long as at least three quarters of it are there.
func TestCornerMissing(t *testing.T) {
	for _, c := range []struct {
		size, width, height int // of the mesh, and of its missing corner
		taken               bool
	}{{7, 3, 3, true}, {7, 3, 4, true}, {7, 4, 4, false}, {6, 3, 4, false}, {8, 4, 5, false}} {
		at := func(x, y int) int { return y*c.size + x }
		there := func(x, y int) bool { return x < c.size && y < c.size && (x < c.size-c.width || y < c.size-c.height) }
		var cables [][2]int
		var gone []fabric.NodeID
		for y := range c.size {
			for x := range c.size {
				switch {
				case !there(x, y):
					gone = append(gone, fabric.NodeID(at(x, y)))
					continue
				case there(x+1, y):
					cables = append(cables, [2]int{at(x, y), at(x+1, y)})
				}
				if there(x, y+1) {
					cables = append(cables, [2]int{at(x, y), at(x, y+1)})
				}
			}
		}
		f, err := graph(t, c.size*c.size, cables...).Without(nil, gone)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := grid.FindAll(f, nil, nil); (err == nil) != c.taken {
			t.Errorf("%dx%d without %dx%d: %v", c.size, c.size, c.width, c.height, err)
		}
	}
}

// boxes draws grids of two to four dimensions.
func boxes(t *rapid.T) gridtest.Box {
	n := rapid.IntRange(1, 4).Draw(t, "dimensions")
	b := gridtest.Box{Ring: make([]bool, n), Hosts: 1, Cables: rapid.IntRange(1, 2).Draw(t, "cables")}
	for d := range n {
		b.Size = append(b.Size, rapid.IntRange(2, 9-n).Draw(t, "size"))
		b.Ring[d] = rapid.Bool().Draw(t, "ring")
	}
	return b
}

// Damage that a router can do with must not hide the grid.
func TestDamageIsSeenThrough(t *testing.T) {
	for _, c := range []struct {
		box           gridtest.Box
		cables, nodes int
		most          int // of 40 may be refused
	}{
		{gridtest.Torus(3, 3), 1, 0, 0}, {gridtest.Torus(3, 3), 0, 1, 0}, {gridtest.Torus(3, 4), 1, 0, 0},
		{gridtest.Torus(4, 4), 1, 0, 0}, {gridtest.Torus(4, 4), 0, 1, 0}, {gridtest.Torus(5, 2), 0, 1, 0},
		{gridtest.Torus(5, 3), 0, 1, 0}, {gridtest.Torus(5, 4), 0, 1, 0}, {gridtest.Torus(5, 5), 1, 0, 0}, {gridtest.Torus(5, 5), 0, 1, 0},
		{gridtest.Torus(6, 6), 3, 0, 5}, {gridtest.Mesh(5, 5), 1, 0, 0}, {gridtest.Mesh(3, 3, 3), 1, 0, 0}, {gridtest.Mesh(3, 3, 3), 0, 1, 0},
		{gridtest.Torus(3, 3, 3), 0, 1, 0}, {gridtest.Torus(4, 4, 4), 2, 0, 0}, {gridtest.Torus(4, 4, 4), 0, 1, 0},
		{gridtest.Torus(2, 3, 5), 1, 0, 0}, {gridtest.Torus(5, 5, 5), 5, 2, 0}, {gridtest.Mesh(2, 2, 2, 2, 2), 1, 1, 0},
	} {
		refused := 0
		for seed := range uint64(40) {
			f := damaged(t, build(t, c.box, seed), seed, c.cables, c.nodes)
			all, err := grid.FindAll(f, nil, nil)
			if err != nil || !slices.Equal(all[0].Dims, canonical(c.box)) {
				refused++
				continue
			}
			stepwise(t, f, all[0])
		}
		if refused > c.most {
			t.Errorf("%s without %d cables and %d switches: %d of 40 are not recognised", c.box, c.cables, c.nodes, refused)
		}
	}
}

// stepwise wants every cable between neighbouring points, and every link listed.
func stepwise(t *testing.T, f *fabric.Fabric, g *grid.Grid) {
	t.Helper()
	listed := 0
	for p, s := range g.Switch {
		if s != fabric.None && g.Point[s] != int32(p) {
			t.Fatalf("switch %d lies at %d and at %d", s, p, g.Point[s])
		}
		for r := range grid.Dir(2 * len(g.Dims)) {
			for _, c := range g.Links(p, r) {
				if ch := f.Channel(c); ch.From != s || ch.To != g.Switch[g.Next(p, r)] {
					t.Fatalf("trunk %d does not lead from %s to its neighbour", c, g.PointName(p))
				}
				listed++
			}
		}
	}
	if listed != f.Trunks() {
		t.Errorf("%d of %d trunks have a direction", listed, f.Trunks())
	}
}

// damaged takes cables between switches and switches away, spread by the seed.
func damaged(t testing.TB, f *fabric.Fabric, seed uint64, cables, nodes int) *fabric.Fabric {
	t.Helper()
	var gone []fabric.ChannelID
	var dead []fabric.NodeID
	for i := range cables {
		gone = append(gone, fabric.ChannelID((int(seed)*7919+i*104729)%f.Trunks()))
	}
	for i := range nodes {
		dead = append(dead, fabric.NodeID((int(seed)*31+i*17)%f.Switches()))
	}
	h, err := f.Without(gone, dead)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestAnyBox(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := boxes(t)
		f, err := b.Build(rapid.Uint64().Draw(t, "seed"))
		if err != nil {
			t.Fatal(err)
		}
		all, err := grid.FindAll(f, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(all[0].Dims, canonical(b)) {
			t.Fatalf("%s is found to be a %s", b, all[0])
		}
	})
}
