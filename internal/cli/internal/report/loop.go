package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/routing"
)

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

// The verdicts in words, a contract with programs.
const (
	DeadlockFree = "deadlock-free"
	CreditLoop   = "credit-loop"
)

// Verdict is a verdict in a word, whatever it is about.
func Verdict(v interface{ Free() bool }) string { return Word(v.Free()) }

// Word is what is free of credit loops, or is not.
func Word(free bool) string {
	if free {
		return DeadlockFree
	}
	return CreditLoop
}

// VerdictText is the verdict for people, with the credit loop if there is one.
func VerdictText(c *console.Console, f *fabric.Fabric, v *deadlock.Verdict) string {
	about := About(v)
	if v.Free() {
		return fmt.Sprintf("%s: %s dependencies, a rank that rises along each", about, words.Thousands(v.Dependencies))
	}
	return fmt.Sprintf("%s, a shortest one of %d steps:\n%s", about, len(v.Cycle), CycleText(c, f, v.Cycle))
}

// About is a verdict in a word and what it is about.
func About(v *deadlock.Verdict) string {
	if v.Multicast == nil {
		return fmt.Sprintf("%s (contract %s, endpoints %s)", Verdict(v), v.Contract, v.Scope)
	}
	return fmt.Sprintf("%s (contract %s, endpoints %s, %s)", Verdict(v), v.Contract, v.Scope, Covers(v))
}

// Covers says whose packets a verdict is about.
func Covers(v *deadlock.Verdict) string {
	if v.Multicast == nil {
		return "unicast"
	}
	return "unicast and multicast"
}

// OutsideOf says what the proof of a verdict is not about.
func OutsideOf(v *deadlock.Verdict) string {
	return "of any proof: " + strings.Join(v.Outside(), ", ")
}

// Outside says what a proof is not about.
func Outside(s routing.Scope) string {
	return "of any proof: " + strings.Join(deadlock.Outside(s), ", ")
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

// MaxSteps is how many steps of a loop are shown on a terminal.
const MaxSteps = 12

// CycleText is a credit loop for people, a step a line.
func CycleText(c *console.Console, f *fabric.Fabric, cycle []deadlock.LoopStep) string {
	return LoopText(c, Steps(f, cycle), func(int) string { return "" })
}

// LoopText is CycleText with more to say about each step.
func LoopText(c *console.Console, cycle []Step, more func(i int) string) string {
	lines := make([]string, len(cycle))
	for i, s := range cycle {
		answering := ""
		if s.Answer {
			answering = fmt.Sprintf(", answering on the request's SL %d", s.SL)
		}
		choosing := ""
		if len(s.Ports) > 0 {
			choosing = fmt.Sprintf(", which goes on by any of the ports %s", strings.Join(list.Of(s.Ports, strconv.Itoa), ", "))
		}
		lines[i] = fmt.Sprintf("  %s → %s, VL %d    (by %s → %s%s%s%s)", s.From, s.To, s.VL, s.Src, s.Dst, answering, choosing, more(i))
	}
	return c.First(MaxSteps, lines, func(n int) string {
		return fmt.Sprintf("  … and %d more steps back to the first (--json has all)", n)
	})
}

// SLsText is service levels that are given as bits.
func SLsText(mask uint16) string {
	if mask == 1<<routing.SLs-1 {
		return "any service level"
	}
	var sls []string
	for sl := range routing.SLs {
		if mask>>sl&1 == 1 {
			sls = append(sls, strconv.Itoa(sl))
		}
	}
	return "SL " + strings.Join(sls, ", ")
}
