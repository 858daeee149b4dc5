package exact_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/internal/engine/lanes/exact"
)

// cyclic reports whether some paths together have a cycle, by taking vertices
// without a way in away until there is none.
func cyclic(vertices int, paths [][]int32) bool {
	type edge struct{ from, to int32 }
	edges := map[edge]bool{}
	for _, p := range paths {
		for i := 1; i < len(p); i++ {
			edges[edge{p[i-1], p[i]}] = true
		}
	}
	for range vertices {
		into := make([]bool, vertices)
		for e := range edges {
			into[e.to] = true
		}
		for e := range edges {
			if !into[e.from] {
				delete(edges, e)
			}
		}
	}
	return len(edges) > 0
}

// solve solves an instance and checks what can be checked: the bounds fit, and
// the cover is one.
func solve(in exact.Instance) (*exact.Result, error) {
	r, err := exact.Solve(context.Background(), in, 0)
	if err != nil {
		return nil, err
	}
	if r.Lower < 1 || r.Lower > r.Upper || len(r.Layer) != len(in.Paths) {
		return nil, fmt.Errorf("bounds %d to %d, %d paths in layers", r.Lower, r.Upper, len(r.Layer))
	}
	layers := make([][][]int32, r.Upper)
	for p, l := range r.Layer {
		layers[l] = append(layers[l], in.Paths[p])
	}
	for l, paths := range layers {
		if cyclic(in.Vertices, paths) {
			return nil, fmt.Errorf("layer %d has a cycle", l)
		}
	}
	return r, nil
}

// graph is a graph by its edges, for colouring.
type graph struct {
	vertices int
	edges    [][2]int
}

// instance is the construction in the proof of Theorem 1: the path of a vertex v
// is <v>, then for each neighbour w in turn <v,{v,w}> and <w,{v,w}>.
func (g graph) instance() exact.Instance {
	in := exact.Instance{Vertices: g.vertices + 2*len(g.edges)}
	for v := range g.vertices {
		path := []int32{int32(v)}
		for i, e := range g.edges {
			here, there := int32(g.vertices+2*i), int32(g.vertices+2*i+1) // the two ends of the edge
			switch v {
			case e[0]:
				path = append(path, here, there)
			case e[1]:
				path = append(path, there, here)
			}
		}
		in.Paths = append(in.Paths, path)
	}
	return in
}

// colours is the chromatic number, by trying.
func (g graph) colours() int {
	colour := make([]int, g.vertices)
	var fits func(v, k int) bool
	fits = func(v, k int) bool {
		if v == g.vertices {
			return true
		}
		for colour[v] = range k {
			ok := true
			for _, e := range g.edges {
				a, b := min(e[0], e[1]), max(e[0], e[1])
				ok = ok && !(b == v && colour[a] == colour[b])
			}
			if ok && fits(v+1, k) {
				return true
			}
		}
		return false
	}
	k := 1
	for !fits(0, k) {
		k++
	}
	return k
}

// check holds the instance of a graph against its colouring: "a k-cover exists if
// and only if the graph is k-colourable".
func (g graph) check() error {
	r, err := solve(g.instance())
	if err != nil {
		return err
	}
	if want := g.colours(); r.Lower != want || r.Upper != want {
		return fmt.Errorf("%d to %d layers, but %d colours, for %v", r.Lower, r.Upper, want, g.edges)
	}
	return nil
}

// The proof of Theorem 1 run forwards, on every graph of up to five vertices.
func TestEverySmallGraph(t *testing.T) {
	for n := 1; n <= 5; n++ {
		var pairs [][2]int
		for v := range n {
			for w := range v {
				pairs = append(pairs, [2]int{w, v})
			}
		}
		for mask := range 1 << len(pairs) {
			g := graph{vertices: n}
			for i, p := range pairs {
				if mask>>i&1 == 1 {
					g.edges = append(g.edges, p)
				}
			}
			if err := g.check(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Graphs without triangles whose colours no clique explains: the Petersen graph,
// odd cycles, and the Grötzsch graph, which needs four.
func TestWithoutTriangles(t *testing.T) {
	petersen, groetzsch := graph{vertices: 10}, graph{vertices: 11}
	for i := range 5 {
		j := (i + 1) % 5
		petersen.edges = append(petersen.edges, [2]int{i, j}, [2]int{i, i + 5}, [2]int{i + 5, (i+2)%5 + 5})
		groetzsch.edges = append(groetzsch.edges, [2]int{i, j}, [2]int{i + 5, j}, [2]int{i, j + 5}, [2]int{i + 5, 10})
	}
	for name, c := range map[string]struct {
		g    graph
		want int
	}{"Petersen": {petersen, 3}, "Grötzsch": {groetzsch, 4}} {
		if got := c.g.colours(); got != c.want {
			t.Errorf("%s: the test itself finds %d colours", name, got)
		}
		if err := c.g.check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRandomGraphs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 150 {
		g := graph{vertices: 6 + rng.IntN(5)}
		density := rng.Float64()
		for v := range g.vertices {
			for w := range v {
				if rng.Float64() < density {
					g.edges = append(g.edges, [2]int{v, w})
				}
			}
		}
		rng.Shuffle(len(g.edges), func(i, j int) { g.edges[i], g.edges[j] = g.edges[j], g.edges[i] })
		if err := g.check(); err != nil {
			t.Fatal(err)
		}
	}
}

// Figure 3: "a generator P = {p1, p2, p3}, with p1 = bc, p2 = abc and p3 = cdab on
// the left, and the possible cover P = {P1 = {p1, p2}, P2 = {p3}} on the right".
func TestFigure3(t *testing.T) {
	const a, b, c, d = 0, 1, 2, 3
	r, err := solve(exact.Instance{Vertices: 4, Paths: [][]int32{{b, c}, {a, b, c}, {c, d, a, b}}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Lower != 2 || r.Upper != 2 || r.Layer[0] != r.Layer[1] || r.Layer[1] == r.Layer[2] {
		t.Errorf("%+v", r)
	}
}

// fewest tries every partition of the bundles. 0: one fits into no layer.
func fewest(in exact.Instance) int {
	bundles := make([][][]int32, len(in.Paths))
	for p, path := range in.Paths {
		b := p
		if in.Bundle != nil {
			b = int(in.Bundle[p])
		}
		if bundles[b] = append(bundles[b], path); cyclic(in.Vertices, bundles[b]) {
			return 0
		}
	}
	layers := make([][][]int32, len(in.Paths))
	best := max(1, len(in.Paths))
	var put func(p, used int)
	put = func(p, used int) {
		if used >= best {
			return
		}
		if p == len(in.Paths) {
			best = max(1, used)
			return
		}
		for l := range used + 1 {
			before := layers[l]
			layers[l] = append(before[:len(before):len(before)], bundles[p]...)
			if !cyclic(in.Vertices, layers[l]) {
				put(p+1, max(used, l+1))
			}
			layers[l] = before
		}
	}
	put(0, 0)
	return best
}

func TestAgainstEveryPartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := exact.Instance{Vertices: rapid.IntRange(2, 7).Draw(t, "vertices")}
		for range rapid.IntRange(0, 8).Draw(t, "paths") {
			in.Paths = append(in.Paths, rapid.SliceOfNDistinct(rapid.Int32Range(0, int32(in.Vertices-1)), 0, in.Vertices, rapid.ID[int32]).Draw(t, "path"))
		}
		if n := len(in.Paths); n > 0 && rapid.Bool().Draw(t, "bundled") {
			in.Bundle = rapid.SliceOfN(rapid.Int32Range(0, int32(n-1)), n, n).Draw(t, "bundles")
		}
		want := fewest(in)
		r, err := solve(in)
		if want == 0 {
			if err == nil {
				t.Fatal("a bundle with a cycle is taken")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for p, b := range in.Bundle {
			if q := slices.Index(in.Bundle, b); r.Layer[p] != r.Layer[q] {
				t.Fatalf("paths %d and %d of a bundle are in layers %d and %d", p, q, r.Layer[p], r.Layer[q])
			}
		}
		if r.Lower != want || r.Upper != want {
			t.Fatalf("%d to %d layers; the fewest are %d", r.Lower, r.Upper, want)
		}
	})
}

func TestBadInstances(t *testing.T) {
	for _, in := range []exact.Instance{
		{Vertices: 2, Paths: [][]int32{{0, 2}}},
		{Vertices: 2, Paths: [][]int32{{0, -1}}},
		{Vertices: 2, Paths: [][]int32{{0, 1, 0}}},
	} {
		if _, err := exact.Solve(context.Background(), in, 0); err == nil {
			t.Errorf("%v is taken", in)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	five := graph{5, [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}}}
	if _, err := exact.Solve(ctx, five.instance(), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
