package engines

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

const ruleAsked = "every address asked for has a path to every other that cannot close a credit loop"

// leftApart refuses paths if they leave two endpoints of a scope apart (Forwarding.Apart), and names the
// first pair.
func leftApart(f *fabric.Fabric, paths *routing.Forwarding, scope routing.Scope) error {
	if !paths.Apart || scope == routing.HCA {
		return nil
	}
	ends := scope.Ends(f)
	for _, part := range f.Parts() {
		for _, to := range part {
			for _, e := range f.Attached(to) {
				end := f.Endpoint(e)
				if !scope.Includes(end.Class) {
					continue
				}
				for lid := range fabric.LID(1) << end.LMC {
					for _, from := range part {
						if ends[from] && paths.Port(from, end.LID+lid) == routing.NoPort {
							return routing.Refuse(f, ruleAsked, from, 0, "no such path to LID %d (%s); host adapters all reach each other (--endpoints hca)", end.LID+lid, f.Label(end.Node))
						}
					}
				}
			}
		}
	}
	return nil
}
