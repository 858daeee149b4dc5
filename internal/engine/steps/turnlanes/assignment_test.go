package turnlanes

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/shortest"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// network draws a small connected network with a host on every switch, and shortest
// paths by chance.
func network(t *rapid.T) (*fabric.Fabric, *routing.Forwarding) {
	n := rapid.IntRange(3, 9).Draw(t, "switches")
	links := rapid.IntRange(n, min(2*n, n*(n-1)/2)).Draw(t, "links")
	f := testnet.Build(t, fmt.Sprintf("random:switches=%d,links=%d,hosts=1,seed=%d", n, links, rapid.IntRange(1, 1000).Draw(t, "wiring")))
	fw, err := shortest.Finder{Pick: shortest.Random, Seed: rapid.Uint64().Draw(t, "paths")}.Paths(context.Background(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f, fw
}

// hold is a lane of a trunk.
type hold struct {
	trunk fabric.ChannelID
	lane  uint8
}

// cyclic reports whether dependencies close a cycle, by taking away what waits for
// nothing until nothing is left.
func cyclic(waits map[hold]map[hold]bool) bool {
	for {
		gone := false
		for h, those := range waits {
			for w := range those {
				if len(waits[w]) == 0 {
					delete(those, w)
				}
			}
			if len(those) == 0 {
				delete(waits, h)
				gone = true
			}
		}
		if !gone {
			return len(waits) > 0
		}
	}
}

// depend adds the dependencies of a path on some lanes, one for each of its trunks.
func depend(waits map[hold]map[hold]bool, steps []acyclic.Turn, first uint8, lanes []uint8) {
	from := first
	for i, s := range steps {
		h := hold{s.In, from}
		if waits[h] == nil {
			waits[h] = map[hold]bool{}
		}
		waits[h][hold{s.Out, lanes[i]}] = true
		from = lanes[i]
	}
}

// Whatever is placed in whatever order: what a service level admits never
// falls and closes no cycle all together, a path once placed stays placed, and a
// path refused changes nothing.
func TestPlacedPathsCloseNoCycle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, fw := network(t)
		p, err := Gather(context.Background(), f, fw, routing.Budget{Contract: routing.Directed}, nil)
		if err != nil {
			t.Fatal(err)
		}
		change := rapid.SampledFrom([]Change{Free, Never, Always}).Draw(t, "change")
		l := New(f, rapid.IntRange(1, 4).Draw(t, "lanes"), rapid.IntRange(1, 4).Draw(t, "levels"),
			rapid.SampledFrom([]Policy{Even, Low}).Draw(t, "policy"), change)
		order := slices.Clone(p.maximal)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 1))
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		var placed [][]acyclic.Turn
		for _, n := range order {
			steps := p.AppendTurns(nil, n)
			lane, held := slices.Clone(l.lane), slices.Clone(l.held)
			if l.Place(steps) {
				placed = append(placed, steps)
			} else if !slices.Equal(lane, l.lane) || !slices.Equal(held, l.held) {
				t.Fatal("a path that was refused changed something")
			}
		}
		waits := map[hold]map[hold]bool{}
		for _, steps := range placed {
			admitted := false
			for sl := range l.used {
				if !l.admits(sl, steps) {
					continue
				}
				admitted = true
				lanes := make([]uint8, len(steps))
				from := l.start(sl)
				for i, s := range steps {
					lanes[i] = l.at(s.ID, sl)
					if lanes[i] < from || int(lanes[i]) >= l.lanes || change == Never && lanes[i] != from || change == Always && lanes[i] == from {
						t.Fatalf("from lane %d to %d of %d", from, lanes[i], l.lanes)
					}
					from = lanes[i]
				}
				depend(waits, steps, l.start(sl), lanes)
			}
			if !admitted {
				t.Fatal("no service level admits a path that was placed")
			}
		}
		if cyclic(waits) {
			t.Fatal("the paths close a cycle")
		}
	})
}

// Bundles are placed as a whole or not at all: one that is refused changes nothing, and
// all paths of one that was placed are admitted by one service level ever after.
func TestBundlesArePlacedWholly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, fw := network(t)
		p, err := Gather(context.Background(), f, fw, routing.Budget{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		b := p.inBundles()
		change := rapid.SampledFrom([]Change{Free, Never, Always}).Draw(t, "change")
		l := New(f, rapid.IntRange(1, 4).Draw(t, "lanes"), rapid.IntRange(1, 4).Draw(t, "levels"),
			rapid.SampledFrom([]Policy{Even, Low}).Draw(t, "policy"), change)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 1))
		rng.Shuffle(len(b.list), func(i, j int) { b.list[i], b.list[j] = b.list[j], b.list[i] })
		has := func() (all []bool) {
			for _, g := range l.graphs {
				for turn := range f.Turns() {
					all = append(all, g.Has(turn))
				}
			}
			return all
		}
		var placed [][][]acyclic.Turn
		for i, of := range b.list {
			var paths [][]acyclic.Turn
			total := 0
			for _, turns := range b.turns(p, int32(i)) {
				paths = append(paths, slices.Clone(turns))
				total += len(turns)
			}
			if turns := walkAll(f, fw, of); turns != total {
				t.Fatalf("%d turns between switches %d and %d, walked %d", total, of.a, of.b, turns)
			}
			lane, held, turns := slices.Clone(l.lane), slices.Clone(l.held), has()
			if l.Place(paths...) {
				placed = append(placed, paths)
			} else if !slices.Equal(lane, l.lane) || !slices.Equal(held, l.held) || !slices.Equal(turns, has()) {
				t.Fatal("a bundle that was refused changed something")
			}
		}
		waits := map[hold]map[hold]bool{}
		for i := range placed {
			sl := 0
			for sl < l.used && !l.admitsAll(sl, placed[i]) {
				sl++
			}
			if sl == l.used && len(placed[i]) > 0 {
				t.Fatal("no service level admits a bundle that was placed")
			}
			for _, steps := range placed[i] {
				lanes := make([]uint8, len(steps))
				for i, s := range steps {
					lanes[i] = l.at(s.ID, sl)
				}
				depend(waits, steps, l.start(sl), lanes)
			}
		}
		if cyclic(waits) {
			t.Fatal("the paths close a cycle")
		}
	})
}

// walkAll counts the turns of all different paths between two switches, both ways.
func walkAll(f *fabric.Fabric, fw *routing.Forwarding, of bundle) (turns int) {
	for range 2 {
		seen := map[string]bool{}
		for _, e := range f.Attached(of.b) {
			if f.Endpoint(e).Class != fabric.HostAdapter {
				continue
			}
			var way []fabric.ChannelID
			for at := of.a; at != of.b; at = f.Heads()[way[len(way)-1]] {
				way = append(way, f.Out(at, fw.Port(at, f.Endpoint(e).LID)))
			}
			if key := fmt.Sprint(way); !seen[key] {
				seen[key] = true
				turns += len(way) - 1
			}
		}
		of.a, of.b = of.b, of.a
	}
	return turns
}

// The service levels and SL2VL tables alone give every packet the lanes planned for
// its path.
func TestTablesSayWhatWasPlanned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, fw := network(t)
		scope := rapid.SampledFrom([]routing.Scope{routing.HCA, routing.All}).Draw(t, "scope")
		contract := rapid.SampledFrom([]routing.Contract{routing.Honored, routing.Directed}).Draw(t, "contract")
		p, err := Gather(context.Background(), f, fw, routing.Budget{Scope: scope, Contract: contract}, nil)
		if err != nil {
			t.Fatal(err)
		}
		p.Change = rapid.SampledFrom([]Change{Free, Never, Always}).Draw(t, "change")
		l, err := p.Fewest(context.Background(), 15)
		if err != nil {
			t.Fatal(err)
		}
		if l == nil {
			t.Skip("too few service levels")
		}
		lanes := l.Tables(fw, p.LIDs(), contract.EitherWay())
		for _, lid := range p.LIDs() {
			for i := range f.Endpoints() {
				e := f.Endpoint(fabric.EndpointID(i))
				if scope.Includes(e.Class) {
					follow(t, f, fw, l, lanes, fabric.EndpointID(i), lid)
				}
			}
		}
	})
}

// follow follows a packet through the tables and compares its lanes.
func follow(t *rapid.T, f *fabric.Fabric, fw *routing.Forwarding, l *Assignment, lanes *routing.Lanes, from fabric.EndpointID, lid fabric.LID) {
	sl := lanes.SL(from, lid)
	at, in := f.Endpoint(from).Switch, uint8(0)
	if c := f.Endpoint(from).Inject; c != fabric.None {
		in = f.Channel(c).ToPort
	}
	var steps []acyclic.Turn
	var got []uint8
	last := fabric.ChannelID(fabric.None)
	for {
		out := fw.Port(at, lid)
		c := f.Out(at, out)
		if c == fabric.None || int(c) >= f.Trunks() {
			break
		}
		got = append(got, lanes.SL2VL.VL(at, in, out, sl))
		if last != fabric.None {
			steps = append(steps, acyclic.Turn{ID: int32(f.Turn(last, c)), In: last, Out: c})
		}
		last, at, in = c, f.Channel(c).To, f.Channel(c).ToPort
	}
	if !l.admits(int(sl), steps) {
		t.Fatalf("SL %d from endpoint %d to LID %d does not admit the path", sl, from, lid)
	}
	var want []uint8
	if len(got) > 0 {
		want = append(want, l.start(int(sl)))
	}
	for _, s := range steps {
		want = append(want, l.at(s.ID, int(sl)))
	}
	if !slices.Equal(got, want) {
		t.Fatalf("SL %d from endpoint %d to LID %d: lanes %v, planned %v", sl, from, lid, got, want)
	}
}

// optimum is the fewest lanes on which some paths close no cycle, whatever lanes
// each of them takes, rising or not: it tries them all.
func optimum(paths [][]acyclic.Turn) int {
	for lanes := 1; ; lanes++ {
		if fits(paths, map[hold]map[hold]bool{}, uint8(lanes)) {
			return lanes
		}
	}
}

func fits(paths [][]acyclic.Turn, waits map[hold]map[hold]bool, lanes uint8) bool {
	if len(paths) == 0 {
		return true
	}
	lane := make([]uint8, len(paths[0])+1)
	for {
		next := map[hold]map[hold]bool{}
		for h, w := range waits {
			next[h] = map[hold]bool{}
			for x := range w {
				next[h][x] = true
			}
		}
		depend(next, paths[0], lane[0], lane[1:])
		probe := map[hold]map[hold]bool{}
		for h, w := range next {
			probe[h] = map[hold]bool{}
			for x := range w {
				probe[h][x] = true
			}
		}
		if !cyclic(probe) && fits(paths[1:], next, lanes) {
			return true
		}
		i := 0
		for ; i < len(lane); i++ {
			if lane[i]++; lane[i] < lanes {
				break
			}
			lane[i] = 0
		}
		if i == len(lane) {
			return false
		}
	}
}

// On tiny networks the lanes are the fewest there can be for the paths given. Rings
// are the hardest of them.
func TestFewestLanesOfTinyNetworks(t *testing.T) {
	tries, more := 0, 0
	seen := map[int]int{}
	for _, spec := range []string{"ring:3", "ring:4", "ring:5", "ring:6", "random:switches=5,links=6", "random:switches=6,links=7", "mesh:2x3", "torus:3x3"} {
		for seed := range uint64(6) {
			f := testnet.Build(t, spec)
			fw, err := shortest.Finder{Pick: shortest.Random, Seed: seed}.Paths(context.Background(), f, nil)
			if err != nil {
				t.Fatal(err)
			}
			p, err := Gather(context.Background(), f, fw, routing.Budget{Contract: routing.Directed}, nil)
			if err != nil {
				t.Fatal(err)
			}
			var paths [][]acyclic.Turn
			for _, n := range p.maximal {
				paths = append(paths, p.AppendTurns(nil, n))
			}
			l, err := p.Fewest(context.Background(), 15)
			if err != nil || l == nil {
				t.Fatalf("%s, seed %d: %v, %v", spec, seed, l, err)
			}
			best := optimum(paths)
			seen[best]++
			tries++
			if l.lanes != best {
				more++
				t.Logf("%s, seed %d: %d lanes, %d are enough", spec, seed, l.lanes, best)
			}
			if l.lanes < best {
				t.Fatalf("%s, seed %d: fewer lanes than there can be", spec, seed)
			}
		}
	}
	if seen[1] == 0 || seen[2] == 0 {
		t.Errorf("optima %v: the networks are too easy or too hard", seen)
	}
	if more > 0 {
		t.Errorf("%d of %d networks need fewer", more, tries)
	}
}
