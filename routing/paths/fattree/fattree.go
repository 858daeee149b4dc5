// Package fattree routes fat trees as they are cabled: k-ary n-trees, extended
// generalized fat trees, oversubscribed ones, with trunks of parallel cables,
// missing cables and switches, tails, and adapters on any switch.
//
// E. Zahavi, G. Johnson, D. J. Kerbyson, M. Lang: Optimized InfiniBand Fat-Tree
// Routing for Shift All-to-All Communication Patterns, Concurrency and
// Computation: Practice and Experience 22(2), 2010, which is OpenSM's ftree: a
// destination comes down one way from one top switch, and the ways are dealt out
// in turn (d-mod-k). Relation to updown: both go up, then down; updown takes any
// network and balances each switch by itself.
//
// Levels are found from the cables alone. What is cabled to one other switch only
// hangs below it. In what is left, the core, a leaf is a switch with hosts and no
// neighbour with more: so hosts on a spine do not make it a leaf, and aggregation
// nodes do not count. A level is the distance from the nearest leaf; leaves that
// contradict most others are put at the level where they fit; a top that joins
// nothing, or that carries hosts but is above fewer than half of them, is hung
// below its neighbours.
//
// A destination's way down, its stem, is built from its switch up: at each
// switch, the trunk by which fewest stems come down, of equal ones that of
// d-mod-k. All who can meet the stem on a shortest path do.
//
// Guarantee: deadlock-free on one lane, whatever service level a client uses;
// connected for all host adapters; shortest among the ways up and then down. Where
// a switch is above both ends nobody goes up after going down. The rest, such as
// one spine to another, is joined by turns from down to up (orient.Join), each
// admitted only if all paths together stay free of cycles; Forwarding.Notes counts
// them. What no host needs, such as the address of a spine at a spine of another
// plane, stays without a path where no turn is left; a note counts that too.
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
// dragonfly with hosts alike on all switches), a network in which fewer than half
// of the pairs of hosts have a switch above both, and one where a turn that two hosts
// need would close a cycle. A part of the network without hosts is exempt.
package fattree

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/internal/orient"
)

// The rules.
const (
	ruleLevels = "every cable joins switches of neighbouring levels, counted from the switches with hosts"
	ruleJoined = "most pairs of hosts have a switch above both"
	ruleTurns  = "what has no switch above both is joined by turns from down to up that keep all paths free of cycles"
)

// Finder is fat-tree routing. The zero Finder is ready to use.
type Finder struct{}

// Paths implements routing.PathFinder. It refuses what is not a tree with
// *routing.Refusal.
func (Finder) Paths(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	l, common, refusal := survey(f)
	if refusal == nil {
		refusal = l.tooFewCommon(common)
	}
	if refusal != nil {
		return nil, refusal
	}
	w := newWays(l)
	t, err := spread(ctx, f, w, p)
	if err != nil {
		return nil, err
	}
	note := l.summary()
	if w.Apart(f) {
		turns, err := orient.Join(ctx, f, w.Orientation, t)
		if lost := (*orient.NotJoined)(nil); errors.As(err, &lost) {
			return nil, routing.Refuse(f, ruleTurns, lost.From, 0, "no way up and down to %s, and no turn that would make one", f.Label(lost.To))
		}
		if err != nil {
			return nil, err
		}
		note += "; " + turns
	}
	t.Notes = append(t.Notes, note)
	if apart := unjoined(common); apart > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d pairs of hosts have no switch above both and go down and up again on their way", apart))
	}
	return t, nil
}

// unjoined counts the ordered pairs of hosts without a switch above both.
func unjoined(common []ancestry) int64 {
	n := int64(0)
	for _, j := range common {
		n += j.pairs - j.joined
	}
	return n
}

// summary says how many switches are on each level, the lowest first.
func (l *levels) summary() string {
	var count []int
	for i := len(l.order) - 1; i >= 0; i-- {
		h := int(l.height[l.order[i]])
		for h >= len(count) {
			count = append(count, 0)
		}
		count[h]++
	}
	if len(count) == 1 {
		return "1 level"
	}
	text := strings.ReplaceAll(strings.Trim(fmt.Sprint(count), "[]"), " ", ", ")
	return fmt.Sprintf("%d levels with %s switches, from the lowest up", len(count), text)
}

// Explain implements routing.Explainer.
func (o Finder) Explain(f *fabric.Fabric) []routing.Finding {
	l, common, refusal := survey(f)
	if refusal != nil {
		return []routing.Finding{{Rule: ruleLevels, Why: where(refusal)}}
	}
	findings := []routing.Finding{{Rule: ruleLevels, OK: true, Why: l.summary()}}
	if refusal = l.tooFewCommon(common); refusal != nil {
		return append(findings, routing.Finding{Rule: ruleJoined, Why: where(refusal)})
	}
	why := "all do"
	if apart := unjoined(common); apart > 0 {
		why = fmt.Sprintf("%.1f %% do", 100*share(common))
	}
	findings = append(findings, routing.Finding{Rule: ruleJoined, OK: true, Why: why})
	t, err := o.Paths(context.Background(), f, nil)
	if errors.As(err, &refusal) {
		return append(findings, routing.Finding{Rule: ruleTurns, Why: where(refusal)})
	}
	return append(findings, routing.Finding{Rule: ruleTurns, OK: true, Why: strings.Join(t.Notes, "; ")})
}

// where is a refusal without its rule.
func where(r *routing.Refusal) string {
	switch {
	case r.Node == fabric.None:
		return r.Why
	case r.Port == 0:
		return r.Label + ": " + r.Why
	}
	return fmt.Sprintf("%s, port %d: %s", r.Label, r.Port, r.Why)
}
