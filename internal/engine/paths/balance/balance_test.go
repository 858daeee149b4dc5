package balance

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/lanes/single"
	"github.com/weft-fabric/weft/internal/engine/paths/dor"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

func find(t rapid.TB, f *fabric.Fabric, p routing.PathFinder) *routing.Forwarding {
	t.Helper()
	fw, err := p.Paths(context.Background(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fw
}

// same reports whether two routings are the same, entry by entry.
func same(f *fabric.Fabric, a, b *routing.Forwarding) bool {
	for lid := range f.LIDs() {
		if !bytes.Equal(a.Row(lid), b.Row(lid)) {
			return false
		}
	}
	return true
}

// Every path has the fewest hops, which sssp's are known to have, or in trees the fewest of
// those that go up and then down, but from switches with few cables up to the nearest; and goes where it should. Whatever cores there are, the routing is the same.
func TestShortestAndDeterministic(t *testing.T) {
	specs := []string{"karytree:k=3,n=3", "torus:4x3,hosts=2", "dragonfly:p=2", "random:switches=20,links=40,hosts=3,seed=2", "deimos", "hypercube:4"}
	for _, spec := range testnet.First(specs, 2) {
		f := testnet.Build(t, spec)
		several := judge(t, spec, f, Finder{Passes: 2})
		before := runtime.GOMAXPROCS(1)
		one := find(t, f, Finder{Passes: 2})
		runtime.GOMAXPROCS(before)
		if !same(f, one, several) {
			t.Errorf("%s: one core routes otherwise than %d", spec, before)
		}
	}
}

// judge asks the judge whether a routing is connected, and compares hops and pairs
// with those of sssp.
func judge(t rapid.TB, name string, f *fabric.Fabric, p routing.PathFinder) *routing.Forwarding {
	t.Helper()
	ctx := context.Background()
	fw, shortest := find(t, f, p), find(t, f, sssp.Finder{})
	fd, _ := p.(Finder)
	n, err := newNetwork(ctx, f, fd)
	if err != nil {
		t.Fatal(err)
	}
	if n.tree != nil { // shortest ways may be worth more
		if n, _, err = fd.find(ctx, f, nil); err != nil {
			t.Fatal(err)
		}
	}
	legal := dag.DAG{Root: fabric.None}
	for lid, id := range f.LIDs() {
		root := f.Endpoint(id).Switch
		if root == fabric.None {
			continue
		}
		var ours, theirs routing.Tree
		ours.Build(f, fw.Row(lid), root)
		theirs.Build(f, shortest.Row(lid), root)
		for s := range fabric.NodeID(f.Switches()) {
			want := theirs.Depth(s)
			if n.tree != nil {
				if legal.Root != root {
					n.tree.Legal(&legal, f, root)
				}
				if want = int(legal.Hops[s]); want == dag.NoPath { // joined otherwise
					continue
				}
			}
			if got := ours.Depth(s); got != want && (n.tree == nil || got < theirs.Depth(s) || f.Endpoint(id).Class == fabric.HostAdapter && !widened(n.tree, f, &legal, fw.Row(lid), s)) {
				t.Fatalf("%s: from switch %d to LID %d it takes %d hops, not %d", name, s, lid, got, want)
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
	v, err := deadlock.Verify(ctx, &routing.Tables{Fabric: f, Forwarding: fw, Lanes: lanes}, deadlock.Options{Contract: routing.Directed, Scope: routing.All})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Parts()) == 1 && !v.Complete() {
		t.Fatalf("%s: %d pairs without a route", name, v.Unreachable)
	}
	return fw
}

// widened reports whether a path goes up, then down, and up from a switch few of whose cables up lead to the nearest.
func widened(t *tree, f *fabric.Fabric, legal *dag.DAG, row []uint8, s fabric.NodeID) bool {
	narrow, down := false, false
	for s != legal.Root {
		near, all := 0, 0
		for c, end := f.TrunksFrom(s); c < end; c++ {
			if h := legal.Hops[f.Channel(c).To]; t.Up[c] && h != dag.NoPath {
				all++
				if h+1 == legal.Hops[s] {
					near++
				}
			}
		}
		c := f.Out(s, row[s])
		switch {
		case !t.Up[c]:
			down = true
		case down:
			return false
		default:
			narrow = narrow || t.narrow(s, legal.Root, near, all)
		}
		s = f.Channel(c).To
	}
	return narrow
}

// So it is on any network, in parts, with several addresses, whatever is asked for.
func TestAnyNetwork(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := random(rt)
		fd := Finder{
			Passes: rapid.IntRange(-1, 3).Draw(rt, "passes"), Seed: rapid.Uint64().Draw(rt, "seed of order"),
			Uniform: rapid.Bool().Draw(rt, "uniform"), Regular: rapid.Bool().Draw(rt, "regular"),
			Aim:  Aim(rapid.IntRange(0, 3).Draw(rt, "aim")),
			Work: rapid.Int64Range(0, 5000).Draw(rt, "work"),
		}
		if rapid.Bool().Draw(rt, "weighted") {
			fd.Weights = make([]uint8, len(f.Endpoints()))
			for i := range fd.Weights {
				fd.Weights[i] = uint8(rapid.IntRange(0, MaxWeight).Draw(rt, "weight"))
			}
		}
		fw := judge(rt, "random", f, fd)
		if !same(f, fw, find(rt, f, fd)) {
			rt.Fatal("another routing the second time")
		}
	})
}

// Networks that lost some cables, in parts perhaps.
func TestDamaged(t *testing.T) {
	for i, spec := range testnet.First([]string{"karytree:k=4,n=2", "torus:4x4,hosts=2", "torus:3x3x3", "dragonfly:p=2", "xgft:m=4x3,w=2x2,hosts=3"}, 2) {
		whole := testnet.Build(t, spec)
		for seed := range uint64(3) {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			var gone []fabric.ChannelID
			for range 1 + r.IntN(whole.Trunks()/8) {
				gone = append(gone, fabric.ChannelID(r.IntN(whole.Trunks())))
			}
			f, err := whole.Without(gone, []fabric.NodeID{fabric.NodeID(r.IntN(whole.Switches()))})
			if err != nil {
				t.Fatal(err)
			}
			judge(t, spec, f, Finder{})
			judge(t, spec, f, Finder{Regular: true})
		}
	}
}

// Real fabrics, with aggregation nodes and links of several rates. Others meet every engine in
// test/conformance.
func TestRealFabrics(t *testing.T) {
	names := []string{"topograph-ndr-dgx-2025", "ibtopotool-2"}
	if os.Getenv("WEFT_THOROUGH") != "" {
		names = append(names, "psmn-x5-2020", "kalcher-stage-2014")
	}
	for _, name := range testnet.First(names, 1) {
		judge(t, name, testnet.Dump(t, name), Finder{})
	}
}

// Several addresses of an endpoint come by ways of their own, and those who use the
// first address alone find the cables as well balanced as those who use all.
func TestAddresses(t *testing.T) {
	f, err := testnet.Build(t, "karytree:k=4,n=2").WithLMC(2)
	if err != nil {
		t.Fatal(err)
	}
	fw := judge(t, "LMC 2", f, Finder{})
	for s := range fabric.NodeID(f.Switches()) {
		first := map[uint8]int{} // [port] hosts whose first address it leads to
		for i := range f.Endpoints() {
			e := f.Endpoint(fabric.EndpointID(i))
			if e.Class != fabric.HostAdapter || e.Switch == s || len(f.Attached(s)) == 1 {
				continue
			}
			ports := map[uint8]bool{}
			for a := range fabric.LID(4) {
				ports[fw.Port(s, e.LID+a)] = true
			}
			if len(ports) != 4 {
				t.Errorf("from switch %d the addresses of endpoint %d begin by %d ports", s, i, len(ports))
			}
			first[fw.Port(s, e.LID)]++
		}
		for port, hosts := range first {
			if hosts != 3 {
				t.Errorf("from switch %d port %d leads to the first address of %d hosts, not 3", s, port, hosts)
			}
		}
	}
}

// Routers are not hosts, but share the cables among them as well.
func TestRouters(t *testing.T) {
	var b fabric.Builder
	sw := [2]fabric.Ref{b.Node(fabric.Node{GUID: 1, Ports: 20}, ""), b.Node(fabric.Node{GUID: 2, Ports: 20}, "")}
	for port := range uint8(2) {
		b.Cable(sw[0], 1+port, sw[1], 1+port, fabric.Rate{})
	}
	for i := range 8 {
		kind := [...]fabric.Kind{fabric.Adapter, fabric.Router}[i/4]
		b.Cable(b.Node(fabric.Node{GUID: fabric.GUID(10 + i), Kind: kind, Ports: 1}, ""), 1, sw[i/4], uint8(3+i%4), fabric.Rate{})
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	fw := judge(t, "routers", f, Finder{})
	routers := map[uint8]int{} // [port] routers it leads to
	for _, e := range f.Attached(1)[1:] {
		routers[fw.Port(0, f.Endpoint(e).LID)]++
	}
	if routers[1] != 2 || routers[2] != 2 {
		t.Errorf("routers by port: %v", routers)
	}
}

// Without switches, without hosts, without cables.
func TestNothing(t *testing.T) {
	var b fabric.Builder
	for i := range 3 {
		f, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		judge(t, "nothing", f, Finder{})
		b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Ports: 4}, "")
	}
}

// Regular is dimension order, on a whole grid.
func TestRegular(t *testing.T) {
	for _, spec := range []string{"torus:4x4x4", "torus:6x5,hosts=2", "mesh:3x4x2", "hypercube:5"} {
		f := testnet.Build(t, spec)
		regular, order := find(t, f, Finder{Regular: true}), find(t, f, dor.Finder{})
		if !same(f, regular, order) {
			t.Errorf("%s: not the dimension order of dor", spec)
		}
	}
}

// two is two switches with hosts and two cables between them, the second one slow.
func two(t *testing.T) *fabric.Fabric {
	var b fabric.Builder
	sw := [2]fabric.Ref{b.Node(fabric.Node{GUID: 1, Ports: 20}, ""), b.Node(fabric.Node{GUID: 2, Ports: 20}, "")}
	b.Cable(sw[0], 1, sw[1], 1, fabric.Rate{Width: 4, Speed: fabric.NDR})
	b.Cable(sw[0], 2, sw[1], 2, fabric.Rate{Width: 4, Speed: fabric.EDR})
	for i := range 20 {
		b.Cable(b.Node(fabric.Node{GUID: fabric.GUID(10 + i), Kind: fabric.Adapter, Ports: 1}, ""), 1, sw[i/10], uint8(3+i%10), fabric.Rate{})
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A cable with a quarter of the rate gets a quarter of the routes.
func TestRates(t *testing.T) {
	f := two(t)
	for _, c := range []struct {
		uniform bool
		want    []uint32
	}{{true, []uint32{50, 50, 50, 50}}, {false, []uint32{80, 20, 80, 20}}} {
		if l := congestion.Count(f, find(t, f, Finder{Uniform: c.uniform}), routing.HCA); !slices.Equal(l.Routes, c.want) {
			t.Errorf("uniform %v: routes %v, want %v", c.uniform, l.Routes, c.want)
		}
	}
}

// Two endpoints that weigh as much as all others do not share a cable.
func TestWeights(t *testing.T) {
	f := two(t)
	weights := make([]uint8, len(f.Endpoints()))
	for i := range weights {
		if f.Endpoint(fabric.EndpointID(i)).Class == fabric.HostAdapter {
			weights[i] = 10
		}
	}
	hosts := f.Attached(0)[1:]
	weights[hosts[2]], weights[hosts[7]] = MaxWeight, MaxWeight
	fw := find(t, f, Finder{Uniform: true, Weights: weights})
	if a, b := fw.Port(1, f.Endpoint(hosts[2]).LID), fw.Port(1, f.Endpoint(hosts[7]).LID); a == b {
		t.Errorf("both by port %d", a)
	}
	for _, bad := range [][]uint8{weights[1:], append(slices.Clone(weights[1:]), MaxWeight+1)} {
		if _, err := (Finder{Weights: bad}).Paths(context.Background(), f, nil); err == nil {
			t.Errorf("%d weights, the last %d, are taken", len(bad), bad[len(bad)-1])
		}
	}
}

// However little there is to spend, there is a routing; more is no worse in what
// is sampled.
func TestBudgets(t *testing.T) {
	testnet.OnlyWhole(t)
	f := testnet.Build(t, "deimos")
	score := func(fd Finder) float64 {
		n, err := newNetwork(context.Background(), f, fd)
		if err != nil {
			t.Fatal(err)
		}
		best, err := search(context.Background(), n, fd, nil)
		if err != nil {
			t.Fatal(err)
		}
		return best.best
	}
	first, some, all := score(Finder{Work: 1}), score(Finder{Work: 8_000_000}), score(Finder{})
	if first >= some || some > all {
		t.Errorf("bandwidth %.4f at once, %.4f with some work, %.4f with all", first, some, all)
	}
	if early := score(Finder{Time: time.Nanosecond}); early < first {
		t.Errorf("out of time: %.4f, the first routing is %.4f", early, first)
	}
}

// As many plans are begun as leave half of the work, but a second already where two
// passes of both can be paid.
func TestPlansBegun(t *testing.T) {
	f := testnet.Build(t, "dragonfly:p=2")
	n, err := newNetwork(context.Background(), f, Finder{Aim: Bisection})
	if err != nil {
		t.Fatal(err)
	}
	all := plans(n, Finder{Aim: Bisection})
	if len(all) < 3 {
		t.Fatalf("%d plans: no test", len(all))
	}
	cost := make([]int64, len(all)+1) // [plans] of two passes of each
	for i, p := range all {
		cost[i+1] = cost[i] + 2*n.price(p)
	}
	for _, c := range []struct {
		work int64
		want int
	}{
		{1, 1}, {cost[1], 1}, {cost[2] - 1, 1}, {cost[2], 2}, {2 * cost[2], 2},
		{2*cost[3] - 1, 2}, {2 * cost[3], 3}, {2*cost[len(all)] - 1, len(all) - 1}, {2 * cost[len(all)], len(all)},
	} {
		if got := affordable(n, all, c.work); !slices.Equal(got, all[:c.want]) {
			t.Errorf("work %d, plans cost %v: %d are begun, want the first %d", c.work, cost[1:], len(got), c.want)
		}
	}
}

func TestProgressAndNotes(t *testing.T) {
	last, total := 0, 0
	fw, err := Finder{}.Paths(context.Background(), testnet.Build(t, "torus:4x3,hosts=2"), func(done, of int) {
		if done < last || done > of {
			t.Errorf("%d of %d after %d", done, of, last)
		}
		last, total = done, of
	})
	if err != nil || last != total || total == 0 || len(fw.Notes) != 1 {
		t.Errorf("%d of %d done, notes %q, error %v", last, total, fw.Notes, err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (Finder{}).Paths(ctx, testnet.Build(t, "torus:3x3"), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled, and the error is %v", err)
	}
}

// For the aims about phases routes of a host at half the rate count half where random pairs
// meet, unless all links shall be alike, or weights say what counts.
func TestSlowHostsCountLess(t *testing.T) {
	f := testnet.Dump(t, "psmn-x5-2020")
	weights := make([]uint8, len(f.Endpoints()))
	for i := range weights {
		weights[i] = MaxWeight
	}
	for _, c := range []struct {
		name string
		fd   Finder
		slow int
	}{
		{"mixed", Finder{}, 23}, {"shifts", Finder{Aim: Shifts}, 23}, {"bisection", Finder{Aim: Bisection}, 0},
		{"alltoall", Finder{Aim: AllToAll}, 0}, {"uniform", Finder{Uniform: true}, 0}, {"weights", Finder{Weights: weights}, 0},
	} {
		n, err := newNetwork(context.Background(), f, c.fd)
		if err != nil {
			t.Fatal(err)
		}
		slow := 0
		for i := range n.dests {
			switch w := n.dests[i].weight; {
			case w == MaxWeight/2:
				slow++
			case w != MaxWeight:
				t.Errorf("%s: a destination weighs %d", c.name, w)
			}
		}
		if slow != c.slow || len(n.dests) != 89 {
			t.Errorf("%s: %d of %d destinations count half, want %d of 89", c.name, slow, len(n.dests), c.slow)
		}
	}
}
