// Package cure finds rules that make a lossless network safe: for each device, which packets
// leave with another priority than they came with, by the interface they came by and the
// one they leave by.
//
// The idea is that of Tagger (S. Hu et al., Tagger: Practical PFC Deadlock Prevention in Data
// Center Networks, CoNEXT 2017) and of lanes by turn that never fall, as weave-any has for
// InfiniBand (docs/weave.md): turns are put into an order of links as far as they rise in
// it, and every other turn takes packets to the next priority. Each priority for itself
// then has no circle, because its packets rise in the order; and as packets never come back
// to a priority they have left, there is none over several. This holds whichever of the
// priorities hosts send with.
//
// Paths are those of the network as it is, those after failures, and with Bounces those of
// packets that are sent astray: at up to so many devices by a link that is not a next hop,
// and from there on by next hops, but not straight back. A device that wraps packets into a tunnel
// takes a turn as any other, with the rule for its interfaces and the priority that they came with.
//
// Orders. Two are tried, and the one that needs fewer priorities, then fewer rules, is taken: turns
// admitted one after the other, most used first, as long as they close no circle
// (for networks of up to maxGreedy turns); and up before down by levels from the hosts, in
// which exactly the turns that bounce do not rise.
//
// Deviation from Tagger: any topology and any routes, not a Clos with tags by level; and
// packets need another priority only where a turn closes a circle.
package cure

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/ethernet"
)

// Options says what the rules must serve.
type Options struct {
	Lossless int     // priorities with PFC there may be in all
	Start    []uint8 // priorities that hosts send with
	Bounces  int     // see the package comment
	// After visits the next hops that classes have after failures; nil: there are none. It is
	// called several times, and must visit the same each time.
	After func(visit func(class int, next ethernet.Row)) error
}

// Rule makes packets of a priority that come by some interfaces and leave by some others leave
// with another priority.
type Rule struct {
	Device   ethernet.DeviceID
	In, Out  []ethernet.LinkID // links that come in, and that go out; ascending
	Priority uint8
	Becomes  int8 // ethernet.Lossy: packets are no longer protected
}

// Cure is rules, and what they need.
type Cure struct {
	Ladders   [][]uint8 // for each priority that hosts send with, those that its packets can get to, in order
	Needed    int       // priorities that would keep all packets lossless
	Turns     int       // turns that take packets to the next priority
	Lossy     int       // turns where packets that have no next priority become lossy
	Rules     []Rule    // compressed: interfaces that are treated alike are together
	PerDevice int       // the most rules of a device
	Order     string    // which order of links it is

	Network *ethernet.Network // with the rules
}

// maxGreedy is the most turns that are admitted one after the other.
const maxGreedy = 20_000

// Compute finds rules for a network, which keeps its own priorities: Cure.Network is a copy with the rules. weft
// priorities and weft packets call it; the judge decides about the result.
func Compute(ctx context.Context, n *ethernet.Network, o Options) (*Cure, error) {
	if len(n.TunnelMaps) > 0 && o.Bounces > 0 {
		return nil, errors.New("devices wrap packets, and what packets do that go astray with tunnels is not followed")
	}
	levels := 0
	if len(o.Start) > 0 {
		levels = o.Lossless / len(o.Start)
	}
	if levels < 1 || o.Lossless > ethernet.MaxPriorities-1 {
		return nil, fmt.Errorf("%d lossless priorities; hosts send with %d, and there are at most %d with one left for lossy packets", o.Lossless, len(o.Start), ethernet.MaxPriorities-1)
	}
	t := newTurns(n)
	w := newWalker(t, o)
	if err := w.weigh(ctx); err != nil {
		return nil, err
	}
	var best *plan
	for _, candidate := range t.orders() {
		p := &plan{turns: t, order: candidate, used: make([]uint8, t.count)}
		w.plan = p
		if err := w.levels(ctx); err != nil {
			return nil, err
		}
		if best == nil || p.cost() < best.cost() {
			best = p
		}
	}
	return best.cure(n, o, levels), nil
}

// turns is the pairs of links that meet at a device, numbered by the link that comes in.
type turns struct {
	n      *ethernet.Network
	first  []int32  // [LinkID that comes in] its first turn, with one entry more for the end
	weight []uint32 // [turn] how often packets take it, over all classes and failures; only 1 where turns are too many for greedy; 0: never
	count  int      // all turns
}

func newTurns(n *ethernet.Network) *turns {
	t := &turns{n: n, first: make([]int32, len(n.Links)+1)}
	for l := range n.Links {
		first, end := n.LinksFrom(n.Links[l].To)
		t.first[l+1] = t.first[l] + int32(end-first)
	}
	t.count = int(t.first[len(n.Links)])
	t.weight = make([]uint32, t.count)
	return t
}

// of is the turn from one link to another, which leaves the device where the first ends.
func (t *turns) of(in, out ethernet.LinkID) int32 {
	first, _ := t.n.LinksFrom(t.n.Links[in].To)
	return t.first[in] + int32(out-first)
}

// ends undoes of: the links that a turn joins.
func (t *turns) ends(turn int32) (in, out ethernet.LinkID) {
	i, found := slices.BinarySearch(t.first, turn)
	if !found {
		i--
	}
	for t.first[i+1] == turn { // links to devices without others have no turns
		i++
	}
	first, _ := t.n.LinksFrom(t.n.Links[i].To)
	return ethernet.LinkID(i), first + ethernet.LinkID(turn-t.first[i])
}

// plan is an order of links, and what it leads to: packets begin at level 0, and rise by one at each turn that does
// not rise in the order. A level is a step of each ladder of priorities.
type plan struct {
	*turns
	order
	used   []uint8 // [turn] levels at which packets take it, as bits
	needed int     // levels that would do for all packets
}

// cost is less for the better plan: that of fewer levels, then of fewer turns with a rule.
func (p *plan) cost() int {
	rules := 0
	for turn, used := range p.used {
		if used != 0 && p.raises(int32(turn)) {
			rules++
		}
	}
	return p.needed*(p.count+1) + rules
}

// raises reports whether a turn takes packets to the next level.
func (p *plan) raises(turn int32) bool {
	in, out := p.ends(turn)
	return p.rank[in] >= p.rank[out]
}

// Mark is the mark in the network with rules of packets that are sent with a priority; of one
// that no host sends with, that of lossy packets.
func (c *Cure) Mark(priority int8) uint8 {
	for i, ladder := range c.Ladders {
		if int8(ladder[0]) == priority {
			return uint8(i * len(ladder))
		}
	}
	return uint8(len(c.Network.Priorities.Marks) - 1)
}
