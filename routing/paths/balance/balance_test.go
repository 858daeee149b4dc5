package balance_test

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/lanes/single"
	"github.com/weft-fabric/weft/routing/paths/balance"
	"github.com/weft-fabric/weft/routing/paths/sssp"
)

func paths(t testing.TB, f *fabric.Fabric, p routing.PathFinder) *routing.Forwarding {
	t.Helper()
	fw, err := p.Paths(context.Background(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fw
}

// same says whether two routings are the same, entry by entry.
func same(f *fabric.Fabric, a, b *routing.Forwarding) bool {
	for lid := range f.LIDs() {
		if !bytes.Equal(a.Row(lid), b.Row(lid)) {
			return false
		}
	}
	return true
}

// Every path has the fewest hops, which sssp's are known to have, and goes where
// it should; whatever cores there are, the routing is the same.
func TestShortestAndDeterministic(t *testing.T) {
	specs := []string{"karytree:k=3,n=3", "torus:4x3,hosts=2", "dragonfly:p=2", "random:switches=20,links=40,hosts=3,seed=2", "deimos", "hypercube:4"}
	for _, spec := range specs {
		f := testnet.Build(t, spec)
		judge(t, spec, f, balance.Finder{Passes: 2})
		before := runtime.GOMAXPROCS(1)
		one := paths(t, f, balance.Finder{Passes: 2})
		runtime.GOMAXPROCS(before)
		if !same(f, one, paths(t, f, balance.Finder{Passes: 2})) {
			t.Errorf("%s: one core routes otherwise than %d", spec, before)
		}
	}
}

// judge asks the judge whether a routing is connected, and compares hops and pairs
// with those of sssp.
func judge(t testing.TB, name string, f *fabric.Fabric, p routing.PathFinder) *routing.Forwarding {
	t.Helper()
	ctx := context.Background()
	fw, err := p.Paths(ctx, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	shortest, err := sssp.Finder{}.Paths(ctx, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	for lid, id := range f.LIDs() {
		root := f.Endpoint(id).Switch
		if root == fabric.None {
			continue
		}
		var ours, theirs routing.Tree
		ours.Build(f, fw.Row(lid), root)
		theirs.Build(f, shortest.Row(lid), root)
		for s := range fabric.NodeID(f.Switches()) {
			if ours.Depth(s) != theirs.Depth(s) {
				t.Fatalf("%s: from switch %d to LID %d it takes %d hops, shortest %d", name, s, lid, ours.Depth(s), theirs.Depth(s))
			}
		}
		if fw.Port(root, lid) != shortest.Port(root, lid) {
			t.Fatalf("%s: LID %d is delivered by port %d, not %d", name, lid, fw.Port(root, lid), shortest.Port(root, lid))
		}
	}
	lanes, err := single.Assigner{}.Lanes(ctx, f, fw, routing.Budget{VLs: 1, Scope: routing.All}, nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := deadlock.Verify(ctx, &routing.Tables{Fabric: f, Forwarding: fw, Lanes: lanes}, deadlock.Options{Scope: routing.All})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Parts()) == 1 && !v.Complete() {
		t.Fatalf("%s: %d pairs without a route", name, v.Unreachable)
	}
	return fw
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (balance.Finder{}).Paths(ctx, testnet.Build(t, "torus:3x3"), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled, and the error is %v", err)
	}
}
