package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// VerdictText is the verdict for people, with the credit loop if there is one.
func VerdictText(c *console.Console, f *fabric.Fabric, v *deadlock.Verdict) string {
	about := About(v)
	if v.Free() && c.Brief() {
		return about
	}
	if v.Free() {
		return fmt.Sprintf("%s: %s dependencies, a rank that rises along each", about, words.Thousands(v.Dependencies))
	}
	one := "a shortest one"
	if c.Brief() {
		one = "a loop"
	}
	return fmt.Sprintf("%s, %s of %d steps:\n%s", about, one, len(v.Cycle), CycleText(c, f, v.Cycle))
}

// About is a verdict in a word, and for which contract and packets it holds.
func About(v *deadlock.Verdict) string {
	if v.Multicast == nil {
		return fmt.Sprintf("%s (contract %s, endpoints %s)", outputs.WordOf(v), v.Contract, v.Scope)
	}
	return fmt.Sprintf("%s (contract %s, endpoints %s, %s)", outputs.WordOf(v), v.Contract, v.Scope, Covers(v))
}

// Covers says whose packets a verdict is about.
func Covers(v *deadlock.Verdict) string {
	if v.Multicast == nil {
		return "unicast"
	}
	return "unicast and multicast"
}

// OutsideOf says what the proof of a verdict is not about.
func OutsideOf(v interface{ Outside() []string }) string {
	return "of any proof: " + strings.Join(v.Outside(), ", ")
}

// Outside is OutsideOf for a scope alone.
func Outside(s routing.Scope) string {
	return "of any proof: " + strings.Join(deadlock.Outside(s), ", ")
}

// MaxSteps is how many items of a long list an answer shows, loopSteps how many steps of a credit loop.
const (
	MaxSteps  = 12
	loopSteps = 3
)

// CycleText is a credit loop for people, a step a line.
func CycleText(c *console.Console, f *fabric.Fabric, cycle []deadlock.LoopStep) string {
	return LoopText(c, outputs.Loop(f, cycle), func(int) string { return "" })
}

// LoopText is CycleText with more text at the end of each step i.
func LoopText(c *console.Console, cycle []result.Step, more func(i int) string) string {
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
	return c.First(loopSteps, lines, func(n int) string {
		return "  … and " + words.Counted(n, "more step", "more steps") + " back to the first"
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
