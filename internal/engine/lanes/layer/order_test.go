package layer

import (
	"context"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Every order takes every path once, and in the order that its name says.
func TestOrders(t *testing.T) {
	f := testnet.Build(t, "random:switches=12,links=20,hosts=2,seed=3")
	fw, err := sssp.Finder{}.Paths(context.Background(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := newPathSet(f, fw, routing.Budget{VLs: 8, Contract: routing.Directed})
	type path struct {
		dest, source, hops int
	}
	orders := map[Order][]path{}
	for _, o := range Orders {
		for d, s := range p.inOrder(o) {
			hops := 0
			for at := s; at != d.root; hops++ {
				at = f.Channel(f.Out(at, fw.Port(at, d.lids[0]))).To
			}
			orders[o] = append(orders[o], path{slices.IndexFunc(p.dests, func(other destination) bool { return other.lids[0] == d.lids[0] }), int(s), hops})
		}
		seen := map[path]bool{}
		for _, x := range orders[o] {
			seen[x] = true
		}
		if want := len(p.dests) * f.Switches(); len(seen) != want || len(orders[o]) != want {
			t.Fatalf("%s takes %d paths, %d different ones, of %d", o, len(orders[o]), len(seen), want)
		}
	}
	byDest := func(a, b path) int { return (a.dest-b.dest)*1000 + a.source - b.source }
	for o, less := range map[Order]func(a, b path) int{
		Suited:        byDest,
		ByDestination: byDest,
		BySource:      func(a, b path) int { return (a.source-b.source)*1000 + a.dest - b.dest },
		LongestFirst:  func(a, b path) int { return (b.hops-a.hops)*1_000_000 + byDest(a, b) },
		ShortestFirst: func(a, b path) int { return (a.hops-b.hops)*1_000_000 + byDest(a, b) },
	} {
		if !slices.IsSortedFunc(orders[o], less) {
			t.Errorf("%s is not in its order: %v", o, orders[o][:20])
		}
	}
	// By chance: the destinations, and for each of them the sources.
	var dests []int
	sources := map[int][]int{} // by destination
	for _, x := range orders[Shuffled] {
		if len(sources[x.dest]) == 0 {
			dests = append(dests, x.dest)
		}
		sources[x.dest] = append(sources[x.dest], x.source)
	}
	different := map[string]bool{}
	for i, d := range dests {
		if start := i * f.Switches(); orders[Shuffled][start].dest != d {
			t.Errorf("the paths to destination %d are not together", d)
		}
		different[string(slices.Collect(func(yield func(rune) bool) {
			for _, s := range sources[d] {
				if !yield(rune(s)) {
					return
				}
			}
		}))] = true
	}
	if slices.IsSorted(dests) || len(different) < len(dests)/2 {
		t.Errorf("destinations %v by chance, with %d orders of their sources", dests, len(different))
	}

	// What stops a walk stops it at once.
	for _, o := range Orders {
		n := 0
		for range p.inOrder(o) {
			if n++; n == 5 {
				break
			}
		}
		if n != 5 {
			t.Errorf("%s ends after %d", o, n)
		}
	}
}

func TestOrderNames(t *testing.T) {
	for _, o := range Orders {
		if got, err := ParseOrder(o.String()); err != nil || got != o {
			t.Errorf("%s is read as %s, %v", o, got, err)
		}
	}
	if _, err := ParseOrder("by-chance"); err == nil {
		t.Error("there is no order by-chance")
	}
}
