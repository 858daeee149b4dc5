package papers

import (
	"cmp"
	"strings"

	"github.com/weft-fabric/weft/internal/reproduce/claims"
	"github.com/weft-fabric/weft/internal/sweep"
)

// engines is what campaigns call the engines of lines that are none by that name. A plain
// assigner is as its paper prints it.
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
	"mp-lash":                         sweep.NoEngine, // a measure of the network: how many layers
	"mp-lash-by-destination":          sweep.NoEngine,
	"a-lash":                          sweep.NoEngine,
	"lash-source":                     sweep.NoEngine,
}

// methods is the same of packets: the methods of TPDS 2006, section 8, by source routes.
var methods = map[string]string{
	"updn-dfs": "updn-source", "updn-dfs, by tables": "updn-tables", "d-mroots": "d-mroots-dfs-source", "d-mroots" + breadthFirst: "d-mroots-source", "lash": "lash-source",
	"mroots": "mroots-dfs-source", "mroots" + breadthFirst: "mroots-source", "mp-lash": "mp-lash-source", "mp-lash, by credits": "mp-lash-credits", "mp-lash-one": "mp-lash-one-source",
	"a-lash": "a-lash-credits", "a-lash" + bySources: "a-lash",
}

// breadthFirst ends the names of methods whose trees are breadth first; else they are depth first.
const breadthFirst = ", breadth-first"

// bySources ends the name of A-LASH whose sources draw the first link.
const bySources = ", by sources"

// most is the engine of a category of methods that needs most lanes: all of it get as many.
var most = map[string]string{"deterministic": "lash", "source": "mp-lash", "switch": "a-lash"}

// engineOf is the engine of a line as campaigns have it: its name, its endpoints and whose
// lanes it gets.
func (e *Experiment) engineOf(l *claims.Line) (of sweep.Engine) {
	switch e.Measure {
	case Rounds, Ports:
		return sweep.Engine{Name: sweep.NoEngine}
	case Accepted, Delivered:
		category, method, _ := strings.Cut(l.Engine, ":")
		return sweep.Engine{Name: cmp.Or(methods[method], method), LanesOf: most[category]}
	}
	name, all := strings.CutSuffix(l.Engine, SwitchesToo)
	if all {
		of.Scope = "all"
	}
	of.Name = cmp.Or(engines[name], name)
	return of
}
