package deadlock

import (
	"context"
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/waits/cdg"
	"github.com/weft-fabric/weft/routing"
)

// Certificate is a proof that tables cannot deadlock under a contract and scope:
// a rank for every lane of every trunk in use, such that whoever holds a lane
// waits only for lanes of higher rank. A lane of the highest rank waits for
// nothing but the adapters, so it drains, and then the next lower one does.
type Certificate struct {
	Contract routing.Contract
	Scope    routing.Scope
	Lanes    int     // lanes are numbered 0 … Lanes-1
	Rank     []int32 // [trunk × Lanes + lane]; Unused for lanes that carry nothing
}

// Unused is the rank of a lane that carries no traffic.
const Unused = cdg.Unused

// Violation is a dependency along which the ranks of a certificate do not rise: the
// certificate belongs to other tables, or the tables were changed.
type Violation struct {
	Switch       string // where the two channels meet
	In, Out      uint8  // ports of that switch
	InVL, OutVL  uint8
	InRank, Rank int32
}

func (v *Violation) Error() string {
	return fmt.Sprintf("the certificate does not hold at %s: from port %d, VL %d (%s) to port %d, VL %d (%s)",
		v.Switch, v.In, v.InVL, rankText(v.InRank), v.Out, v.OutVL, rankText(v.Rank))
}

// rankText is a rank in words.
func rankText(rank int32) string {
	if rank == Unused {
		return "no rank"
	}
	return fmt.Sprintf("rank %d", rank)
}

// Unranked is a lane that carries traffic but has no rank in a certificate: the
// certificate belongs to tables that do not use the lane.
type Unranked struct {
	Switch string
	Port   uint8 // of the trunk, at the switch it leaves
	VL     uint8
}

func (u *Unranked) Error() string {
	return fmt.Sprintf("the certificate has no rank for VL %d of %s, port %d, which carries traffic", u.VL, u.Switch, u.Port)
}

// CheckCertificate re-checks a proof against tables: it derives the dependencies
// and compares ranks, without any search for cycles. The contract and scope are
// the certificate's. The error is a *Violation or *Unranked where the proof does not
// hold.
func CheckCertificate(ctx context.Context, t *routing.Tables, c *Certificate, p routing.Progress) (*Verdict, error) {
	d, v, err := derive(ctx, t, Options{Contract: c.Contract, Scope: c.Scope, Lost: -1, Progress: p})
	if err != nil {
		return nil, err
	}
	g := d.graph()
	if err := c.holds(g, d.inUse); err != nil {
		return nil, err
	}
	v.Dependencies, v.Certificate = g.Count(), c
	return v, nil
}

// holds checks that every lane in use has a rank and that ranks rise along every
// dependency; inUse is the lanes of each trunk, as bits.
func (c *Certificate) holds(g *cdg.Graph, inUse []uint16) error {
	if g.Lanes > c.Lanes || len(c.Rank) != g.Fabric.Trunks()*c.Lanes {
		return fmt.Errorf("the certificate is for %d trunk lanes, the tables have %d trunks of %d lanes", len(c.Rank), g.Fabric.Trunks(), g.Lanes)
	}
	rank := func(v int32) int32 { return c.Rank[int(v)/g.Lanes*c.Lanes+int(v)%g.Lanes] }
	var after []int32
	for v := range int32(g.Fabric.Trunks() * g.Lanes) {
		after = g.Successors(v, after[:0])
		for _, u := range after {
			if rank(v) == Unused || rank(v) >= rank(u) {
				return violation(g, v, u, rank(v), rank(u))
			}
		}
	}
	return unranked(g.Fabric, c.Rank, c.Lanes, inUse)
}

// unranked is the error for a lane in use without a rank, nil if there is none; ranks are by trunk × lanes + lane.
func unranked(f *fabric.Fabric, rank []int32, lanes int, inUse []uint16) error {
	v := cdg.FirstUnranked(rank, inUse, lanes)
	if v < 0 {
		return nil
	}
	ch := f.Channel(fabric.ChannelID(v / lanes))
	return &Unranked{Switch: f.Label(ch.From), Port: ch.FromPort, VL: uint8(v % lanes)}
}

// violation names two lanes of trunks, v before u, and the ranks rv and ru that do not rise from one to the other.
func violation(g *cdg.Graph, v, u int32, rv, ru int32) *Violation {
	in, out := g.Fabric.Channel(fabric.ChannelID(int(v)/g.Lanes)), g.Fabric.Channel(fabric.ChannelID(int(u)/g.Lanes))
	return &Violation{
		Switch: g.Fabric.Label(in.To), In: in.ToPort, Out: out.FromPort,
		InVL: uint8(int(v) % g.Lanes), OutVL: uint8(int(u) % g.Lanes), InRank: rv, Rank: ru,
	}
}

// certify makes the proof of ranks that rise along every dependency. If one is not 0, they are of a lane that stands for these.
func certify(rank []int32, one uint16, inUse []uint16, lanes int, o Options) *Certificate {
	if one == 0 {
		cdg.MarkUnused(rank, inUse, lanes)
		return &Certificate{Contract: o.Contract, Scope: o.Scope, Lanes: lanes, Rank: rank}
	}
	all := make([]int32, len(rank)*lanes)
	for trunk, used := range inUse {
		of := all[trunk*lanes:][:lanes]
		for lane := range of {
			of[lane] = Unused
			if (used&one)>>lane&1 == 1 {
				of[lane] = rank[trunk]
			}
		}
	}
	return &Certificate{Contract: o.Contract, Scope: o.Scope, Lanes: lanes, Rank: all}
}
