package main

import (
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// stepSummary is a step of a credit loop.
type stepSummary struct {
	From string `json:"from"` // switch name, out-port
	To   string `json:"to"`   // switch name, in-port
	VL   uint8  `json:"vl"`
	SL   uint8  `json:"sl"`
	Src  string `json:"src"`
	Dst  string `json:"dst"`
	channelNodes
	pairNodes
	// SL is that of the way back: src answers on a connection that dst opened.
	Answer bool `json:"answer,omitempty"`
}

// The verdicts in words, a contract with programs.
const (
	deadlockFree = "deadlock-free"
	creditLoop   = "credit-loop"
)

func verdictWord(v *deadlock.Verdict) string {
	if v.Free() {
		return deadlockFree
	}
	return creditLoop
}

// outsideText says what a proof is not about.
func outsideText(s routing.Scope) string {
	return "of any proof: " + strings.Join(deadlock.Outside(s), ", ")
}

// cycleSummary names the steps of a credit loop.
func cycleSummary(f *fabric.Fabric, cycle []deadlock.LoopStep) []stepSummary {
	steps := make([]stepSummary, len(cycle))
	for i, s := range cycle {
		c := f.Channel(s.Trunk)
		steps[i] = stepSummary{
			From: fmt.Sprintf("%s, port %d", f.Label(c.From), c.FromPort),
			To:   fmt.Sprintf("%s, port %d", f.Label(c.To), c.ToPort),
			VL:   s.VL, SL: s.SL, Answer: s.Answer,
			Src: endpointName(f, s.Src), Dst: endpointName(f, f.Owner(s.Dst)),
			channelNodes: endsOf(f, s.Trunk), pairNodes: pairOf(f, s.Src, f.Owner(s.Dst)),
		}
	}
	return steps
}

// maxSteps is how many steps of a loop are shown on a terminal.
const maxSteps = 12

// cycleText is a credit loop for people, a step a line.
func cycleText(c *console, f *fabric.Fabric, cycle []deadlock.LoopStep) string {
	return loopText(c, cycleSummary(f, cycle), func(int) string { return "" })
}

// loopText is cycleText with more to say about each step.
func loopText(c *console, cycle []stepSummary, more func(i int) string) string {
	var b strings.Builder
	for i, s := range cycle {
		if i > 0 {
			b.WriteString("\n")
		}
		if i == c.atMost(maxSteps, len(cycle)) {
			fmt.Fprintf(&b, "  … and %d more steps back to the first (--json has all)", len(cycle)-i)
			break
		}
		fmt.Fprintf(&b, "  %s → %s, VL %d    (by %s → %s", s.From, s.To, s.VL, s.Src, s.Dst)
		if s.Answer {
			fmt.Fprintf(&b, ", answering on the request's SL %d", s.SL)
		}
		b.WriteString(more(i) + ")")
	}
	return b.String()
}
