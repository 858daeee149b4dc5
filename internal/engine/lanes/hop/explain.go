package hop

import (
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Explain implements routing.Explainer, for minimal paths between adapters.
func (D2) Explain(f *fabric.Fabric) []routing.Finding { return explain(f, ruleTwoHops, 2) }

// Explain implements routing.Explainer, for minimal paths between adapters. How
// many service levels they need depends on the paths.
func (DN) Explain(f *fabric.Fabric) []routing.Finding {
	return explain(f, fmt.Sprintf("no path between endpoints has more hops than there are lanes, %d at the most", routing.MaxDataVLs), routing.MaxDataVLs)
}

// explain is whether minimal paths between adapters keep a rule of at most so many hops.
func explain(f *fabric.Fabric, rule string, most int) []routing.Finding {
	hops, from, to := diameter(f)
	finding := routing.Finding{Rule: rule, OK: hops <= most, Why: "all adapters hang on one switch, or on switches without a way between them"}
	if hops > 0 {
		finding.Why = fmt.Sprintf("from %s to %s it is %d hops, and nowhere more between switches with adapters", f.Label(from), f.Label(to), hops)
	}
	return []routing.Finding{finding}
}

// diameter is the most hops between two switches with adapters, and the first two
// that are so far apart.
func diameter(f *fabric.Fabric) (most int, from, to fabric.NodeID) {
	var ends []fabric.NodeID
	for s, end := range routing.Adapters.Ends(f) {
		if end {
			ends = append(ends, fabric.NodeID(s))
		}
	}
	for _, a := range ends {
		hops := f.Hops(a)
		for _, z := range ends {
			if int(hops[z]) > most {
				most, from, to = int(hops[z]), a, z
			}
		}
	}
	return most, from, to
}
