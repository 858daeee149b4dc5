package orient

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/testnet"
)

// Distances and centres are those of a table of all distances, filled by Floyd and
// Warshall, on networks in parts too; ranks rise along ByRank, with the parts that have
// no root ranked from their lowest switch.
func TestDistances(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := testnet.Build(t, rapid.SampledFrom([]string{"ring:6", "mesh:3x4", "karytree:k=2,n=3", "random:switches=10,links=12,seed=4"}).Draw(t, "network"))
		var gone []fabric.ChannelID
		for range rapid.IntRange(0, 6).Draw(t, "cuts") {
			gone = append(gone, fabric.ChannelID(rapid.IntRange(0, f.Trunks()-1).Draw(t, "cut")))
		}
		f, err := f.Without(gone, nil)
		if err != nil {
			t.Fatal(err)
		}
		hops := table(f)
		for i, part := range f.Parts() {
			best, score := part[0], [2]int{}
			for k, s := range part {
				own := [2]int{}
				for _, v := range part {
					own[0], own[1] = max(own[0], hops[s][v]), own[1]+hops[s][v]
				}
				if k == 0 || slices.Compare(own[:], score[:]) < 0 {
					best, score = s, own
				}
			}
			if got := Centres(f)[i]; got != best {
				t.Fatalf("the centre of %v is %d, not %d", part, best, got)
			}
		}
		roots := rapid.SliceOfNDistinct(rapid.IntRange(0, f.Switches()-1), 1, 3, rapid.ID).Draw(t, "roots")
		var from []fabric.NodeID
		for _, r := range roots {
			from = append(from, fabric.NodeID(r))
		}
		rank := make([]int, f.Switches())
		for s, d := range f.Hops(from...) {
			want := apart
			for _, r := range roots {
				want = min(want, hops[s][r])
			}
			if rank[s] = int(d); want == apart && d != dag.NoPath || want != apart && int(d) != want {
				t.Fatalf("%d hops from %v to %d, %d by the table", d, from, s, want)
			}
		}
		for _, part := range f.Parts() {
			for _, s := range part {
				if rank[s] == dag.NoPath {
					rank[s] = hops[s][part[0]]
				}
			}
		}
		order := ByRank(f, from)
		if !slices.IsSortedFunc(order, func(a, b fabric.NodeID) int { return (rank[a]-rank[b])*len(order) + int(a-b) }) {
			t.Fatalf("order %v by ranks %v", order, rank)
		}
	})
}

// apart is farther than any path.
const apart = 1 << 20

func table(f *fabric.Fabric) [][]int {
	n := f.Switches()
	hops := make([][]int, n)
	for a := range hops {
		hops[a] = slices.Repeat([]int{apart}, n)
		hops[a][a] = 0
	}
	for c := range fabric.ChannelID(f.Trunks()) {
		hops[f.Channel(c).From][f.Channel(c).To] = 1
	}
	for k := range n {
		for a := range n {
			for b := range n {
				hops[a][b] = min(hops[a][b], hops[a][k]+hops[k][b])
			}
		}
	}
	return hops
}
