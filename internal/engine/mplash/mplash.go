// Package mplash is MP-LASH as its paper means it: every shortest path of every
// pair of switches is open to the source, as a source route, and each is put into
// layers by itself.
//
// O. Lysne, T. Skeie, S.-A. Reinemo, I. Theiss: Layered Routing in Irregular
// Networks, IEEE TPDS 17(1), 2006, section 6. InfiniBand's tables cannot express
// it, since they look at the destination only; the engine mp-lash is its form for
// them, with an address for each tree. This package counts what the full form
// would need, to compare with, and makes it a routing to simulate (Routing).
//
// A node is a switch with endpoints, one as in the paper. Parallel cables make
// different paths.
//
// Guarantee: the dependencies of every layer are free of cycles, and no shortest
// path is left out. Layers needed: found out by doing; see the tests for the
// paper's networks. Refuses with *routing.Refusal where there are too many paths
// to list, and with *routing.TooFewLanes beyond acyclic.MaxLayers.
//
// Complexity: O(P·h) for P paths of h hops while a layer holds their turns, which
// is nearly always (package acyclic for the others), and as much again for step 4.
// Memory: 8 bytes a path, 16 a turn of the network.
//
// With Options.One it is LASH as the same paper means it, section 5: one shortest path of
// each pair, drawn at random.
//
// Deviation from the paper: the order of pairs is open there; here the pairs that
// are farthest apart go first, whose paths have the most turns and are the hardest
// to fit in, unless Options.ByDestination takes them as they come. Of LASH they go by
// destination.
package mplash

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/routing"
)

// The numbers of paths up to which a network is looked at.
const (
	DefaultMostPaths = 10_000     // of one pair
	maxPaths         = 20_000_000 // of all pairs
)

// Options is what may be chosen. The zero Options are steps 1 to 3 for pairs of
// switches with host adapters.
type Options struct {
	Scope     routing.Scope // a switch counts if it has an endpoint in it
	MostPaths int           // shortest paths that one pair may have; zero: DefaultMostPaths
	Spread    bool          // step 4: every path in every layer that takes it
	AtLeast   int           // layers to use at least; zero: as many as are needed

	// ByDestination puts the pairs into layers one destination after another, not those farthest
	// apart first.
	ByDestination bool

	// One keeps one shortest path of each pair, drawn by Seed, each as likely as any
	// other: LASH with source routes. They go into layers by destination.
	One  bool
	Seed uint64

	Progress routing.Progress // told of the paths put into layers
}

// Analysis is what MP-LASH makes of a network.
type Analysis struct {
	Layers    int     // that all shortest paths need
	Pairs     int64   // ordered pairs of switches with endpoints, joined by cables
	Paths     int64   // all their shortest paths
	MostPaths int     // of one pair
	PerLayer  []int64 // [layer] the paths that may use it; with step 4 a path counts in several

	f        *fabric.Fabric
	ends     []bool   // [switch] whether it counts
	mostHops int32    // hops of the longest path
	first    []int64  // [destination × switches + source] the number of its first path
	chosen   []int64  // likewise, the number of the one path kept; nil: all are
	sets     []uint64 // [path] the layers that it may use, as bits
}

// Analyse finds all shortest paths and puts them into layers.
func Analyse(ctx context.Context, f *fabric.Fabric, o Options) (*Analysis, error) {
	if o.MostPaths == 0 {
		o.MostPaths = DefaultMostPaths
	}
	a := &Analysis{f: f, ends: o.Scope.Ends(f)}
	if o.One {
		a.chosen = make([]int64, f.Switches()*f.Switches())
	}
	if err := a.count(ctx, o); err != nil {
		return nil, err
	}
	a.sets = make([]uint64, a.Paths)
	layers := acyclic.NewLayers(f)
	if err := a.place(ctx, layers, o.ByDestination || o.One, o.Progress); err != nil {
		return nil, err
	}
	if a.Layers = max(1, layers.Len(), o.AtLeast); o.Spread {
		layers.AtLeast(a.Layers)
		if err := a.spread(ctx, layers, o.Progress); err != nil {
			return nil, err
		}
	}
	a.PerLayer = make([]int64, a.Layers)
	for _, set := range a.sets {
		for l := range a.PerLayer {
			a.PerLayer[l] += int64(set >> l & 1)
		}
	}
	return a, nil
}

// count numbers the paths, by destination, then source, or refuses.
func (a *Analysis) count(ctx context.Context, o Options) error {
	n, most := a.f.Switches(), o.MostPaths
	draw := rand.New(rand.NewPCG(o.Seed, stream))
	a.first = make([]int64, n*n)
	w := newWalker(a.f)
	for d := range fabric.NodeID(n) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !a.ends[d] {
			continue
		}
		w.to(d)
		number := w.numbers(most + 1) // [switch] its shortest paths, no more than one too many
		for s := range fabric.NodeID(n) {
			a.first[int(d)*n+int(s)] = a.Paths
			if !a.sends(&w.d, s) {
				continue
			}
			if number[s] > most {
				return a.refuse(s, d, fmt.Sprintf("a pair of switches has at most %d shortest paths", most), "has more to")
			}
			if a.chosen != nil {
				a.chosen[int(d)*n+int(s)] = a.Paths + draw.Int64N(int64(number[s]))
			}
			a.Pairs++
			a.Paths += int64(number[s])
			a.MostPaths = max(a.MostPaths, number[s])
			a.mostHops = max(a.mostHops, w.d.Hops[s])
			if a.Paths > maxPaths {
				return a.refuse(s, d, fmt.Sprintf("all pairs of switches have at most %d shortest paths together", maxPaths), "is counted beyond with those to")
			}
		}
	}
	return nil
}

// refuse is the refusal of a network that breaks a rule with the paths from s to d.
func (a *Analysis) refuse(s, d fabric.NodeID, rule, what string) error {
	return routing.Refuse(a.f, rule, s, 0, "%s %s", what, a.f.Label(d))
}

// stream names the random stream of this package.
const stream = 0x6d706c617368 // "mplash"

// place is steps 1 to 3: every path into the first layer that takes it, the longest
// first, or all in one pass by destination.
func (a *Analysis) place(ctx context.Context, layers *acyclic.Layers, byDestination bool, p routing.Progress) error {
	full := false
	for hops := a.mostHops; hops > 0; hops-- {
		wanted := func(h int32) bool { return h == hops || byDestination }
		err := a.each(ctx, wanted, func(i int64, path []fabric.ChannelID, turns []acyclic.Turn) bool {
			layer, ok := layers.First(turns, acyclic.MaxLayers)
			a.sets[i] = 1 << layer
			full = !ok
			return ok
		})
		if err != nil {
			return err
		}
		if full {
			return &routing.TooFewLanes{Need: acyclic.MaxLayers + 1, AtLeast: true, Have: acyclic.MaxLayers}
		}
		p.Report(int(a.mostHops-hops)+1, int(a.mostHops))
		if byDestination {
			break
		}
	}
	return nil
}

// spread is step 4: every path into every layer that takes it.
func (a *Analysis) spread(ctx context.Context, layers *acyclic.Layers, p routing.Progress) error {
	all := func(int32) bool { return true }
	return a.each(ctx, all, func(i int64, _ []fabric.ChannelID, turns []acyclic.Turn) bool {
		a.sets[i] |= layers.Every(turns, a.Layers)
		if i%4096 == 0 {
			p.Report(int(i), int(a.Paths))
		}
		return true
	})
}

// Each calls visit for every path, by destination, then source, with the trunks
// that it takes and its layers as bits: A and T of the paper. The path is valid
// until visit returns.
func (a *Analysis) Each(visit func(path []fabric.ChannelID, layers uint64)) {
	all := func(int32) bool { return true }
	err := a.each(context.Background(), all, func(i int64, path []fabric.ChannelID, _ []acyclic.Turn) bool {
		visit(path, a.sets[i])
		return true
	})
	if err != nil {
		panic(err) // nobody can cancel it
	}
}

// each calls visit for every path of the wanted hops (with Options.One, for the path kept of
// each pair), number i, until visit returns false.
func (a *Analysis) each(ctx context.Context, wanted func(hops int32) bool, visit func(i int64, path []fabric.ChannelID, turns []acyclic.Turn) bool) error {
	w := newWalker(a.f)
	n := a.f.Switches()
	for d := range fabric.NodeID(n) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !a.ends[d] {
			continue
		}
		w.to(d)
		for s := range fabric.NodeID(n) {
			if !a.sends(&w.d, s) || !wanted(w.d.Hops[s]) {
				continue
			}
			pair := int(d)*n + int(s)
			i := a.first[pair] - 1
			more := w.from(s, func(path []fabric.ChannelID, turns []acyclic.Turn) bool {
				i++
				return a.chosen != nil && i != a.chosen[pair] || visit(i, path, turns)
			})
			if !more {
				return nil
			}
		}
	}
	return nil
}
