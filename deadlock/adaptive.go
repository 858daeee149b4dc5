package deadlock

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Switching says how packets hold channels, and so which dependencies count.
type Switching uint8

const (
	// CutThrough buffers a packet that waits whole where it waits, so that it
	// holds that one lane. InfiniBand is so, and store and forward.
	CutThrough Switching = iota
	// Wormhole lets a packet that waits hold lanes all along the way behind it.
	Wormhole
)

func (s Switching) String() string { return [...]string{"cut-through", "wormhole"}[s] }

// AdaptiveOptions says under which assumptions an adaptive routing is judged.
type AdaptiveOptions struct {
	Scope     routing.Scope // switches with endpoints in it send and receive; zero: host adapters
	Switching Switching     // zero: cut-through
	Progress  routing.Progress
}

// AdaptiveVerdict is what the judge found of an adaptive routing. Findings are
// not errors: look at Free and Complete. A flow is a source switch with an
// address that it may use.
type AdaptiveVerdict struct {
	Scope     routing.Scope
	Switching Switching

	Pairs       int64 // ordered pairs of different switches with endpoints in scope
	Unreachable int64 // pairs of them without a flow that is sure to arrive
	Flows       int64 // flows of all pairs
	Astray      int64 // flows not sure to arrive: some choices end nowhere, or circle
	Stranded    int64 // flows that can get to where the routing subfunction offers nothing
	Lost        []LostFlow

	Hops         int    // the most trunks that a packet can take, of flows sure to arrive
	Minimal      bool   // every trunk that a packet can take brings it nearer
	VLs          int    // lanes that can carry traffic between switches (at least 1)
	LaneMask     uint16 // the lanes of VLs, as bits
	Dependencies int    // edges of the extended channel dependency graph

	Certificate *AdaptiveCertificate // nil if there is a cycle or a flow stranded
	Cycle       []AdaptiveStep       // a shortest cycle of dependencies, nil if there is none
}

// Free says whether the routing is proven free of deadlock.
func (v *AdaptiveVerdict) Free() bool { return v.Certificate != nil }

// Complete says whether every pair has a flow, and every flow arrives within
// Hops, whatever the switches choose.
func (v *AdaptiveVerdict) Complete() bool { return v.Unreachable == 0 && v.Astray == 0 }

// LostFlow is a flow that is not sure to arrive or is stranded, or a pair without
// flows.
type LostFlow struct {
	Source, Dest fabric.NodeID
	Address      routing.Address // NoFlow where there is none
	Why          LossOfFlow
}

// NoFlow is the address of a LostFlow that has none.
const NoFlow routing.Address = -1

// LossOfFlow is what can happen to a packet of a flow.
type LossOfFlow uint8

// The ways to lose a packet that may choose.
const (
	NotAddressed LossOfFlow = iota // the source may use none of the addresses
	DeadEnd                        // it can get to a switch that offers it nothing
	Unrelied                       // it can get to where only ways beyond the routing subfunction are open
	Wanders                        // it can circle for ever
)

func (l LossOfFlow) String() string {
	return [...]string{"no address that it may use", "a switch that offers nothing", "nothing to rely on", "can circle for ever"}[l]
}

// VerifyAdaptive judges an adaptive routing: all that switches may choose counts.
//
// Theory. J. Duato: A Necessary and Sufficient Condition for Deadlock-Free
// Routing in Cut-Through and Store-and-Forward Networks, IEEE Trans. Parallel and
// Distributed Systems 7(8), 1996; as Definitions 13 to 15 and Theorem 4 of O.
// Lysne et al.: Layered Routing in Irregular Networks, IEEE TPDS 17(1), 2006. A
// connected routing function R is free of deadlock if it has a connected
// subfunction R' whose extended channel dependency graph has no cycle. R' is what
// the routing says it relies on (routing.AdaptiveLane).
//
// The graph. There is an edge from a lane of a trunk to another if some packet
// can hold the one, having come there by R, and R' then offers it the other: a
// direct dependency if it can come there by R' alone, else a cross dependency.
// Under wormhole switching there are indirect ones as well: from a lane to what
// R' offers after the packet went on from there by ways beyond R'. Where R' only
// forbids to change lanes (Theorem 3), the graph is the layered dependency graph
// of Definition 12.
//
// Connected. From every place that a packet can get to by R, R' must offer a way
// on; since the graph has no cycle, R' alone then leads to the destination. That
// R also arrives, in bounded hops and whatever is chosen, is not needed to be
// free of deadlock; it is what Astray counts.
//
// Complexity: O(F·C·K²·h) for F different (address, allowed lanes), C trunks, K
// kinds of lane, those that packets use alike counted once, and h phases; the
// turns from a trunk are taken as bits, 64 of them a step, and one by one only when
// they are new. Destinations are shared out among the cores. Under wormhole
// switching every lane is a kind, and for each of a trunk all that a packet can
// reach from there without R' counts. Memory: a matrix of lanes by lanes for each
// turn, and one more for every core. The error is for what is not a verdict: a
// cancelled context, or lanes that name what is not there.
func VerifyAdaptive(ctx context.Context, t *routing.Adaptive, o AdaptiveOptions) (*AdaptiveVerdict, error) {
	d, err := deriveAdaptive(ctx, t, o)
	if err != nil {
		return nil, err
	}
	v := &d.verdict
	rank, free := d.graph.rank()
	switch {
	case !free:
		if v.Cycle, err = d.witness(ctx, d.graph.far.shortest(d.graph, rank)); err != nil {
			return nil, err
		}
	case v.Stranded == 0:
		d.markUnused(rank)
		v.Certificate = &AdaptiveCertificate{Scope: o.Scope, Switching: o.Switching, Lanes: d.graph.lanes, Rank: rank}
	}
	return v, nil
}
