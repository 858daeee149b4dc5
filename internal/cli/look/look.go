// Package look shows what there is: weft info.
package look

import "github.com/weft-fabric/weft/internal/cli/internal/console"

// Outputs is what the commands print for programs.
func Outputs() []console.Output {
	return []console.Output{
		{Schema: "weft/info/1", Command: "weft info", Form: infoSummary{}},
	}
}
