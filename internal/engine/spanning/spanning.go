// Package spanning finds a spanning tree of the switches on which multicast can share lanes
// with the packets of finished tables.
//
// A switch copies a packet of a group to every port of the group's tree except the one it came
// in by, and keeps its buffer until the last copy is gone. So between each two cables of the
// tree that meet at a switch there is a dependency in either direction, on the lanes that
// the SL2VL maps give there. All of them have to be free of cycles together with those of
// unicast. The tree of every group is then a part of this one: members may join and leave,
// and nothing has to be proven again. That a spanning tree chosen before all groups keeps
// multicast and unicast apart from deadlock is how OpenSM's torus-2QoS has it (J. Schutt,
// osm_torus.c); how turns of a tree are kept free beside others, Nue (J. Domke, T. Hoefler,
// S. Matsuoka, HPDC 2016).
//
// Method. The dependencies of unicast are put into a graph that is kept free of cycles
// (internal/engine/steps/acyclic). From a root the tree grows breadth first, by every cable whose
// dependencies the graph admits. What does not fit once fits no more while the tree grows, so
// it is not tried again. If switches are left, the tree is grown again with cables first
// whose dependencies the graph already holds, and then from the next root: the switches in
// the order of their greatest distance to any other.
//
// Guarantee: the tree spans all switches, and unicast and multicast together are free of
// cycles. It may be there and not be found: a cable that is taken early can be in the way
// of others.
//
// Complexity: O(D·S) to follow D destinations over S switches; O(T·g) for each tree that is
// tried, T trunks, g lookups in the graph.
package spanning

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/packetset"
	"github.com/weft-fabric/weft/routing"
)

// Options says for whom the tree is.
type Options struct {
	Contract routing.Contract
	Scope    routing.Scope
	SLs      uint16 // service levels of the groups, as bits; not 0

	// Others is forwarding tables that these replace, for the same fabric. Meanwhile packets
	// go by the entries of either.
	Others []*routing.Forwarding
	// Keep is a tree that is in use. What is left of it is part of the new one, so that
	// packets which meet both while switches change from one to the other stay on a tree.
	Keep *routing.MulticastTree

	Roots int // how many to try; 0: many
}

// None is why there is no tree: none was found that fits beside the paths of the tables.
type None struct {
	Tried int             // trees that were grown
	Why   string          // in short
	Tree  *routing.Tables // the tables with a tree all the same, for the judge to show a loop; nil: no cables make a tree, or it was not tried
}

func (e *None) Error() string {
	return fmt.Sprintf("no spanning tree for multicast fits beside the paths (%s)", e.Why)
}

// ErrLoop says that the tables have a credit loop without any tree.
var ErrLoop = errors.New("the tables have a credit loop before a tree is added")

// mostRoots limits the roots that are tried by default. Each costs little beside the tables.
const mostRoots = 64

// Tree finds a tree for tables that are free of credit loops. The error is *None where it
// finds none.
func Tree(ctx context.Context, t *routing.Tables, o Options) (*routing.Multicast, error) {
	f := t.Fabric
	if t.Groups != nil {
		return nil, &None{Why: "the tables have ports to choose from, whose packets are not followed"}
	}
	if len(f.Parts()) > 1 {
		return nil, &None{Why: "no cables join all switches"}
	}
	if lane, uniform := t.Lanes.SL2VL.Uniform(); uniform {
		for sl, vl := range lane {
			if o.SLs>>sl&1 == 1 && vl >= routing.MaxDataVLs {
				return nil, &None{Why: fmt.Sprintf("packets on SL %d are dropped", sl)}
			}
		}
	}
	sources := packetset.NewSources(t, o.Contract, o.Scope, o.SLs)
	graph, err := packetset.New(sources).Graph(ctx, o.Scope, slices.Concat([]*routing.Forwarding{t.Forwarding}, o.Others)...)
	switch {
	case err != nil:
		return nil, err
	case graph == nil:
		return nil, ErrLoop
	}
	m, err := newGrower(t, graph, sources.Lanes, levels(t, &o, sources)).search(ctx, o)
	if none := (*None)(nil); errors.As(err, &none) {
		loops := *t
		loops.Multicast = shortest(t, o.SLs)
		none.Tree = &loops
	}
	return m, err
}

// shortest is the breadth-first tree, whether it fits beside the paths or not.
func shortest(t *routing.Tables, sls uint16) *routing.Multicast {
	g := newGrower(t, nil, 0, nil) // without service levels to follow, every cable is admitted
	g.breadthFirst(g.roots()[0])
	return &routing.Multicast{SLs: sls, Trees: []routing.MulticastTree{g.tree()}}
}

// levels is the service levels of groups to follow. Where one map serves all ports and clients
// may use whatever the contract lists, every lane of unicast holds the same dependencies, and
// those of groups stay on their own: one stands for all, and none need be followed on lanes
// without unicast.
func levels(t *routing.Tables, o *Options, sources *packetset.Sources) (list []uint8) {
	lane, uniform := t.Lanes.SL2VL.Uniform()
	used, fixed := o.Contract.FixedMask()
	if t.Lanes.SL2VL.IgnoresSL() {
		return sources.SLs[:1]
	}
	for sl := range uint8(routing.SLs) {
		switch {
		case o.SLs>>sl&1 == 0:
		case !uniform:
			list = append(list, sl)
		case !fixed:
			if !slices.ContainsFunc(list, func(other uint8) bool { return lane[other] == lane[sl] }) {
				list = append(list, sl)
			}
		default:
			for m := used; m != 0; m &= m - 1 {
				if lane[bits.TrailingZeros16(m)] == lane[sl] {
					return sources.SLs
				}
			}
		}
	}
	return list
}

// search tries one root after another. Switches that the largest tree so far leaves out are
// the next roots: the cables that they need are then taken first.
func (g *grower) search(ctx context.Context, o Options) (*routing.Multicast, error) {
	roots, tried := g.roots(), make([]bool, g.f.Switches())
	none := &None{Why: "a cable of what is left of the tree in use fits no more"}
	most := -1
	for left := cmp.Or(o.Roots, mostRoots); left > 0 && len(roots) > 0; {
		root := roots[0]
		roots = roots[1:]
		if tried[root] {
			continue
		}
		tried[root] = true
		left--
		for _, first := range []func(fabric.NodeID){g.breadthFirst, g.knownFirst} {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if !g.beginWith(o.Keep) {
				return nil, none
			}
			none.Tried++
			first(root)
			if g.joined == g.f.Switches()-1 {
				return &routing.Multicast{SLs: o.SLs, Trees: []routing.MulticastTree{g.tree()}}, nil
			}
			if g.joined > most {
				most = g.joined
				roots = append(g.without(root), roots...)
			}
			g.clear()
		}
	}
	none.Why = fmt.Sprintf("of %d trees that were grown the largest joins %d of %d switches", none.Tried, most+1, g.f.Switches())
	return nil, none
}

// without is the switches that the tree does not join with its root.
func (g *grower) without(root fabric.NodeID) (out []fabric.NodeID) {
	for s, piece := range g.piece {
		if piece != g.piece[root] {
			out = append(out, fabric.NodeID(s))
		}
	}
	return out
}

// roots is the switches, those with the least distance to the farthest other first.
func (g *grower) roots() []fabric.NodeID {
	far := make([]int32, g.f.Switches())
	roots := fabric.All[fabric.NodeID](g.f.Switches())
	for _, s := range roots {
		far[s] = slices.Max(g.f.Hops(s))
	}
	slices.SortStableFunc(roots, func(a, b fabric.NodeID) int { return cmp.Compare(far[a], far[b]) })
	return roots
}
