package deadlock

import "github.com/weft-fabric/weft/routing"

// Outside is whose traffic a verdict of some scope says nothing about: for whoever
// prints one. What routers pass on to other subnets is never in it.
func Outside(s routing.Scope) []string {
	list := []string{"multicast"}
	if s < routing.Adapters {
		list = append(list, "aggregation nodes", "routers")
	}
	if s < routing.All {
		list = append(list, "port 0 of switches")
	}
	return append(list, "other subnets")
}
