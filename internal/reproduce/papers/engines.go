package papers

import (
	"cmp"
	"strings"

	"github.com/weft-fabric/weft/internal/reproduce/claims"
	"github.com/weft-fabric/weft/internal/sweep"
)

// engines has the engines, as campaigns call them, of lines that go by another name: of other lines the engine
// has the name of the line. Of an engine ending in -plain the assigner is as its paper prints it, without weft's improvements.
var engines = map[string]string{
	"lash" + claims.AsPrinted: "shortest+first-fit-plain",
	// TPDS 2006, section 8: "whenever the number of shortest paths to choose from
	// was greater than 1, we chose one at random".
	"lash-random":                    "shortest-random+first-fit",
	"lash-random" + claims.AsPrinted: "shortest-random+first-fit-plain",
	"dfsssp" + claims.AsPrinted:      "sssp+break-cycles-plain",
	// IPDPS 2011, section IV, the three heuristics.
	"weakest":                         "sssp+break-cycles",
	"first found":                     "sssp+break-first",
	"strongest":                       "sssp+break-strongest",
	"weakest" + claims.AsPrinted:      "sssp+break-cycles-plain",
	"first found" + claims.AsPrinted:  "sssp+break-first-plain",
	"strongest" + claims.AsPrinted:    "sssp+break-strongest-plain",
	"df-dn" + claims.AsPrinted:        "sssp+hop-dn-plain",
	"df-dn-minhop" + claims.AsPrinted: "minhop+hop-dn-plain",
	// How many layers these need is a measure of the network (see wanted): nothing is routed.
	"mp-lash":                sweep.NoEngine,
	"mp-lash-by-destination": sweep.NoEngine,
	"a-lash":                 sweep.NoEngine,
	"lash-source":            sweep.NoEngine,
}

// methods has the engines of simulated packets, for lines of the methods of TPDS 2006, section 8. Most go by source
// routes; of those by credits or by tables a switch chooses. What is plain a-lash to campaigns has its first link drawn by the
// source; the line of that name is the other, since the paper has switches choose.
var methods = map[string]string{
	"updn-dfs":                "updn-source",
	"updn-dfs, by tables":     "updn-tables",
	"d-mroots":                "d-mroots-dfs-source",
	"d-mroots" + breadthFirst: "d-mroots-source",
	"lash":                    "lash-source",
	"mroots":                  "mroots-dfs-source",
	"mroots" + breadthFirst:   "mroots-source",
	"mp-lash":                 "mp-lash-source",
	"mp-lash, by credits":     "mp-lash-credits",
	"mp-lash-one":             "mp-lash-one-source",
	"a-lash":                  "a-lash-credits",
	"a-lash" + bySources:      "a-lash",
}

// breadthFirst ends the names of methods whose trees are breadth first; else they are depth first.
const breadthFirst = ", breadth-first"

// bySources ends the name of A-LASH whose sources draw the first link.
const bySources = ", by sources"

// neediest has for each category of methods (categories) the one that needs most lanes: all methods of the
// category get as many lanes as it needs.
var neediest = map[string]string{"deterministic": "lash", "source": "mp-lash", "switch": "a-lash"}

// engineOf is the engine of a line as campaigns have it: its name, its endpoints and whose
// lanes it gets. By these pointsOf selects the points of the campaign that the line is made of.
func (e *Experiment) engineOf(l *claims.Line) sweep.Engine {
	switch e.Measure {
	case Rounds, Ports: // of the network alone
		return sweep.Engine{Name: sweep.NoEngine}
	case Accepted, Delivered: // of simulated packets: the engine of the line is CATEGORY:METHOD
		category, method, _ := strings.Cut(l.Engine, ":")
		return sweep.Engine{Name: cmp.Or(methods[method], method), LanesOf: neediest[category]}
	}
	name, switchesToo := strings.CutSuffix(l.Engine, SwitchesToo)
	engine := sweep.Engine{Name: cmp.Or(engines[name], name)}
	if switchesToo { // port 0 of switches is an endpoint too
		engine.Scope = "all"
	}
	return engine
}
