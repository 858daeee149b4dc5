// Package alash is A-LASH: every shortest path is open to every packet, and the
// switches choose.
//
// O. Lysne, T. Skeie, S.-A. Reinemo, I. Theiss: Layered Routing in Irregular
// Networks, IEEE TPDS 17(1), 2006, section 7.
//
// The shortest paths of a pair of switches are grouped by their first trunk. A
// group is put as a whole into the first layer in which no circle of
// dependencies arises from it. Dependencies at the source's switch do not count:
// they begin at an injection channel, which no packet in the network waits for. Then (step 4) every group
// is tried in every other layer as well: T(s,a) is a set. By Theorem 3 a packet
// may move freely among the layers of T(s,a) under cut-through switching.
//
// Guarantee: deadlock-free and minimal; all shortest paths are open. Lanes
// needed: known when all groups have a layer; in random networks with two links a switch 2 to 3 on
// 16 switches, 3 to 4 on 32, 4 to 5 on 64, 7 to 9 on 128. Tori, with their many
// shortest paths, need far more: 10 on 6x6, 21 on 4x4x4. Refuses with
// *routing.TooFewLanes, or leaves paths out where Engine.Partial says so.
//
// Complexity: first all groups together are looked at, O(D·C) for D destinations
// and C trunks, the turns from a trunk as bits, 64 of them a step. If there is no
// circle in them, as in trees, one layer takes them all and that is all. Otherwise
// O(G·t) for G groups (a destination and a trunk that leads nearer to it) of t
// turns, while a layer holds them already, which is nearly always; a turn new to a
// layer costs a search in the part of the order that it upsets (package acyclic).
// One that a layer refused by itself is never tried there again. Step 4 works on
// the layers of step 2 and one empty layer, which stands for all that are empty. Memory: 24
// bytes a group, 16 a turn of the network.
//
// Deviations from the paper. The order in which groups are placed is open there;
// here the group with the most turns goes first: the first layers then hold the
// turns of the many small ones already. (Random networks of 64 switches and 128
// links: 4 to 5 layers; pair by pair 6 to 7, the small first 8 to 9.) And step
// 2.1.1 gives every group an address of its own; here the groups by the k-th first
// trunk of all sources share the k-th address of a destination. Forwarding looks
// at whether a packet is new (Definition 3), so at its source it takes the k-th
// trunk and later any. A group and its T(s,a) are the same as with own addresses,
// but a destination needs no more addresses than a switch has trunks, not as many
// as there are groups.
package alash

import (
	"context"
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/choices"
	"github.com/weft-fabric/weft/routing"
)

// Engine is A-LASH. The zero Engine is the algorithm with step 4 and with free
// moves among T(s,a).
type Engine struct {
	// OneLayer leaves out step 4: T(s,a) is one layer.
	OneLayer bool
	// Stay keeps every packet in the layer that it was injected into
	// (Definition 8), as wormhole switching requires.
	Stay bool
	// Partial leaves out groups of paths that fit into no layer of the
	// budget, rather than refuse, as long as every pair keeps one group.
	// The smallest group of every pair is placed before all others.
	Partial bool
}

// RouteAdaptive implements adaptive.Engine. The budget's lanes are the
// layers; those that step 2 does not need are used by step 4.
func (o Engine) RouteAdaptive(ctx context.Context, f *fabric.Fabric, b routing.Budget, p routing.Progress) (*adaptive.Tables, error) {
	b, err := b.WithDefaults()
	if err != nil {
		return nil, err
	}
	g, err := newGroups(ctx, f, b.Scope.Ends(f), p)
	if err != nil {
		return nil, err
	}
	need, left := 1, 0
	switch {
	case g.oneLayer && o.OneLayer:
		g.allowAll(1)
	case g.oneLayer:
		g.allowAll(choices.AllLanes(b))
	default:
		if need, left, err = o.place(ctx, g, b.VLs); err == nil && !o.OneLayer {
			err = g.spread(ctx, b.VLs)
		}
	}
	if err != nil {
		return nil, err
	}
	t, all := g.t, choices.AllLanes(b)
	for i := range b.VLs {
		l := adaptive.Lane{Choices: g.choices, Next: all, Rely: 1 << i}
		if o.Stay {
			l.Next = l.Rely
		}
		t.Lanes = append(t.Lanes, l)
	}
	t.Needed = need
	t.Notes = append(t.Notes, fmt.Sprintf("%d groups of shortest paths by first trunk in %d layers", g.count-left, t.Needed))
	if left > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d groups of shortest paths fit into no layer and are left out", left))
	}
	return t, nil
}

// place is steps 1 to 3: it finds a layer for every group. It returns how many
// layers that took and, with Partial, how many groups are left out.
func (o Engine) place(ctx context.Context, g *groups, vls int) (need, left int, err error) {
	if !o.Partial {
		over, err := g.putAll(ctx, acyclic.MaxLayers, o.Partial)
		if err != nil {
			return 0, 0, err
		}
		if need = g.layers.Len(); over > 0 || need > vls {
			return 0, 0, &routing.TooFewLanes{Need: need, AtLeast: over > 0, Have: vls}
		}
		return need, 0, nil
	}
	apart, err := g.putOneOfEachPair(ctx, vls)
	if err != nil {
		return 0, 0, err
	}
	if apart > 0 {
		return 0, 0, &routing.TooFewLanes{Need: vls + 1, AtLeast: true, Have: vls}
	}
	left, err = g.putAll(ctx, vls, o.Partial)
	return g.layers.Len(), left, err
}
