// Package parx finds paths in a HyperX that are not minimal on purpose: each of the four
// addresses of an endpoint is routed as if the cables within one half of the network were
// missing, so that a sender chooses by the address whether its packets take a shortest path
// or a detour.
//
// J. Domke et al.: HyperX Topology: First At-Scale Implementation and Comparison to the
// Fat-Tree, SC 2019: PARX, pattern-aware routing. Two neighbours in a HyperX have one cable
// between them, and static minimal routing sends everything by it. The two largest
// dimensions part the switches into left and right, and into top and bottom. For the
// addresses of an endpoint, base LID and the three behind it, paths avoid the cables
//
//	LID 0: that join two switches of the left half,
//	LID 1: of the right half,
//	LID 2: of the top half,
//	LID 3: of the bottom half,
//
// and are shortest and balanced over what is left, as those of DFSSSP. Where source and
// destination lie in one half, the address that avoids it is a detour of one hop by the
// other half, for large messages; the two of the other dimension, unless both lie in one
// half of that too, are shortest, for small ones. Between halves all are shortest, by
// different cables.
//
// Guarantee: every address is reached from every switch of its part of the network; paths
// have the fewest hops that the rule of their address leaves, or, where it leaves none, go
// the shortest way to a switch that has one. Deadlock-free only together with a lane
// assigner: the paper has that of DFSSSP, layer.BreakCycles.
//
// It refuses what is no HyperX of two dimensions or more, found from the cables alone, of
// which up to a quarter may be missing; and adapters with fewer than four addresses.
//
// Complexity: O(D·(S + trunks)) for D LIDs and S switches; to find the dimensions once
// O(S·k³) for switches of k trunks, at the most.
//
// The text of the paper was not at hand, so this is built from its abstract and what is
// known of it; the order of the rules is a reconstruction. Left out: traffic demands, by
// which the paper weighs pairs that communicate (--traffic is for balance), and the part of
// it in MPI, which chooses addresses by the size of messages. Which half is which follows
// from the order of the switches.
package parx

import (
	"context"
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/intree"
	"github.com/weft-fabric/weft/routing"
)

// Finder finds the paths. The zero Finder is ready to use.
type Finder struct{}

// The rules, for refusals and Explain.
const (
	ruleHyperX    = "the network is a HyperX of two dimensions or more"
	ruleAddresses = "every host adapter port has four addresses or more (--lmc 2)"
	addresses     = 4 // halves, and rules
)

// Explain implements routing.Explainer.
func (Finder) Explain(f *fabric.Fabric) []routing.Finding {
	network := routing.Finding{Rule: ruleHyperX}
	h, no := find(f)
	if network.OK = no == nil; network.OK {
		network.Why = h.String()
	} else {
		network.Why = no.Brief()
	}
	lids := routing.Finding{Rule: ruleAddresses, OK: true, Why: "all have"}
	if e := fewAddresses(f); e != fabric.None {
		lids.OK, lids.Why = false, fmt.Sprintf("%s has %d", f.EndpointLabel(e), 1<<f.Endpoint(e).LMC)
	}
	return []routing.Finding{network, lids}
}

// fewAddresses is the first host adapter port that has too few; None: there is none.
func fewAddresses(f *fabric.Fabric) fabric.EndpointID {
	for _, e := range routing.HCA.Endpoints(f) {
		if 1<<f.Endpoint(e).LMC < addresses {
			return e
		}
	}
	return fabric.None
}

// Paths implements routing.PathFinder.
func (Finder) Paths(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	h, no := find(f)
	if no != nil {
		return nil, no
	}
	if e := fewAddresses(f); e != fabric.None {
		return nil, routing.Refuse(f, ruleAddresses, f.Endpoint(e).Node, 0, "its port has %d", 1<<f.Endpoint(e).LMC)
	}
	t := routing.NewForwarding(f)
	b := newBuilder(f, h)
	for root := range fabric.NodeID(f.Switches()) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, id := range f.Attached(root) {
			e := f.Endpoint(id)
			for lid := range e.LIDs() {
				rule := everything
				if e.Class == fabric.HostAdapter {
					rule = int(lid-e.LID) % addresses
				}
				b.grow(root, rule)
				intree.Write(f, t.Row(lid), lid, b.order, b.out)
				if e.Class != fabric.SwitchPort {
					b.Charge(b.order, b.out, 1)
				}
			}
		}
		p.Report(int(root)+1, f.Switches())
	}
	t.Notes = append(t.Notes, h.String()+"; of each endpoint the LIDs 0 to 3, modulo 4, avoid cables within the left, right, top and bottom half")
	return t, nil
}

// everything stands for no rule: no cable is avoided.
const everything = addresses

// builder grows the tree of one LID after another.
type builder struct {
	*intree.Loads
	f     *fabric.Fabric
	avoid [addresses + 1][]bool // [rule][trunk] paths to addresses of the rule must not take it

	out   []fabric.ChannelID // [switch] the trunk it forwards to
	hops  []int32            // [switch] of its path; dag.NoPath: not in the tree yet
	sum   []uint64           // [switch] the loads of its path's trunks, added up
	kept  []bool             // [switch] it has a path that keeps the rule
	order []fabric.NodeID    // the switches of the tree, the root first, each behind the one it forwards to
}

func newBuilder(f *fabric.Fabric, h *hyperX) *builder {
	n := f.Switches()
	b := &builder{Loads: intree.NewLoads(f), f: f, out: make([]fabric.ChannelID, n), hops: make([]int32, n), sum: make([]uint64, n), kept: make([]bool, n)}
	for rule := range b.avoid {
		b.avoid[rule] = make([]bool, f.Trunks())
		if rule == everything {
			continue
		}
		for c := range b.avoid[rule] {
			ch := f.Channel(fabric.ChannelID(c))
			b.avoid[rule][c] = h.within(ch.From, rule) && h.within(ch.To, rule)
		}
	}
	return b
}

// grow makes the tree, in order and out, of the lightest shortest paths to a switch that a rule leaves,
// and gives switches that it leaves none the shortest way into it.
func (b *builder) grow(root fabric.NodeID, rule int) {
	for s := range b.hops {
		b.hops[s] = dag.NoPath
	}
	b.hops[root], b.sum[root] = 0, 0
	b.order = append(b.order[:0], root)
	clear(b.kept)
	for i := 0; i < len(b.order); i++ {
		b.offer(b.order[i], b.avoid[rule])
	}
	for _, s := range b.order {
		b.kept[s] = true
	}
	for level := int32(0); rule != everything && b.offerAll(level); level++ {
	}
}

// offerAll offers the ways through all switches of so many hops to their neighbours, by any cable, and
// reports whether there are switches of more hops.
func (b *builder) offerAll(level int32) (higher bool) {
	for i := 0; i < len(b.order); i++ {
		s := b.order[i]
		if b.hops[s] == level {
			b.offer(s, b.avoid[everything])
		}
		higher = higher || b.hops[s] > level
	}
	return higher
}

// offer offers the way through a switch to its neighbours, except by trunks to avoid, [trunk].
func (b *builder) offer(s fabric.NodeID, avoid []bool) {
	heads, reverses := b.f.Heads(), b.f.Reverses()
	hops := b.hops[s] + 1
	for back, end := b.f.TrunksFrom(s); back < end; back++ {
		c, u := reverses[back], heads[back]
		if avoid[c] || b.kept[u] || b.hops[u] != dag.NoPath && b.hops[u] != hops {
			continue
		}
		sum := b.sum[s] + b.On[c]
		switch {
		case b.hops[u] == dag.NoPath:
			b.hops[u] = hops
			b.order = append(b.order, u)
		case sum > b.sum[u] || sum == b.sum[u] && c >= b.out[u]:
			continue
		}
		b.out[u], b.sum[u] = c, sum
	}
}
