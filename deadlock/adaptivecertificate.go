package deadlock

import (
	"context"
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// AdaptiveCertificate is a proof that an adaptive routing cannot deadlock: a rank for
// every lane of every trunk in use. A packet that holds a lane is offered a lane of
// higher rank by the routing subfunction, and never one of the same or lower rank.
// Lanes of the highest rank are held only by packets that have arrived, so they drain;
// then those of the next lower rank do, and so on.
type AdaptiveCertificate struct {
	Scope     routing.Scope
	Switching Switching
	Lanes     int     // lanes are numbered 0 … Lanes-1
	Rank      []int32 // [trunk × Lanes + lane]; Unused for lanes that carry nothing
}

// AdaptiveViolation is a dependency along which the ranks of a certificate do not rise:
// the certificate belongs to another routing, or the routing was changed.
type AdaptiveViolation struct {
	Held, Wanted         Hop
	HeldRank, WantedRank int32
}

func (v *AdaptiveViolation) Error() string {
	return fmt.Sprintf("deadlock: the certificate does not hold from trunk %d, lane %d (rank %d) to trunk %d, lane %d (rank %d)",
		v.Held.Trunk, v.Held.Lane, v.HeldRank, v.Wanted.Trunk, v.Wanted.Lane, v.WantedRank)
}

// CheckAdaptiveCertificate re-checks a proof against an adaptive routing: it
// derives the dependencies and compares ranks, without any search for cycles. The
// scope and switching are the certificate's. The error is an *AdaptiveViolation or
// *Unranked where the proof does not hold.
func CheckAdaptiveCertificate(ctx context.Context, t *routing.Adaptive, c *AdaptiveCertificate, p routing.Progress) (*AdaptiveVerdict, error) {
	d, err := deriveAdaptive(ctx, t, AdaptiveOptions{Scope: c.Scope, Switching: c.Switching, Progress: p})
	if err != nil {
		return nil, err
	}
	if c.Lanes != d.graph.lanes || len(c.Rank) != t.Fabric.Trunks()*c.Lanes {
		return nil, fmt.Errorf("deadlock: the certificate is for %d trunk lanes, the routing has %d trunks of %d lanes", len(c.Rank), t.Fabric.Trunks(), d.graph.lanes)
	}
	if n := d.verdict.Stranded; n > 0 {
		return nil, fmt.Errorf("deadlock: %d flows can get to where the routing subfunction offers nothing: no certificate holds", n)
	}
	hop := func(v int32) Hop { return Hop{fabric.ChannelID(int(v) / c.Lanes), uint8(int(v) % c.Lanes)} }
	var wrong *AdaptiveViolation
	for v := range int32(len(c.Rank)) {
		d.graph.successors(v, func(u int32) {
			if wrong == nil && (c.Rank[v] == Unused || c.Rank[v] >= c.Rank[u]) {
				wrong = &AdaptiveViolation{hop(v), hop(u), c.Rank[v], c.Rank[u]}
			}
		})
	}
	if wrong != nil {
		return nil, wrong
	}
	if err := unranked(t.Fabric, c.Rank, c.Lanes, d.inUse); err != nil {
		return nil, err
	}
	d.verdict.Certificate = c
	return &d.verdict, nil
}

// markUnused sets the rank of lanes that carry nothing to Unused.
func (d *adaptiveDerivation) markUnused(rank []int32) {
	lanes := d.graph.lanes
	for v := range rank {
		if d.inUse[v/lanes]>>(v%lanes)&1 == 0 {
			rank[v] = Unused
		}
	}
}
