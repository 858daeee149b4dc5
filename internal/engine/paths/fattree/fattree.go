// Package fattree routes fat trees as they are cabled: k-ary n-trees, extended
// generalized fat trees, oversubscribed ones, with trunks of parallel cables,
// missing cables and switches, tails, and adapters on any switch.
//
// E. Zahavi, G. Johnson, D. J. Kerbyson, M. Lang: Optimized InfiniBand Fat-Tree
// Routing for Shift All-to-All Communication Patterns, Concurrency and
// Computation: Practice and Experience 22(2), 2010, which is OpenSM's ftree: a
// destination comes down one way from one top switch, and the ways are dealt out
// round robin (d-mod-k). Relation to updown: both go up, then down; updown takes any
// network and balances each switch by itself.
//
// Levels are found from the cables alone, see package levels.
//
// A destination's way down, its stem, is built from its switch up: at each
// switch, the trunk by which fewest stems come down, of equal ones that of
// d-mod-k. All switches that can meet the stem on a shortest path do.
//
// Guarantee: deadlock-free on one lane, whatever service level a client uses;
// connected for all host adapters; shortest among the ways up and then down. Where
// a switch is above both ends nobody goes up after going down. The rest, such as
// one spine to another, is joined by turns from down to up (orient.Join), each
// admitted only if all paths together stay free of cycles; Forwarding.Notes counts
// them. Where no such turn is left, the destinations whose paths stand in the way are
// routed anew (package regrow). What no host needs, such as the address of a spine at a spine
// of another plane, stays without a path where no turn is left; a note counts that too.
//
// Complexity: O(S·(S + C) + D·(S + M)) for S switches, C trunks, D destination
// LIDs, M the trunks on the shortest ways up from one leaf and down from its
// stem; O(S²/64) words for the sets of hosts below a switch.
//
// Deviations from the paper:
//   - Hosts beyond the last full round over the trunks that come down to a leaf
//     get no stem: 19 hosts behind 18 cables would make one cable carry two
//     destinations. Their senders spread over all ways by load.
//   - A switch with more cables to one parent than to another leaves the stem
//     where it would send more by one cable than by the others; one that a
//     missing cable keeps from the stem takes the way with the least load.
//   - Hosts may be on any level, and trees need not be complete.
//
// It refuses a core with a cable within a level (every torus, mesh, hypercube and
// dragonfly with hosts alike on all switches), and a network in which fewer than half
// of the pairs of hosts have a switch above both. A part of the network without hosts is exempt.
package fattree

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/levels"
	"github.com/weft-fabric/weft/routing"
)

// Finder is fat-tree routing. The zero Finder is ready to use.
type Finder struct{}

// Paths implements routing.PathFinder. It refuses what is not a tree with
// *routing.Refusal.
func (Finder) Paths(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	l, refusal := levels.Find(f)
	if refusal != nil {
		return nil, refusal
	}
	w := newWays(l)
	t, err := spread(ctx, f, w, p)
	if err != nil {
		return nil, err
	}
	if err := l.Complete(ctx, w.Orientation, t); err != nil {
		return nil, err
	}
	return t, nil
}

// Explain implements routing.Explainer.
func (o Finder) Explain(f *fabric.Fabric) []routing.Finding { return levels.Explain(f, o) }
