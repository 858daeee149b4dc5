// Package opensm works with a subnet manager: weft serve, status and deploy check.
package opensm

import (
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/opensm/daemon"
)

// Outputs is what the commands print for programs.
func Outputs() []console.Output {
	return []console.Output{
		{Schema: "weft/deploy-check/1", Command: "weft deploy check", Form: checkSummary{}},
		{Schema: "weft/status/1", Command: "weft status", Form: daemon.Status{}},
	}
}
