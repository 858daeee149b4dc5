package coloring

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/topology"
)

// No end has more edges of a color than the rounded-up part of its edges, and what was colored so before stays as it is.
func TestEdges(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(rt, "ends")
		colors := rapid.IntRange(1, 5).Draw(rt, "colors")
		m := rapid.IntRange(0, 40).Draw(rt, "edges")
		end := rapid.SliceOfN(rapid.Int32Range(0, int32(n-1)), m, m)
		from, to := end.Draw(rt, "from"), end.Draw(rt, "to")
		got := Edges(from, to, colors, nil)
		check(rt, from, to, colors, got)
		for i, c := range Edges(from, to, colors, got) {
			if c != got[i] {
				rt.Fatalf("edge %d had color %d, and has %d", i, got[i], c)
			}
		}
		before := rapid.SliceOfN(rapid.Int32Range(-1, int32(colors)), m, m).Draw(rt, "before")
		check(rt, from, to, colors, Edges(from, to, colors, before))
	})
}

func check(t *rapid.T, from, to []int32, colors int, got []int32) {
	for _, of := range [][]int32{from, to} {
		degree, count := map[int32]int{}, map[[2]int32]int{}
		for i, v := range of {
			degree[v]++
			if got[i] < 0 || int(got[i]) >= colors {
				t.Fatalf("edge %d has color %d", i, got[i])
			}
			count[[2]int32{v, got[i]}]++
		}
		for k, n := range count {
			if n > (degree[k[0]]+colors-1)/colors {
				t.Fatalf("end %d has %d of %d edges in color %d, of %d", k[0], n, degree[k[0]], k[1], colors)
			}
		}
	}
}

// Trees are found, with their planes, and nothing else is taken for one; permutations of their hosts do not meet.
func TestTree(t *testing.T) {
	for spec, want := range map[string][2]int{"fattree:ports=8": {4, 1}, "fattree:ports=8,levels=3": {4, 4}, "xgft:m=4x4,w=2x2,hosts=2": {2, 2}, "xgft:m=3x5,w=1x3,hosts=3": {1, 3}, "torus:4x4": {}, "dragonfly:p=2": {}, "fattree:ports=8,levels=2,hosts=6": {2, 1}} {
		net, err := topology.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		f, err := net.Build()
		if err != nil {
			t.Fatal(err)
		}
		tree := Of(f)
		if want[0] == 0 {
			if tree != nil {
				t.Errorf("%s is taken for a tree", spec)
			}
			continue
		}
		if tree == nil {
			t.Errorf("%s is not taken for a tree", spec)
			continue
		}
		if a, b := tree.Roots(); a != want[0] || b != want[1] {
			t.Errorf("%s: %d planes of %d tops", spec, a, b)
			continue
		}
		for seed := range uint64(20) {
			permuted(t, spec, f, tree, rand.New(rand.NewPCG(seed, 1)))
		}
	}
}

func permuted(t *testing.T, spec string, f *fabric.Fabric, tree *Tree, r *rand.Rand) {
	t.Helper()
	var hosts []int32
	per := map[int32]int{}
	for i := range f.Endpoints() {
		if e := f.Endpoint(fabric.EndpointID(i)); e.Class == fabric.HostAdapter {
			hosts = append(hosts, tree.Leaf[e.Switch])
			per[tree.Leaf[e.Switch]]++
		}
	}
	to := make([]int32, len(hosts))
	for i, j := range r.Perm(len(hosts)) {
		to[i] = hosts[j]
	}
	planes, tops := tree.Roots()
	load := map[[4]int32]int{}
	for i, w := range tree.Color(hosts, to, nil) {
		if w.Within {
			continue
		}
		load[[4]int32{0, hosts[i], w.Plane, w.Cable}]++
		load[[4]int32{1, to[i], w.Plane, w.Cable}]++
		if p, q := tree.Pod[hosts[i]], tree.Pod[to[i]]; w.Beyond != (p != q) {
			t.Fatalf("%s: from pod %d to %d: %+v", spec, p, q, w)
		} else if w.Beyond {
			load[[4]int32{2, p, w.Plane, w.Top*8 + w.TopCable}]++
			load[[4]int32{3, q, w.Plane, w.Top*8 + w.TopCable}]++
		}
	}
	podLeaves := len(tree.Leaves) / len(tree.Spines)
	most := (per[0] + planes*tree.Cables[0] - 1) / (planes * tree.Cables[0])
	for k, n := range load {
		limit := most
		if k[0] > 1 {
			limit = (podLeaves*most*tree.Cables[0] + tops*tree.Cables[1] - 1) / (tops * tree.Cables[1])
		}
		if n > limit {
			t.Fatalf("%s: %d demands on %v, where %d suffice", spec, n, k, limit)
		}
	}
}
