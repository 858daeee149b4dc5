package dag_test

import (
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/topology"
)

// told is the graph of all shortest paths, told simply: who is found first comes first, by
// the trunks of those before.
func told(f *fabric.Fabric, root fabric.NodeID) *dag.DAG {
	d := &dag.DAG{Root: root, Order: []fabric.NodeID{root}, First: []int32{0}, Hops: f.Hops(root)}
	for i := 0; i < len(d.Order); i++ {
		u := d.Order[i]
		for c, end := f.TrunksFrom(u); c < end; c++ {
			v := f.Heads()[c]
			if !slices.Contains(d.Order, v) {
				d.Order = append(d.Order, v)
			}
			if d.Hops[v] == d.Hops[u]-1 {
				d.Out, d.Head = append(d.Out, c), append(d.Head, v)
			}
		}
		d.First = append(d.First, int32(len(d.Out)))
	}
	return d
}

// without is a network less some of its cables.
func without(t *testing.T, spec string, cables int) *fabric.Fabric {
	t.Helper()
	loss, err := topology.Damage{Links: cables, Seed: 1}.Draw(testnet.Build(t, spec))
	if err != nil {
		t.Fatal(err)
	}
	f, err := loss.Apply(testnet.Build(t, spec))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Shortest fills a graph, again and again, with all that is in it and in the order in which
// it is found: whether the farthest are asked for their trunks or those before them, whether
// the graph before, of another root or network, was as deep or not, and whether or not all
// are joined.
func TestShortest(t *testing.T) {
	full := testnet.Build(t, "hyperx:12")
	dragonfly := testnet.Build(t, "dragonfly:p=3")
	var cut []fabric.ChannelID
	for c, end := dragonfly.TrunksFrom(7); c < end; c++ {
		cut = append(cut, c)
	}
	apart, err := dragonfly.Without(cut, nil)
	if err != nil {
		t.Fatal(err)
	}
	var d dag.DAG
	for _, f := range []*fabric.Fabric{
		full, dragonfly, without(t, "dragonfly:p=3", 40), testnet.Build(t, "dragonfly:p=4"), full,
		apart, testnet.Build(t, "random:switches=60,links=300,hosts=1,seed=2"),
		testnet.Build(t, "planes:ports=8,groups=3,leaves=3,on=2,tails=2,trunk=2"), testnet.Build(t, "ring:9"), dragonfly,
	} {
		for root := range fabric.NodeID(f.Switches()) {
			dag.Shortest(&d, f, root)
			want := told(f, root)
			if d.Root != root || !slices.Equal(d.Order, want.Order) || !slices.Equal(d.First, want.First) ||
				!slices.Equal(d.Out, want.Out) || !slices.Equal(d.Head, want.Head) || !slices.Equal(d.Hops, want.Hops) {
				t.Fatalf("%d switches, to %d: %v, want %v", f.Switches(), root, d, want)
			}
		}
	}
}
