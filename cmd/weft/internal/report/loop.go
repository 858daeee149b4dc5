package report

import (
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/cmd/weft/internal/console"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
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
}

// The verdicts in words, a contract with programs.
const (
	DeadlockFree = "deadlock-free"
	CreditLoop   = "credit-loop"
)

// Verdict is the verdict in a word.
func Verdict(v *deadlock.Verdict) string {
	if v.Free() {
		return DeadlockFree
	}
	return CreditLoop
}

// Outside says what a proof is not about.
func Outside(s routing.Scope) string {
	return "of any proof: " + strings.Join(deadlock.Outside(s), ", ")
}

// Steps names the steps of a credit loop.
func Steps(f *fabric.Fabric, cycle []deadlock.LoopStep) []Step {
	steps := make([]Step, len(cycle))
	for i, s := range cycle {
		c := f.Channel(s.Trunk)
		steps[i] = Step{
			From: fmt.Sprintf("%s, port %d", f.Label(c.From), c.FromPort),
			To:   fmt.Sprintf("%s, port %d", f.Label(c.To), c.ToPort),
			VL:   s.VL, SL: s.SL, Answer: s.Answer,
			Src: Endpoint(f, s.Src), Dst: Endpoint(f, f.Owner(s.Dst)),
			ChannelNodes: EndsOf(f, s.Trunk), PairNodes: PairOf(f, s.Src, f.Owner(s.Dst)),
		}
	}
	return steps
}

// MaxSteps is how many steps of a loop are shown on a terminal.
const MaxSteps = 12

// CycleText is a credit loop for people, a step a line.
func CycleText(c *console.Console, f *fabric.Fabric, cycle []deadlock.LoopStep) string {
	return LoopText(c, Steps(f, cycle), func(int) string { return "" })
}

// LoopText is cycleText with more to say about each step.
func LoopText(c *console.Console, cycle []Step, more func(i int) string) string {
	var b strings.Builder
	for i, s := range cycle {
		if i > 0 {
			b.WriteString("\n")
		}
		if i == c.AtMost(MaxSteps, len(cycle)) {
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
