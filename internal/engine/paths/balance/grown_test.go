package balance_test

import (
	"fmt"
	"testing"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/balance"
	"github.com/weft-fabric/weft/internal/engine/paths/fattree"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// grownTree is a tree of three levels as they grow: six groups of eight leaves, each with a
// spine on every one of three planes that share no switch above, and behind the last leaf
// of some groups one or two more, in a row.
func grownTree(t *testing.T) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	ports := map[fabric.Ref]uint8{}
	node := func(kind fabric.Kind, name string) fabric.Ref {
		n := len(ports)
		r := b.Node(fabric.Node{GUID: fabric.GUID(n + 1), Kind: kind, Ports: 64, Name: fmt.Sprintf("%s-%d", name, n)}, "")
		ports[r] = 0
		return r
	}
	join := func(x, y fabric.Ref) {
		ports[x]++
		ports[y]++
		b.Cable(x, ports[x], y, ports[y], fabric.Rate{})
	}
	leaf := func() fabric.Ref {
		s := node(fabric.Switch, "leaf")
		for range 3 {
			join(node(fabric.Adapter, "host"), s)
		}
		return s
	}
	var planes [3][]fabric.Ref
	for group := range 6 {
		var leaves []fabric.Ref
		for range 8 {
			leaves = append(leaves, leaf())
		}
		for p := range planes {
			spine := node(fabric.Switch, "spine")
			planes[p] = append(planes[p], spine)
			for _, l := range leaves {
				join(l, spine)
			}
		}
		last := leaves[7]
		for range group % 3 {
			tail := leaf()
			join(last, tail)
			join(last, tail)
			last = tail
		}
	}
	for _, spines := range planes {
		for range 3 {
			top := node(fabric.Switch, "top")
			for _, s := range spines {
				join(s, top)
			}
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Where paths for random pairs take long for shifts, mixed gives a little of their bandwidth
// for a good deal of that, though what it begins with has somewhat less than it would keep
// in any case.
func TestGrownTree(t *testing.T) {
	testnet.OnlyWhole(t)
	f := grownTree(t)
	shifts := func(fw *routing.Forwarding) float64 {
		p, err := traffic.Parse("shifts")
		if err != nil {
			t.Fatal(err)
		}
		tables := &routing.Tables{Fabric: f, Forwarding: fw, Lanes: routing.OneSL(f, routing.LanePerSL(1))}
		r, err := congestion.Simulate(t.Context(), tables, congestion.Options{Pattern: p, Placement: f.ByPort(routing.HCA.Endpoints(f))})
		if err != nil {
			t.Fatal(err)
		}
		return r.Slowdown()
	}
	begin := []balance.Beginning{{Name: "ftree", Paths: fattree.Finder{}}, {Name: "sssp", Paths: sssp.Finder{}}}
	pairs, mixed := paths(t, f, balance.Finder{Aim: balance.Bisection}), paths(t, f, balance.Finder{Begin: begin})
	was, is := lambda(t, f, pairs, 300), lambda(t, f, mixed, 300)
	before, after := shifts(pairs), shifts(mixed)
	t.Logf("random pairs %.3f, shifts %.2f; mixed %.3f, %.2f", was, before, is, after)
	if is < .93*was || after > .6*before {
		t.Errorf("mixed: %.3f and %.2f; for random pairs alone %.3f and %.2f", is, after, was, before)
	}
}
