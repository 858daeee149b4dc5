// Package opensm works with a subnet manager: weft serve, status, deploy and watch.
package opensm

import (
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/result"
)

// Outputs is what the commands print for programs.
func Outputs() []console.Output {
	return []console.Output{
		{Schema: "weft/deploy-check/1", Command: "weft deploy check", Form: result.DeployCheck{}},
		{Schema: "weft/deploy-files/1", Command: "weft deploy files", Form: result.Deploy{}},
		{Schema: "weft/deploy-refusal/1", Command: "weft deploy files, where files cannot express the tables", Form: result.DeployRefusal{}},
		{Schema: "weft/drain-live/1", Command: "weft drain --live and weft undrain", Form: result.DrainLive{}},
		{Schema: "weft/events/1", Command: "weft events", Form: result.Events{}},
		{Schema: "weft/status/1", Command: "weft status", Form: result.Status{}},
		{Schema: "weft/watch-log/1", Command: "weft watch log", Form: result.WatchLog{}},
		{Schema: "weft/watch-look/1", Command: "weft watch --once", Form: result.WatchLook{}},
	}
}
