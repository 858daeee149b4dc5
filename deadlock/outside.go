package deadlock

import "github.com/weft-fabric/weft/routing"

// Outside is what a verdict of some scope says nothing about, whatever it says:
// for whoever prints one.
func Outside(s routing.Scope) []string {
	list := []string{"multicast"}
	if s < routing.Adapters {
		list = append(list, "what aggregation nodes and routers send and receive")
	}
	if s < routing.All {
		list = append(list, "data from and to port 0 of switches")
	}
	return append(list, "what routers pass on to other subnets")
}
