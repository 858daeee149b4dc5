package updown_test

import (
	"context"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/adaptive/judge"
	"github.com/weft-fabric/weft/internal/engine/paths/updown"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Source routes are proven, each a path of its pair in the layers that it should have;
// with several seeds a pair takes every shortest one.
func TestSourceRoutes(t *testing.T) {
	const layers = 3
	for _, spec := range []string{"random:switches=16,links=32,hosts=1,seed=3", "torus:4x4,hosts=1", "ring:6", "karytree:k=2,n=3"} {
		f := testnet.Build(t, spec)
		ends := routing.HCA.Ends(f)
		for _, o := range []updown.SourceRoutes{{}, {All: true}, {Roots: true}, {Roots: true, All: true}, {Roots: true, DepthFirst: true}, {Roots: true, DepthFirst: true, All: true}} {
			r, err := o.RouteAdaptive(context.Background(), f, routing.Budget{VLs: layers, Scope: routing.HCA}, nil)
			if err != nil {
				t.Fatal(err)
			}
			v, err := judge.Verify(context.Background(), r, judge.Options{})
			if err != nil || !v.Free() || !v.Complete() {
				t.Fatalf("%s, %+v: %+v, %v", spec, o, v, err)
			}
			for d := range fabric.NodeID(f.Switches()) {
				for s := range fabric.NodeID(f.Switches()) {
					used := uint16(0)
					for a, end := r.AddressesOf(d); a < end; a++ {
						used |= r.Allowed(s, a)
					}
					want := uint16(0)
					switch {
					case s == d || !ends[s] || !ends[d]:
					case o.All:
						want = 1<<layers - 1
					default:
						want = 1 << ((int(s) + int(d)) % layers)
					}
					if used != want {
						t.Fatalf("%s, %+v: from %d to %d the layers %b, want %b", spec, o, s, d, used, want)
					}
				}
			}
		}
	}
}

// Paths go up, then down, and are as short as such paths can be: compared with a search
// over switches and whether the path went down already, in a tree whose root is known.
func TestSourceRoutesAreShortest(t *testing.T) {
	f := testnet.Build(t, "random:switches=24,links=48,hosts=1,seed=5")
	rank := f.Hops(0) // of one layer with Roots the lowest switch is the root
	up := func(c *fabric.Channel) bool {
		return rank[c.To] < rank[c.From] || rank[c.To] == rank[c.From] && c.To < c.From
	}
	seen := map[[2]fabric.NodeID]map[string]bool{}
	for seed := range uint64(20) {
		r, err := updown.SourceRoutes{Roots: true, Seed: seed}.RouteAdaptive(context.Background(), f, routing.Budget{VLs: 1, Scope: routing.HCA}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for a := range adaptive.Address(r.Addresses()) {
			for s := range fabric.NodeID(f.Switches()) {
				if r.Allowed(s, a) == 0 {
					continue
				}
				at, hops, down, way := s, 0, false, ""
				for at != r.Destination(a) {
					first, end := f.TrunksFrom(at)
					c := r.Ways(a, fabric.None, 0, 0).Next(first, end)
					if up(f.Channel(c)) && down {
						t.Fatalf("from %d to %d the path goes down, then up", s, r.Destination(a))
					}
					down = !up(f.Channel(c))
					at, hops, way = f.Channel(c).To, hops+1, way+string(rune(c))
				}
				if want := shortestLegal(f, up, s, at); hops != want {
					t.Fatalf("from %d to %d in %d hops, the shortest legal path has %d", s, at, hops, want)
				}
				pair := [2]fabric.NodeID{s, at}
				if seen[pair] == nil {
					seen[pair] = map[string]bool{}
				}
				seen[pair][way] = true
			}
		}
	}
	several := 0
	for _, ways := range seen {
		if len(ways) > 1 {
			several++
		}
	}
	if several < 100 {
		t.Errorf("%d of %d pairs have several paths over the seeds", several, len(seen))
	}
}

// shortestLegal is the hops of the shortest path that goes up, then down.
func shortestLegal(f *fabric.Fabric, up func(*fabric.Channel) bool, from, to fabric.NodeID) int {
	type state struct {
		at   fabric.NodeID
		down bool
	}
	hops := map[state]int{{from, false}: 0}
	for queue := []state{{from, false}}; ; queue = queue[1:] {
		x := queue[0]
		if x.at == to {
			return hops[x]
		}
		for c, end := f.TrunksFrom(x.at); c < end; c++ {
			ch := f.Channel(c)
			next := state{ch.To, !up(ch)}
			if _, known := hops[next]; !known && (!x.down || next.down) {
				hops[next] = hops[x] + 1
				queue = append(queue, next)
			}
		}
	}
}
