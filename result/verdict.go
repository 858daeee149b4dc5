package result

import (
	"fmt"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
)

// The verdicts in words, a contract with programs.
const (
	DeadlockFree = "deadlock-free"
	CreditLoop   = "credit-loop"

	NothingToJudge = "nothing-to-judge" // of lossless Ethernet: no lossless packet crosses a cable, so a proof would say nothing
)

// Claim is a verdict in a word, and what it is about.
type Claim struct {
	Word      string `json:"verdict"`   // DeadlockFree or CreditLoop
	Contract  string `json:"contract"`  // what clients do with service levels
	Endpoints string `json:"endpoints"` // who sends and receives
}

// Free reports whether the verdict is that packets cannot deadlock.
func (c Claim) Free() bool { return c.Word == DeadlockFree }

// Verdict is what the judge says of tables.
type Verdict struct {
	Claim
	NotCovered   []string     `json:"not_covered"`  // by any verdict of these endpoints
	SLs          int          `json:"sls"`          // service levels that the tables give out
	Dependencies int          `json:"dependencies"` // between lanes
	Pairs        int64        `json:"pairs"`        // ordered (source endpoint, destination LID)
	Unreachable  int64        `json:"unreachable"`  // those of them without a route
	Cycle        []Step       `json:"cycle"`        // a shortest credit loop; empty: there is none
	AbsentLanes  []AbsentLane `json:"absent_lanes,omitempty"`
}

// Step is a step of a credit loop.
type Step struct {
	From string `json:"from"` // switch name, out-port
	To   string `json:"to"`   // switch name, in-port
	VL   uint8  `json:"vl"`
	SL   uint8  `json:"sl"`
	Src  string `json:"src"`
	Dst  string `json:"dst"`
	ChannelNodes
	PairNodes
	// SL is that of the way back: src answers on a connection that dst opened.
	Answer bool `json:"answer,omitempty"`
	// Ports is what the switch at To chooses from; empty unless it has a choice.
	Ports []int `json:"ports,omitempty"`
}

// AbsentLane is a lane that packets are sent to and a cable does not run.
type AbsentLane struct {
	NamedChannel
	SL      uint8 `json:"sl"`
	VL      uint8 `json:"vl"`
	DataVLs uint8 `json:"data_vls"` // lanes that the cable runs
}

// WordOf is a verdict in a word, whatever it is about.
func WordOf(v interface{ Free() bool }) string { return Word(v.Free()) }

// Word is what is free of credit loops, or is not.
func Word(free bool) string {
	if free {
		return DeadlockFree
	}
	return CreditLoop
}

// VerdictOf is the judge's verdict about tables of a fabric.
func VerdictOf(f *fabric.Fabric, v *deadlock.Verdict) Verdict {
	return Verdict{
		Claim: Claim{WordOf(v), v.Contract.String(), v.Scope.String()}, NotCovered: v.Outside(), SLs: v.SLs, Dependencies: v.Dependencies,
		Pairs: v.Pairs, Unreachable: v.Unreachable, Cycle: Steps(f, v.Cycle), AbsentLanes: AbsentLanes(f, v.Absent),
	}
}

// Steps names the steps of a credit loop.
func Steps(f *fabric.Fabric, cycle []deadlock.LoopStep) []Step {
	return list.Of(cycle, func(s deadlock.LoopStep) Step {
		c, to := f.Channel(s.Trunk), f.Owner(s.Dst)
		if s.Multicast {
			to = s.Src
		}
		pair := PairOf(f, s.Src, to)
		if s.Multicast {
			pair.Dst, pair.DstNode = fmt.Sprintf("multicast group %#x", uint16(s.Dst)), Node{}
		}
		return Step{
			From: f.PortLabel(c.From, c.FromPort),
			To:   f.PortLabel(c.To, c.ToPort),
			VL:   s.VL, SL: s.SL, Answer: s.Answer,
			Ports: list.Of(s.Ports, func(p uint8) int { return int(p) }),
			Src:   pair.Src, Dst: pair.Dst, ChannelNodes: EndsOf(f, s.Trunk), PairNodes: pair.PairNodes,
		}
	})
}

// Text says where that is.
func (a AbsentLane) Text() string {
	return fmt.Sprintf("SL %d takes VL %d on the cable %s, which runs %s", a.SL, a.VL, a.Channel, words.Plural(int(a.DataVLs), "data lane"))
}

// AbsentLanes names lanes that packets are sent to and cables do not run.
func AbsentLanes(f *fabric.Fabric, absent []deadlock.Absent) []AbsentLane {
	return list.Of(absent, func(a deadlock.Absent) AbsentLane {
		return AbsentLane{ChannelOf(f, a.Channel), a.SL, a.VL, f.Channel(a.Channel).DataVLs}
	})
}
