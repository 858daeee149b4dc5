package cli

import (
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
)

// absentLane is a lane that packets are sent to and a cable does not run.
type absentLane struct {
	report.NamedChannel
	SL      uint8 `json:"sl"`
	VL      uint8 `json:"vl"`
	DataVLs uint8 `json:"data_vls"` // lanes that the cable runs

	text string
}

func absentLanes(f *fabric.Fabric, absent []deadlock.Absent) []absentLane {
	return list.Of(absent, func(a deadlock.Absent) absentLane {
		return absentLane{report.ChannelOf(f, a.Channel), a.SL, a.VL, f.Channel(a.Channel).DataVLs, a.Text(f)}
	})
}

// absentText is such lanes as a finding; none if there are none.
func absentText(all []absentLane) []input.Doubt {
	if len(all) == 0 {
		return nil
	}
	return []input.Doubt{{Kind: "absent-lane", What: "packets are dropped for want of a lane: " + words.FirstOf(list.Of(all, func(a absentLane) string { return a.text }))}}
}

func factAbsent(p *console.Page, label string, all []absentLane) {
	for _, d := range absentText(all) {
		p.Fact(label, "%s", d.What)
	}
}

func sayAbsent(say func(format string, args ...any), all []absentLane) {
	for _, d := range absentText(all) {
		say("But %s.", d.What)
	}
}
