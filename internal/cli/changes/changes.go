// Package changes is the commands for networks and tables that change: what-if, drain and diff, and
// what weft route does with tables in force.
package changes

import (
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/result"
)

// Outputs is what the commands print for programs.
func Outputs() []console.Output {
	return []console.Output{
		{Schema: "weft/diff/1", Command: "weft diff", Form: result.Diff{}},
		{Schema: "weft/drain/1", Command: "weft drain", Form: result.Drain{}},
		{Schema: "weft/plan/1", Command: "plan.json of weft repair and weft drain --steps", Form: result.Plan{}},
		{Schema: "weft/what-if/1", Command: "weft what-if", Form: result.WhatIf{}},
	}
}
