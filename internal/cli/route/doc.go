// Package route is the commands that choose routes: route, engines, lanes and compare.
package route

import (
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/result"
)

// Outputs is what the commands print for programs.
func Outputs() []console.Output {
	return []console.Output{
		{Schema: "weft/compare/1", Command: "weft compare", Form: result.Compare{}},
		{Schema: "weft/engines/1", Command: "weft engines, a list", Form: []result.Engine{}},
		{Schema: "weft/lanes/1", Command: "weft lanes", Form: result.Lanes{}},
		{Schema: "weft/route/1", Command: "weft route, and summary.json of --out", Form: result.Route{}},
		{Schema: "weft/route-adaptive/1", Command: "weft route, of adaptive engines", Form: result.Adaptive{}},
	}
}
