package weave_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/lanes/hop"
	"github.com/weft-fabric/weft/internal/engine/lanes/layer"
	"github.com/weft-fabric/weft/internal/engine/lanes/weave"
	"github.com/weft-fabric/weft/internal/engine/paths/shortest"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// assign finds lanes and has them judged under the contract that they are for, and any
// too where there is one service level.
func assign(t testnet.TB, f *fabric.Fabric, fw *routing.Forwarding, a routing.LaneAssigner, b routing.Budget) (*routing.Lanes, *deadlock.Verdict) {
	t.Helper()
	lanes, err := a.Lanes(context.Background(), f, fw, b, nil)
	if few := (*routing.TooFewLanes)(nil); errors.As(err, &few) {
		return nil, nil
	}
	if err != nil {
		t.Fatal(err)
	}
	tables := &routing.Tables{Fabric: f, Forwarding: fw, Lanes: lanes}
	v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Contract: b.Contract, Scope: b.Scope})
	if err != nil {
		t.Fatal(err)
	}
	if !v.Free() || v.Dropped > 0 || v.VLs > lanes.Needed || lanes.Needed > b.VLs {
		t.Fatal(fmt.Sprintf("free %v, %d dropped, %d lanes in use, %d needed, %d offered", v.Free(), v.Dropped, v.VLs, lanes.Needed, b.VLs))
	}
	if _, layers := a.(weave.Assigner); layers && v.SLs == 1 {
		if any, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Contract: routing.Any, Scope: b.Scope}); err != nil || !any.Free() {
			t.Fatal("one service level, and not free under contract any")
		}
	}
	return lanes, v
}

func sssps(t testnet.TB, f *fabric.Fabric) *routing.Forwarding {
	t.Helper()
	fw, err := sssp.Finder{}.Paths(context.Background(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fw
}

// Without changes of lane it makes layers, service level by service level, each of
// which is free of cycles by itself, and about as few as first-fit makes: no more
// than one more on any of these networks, and the same on most.
func TestNeverIsFirstFit(t *testing.T) {
	same := 0
	specs := []string{"ring:5", "ring:8", "torus:4x4", "torus:5x5", "torus:4x4x4", "dragonfly:p=2", "random:switches=20,links=40,seed=1", "random:switches=30,links=50,seed=2", "hypercube:4", "deimos"}
	for _, spec := range specs {
		f := testnet.Build(t, spec)
		fw := sssps(t, f)
		b := routing.Budget{VLs: routing.MaxDataVLs, Scope: routing.HCA, Contract: routing.Directed}
		got, v := assign(t, f, fw, weave.Assigner{Change: weave.Never}, b)
		want, _ := assign(t, f, fw, layer.FirstFit{}, b)
		if got == nil || want == nil {
			t.Fatalf("%s: no layers", spec)
		}
		lane, uniform := got.SL2VL.Uniform()
		for sl := range got.Needed {
			if !uniform || int(lane[sl]) != sl {
				t.Fatalf("%s: SL %d does not ride lane %d everywhere", spec, sl, sl)
			}
		}
		if v.SLs > got.Needed || got.Needed > want.Needed+1 {
			t.Errorf("%s: %d layers, %d service levels; first-fit makes %d layers", spec, got.Needed, v.SLs, want.Needed)
		}
		if got.Needed <= want.Needed {
			same++
		}
	}
	if same*4 < len(specs)*3 {
		t.Errorf("as few layers as first-fit on %d of %d networks only", same, len(specs))
	}
}

// With a change at every turn it needs as many lanes as DF-DN: the hops of the
// longest path.
func TestAlwaysIsDFDN(t *testing.T) {
	for _, spec := range []string{"ring:5", "ring:8", "torus:4x4", "mesh:3x3", "dragonfly:p=2", "dragonfly:p=3", "random:switches=20,links=40,seed=1", "karytree:k=3,n=3"} {
		f := testnet.Build(t, spec)
		fw := sssps(t, f)
		b := routing.Budget{VLs: routing.MaxDataVLs, Scope: routing.HCA, Contract: routing.Directed}
		got, _ := assign(t, f, fw, weave.Assigner{Change: weave.Always}, b)
		want, _ := assign(t, f, fw, hop.DN{}, b)
		if got == nil || want == nil {
			t.Fatalf("%s: no lanes", spec)
		}
		if got.Needed != want.Needed {
			t.Errorf("%s: %d lanes, DF-DN takes %d", spec, got.Needed, want.Needed)
		}
	}
}

// Free needs no more lanes than either extreme, on any network, for paths by chance.
func TestNoMoreLanesThanTheExtremes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 14).Draw(t, "switches")
		links := rapid.IntRange(n, min(2*n, n*(n-1)/2)).Draw(t, "links")
		f := testnet.Build(t, fmt.Sprintf("random:switches=%d,links=%d,seed=%d", n, links, rapid.IntRange(1, 99).Draw(t, "wiring")))
		fw, err := shortest.Finder{Pick: shortest.Random, Seed: rapid.Uint64().Draw(t, "paths")}.Paths(context.Background(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		b := routing.Budget{VLs: routing.MaxDataVLs, Scope: rapid.SampledFrom([]routing.Scope{routing.HCA, routing.All}).Draw(t, "scope"), Contract: routing.Directed}
		got, _ := assign(t, f, fw, weave.Assigner{}, b)
		if got == nil {
			t.Fatal("no lanes")
		}
		for _, a := range []routing.LaneAssigner{weave.Assigner{Change: weave.Never}, weave.Assigner{Change: weave.Always}, layer.FirstFit{}, hop.DN{}} {
			if l, _ := assign(t, f, fw, a, b); l != nil && l.Needed < got.Needed {
				t.Fatalf("%d lanes, %T %+v takes %d", got.Needed, a, a, l.Needed)
			}
		}
	})
}

// For both ways between two switches one service level, and few lanes more.
func TestBothWays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 14).Draw(t, "switches")
		links := rapid.IntRange(n, min(2*n, n*(n-1)/2)).Draw(t, "links")
		f := testnet.Build(t, fmt.Sprintf("random:switches=%d,links=%d,hosts=2,seed=%d", n, links, rapid.IntRange(1, 99).Draw(t, "wiring")))
		fw := sssps(t, f)
		b := routing.Budget{VLs: routing.MaxDataVLs, Scope: rapid.SampledFrom([]routing.Scope{routing.HCA, routing.All}).Draw(t, "scope")}
		a := weave.Assigner{Change: rapid.SampledFrom([]weave.Change{weave.Free, weave.Never, weave.Always}).Draw(t, "change")}
		l, _ := assign(t, f, fw, a, b)
		if l == nil {
			return
		}
		for _, from := range b.Scope.Endpoints(f) {
			for _, to := range b.Scope.Endpoints(f) {
				if there, back := l.SL(from, f.Endpoint(to).LID), l.SL(to, f.Endpoint(from).LID); from != to && there != back {
					t.Fatalf("SL %d from endpoint %d to %d, SL %d back", there, from, to, back)
				}
			}
		}
		b.Contract = routing.Directed
		if least, _ := assign(t, f, fw, a, b); least == nil || l.Needed > least.Needed+2 && a.Change != weave.Never {
			t.Fatalf("%d lanes, directed %d", l.Needed, least.Needed)
		}
	})
}

// Too few lanes are refused as such.
func TestTooFewLanes(t *testing.T) {
	f := testnet.Build(t, "torus:5x5")
	_, err := weave.Assigner{}.Lanes(context.Background(), f, sssps(t, f), routing.Budget{VLs: 1}, nil)
	if few := (*routing.TooFewLanes)(nil); !errors.As(err, &few) || few.Have != 1 || few.Need != 2 || !few.AtLeast {
		t.Fatalf("one lane on a torus: %v", err)
	}
	if _, err := (weave.Assigner{}).Lanes(context.Background(), f, sssps(t, f), routing.Budget{VLs: -1}, nil); err == nil {
		t.Fatal("fewer lanes than none, and no error")
	}
}

func BenchmarkLanes(b *testing.B) {
	for _, spec := range []string{"dragonfly:p=4", "random:switches=128,links=256,hosts=16,seed=1", "torus:4x4x4,hosts=2"} {
		b.Run(spec, func(b *testing.B) {
			f := testnet.Build(b, spec)
			fw := sssps(b, f)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := (weave.Assigner{}).Lanes(context.Background(), f, fw, routing.Budget{VLs: 8, Scope: routing.Adapters}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
