package outputs

import (
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/result"
)

// Verdict is the judge's verdict about tables of a fabric.
func Verdict(f *fabric.Fabric, v *deadlock.Verdict) result.Verdict {
	return result.Verdict{
		Claim: result.Claim{Word: WordOf(v), Contract: v.Contract.String(), Endpoints: v.Scope.String()}, NotCovered: v.Outside(), SLs: v.SLs, Dependencies: v.Dependencies,
		Pairs: v.Pairs, Unreachable: v.Unreachable, Cycle: Loop(f, v.Cycle), AbsentLanes: AbsentLanes(f, v.Absent),
	}
}

// Loop names the steps of a credit loop.
func Loop(f *fabric.Fabric, cycle []deadlock.LoopStep) []result.Step {
	return list.Of(cycle, func(s deadlock.LoopStep) result.Step {
		c, to := f.Channel(s.Trunk), f.Owner(s.Dst)
		if s.Multicast {
			to = s.Src
		}
		pair := Pair(f, s.Src, to)
		if s.Multicast {
			pair.Dst, pair.DstNode = "multicast group "+MLID(s.Dst), result.Node{}
		}
		return result.Step{
			From: f.PortLabel(c.From, c.FromPort),
			To:   f.PortLabel(c.To, c.ToPort),
			VL:   s.VL, SL: s.SL, Answer: s.Answer,
			Ports: list.Of(s.Ports, func(p uint8) int { return int(p) }),
			Src:   pair.Src, Dst: pair.Dst, ChannelNodes: Ends(f, s.Trunk), PairNodes: pair.PairNodes,
		}
	})
}

// AbsentLanes names lanes that packets are sent to and cables do not run.
func AbsentLanes(f *fabric.Fabric, absent []deadlock.Absent) []result.AbsentLane {
	return list.Of(absent, func(a deadlock.Absent) result.AbsentLane {
		return result.AbsentLane{NamedChannel: Channel(f, a.Channel), SL: a.SL, VL: a.VL, DataVLs: f.Channel(a.Channel).DataVLs}
	})
}

// WordOf is the verdict of any judge in a word.
func WordOf(v interface{ Free() bool }) string { return Word(v.Free()) }

// Word is the word of a verdict: whether there is no credit loop.
func Word(free bool) string {
	if free {
		return result.DeadlockFree
	}
	return result.CreditLoop
}
