package shortest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/shortest"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

func paths(t *testing.T, f *fabric.Fabric, o shortest.Finder) *routing.Forwarding {
	t.Helper()
	fw, err := o.Paths(context.Background(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fw
}

// next is where a switch sends a LID.
func next(f *fabric.Fabric, fw *routing.Forwarding, s fabric.NodeID, lid fabric.LID) fabric.NodeID {
	return f.Channel(f.Out(s, fw.Port(s, lid))).To
}

// Whatever is picked: one tree for all LIDs of a switch, and each step one hop
// nearer.
func TestOneTreeForEachSwitch(t *testing.T) {
	for _, spec := range []string{"torus:4x4,hosts=3", "random:switches=4,links=20,hosts=5", "dragonfly:p=2", "karytree:k=3,n=2"} {
		f := testnet.Build(t, spec)
		var tree routing.Tree
		for _, o := range []shortest.Finder{{}, {Pick: shortest.Lowest}, {Pick: shortest.Random, Seed: 1}} {
			fw := paths(t, f, o)
			for root := range fabric.NodeID(f.Switches()) {
				all := f.Attached(root)
				first := f.Endpoint(all[0]).LID
				tree.Build(f, fw.Row(first), root)
				for s := range fabric.NodeID(f.Switches()) {
					if s == root {
						continue
					}
					for c, end := f.TrunksFrom(s); c < end; c++ {
						if tree.Depth(f.Heads()[c]) < tree.Depth(s)-1 {
							t.Fatalf("%s, %+v: to switch %d, a neighbour of %d is two hops nearer", spec, o, root, s)
						}
					}
					for _, e := range all {
						if lid := f.Endpoint(e).LID; next(f, fw, s, lid) != next(f, fw, s, first) {
							t.Errorf("%s, %+v: switch %d sends LIDs %d and %d to different switches", spec, o, s, first, lid)
						}
					}
				}
			}
		}
	}
}

// The LIDs of a switch take turns over parallel cables.
func TestParallelCablesTakeTurns(t *testing.T) {
	f := testnet.Build(t, "random:switches=2,links=4,hosts=7")
	fw := paths(t, f, shortest.Finder{})
	count := map[uint8]int{}
	for _, e := range f.Attached(1) {
		count[fw.Port(0, f.Endpoint(e).LID)]++
	}
	if len(count) != 4 {
		t.Errorf("LIDs by port: %v, want all four cables", count)
	}
	for port, n := range count {
		if n != 2 {
			t.Errorf("%d LIDs by port %d, want 2", n, port)
		}
	}
}

// A seed makes the same paths again, another one others.
func TestSeeds(t *testing.T) {
	f := testnet.Build(t, "hypercube:4")
	same := func(a, b *routing.Forwarding) bool {
		for lid := range f.TopLID() + 1 {
			for s := range fabric.NodeID(f.Switches()) {
				if a.Port(s, lid) != b.Port(s, lid) {
					return false
				}
			}
		}
		return true
	}
	one := paths(t, f, shortest.Finder{Pick: shortest.Random, Seed: 1})
	if !same(one, paths(t, f, shortest.Finder{Pick: shortest.Random, Seed: 1})) {
		t.Error("one seed makes two forwardings")
	}
	if same(one, paths(t, f, shortest.Finder{Pick: shortest.Random, Seed: 2})) {
		t.Error("two seeds make one forwarding")
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (shortest.Finder{}).Paths(ctx, testnet.Build(t, "ring:4"), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled, and the error is %v", err)
	}
}
