package main

import (
	"fmt"

	"github.com/weft-fabric/weft/cmd/weft/internal/input"
	"github.com/weft-fabric/weft/cmd/weft/internal/list"
	"github.com/weft-fabric/weft/cmd/weft/internal/report"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
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

func absentLanes(f *fabric.Fabric, v *deadlock.Verdict) []absentLane {
	return list.Of(v.Absent, func(a deadlock.Absent) absentLane {
		ch := f.Channel(a.Channel)
		return absentLane{
			report.ChannelOf(f, a.Channel), a.SL, a.VL, ch.DataVLs,
			fmt.Sprintf("SL %d takes VL %d on %s port %d, which runs %s", a.SL, a.VL, f.Label(ch.From), ch.FromPort, words.Plural(int(ch.DataVLs), "data lane")),
		}
	})
}

// absentText is such lanes as a finding; none if there are none.
func absentText(all []absentLane) []input.Doubt {
	if len(all) == 0 {
		return nil
	}
	return []input.Doubt{{Kind: "absent-lane", What: "packets are dropped for want of a lane: " + words.FirstOf(list.Of(all, func(a absentLane) string { return a.text }))}}
}
