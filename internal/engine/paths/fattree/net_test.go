package fattree_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/lanes/single"
	"github.com/weft-fabric/weft/internal/engine/paths/fattree"
	"github.com/weft-fabric/weft/internal/engine/paths/minhop"
	"github.com/weft-fabric/weft/routing"
)

// tb is what tests and properties have in common.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
}

// sketch is a network by hand: hosts and aggregation nodes by switch, and cables.
type sketch struct {
	hosts  []int
	agg    []int    // may be shorter
	cables [][3]int // switch, switch, how many
}

func (k sketch) build(t tb) *fabric.Fabric {
	t.Helper()
	const ports = 64
	var b fabric.Builder
	var refs []fabric.Ref
	used := make([]uint8, len(k.hosts))
	port := func(s int) uint8 { used[s]++; return used[s] }
	for s := range k.hosts {
		refs = append(refs, b.Node(fabric.Node{GUID: fabric.GUID(s + 1), Ports: ports, Name: fmt.Sprintf("s%d", s)}, ""))
	}
	next := fabric.GUID(1000)
	attach := func(s int, vendor, device uint32) {
		next++
		a := b.Node(fabric.Node{GUID: next, Kind: fabric.Adapter, Ports: 1, VendorID: vendor, DeviceID: device}, "")
		b.Cable(refs[s], port(s), a, 1, fabric.Rate{})
	}
	for s, n := range k.hosts {
		for range n {
			attach(s, 0, 0)
		}
	}
	for s, n := range k.agg {
		for range n {
			attach(s, fabric.AggregationVendor, fabric.AggregationDevice)
		}
	}
	for _, c := range k.cables {
		for range c[2] {
			b.Cable(refs[c[0]], port(c[0]), refs[c[1]], port(c[1]), fabric.Rate{})
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatalf("%v", err)
	}
	return f
}

// paths routes a fabric or returns the refusal.
func paths(t tb, f *fabric.Fabric) (*routing.Forwarding, *routing.Refusal) {
	t.Helper()
	fw, err := fattree.Finder{}.Paths(context.Background(), f, nil)
	var refusal *routing.Refusal
	if err != nil && !errors.As(err, &refusal) {
		t.Fatalf("failed: %v", err)
	}
	return fw, refusal
}

func verdict(t tb, f *fabric.Fabric, fw *routing.Forwarding, scope routing.Scope) *deadlock.Verdict {
	t.Helper()
	lanes, err := single.Assigner{}.Lanes(context.Background(), f, fw, routing.Budget{VLs: 1}, nil)
	if err != nil {
		t.Fatalf("lanes: %v", err)
	}
	v, err := deadlock.Verify(context.Background(), &routing.Tables{Fabric: f, Forwarding: fw, Lanes: lanes}, deadlock.Options{Contract: routing.Any, Scope: scope})
	if err != nil {
		t.Fatalf("judging: %v", err)
	}
	return v
}

// grown is a tree as they grow: groups of leaves, each with wide spines on every plane;
// tops that join the spines of one plane; and behind the last leaf of some groups a tail
// of one to three leaves, in a row or side by side. Spines of different planes have no
// switch above both.
func grown(rng *rand.Rand, planes, groups, wide, tails int) sketch {
	const leaves, tops = 4, 2
	var k sketch
	add := func(hosts int) int { k.hosts = append(k.hosts, hosts); return len(k.hosts) - 1 }
	join := func(a, b, cables int) { k.cables = append(k.cables, [3]int{a, b, cables}) }
	spines := make([][]int, planes)
	for g := range groups {
		first := len(k.hosts)
		for range leaves {
			add(3)
		}
		for p := range planes {
			for range wide {
				s := add(0)
				spines[p] = append(spines[p], s)
				for l := range leaves {
					join(s, first+l, 1)
				}
			}
		}
		last := first + leaves - 1
		for n := rng.IntN(3); g < tails && n >= 0; n-- {
			tail := add(3)
			join(last, tail, 2)
			if rng.IntN(2) == 0 {
				last = tail
			}
		}
	}
	for p := range planes {
		for range tops {
			t := add(0)
			for _, s := range spines[p] {
				join(s, t, 1)
			}
		}
	}
	return k
}

// judge has the judge prove that tables are free of deadlock in every scope, and
// connect all that shortest paths connect; if they say that they leave addresses of
// switches apart, all host adapters.
func judge(t tb, f *fabric.Fabric, fw *routing.Forwarding) {
	t.Helper()
	shortest, err := minhop.Finder{}.Paths(context.Background(), f, nil)
	if err != nil {
		t.Fatalf("minhop: %v", err)
	}
	for _, scope := range []routing.Scope{routing.HCA, routing.Adapters, routing.All} {
		v, want := verdict(t, f, fw, scope), verdict(t, f, shortest, scope)
		if !v.Free() {
			t.Fatalf("scope %s: a credit loop of %d steps", scope, len(v.Cycle))
		}
		if left := v.Unreachable - want.Unreachable; fw.Apart && scope == routing.All && left > 0 && left < v.Pairs/4 {
			want.Unreachable += left
		}
		if v.Unreachable != want.Unreachable || v.Stray != want.Stray || v.Loops > 0 || v.Pairs != want.Pairs {
			t.Fatalf("scope %s: %d of %d pairs and %d stray without a route, %d loops; shortest paths leave %d and %d", scope, v.Unreachable, v.Pairs, v.Stray, v.Loops, want.Unreachable, want.Stray)
		}
	}
}

// harm takes away some percent of the cables between switches, and some switches.
func harm(t tb, f *fabric.Fabric, rng *rand.Rand, percent, switches int) *fabric.Fabric {
	t.Helper()
	var cables []fabric.ChannelID
	for c := range fabric.ChannelID(f.Trunks()) {
		if f.Channel(c).Reverse > c && rng.IntN(100) < percent {
			cables = append(cables, c)
		}
	}
	var nodes []fabric.NodeID
	for range switches {
		nodes = append(nodes, fabric.NodeID(rng.IntN(f.Switches())))
	}
	g, err := f.Without(cables, nodes)
	if err != nil {
		t.Fatalf("harming: %v", err)
	}
	return g
}

// thicken doubles or triples some of the cables between switches, seen from a
// network whose switches have ports to spare.
func thicken(t tb, f *fabric.Fabric, rng *rand.Rand) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	refs := make([]fabric.Ref, len(f.Nodes()))
	top := make([]uint8, len(f.Nodes()))
	for n, node := range f.Nodes() {
		top[n] = uint8(node.Ports)
		if node.Kind == fabric.Switch {
			node.Ports *= 3
		}
		refs[n] = b.Node(node, "")
	}
	for i := range f.Channels() {
		c := f.Channel(fabric.ChannelID(i))
		if c.Reverse < fabric.ChannelID(i) {
			continue
		}
		b.Cable(refs[c.From], c.FromPort, refs[c.To], c.ToPort, c.Rate)
		if i >= f.Trunks() {
			continue
		}
		for range rng.IntN(3) {
			top[c.From]++
			top[c.To]++
			b.Cable(refs[c.From], top[c.From], refs[c.To], top[c.To], c.Rate)
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatalf("thickening: %v", err)
	}
	return g
}
