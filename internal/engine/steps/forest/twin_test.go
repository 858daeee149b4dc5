package forest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/shortest"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/forest"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/topology"
)

// walked is what a walk along one path finds.
type walked struct {
	path    []fabric.ChannelID
	arrives bool
}

// pair is a source switch and a LID in scope.
type pair struct {
	from fabric.NodeID
	lid  fabric.LID
}

// walkAll follows every path that there is, hop by hop.
func walkAll(f *fabric.Fabric, fw *routing.Forwarding, scope routing.Scope) map[pair]walked {
	all := map[pair]walked{}
	for lid, owner := range f.LIDs() {
		to := f.Endpoint(owner)
		if !scope.Includes(to.Class) || to.Switch == fabric.None {
			continue
		}
		for _, source := range scope.Endpoints(f) {
			from := f.Endpoint(source).Switch
			if fw.Port(from, lid) != routing.NoPort {
				all[pair{from, lid}] = walk(f, fw, from, lid)
			}
		}
	}
	return all
}

func walk(f *fabric.Fabric, fw *routing.Forwarding, s fabric.NodeID, lid fabric.LID) (w walked) {
	owner := f.Owner(lid)
	for len(w.path) <= f.Switches() {
		port := fw.Port(s, lid)
		out := f.Out(s, port)
		if s == f.Endpoint(owner).Switch {
			w.arrives = port == 0 && f.Endpoint(owner).Port == 0 || out != fabric.None && out == f.Endpoint(owner).Deliver
			return w
		}
		if out == fabric.None || int(out) >= f.Trunks() {
			return w
		}
		w.path = append(w.path, out)
		s = f.Channel(out).To
	}
	return w
}

// draw is a small network, some of it damaged, with paths by chance, some of them spoilt.
func draw(t *rapid.T) (*fabric.Fabric, *routing.Forwarding, routing.Scope) {
	n := rapid.IntRange(2, 8).Draw(t, "switches")
	f, err := topology.Build(fmt.Sprintf("random:switches=%d,links=%d,hosts=%d,seed=%d", n,
		rapid.IntRange(n-1, 2*n).Draw(t, "links"), rapid.IntRange(1, 2).Draw(t, "hosts"), rapid.Uint64().Draw(t, "wiring")))
	if err == nil {
		f, err = f.WithLMC(rapid.Uint8Range(0, 2).Draw(t, "LMC"))
	}
	if hosts := routing.HCA.Endpoints(f); err == nil && rapid.Bool().Draw(t, "a switch without hosts") {
		at := f.Endpoint(hosts[0]).Switch
		f, err = f.Without(nil, slices.Collect(func(yield func(fabric.NodeID) bool) {
			for _, h := range hosts {
				if ep := f.Endpoint(h); ep.Switch == at && !yield(ep.Node) {
					return
				}
			}
		}))
	}
	if err == nil && f.Trunks() > 0 && rapid.Bool().Draw(t, "a cable less") {
		f, err = f.Without([]fabric.ChannelID{fabric.ChannelID(rapid.IntRange(0, f.Trunks()-1).Draw(t, "cable"))}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	fw := routing.NewForwarding(f)
	for address := range f.Addresses() { // other trees for each address
		one, err := shortest.Finder{Pick: shortest.Random, Seed: rapid.Uint64().Draw(t, "paths")}.Paths(context.Background(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		for lid := range f.LIDs() {
			if f.Address(lid) == address {
				copy(fw.Row(lid), one.Row(lid))
			}
		}
	}
	if lid := fabric.LID(rapid.IntRange(0, int(f.TopLID())).Draw(t, "LID without paths")); lid > 0 {
		for s := range fw.Row(lid) {
			fw.Row(lid)[s] = routing.NoPort
		}
	}
	for range rapid.IntRange(0, 3).Draw(t, "spoilt entries") {
		lid := fabric.LID(rapid.IntRange(1, int(f.TopLID())).Draw(t, "LID"))
		s := rapid.IntRange(0, f.Switches()-1).Draw(t, "switch")
		fw.Row(lid)[s] = rapid.SampledFrom([]uint8{0, 1, 2, 3, 4, 5, 77, routing.NoPort}).Draw(t, "port")
	}
	return f, fw, rapid.SampledFrom([]routing.Scope{routing.HCA, routing.All}).Draw(t, "scope")
}

// found is a forest as it is to be on any number of cores.
type found struct {
	trunk        []fabric.ChannelID
	next, leaves []int32
	hops         map[pair]int32
}

func read(t *rapid.T, p *forest.Paths) (*forest.Forest, found, error) {
	all, err := p.Grow(context.Background(), nil)
	if err != nil {
		return nil, found{}, err
	}
	of := found{all.Trunk, all.Next, all.Leaves, map[pair]int32{}}
	type visited struct {
		lid fabric.LID
		hop []int32
		in  []fabric.NodeID
	}
	visits := make(chan visited, 10_000)
	if err := all.EachLID(context.Background(), func(tree *forest.InTree, hop []int32) {
		visits <- visited{tree.LID, slices.Clone(hop), slices.Clone(tree.Order)}
	}); err != nil {
		t.Fatal(err)
	}
	close(visits)
	for v := range visits {
		for _, s := range v.in {
			of.hops[pair{s, v.lid}] = v.hop[s]
		}
	}
	return all, of, nil
}

// The forest is what walking every path by itself finds: the same paths, each stored
// once, or a refusal where one of them does not arrive. On one core and on several.
func TestForestIsWhatWalkingFinds(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	refused, grown := 0, 0
	testnet.CheckCounted(t, func(t *rapid.T) {
		f, fw, scope := draw(t)
		p := forest.Of(f, fw, scope)
		runtime.GOMAXPROCS(1)
		all, one, err := read(t, p)
		runtime.GOMAXPROCS(4)
		_, several, again := read(t, p)
		if !reflect.DeepEqual(one, several) || fmt.Sprint(err) != fmt.Sprint(again) {
			t.Fatalf("on one core %v, %v; on several %v, %v", one, err, several, again)
		}
		if check := p.Check(context.Background(), nil); fmt.Sprint(check) != fmt.Sprint(err) {
			t.Fatalf("Check says %v, Grow %v", check, err)
		}
		want := walkAll(f, fw, scope)
		lost := slices.ContainsFunc(slices.Collect(maps.Values(want)), func(w walked) bool { return !w.arrives })
		if refusal := (*routing.Refusal)(nil); lost != errors.As(err, &refusal) || !lost && err != nil {
			t.Fatalf("a path does not arrive: %v; refusal %v", lost, err)
		}
		if lost {
			first := slices.IndexFunc(p.LIDs(), func(lid fabric.LID) bool {
				return slices.ContainsFunc(slices.Collect(maps.Keys(want)), func(p pair) bool { return p.lid == lid && !want[p].arrives })
			})
			if !strings.Contains(err.Error(), fmt.Sprintf("packets to LID %d ", p.LIDs()[first])) {
				t.Fatalf("the first LID of a path that does not arrive is %d: %v", p.LIDs()[first], err)
			}
			refused++
			return
		}
		grown++
		comparePaths(t, all, one, want)
		compareLongest(t, all, want)
	}, func() {
		if refused < grown/20 || grown < refused/20 {
			t.Errorf("%d refused, %d not: draw others", refused, grown)
		}
	})
}

// comparePaths holds a forest against walks.
func comparePaths(t *rapid.T, all *forest.Forest, of found, want map[pair]walked) {
	f := all.Fabric
	pathOf := func(n int32) (path []fabric.ChannelID) {
		for ; n != forest.None; n = all.Next[n] {
			path = append(path, all.Trunk[n])
		}
		return path
	}
	suffixes := map[string]bool{} // of all paths, themselves among them
	inner := map[string]bool{}
	between := map[[2]fabric.NodeID]map[string]bool{}
	for pair, w := range want {
		n, on := of.hops[pair]
		if on != (len(w.path) > 0) || on && !slices.Equal(pathOf(n), w.path) {
			t.Fatalf("from %d to LID %d: hop %d of %v, walked %v", pair.from, pair.lid, n, pathOf(n), w.path)
		}
		var turns []acyclic.Turn
		for i := range w.path {
			suffixes[fmt.Sprint(w.path[i:])] = true
			if i > 0 {
				inner[fmt.Sprint(w.path[i:])] = true
				in, out := w.path[i-1], w.path[i]
				turns = append(turns, acyclic.Turn{ID: int32(f.Turn(in, out)), In: in, Out: out})
			}
			at := [2]fabric.NodeID{f.Channel(w.path[i]).From, f.Endpoint(f.Owner(pair.lid)).Switch}
			if between[at] == nil {
				between[at] = map[string]bool{}
			}
			between[at][fmt.Sprint(w.path[i:])] = true
		}
		if got := all.Paths.AppendTurns(nil, pair.from, pair.lid, f.Endpoint(f.Owner(pair.lid)).Switch); !slices.Equal(got, turns) {
			t.Fatalf("from %d to LID %d: turns %v, walked %v", pair.from, pair.lid, got, turns)
		}
		if on && !slices.Equal(all.AppendTurns(nil, n), turns) {
			t.Fatalf("hop %d: turns %v, walked %v", n, all.AppendTurns(nil, n), turns)
		}
	}
	for _, end := range all.Ends {
		for _, lid := range end.LIDs {
			for s := range fabric.NodeID(f.Switches()) {
				if fw := all.Forwarding; fw.Port(s, lid) == routing.NoPort && all.Paths.AppendTurns(nil, s, lid, end.Switch) != nil {
					t.Fatalf("turns from %d to LID %d, and no path", s, lid)
				}
			}
		}
	}
	got := map[string]bool{}
	for n := range all.Trunk {
		path := pathOf(int32(n))
		if all.Hops(int32(n)) != len(path) || int(all.Next[n]) >= n || got[fmt.Sprint(path)] {
			t.Fatalf("hop %d of path %v: %d hops, the next %d; known %v", n, path, all.Hops(int32(n)), all.Next[n], got)
		}
		got[fmt.Sprint(path)] = true
	}
	if !maps.Equal(got, suffixes) {
		t.Fatalf("paths %v, walked %v", got, suffixes)
	}
	for _, n := range all.Leaves {
		if inner[fmt.Sprint(pathOf(n))] {
			t.Fatalf("hop %d is a leaf, and another path continues it", n)
		}
	}
	if len(all.Leaves) != len(suffixes)-len(inner) {
		t.Fatalf("%d leaves of %d hops, %d of them inner", len(all.Leaves), len(suffixes), len(inner))
	}
	pairs := all.Pairs()
	for from := range fabric.NodeID(f.Switches()) {
		for to := range fabric.NodeID(f.Switches()) {
			hops := pairs.Append(nil, from, to)
			got := map[string]bool{}
			for _, n := range hops {
				got[fmt.Sprint(pathOf(n))] = true
			}
			if !maps.Equal(got, between[[2]fabric.NodeID{from, to}]) || len(got) != len(hops) || !slices.IsSorted(hops) {
				t.Fatalf("from %d to %d: hops %v", from, to, hops)
			}
		}
	}
}

func compareLongest(t *rapid.T, all *forest.Forest, want map[pair]walked) {
	var longest forest.Path
	for _, end := range all.Ends {
		for _, lid := range end.LIDs {
			for s := range fabric.NodeID(all.Fabric.Switches()) {
				if w := want[pair{s, lid}]; len(w.path) > longest.Hops {
					longest = forest.Path{From: s, LID: lid, Hops: len(w.path)}
				}
			}
		}
	}
	if got, err := all.Longest(context.Background(), nil); err != nil || got != longest {
		t.Fatalf("longest %v, walked %v: %v", got, longest, err)
	}
}
