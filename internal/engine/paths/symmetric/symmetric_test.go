package symmetric_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/shortest"
	"github.com/weft-fabric/weft/internal/engine/paths/symmetric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

var finders = []symmetric.Finder{{}, {Regular: true}}

func paths(t testnet.TB, f *fabric.Fabric, p routing.PathFinder) *routing.Forwarding {
	t.Helper()
	fw, err := p.Paths(context.Background(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fw
}

// walk is the switches on the way from one to a LID; nil where there is none.
func walk(f *fabric.Fabric, fw *routing.Forwarding, from fabric.NodeID, lid fabric.LID) []fabric.NodeID {
	to := f.Endpoint(f.Owner(lid)).Switch
	way := []fabric.NodeID{from}
	for at := from; at != to; {
		if fw.Port(at, lid) == routing.NoPort || len(way) > f.Switches() {
			return nil
		}
		at = f.Heads()[f.Out(at, fw.Port(at, lid))]
		way = append(way, at)
	}
	return way
}

// check walks all paths between switches: each is minimal, there wherever cables join
// its ends, the same for every LID of a switch, and the reverse of the way back but for
// as many pairs as the note says.
func check(f *fabric.Fabric, fw *routing.Forwarding) error {
	apart, joined := 0, 0
	for to := range fabric.NodeID(f.Switches()) {
		var d dag.DAG
		dag.Shortest(&d, f, to)
		lids := dag.LIDsOn(f, to, nil)
		for from := range fabric.NodeID(f.Switches()) {
			way := walk(f, fw, from, lids[0])
			if len(way) != int(d.Hops[from])+1 {
				return fmt.Errorf("from %d to %d it is %d hops; the path is %v", from, to, d.Hops[from], way)
			}
			for _, lid := range lids[1:] {
				if !slices.Equal(way, walk(f, fw, from, lid)) {
					return fmt.Errorf("from %d the LIDs %d and %d are reached by different switches", from, lids[0], lid)
				}
			}
			if from >= to || way == nil {
				continue
			}
			joined++
			back := walk(f, fw, to, dag.LIDsOn(f, from, nil)[0])
			if slices.Reverse(back); !slices.Equal(way, back) {
				apart++
			}
		}
	}
	note := "the way back is the same for all pairs of switches"
	if len(fw.Notes) == 1 && fw.Notes[0] != note {
		var said, of int
		if _, err := fmt.Sscanf(fw.Notes[0], "the way back is the same for all but %d of %d pairs", &said, &of); err != nil || of != joined || said == 0 {
			return fmt.Errorf("the note says %q; there are %d pairs", fw.Notes[0], joined)
		}
		if apart < said || apart > joined/8 { // paths that lead over a pair that is apart are so, too
			return fmt.Errorf("%d of %d pairs have another way back; the note says %q", apart, joined, fw.Notes[0])
		}
		return nil
	}
	if apart > 0 {
		return fmt.Errorf("%d pairs have another way back; the note says %q", apart, fw.Notes)
	}
	return nil
}

func TestSymmetricPaths(t *testing.T) {
	for _, spec := range []string{
		"ring:7", "torus:4x4x4,hosts=2", "torus:6x5,hosts=1", "mesh:3x4", "hypercube:5", "karytree:k=4,n=3", "dragonfly:p=2",
		"kautz:b=3,n=3,hosts=2", "slimfly:q=5,hosts=3", "random:switches=40,links=90,hosts=2,seed=3", "random:switches=4,links=20,hosts=5",
	} {
		for _, o := range finders {
			f := testnet.Build(t, spec)
			if err := check(f, paths(t, f, o)); err != nil {
				t.Errorf("%s, %+v: %v", spec, o, err)
			}
		}
	}
}

// On networks that fall apart as well.
func TestSymmetricPathsOnAnyNetwork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 20).Draw(t, "switches")
		f := testnet.Build(t, fmt.Sprintf("random:switches=%d,links=%d,hosts=1,seed=%d", n, rapid.IntRange(n-1, 2*n).Draw(t, "links"), rapid.Uint64Range(0, 99).Draw(t, "seed")))
		var gone []fabric.ChannelID
		for range rapid.IntRange(0, 6).Draw(t, "failures") {
			gone = append(gone, fabric.ChannelID(rapid.IntRange(0, f.Trunks()-1).Draw(t, "cable")))
		}
		f, err := f.Without(gone, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range finders {
			if err := check(f, paths(t, f, o)); err != nil {
				t.Fatalf("%+v: %v", o, err)
			}
		}
	})
}

// They are as well balanced as independent shortest paths, or better.
func TestBalance(t *testing.T) {
	for _, spec := range []string{"dragonfly:p=3", "torus:4x4x4,hosts=2", "kautz:b=3,n=3,hosts=2", "random:switches=64,links=128,hosts=4,seed=1", "xgft:m=12,w=6,hosts=6"} {
		f := testnet.Build(t, spec)
		most := func(p routing.PathFinder) uint32 { return congestion.Count(f, paths(t, f, p), routing.HCA).Max }
		if got, other := most(symmetric.Finder{}), most(shortest.Finder{}); got > other {
			t.Errorf("%s: %d routes on the fullest channel; with independent paths %d", spec, got, other)
		}
	}
}

// The LIDs of a switch take turns over parallel cables, which count as one link as wide
// as they are many.
func TestParallelCables(t *testing.T) {
	f := testnet.Build(t, "random:switches=2,links=4,hosts=7")
	fw := paths(t, f, symmetric.Finder{})
	count := map[uint8]int{}
	for _, e := range f.Attached(1) {
		count[fw.Port(0, f.Endpoint(e).LID)]++
	}
	if len(count) != 4 {
		t.Errorf("LIDs by port: %v, want all four cables", count)
	}

	// Switch 0 and three others with hosts are joined by switch 1, with two cables, and by
	// switch 2, with one: of three paths two go by switch 1.
	var b fabric.Builder
	var sw []fabric.Ref
	var ports [6]uint8
	join := func(x, y int) {
		ports[x]++
		ports[y]++
		b.Cable(sw[x], ports[x], sw[y], ports[y], fabric.Rate{})
	}
	for i := range 6 {
		sw = append(sw, b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Ports: 9}, ""))
		if i == 1 || i == 2 {
			continue
		}
		b.Cable(b.Node(fabric.Node{GUID: fabric.GUID(i + 10), Kind: fabric.Adapter, Ports: 1}, ""), 1, sw[i], 9, fabric.Rate{})
	}
	for _, leaf := range []int{0, 3, 4, 5} {
		join(leaf, 1)
		join(leaf, 1)
		join(leaf, 2)
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	fw = paths(t, g, symmetric.Finder{})
	byB := 0
	for _, s := range []fabric.NodeID{3, 4, 5} {
		if walk(g, fw, 0, g.Endpoint(g.Attached(s)[1]).LID)[1] == 1 {
			byB++
		}
	}
	if byB != 2 {
		t.Errorf("%d of 3 paths by the neighbour with two cables, want 2", byB)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, o := range finders {
		if _, err := o.Paths(ctx, testnet.Build(t, "ring:4"), nil); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled, and the error is %v", err)
		}
	}
}
