package deadlock

import "github.com/weft-fabric/weft/routing"

// MulticastTrees is multicast, as Outside lists it.
const MulticastTrees = "multicast"

// Outside lists whose traffic a verdict for a scope does not cover, for printing. What
// routers pass on to other subnets is never covered.
func Outside(s routing.Scope) []string {
	list := []string{MulticastTrees}
	if s < routing.Adapters {
		list = append(list, "aggregation nodes", "routers")
	}
	if s < routing.All {
		list = append(list, "port 0 of switches")
	}
	return append(list, "other subnets")
}
