package report

import (
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// Absent is lanes that packets need and cables do not run, as a finding; none if there are none.
func Absent(all []result.AbsentLane) []result.Doubt {
	if len(all) == 0 {
		return nil
	}
	return []result.Doubt{{Kind: "absent-lane", What: "packets are dropped for want of a lane: " + words.FirstOf(list.Of(all, outputs.AbsentLaneText))}}
}

// FactAbsent adds these lanes to a page.
func FactAbsent(p *console.Page, label string, all []result.AbsentLane) {
	for _, d := range Absent(all) {
		p.Fact(label, "%s", d.What)
	}
}

// SayAbsent says them in a text, by say.
func SayAbsent(say func(format string, args ...any), all []result.AbsentLane) {
	for _, d := range Absent(all) {
		say("But %s.", d.What)
	}
}
