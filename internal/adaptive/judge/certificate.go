package judge

import (
	"context"
	"fmt"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/waits/cdg"
	"github.com/weft-fabric/weft/routing"
)

// Certificate is a proof that an adaptive routing cannot deadlock: a rank for
// every lane of every trunk in use. A packet that holds a lane is offered a lane of
// higher rank by the routing subfunction, and never one of the same or lower rank.
// Lanes of the highest rank are held only by packets that have arrived, so they drain;
// then those of the next lower rank do, and so on.
type Certificate struct {
	Scope     routing.Scope
	Switching Switching
	Lanes     int     // lanes are numbered 0 … Lanes-1
	Rank      []int32 // [trunk × Lanes + lane]; Unused for lanes that carry nothing
}

// Violation is a dependency along which the ranks of a certificate do not rise:
// the certificate belongs to another routing, or the routing was changed.
type Violation struct {
	Held, Wanted         Hop
	HeldRank, WantedRank int32
}

func (v *Violation) Error() string {
	return fmt.Sprintf("the certificate does not hold from trunk %d, lane %d (rank %d) to trunk %d, lane %d (rank %d)",
		v.Held.Trunk, v.Held.Lane, v.HeldRank, v.Wanted.Trunk, v.Wanted.Lane, v.WantedRank)
}

// CheckCertificate re-checks a proof against an adaptive routing: it
// derives the dependencies and compares ranks, without any search for cycles. The
// scope and switching are the certificate's. The error is a *Violation or
// *deadlock.Unranked where the proof does not hold.
func CheckCertificate(ctx context.Context, t *adaptive.Tables, c *Certificate, p routing.Progress) (*Verdict, error) {
	d, err := derive(ctx, t, Options{Scope: c.Scope, Switching: c.Switching, Progress: p})
	if err != nil {
		return nil, err
	}
	if c.Lanes != d.graph.Lanes || len(c.Rank) != t.Fabric.Trunks()*c.Lanes {
		return nil, fmt.Errorf("the certificate is for %d trunk lanes, the routing has %d trunks of %d lanes", len(c.Rank), t.Fabric.Trunks(), d.graph.Lanes)
	}
	if n := d.verdict.Stranded; n > 0 {
		return nil, fmt.Errorf("%d flows can get to where the routing subfunction offers nothing: no certificate holds", n)
	}
	hop := func(v int32) Hop {
		return Hop{Trunk: fabric.ChannelID(int(v) / c.Lanes), Lane: uint8(int(v) % c.Lanes)}
	}
	var after []int32
	for v := range int32(len(c.Rank)) {
		after = d.graph.next(v, after[:0])
		for _, u := range after {
			if c.Rank[v] == deadlock.Unused || c.Rank[v] >= c.Rank[u] {
				return nil, &Violation{Held: hop(v), Wanted: hop(u), HeldRank: c.Rank[v], WantedRank: c.Rank[u]}
			}
		}
	}
	if v := cdg.FirstUnranked(c.Rank, d.inUse, c.Lanes); v >= 0 {
		ch := t.Fabric.Channel(hop(int32(v)).Trunk)
		return nil, &deadlock.Unranked{Switch: t.Fabric.Label(ch.From), Port: ch.FromPort, VL: hop(int32(v)).Lane}
	}
	d.verdict.Certificate = c
	return &d.verdict, nil
}
