package updown

import (
	"context"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/orient"
	"github.com/weft-fabric/weft/routing"
)

// SourceRoutes is Up*/Down* as its papers have it, for simulation: a path of its own for
// every pair of switches, a shortest of those that go up, then down. InfiniBand's tables,
// which look at the destination only, cannot hold them: a switch that sends some packets
// down could not send others up; Finder makes what they can hold.
//
// O. Lysne et al.: Layered Routing in Irregular Networks, IEEE TPDS 17(1), 2006, sections
// 4 and 8.1. Of several shortest paths of a pair one is drawn, each as likely as any other.
//
// Every lane of the budget is a layer. With one tree it is the same in all; with Roots
// each layer has a tree of its own, as of MultiRoot. A pair uses one layer, "as evenly
// between the layers as possible", or all of them.
//
// Whether a tree of several is breadth first or depth first the paper leaves open. Section 4.1 takes
// Up*/Down* to be Autonet's, breadth first, names Sancho's depth-first search as an improvement of it, and section 4.2 has
// each layer routed "by using UpDown routing"; in section 8 what D-MROOTS is compared with is depth
// first. There is either (DepthFirst), and one tree alone is depth first.
//
// Guarantee: free of deadlock, whatever the layers, and connected within each part.
//
// Complexity: O(L·S·(S + C)) for L layers, S switches and C trunks.
type SourceRoutes struct {
	Roots      bool   // a tree for each layer, roots far apart; else one depth-first tree
	DepthFirst bool   // of Roots: each by Sancho's search from its root; else breadth first
	All        bool   // a pair uses all layers; else one
	Seed       uint64 // of the paths drawn
}

// RouteAdaptive implements adaptive.Engine.
func (o SourceRoutes) RouteAdaptive(ctx context.Context, f *fabric.Fabric, b routing.Budget, _ routing.Progress) (*adaptive.Tables, error) {
	b, err := b.WithDefaults()
	if err != nil {
		return nil, err
	}
	var trees []*orient.Orientation // [layer]
	if o.Roots {
		for _, root := range farApart(f, b.VLs) {
			order := orient.ByRank(f, []fabric.NodeID{root})
			if o.DepthFirst {
				order, _ = depthFirst(f, root)
			}
			trees = append(trees, orient.New(f, order))
		}
	} else {
		order, _ := depthFirst(f, fabric.None)
		trees = slices.Repeat([]*orient.Orientation{orient.New(f, order)}, b.VLs)
	}
	t := adaptive.SourceRoutes(f, b.VLs, o.paths(ctx, f, trees, b.Scope.Ends(f)))
	t.Needed = 1
	if o.Roots {
		t.Needed = b.VLs
	}
	return t, ctx.Err()
}

// stream names the random stream of this file.
const stream = 0x7570646f776e // "updown"

// paths yields the paths, each with the layer that it is for, as a bit, by destination. trees is by
// layer, ends by switch.
func (o SourceRoutes) paths(ctx context.Context, f *fabric.Fabric, trees []*orient.Orientation, ends []bool) iter.Seq2[[]fabric.ChannelID, uint16] {
	return func(yield func([]fabric.ChannelID, uint16) bool) {
		draw := rand.New(rand.NewPCG(o.Seed, stream))
		ways := make([]*legal, len(trees)) // [layer]
		for i := range trees {
			ways[i] = &legal{f: f, o: trees[i]}
		}
		var path []fabric.ChannelID
		for d := range fabric.NodeID(f.Switches()) {
			if !ends[d] || ctx.Err() != nil {
				continue
			}
			for _, w := range ways {
				w.to(d)
			}
			for s := range fabric.NodeID(f.Switches()) {
				for l, w := range ways {
					if !ends[s] || s == d || w.hops[s] == dag.NoPath || !o.All && l != (int(s)+int(d))%len(trees) {
						continue
					}
					path = w.draw(path[:0], s, draw)
					if !yield(path, 1<<l) {
						return
					}
				}
			}
		}
	}
}

// legal is the shortest paths to one switch that go up, then down.
type legal struct {
	f *fabric.Fabric
	o *orient.Orientation

	root     fabric.NodeID
	descents dag.DAG
	hops     []int32   // [switch] of the shortest legal paths
	ways     []float64 // [switch] how many these are
	downs    []float64 // [switch] how many of the shortest among the paths that only go down
}

// to makes a switch the destination: it sets all fields from root on.
func (l *legal) to(root fabric.NodeID) {
	n := l.f.Switches()
	l.root = root
	l.o.Descents(&l.descents, l.f, root)
	l.hops, l.ways, l.downs = make([]int32, n), make([]float64, n), make([]float64, n)
	l.downs[root] = 1
	for i, u := range l.descents.Order[1:] {
		for _, c := range l.descents.Choices(i + 1) {
			l.downs[u] += l.downs[l.f.Heads()[c]]
		}
	}
	for _, u := range l.o.Order { // who is above comes before
		down := l.descents.Hops[u]
		l.hops[u] = down
		for c, end := l.f.TrunksFrom(u); c < end; c++ {
			if h := l.above(c); h != dag.NoPath && (l.hops[u] == dag.NoPath || h < l.hops[u]) {
				l.hops[u] = h
			}
		}
		if down != dag.NoPath && down == l.hops[u] {
			l.ways[u] = l.downs[u]
		}
		for c, end := l.f.TrunksFrom(u); c < end; c++ {
			if h := l.above(c); h != dag.NoPath && h == l.hops[u] {
				l.ways[u] += l.ways[l.f.Heads()[c]]
			}
		}
	}
}

// above is the hops of the shortest legal path that begins with a trunk up, NoPath for
// one that leads down.
func (l *legal) above(c fabric.ChannelID) int32 {
	if head := l.f.Heads()[c]; l.o.Up[c] && l.hops[head] != dag.NoPath {
		return l.hops[head] + 1
	}
	return dag.NoPath
}

// draw appends a path from a switch, each of the shortest legal ones as likely as any other.
func (l *legal) draw(path []fabric.ChannelID, s fabric.NodeID, r *rand.Rand) []fabric.ChannelID {
	heads, down := l.f.Heads(), false
	for s != l.root {
		total := l.ways[s]
		if down {
			total = l.downs[s]
		}
		at := r.Float64() * total
		var next fabric.ChannelID = fabric.None
		nextDown := down
		for c, end := l.f.TrunksFrom(s); c < end; c++ {
			n, goesDown := l.weight(s, c, down)
			if n == 0 {
				continue
			}
			next, nextDown = c, goesDown
			if at -= n; at < 0 {
				break
			}
		}
		path = append(path, next)
		s, down = heads[next], nextDown
	}
	return path
}

// weight is how many of the shortest legal paths from a switch begin with trunk c, if down only those
// that go down, and whether c leads down.
func (l *legal) weight(s fabric.NodeID, c fabric.ChannelID, down bool) (n float64, goesDown bool) {
	head := l.f.Heads()[c]
	left := l.hops[s]
	if down {
		left = l.descents.Hops[s]
	}
	switch {
	case !l.o.Up[c] && l.descents.Hops[head] != dag.NoPath && l.descents.Hops[head] == left-1:
		return l.downs[head], true
	case !down && l.above(c) != dag.NoPath && l.above(c) == left:
		return l.ways[head], false
	}
	return 0, false
}
