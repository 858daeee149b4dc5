// Package judge proves adaptive routing free of deadlock, or finds the loop. It shares no
// code with the engines; the graph of who waits for whom is package internal/waits/cdg, as for package
// deadlock.
package judge

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/waits/cdg"
	"github.com/weft-fabric/weft/routing"
)

// Switching says how packets hold channels, and so which dependencies count.
type Switching uint8

const (
	// CutThrough buffers a waiting packet whole at one switch, so that it holds only one
	// lane. InfiniBand works like this, and so does store and forward.
	CutThrough Switching = iota
	// Wormhole lets a waiting packet hold lanes on all the cables behind it.
	Wormhole
)

func (s Switching) String() string { return [...]string{"cut-through", "wormhole"}[s] }

// Options states the assumptions under which an adaptive routing is judged.
type Options struct {
	Scope     routing.Scope // switches with endpoints in it send and receive; zero: host adapters
	Switching Switching     // zero: cut-through
	Progress  routing.Progress
}

// Verdict is what the judge found of an adaptive routing. Findings are
// not errors: look at Free and Complete. A flow is a source switch with an
// address that it may use.
type Verdict struct {
	Scope     routing.Scope
	Switching Switching

	Pairs        int64 // ordered pairs of different switches with endpoints in scope
	Unreachable  int64 // pairs of them without a flow that is sure to arrive
	Flows        int64 // flows of all pairs
	MayNotArrive int64 // flows not sure to arrive: some choices of the switches end at a dead end or circle
	Stranded     int64 // flows that can reach a switch where the routing subfunction offers no way on
	Lost         []Lost

	Hops         int    // the most trunks that a packet can take, of flows sure to arrive
	Minimal      bool   // every trunk that a packet can take brings it nearer to its destination
	VLs          int    // lanes that can carry traffic between switches (at least 1)
	LaneMask     uint16 // the lanes of VLs, as bits
	Dependencies int    // edges of the extended channel dependency graph

	Certificate *Certificate // nil if there is a cycle or a flow stranded
	Cycle       []Step       // a shortest cycle of dependencies, nil if there is none
}

// Free reports whether the routing is proven free of deadlock.
func (v *Verdict) Free() bool { return v.Certificate != nil }

// Complete reports whether every pair has a flow, and every flow arrives within
// Hops, whatever the switches choose.
func (v *Verdict) Complete() bool { return v.Unreachable == 0 && v.MayNotArrive == 0 }

// Lost is a flow that is not sure to arrive or is stranded, or a pair without
// flows.
type Lost struct {
	Source, Dest fabric.NodeID
	Address      adaptive.Address // NoFlow where there is none
	Why          Loss
}

// mostLost is how many flows a verdict lists.
const mostLost = 20

// NoFlow is the address of a Lost that has none.
const NoFlow adaptive.Address = -1

// Loss is what can happen to a packet of a flow.
type Loss uint8

// The ways to lose a packet under adaptive routing.
const (
	NotAddressed Loss = iota // the source may use no address of the destination
	DeadEnd                  // a packet can reach a switch that offers it no way on
	NoEscape                 // a packet can reach a switch where only ways outside the routing subfunction are open
	Circling                 // a packet can circle for ever
)

func (l Loss) String() string {
	return [...]string{"no address that it may use", "a switch that offers nothing", "nothing to rely on", "can circle for ever"}[l]
}

// Verify judges an adaptive routing. It takes into account everything that the
// switches may choose.
//
// Theory. J. Duato: A Necessary and Sufficient Condition for Deadlock-Free
// Routing in Cut-Through and Store-and-Forward Networks, IEEE Trans. Parallel and
// Distributed Systems 7(8), 1996; as Definitions 13 to 15 and Theorem 4 of O.
// Lysne et al.: Layered Routing in Irregular Networks, IEEE TPDS 17(1), 2006. A
// connected routing function R is free of deadlock if it has a connected
// subfunction R' whose extended channel dependency graph has no cycle. R' is what
// the routing says it relies on (adaptive.Lane).
//
// The graph. There is an edge from lane A of a trunk to lane B of another if some
// packet can hold A, having come there by R, and R' then offers it B. It is a direct
// dependency if the packet can come there by R' alone, otherwise a cross dependency.
// Under wormhole switching there are indirect dependencies as well: from a lane to what
// R' offers after the packet went on from there by ways outside R'. Where R' only
// forbids changing lanes (Theorem 3), the graph is the layered dependency graph of
// Definition 12.
//
// Connected. From every place that a packet can reach by R, R' must offer a way on; as
// the graph has no cycle, R' alone then leads to the destination. Freedom from deadlock
// does not need R itself to arrive within bounded hops, whatever is chosen; MayNotArrive
// counts the flows for which it does not.
//
// Complexity: O(F·C·K²·h) for F different pairs of address and allowed lanes, C trunks,
// h phases and K kinds of lanes (lanes that packets use alike are counted once). The
// turns from a trunk are read 64 at a time as bits; only new ones are read one by one.
// Destinations are divided among the cores. Under wormhole switching every lane is a
// kind of its own, and the search for what a packet can reach without R' is repeated
// for each lane of a trunk. Memory: a matrix of lanes by lanes for each turn, and one
// more for every core. The error is for what is not a verdict: a cancelled context, or
// lanes that name a port or lane that does not exist.
func Verify(ctx context.Context, t *adaptive.Tables, o Options) (*Verdict, error) {
	d, err := derive(ctx, t, o)
	if err != nil {
		return nil, err
	}
	v := &d.verdict
	rank, free := d.graph.rank()
	switch {
	case !free:
		if v.Cycle, err = d.witness(ctx, d.graph.shortest(rank)); err != nil {
			return nil, err
		}
	case v.Stranded == 0:
		cdg.MarkUnused(rank, d.inUse, d.graph.Lanes)
		v.Certificate = &Certificate{Scope: o.Scope, Switching: o.Switching, Lanes: d.graph.Lanes, Rank: rank}
	}
	return v, nil
}
