// Package networks makes networks out of specs, files and other networks: weft generate,
// topologies, convert and degrade.
package networks

import (
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/result"
)

// Outputs is what the commands print for programs.
func Outputs() []console.Output {
	return []console.Output{
		{Schema: "weft/degrade/1", Command: "weft degrade", Form: result.Degrade{}},
		{Schema: "weft/topologies/1", Command: "weft topologies, a list", Form: []result.Topology{}},
	}
}
