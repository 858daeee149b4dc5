package cli

import (
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// absentText is such lanes as a finding; none if there are none.
func absentText(all []result.AbsentLane) []result.Doubt {
	if len(all) == 0 {
		return nil
	}
	return []result.Doubt{{Kind: "absent-lane", What: "packets are dropped for want of a lane: " + words.FirstOf(list.Of(all, func(a result.AbsentLane) string { return a.Text() }))}}
}

func factAbsent(p *console.Page, label string, all []result.AbsentLane) {
	for _, d := range absentText(all) {
		p.Fact(label, "%s", d.What)
	}
}

func sayAbsent(say func(format string, args ...any), all []result.AbsentLane) {
	for _, d := range absentText(all) {
		say("But %s.", d.What)
	}
}
