// Package simulate is the commands that say what tables make of traffic: weft simulate counts flows,
// weft packets sends packets in time, and weft place puts ranks where they share little.
package simulate

import (
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/result"
)

// Outputs is what the commands print for programs.
func Outputs() []console.Output {
	return []console.Output{
		{Schema: "weft/packets/1", Command: "weft packets", Form: result.Packets{}},
		{Schema: "weft/replay/1", Command: "weft packets --replay-cycle", Form: result.Replay{}},
		{Schema: "weft/place/1", Command: "weft place", Form: result.Place{}},
		{Schema: "weft/simulate/1", Command: "weft simulate", Form: result.Simulate{}},
	}
}
