package cli

import (
	"slices"
	"strings"

	"github.com/weft-fabric/weft/internal/cli/campaigns"
	"github.com/weft-fabric/weft/internal/cli/changes"
	"github.com/weft-fabric/weft/internal/cli/ethernet"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/look"
	"github.com/weft-fabric/weft/internal/cli/networks"
	"github.com/weft-fabric/weft/internal/cli/opensm"
	"github.com/weft-fabric/weft/internal/cli/prove"
	"github.com/weft-fabric/weft/internal/cli/route"
	"github.com/weft-fabric/weft/internal/cli/simulate"
	"github.com/weft-fabric/weft/result"
)

// schemas is every JSON output, by name, for console.Console.Outputs. Outputs that are lists have no
// place for a name, and are printed without one.
var schemas = slices.SortedFunc(slices.Values(slices.Concat(shellOutputs, campaigns.Outputs(), changes.Outputs(), ethernet.Outputs(), look.Outputs(), networks.Outputs(), opensm.Outputs(), prove.Outputs(), route.Outputs(), simulate.Outputs())),
	func(a, b console.Output) int { return strings.Compare(a.Schema, b.Schema) })

// shellOutputs is those of several areas, and of this program.
var shellOutputs = []console.Output{
	{Schema: "weft/refusal/1", Command: "route, simulate, packets, deploy files, where an engine refuses; repair, what-if and drain, where there is no plan", Form: result.Refusal{}},
	{Schema: "weft/none-proven/1", Command: "the same, where auto finds no engine that is proven", Form: result.NoneProven{}},
	{Schema: "weft/version/1", Command: "weft version", Form: result.Version{}},
}
