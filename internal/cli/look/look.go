// Package look shows what there is: weft info, report, explain, bound and export.
package look

import (
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/result"
)

// Outputs is what the commands print for programs.
func Outputs() []console.Output {
	return []console.Output{
		{Schema: "weft/bound/1", Command: "weft bound", Form: result.Bound{}},
		{Schema: "weft/explain/1", Command: "weft explain", Form: result.Explain{}},
		{Schema: "weft/info/1", Command: "weft info", Form: result.Info{}},
		{Schema: "weft/report/1", Command: "weft report", Form: result.Report{}},
	}
}
