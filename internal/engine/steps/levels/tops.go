package levels

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// Leaves is the switches with host adapters.
func Leaves(f *fabric.Fabric) []fabric.NodeID {
	var leaves []fabric.NodeID
	for s := range fabric.NodeID(f.Switches()) {
		if slices.ContainsFunc(f.Attached(s), func(e fabric.EndpointID) bool { return f.Endpoint(e).Class == fabric.HostAdapter }) {
			leaves = append(leaves, s)
		}
	}
	return leaves
}

// Tops is the switches without host adapters whose neighbours are all nearer to host
// adapters than they are: the spines of a fat tree. In a network that has hosts
// everywhere there are none.
func Tops(f *fabric.Fabric) []fabric.NodeID {
	height := f.Hops(Leaves(f)...)
	var tops []fabric.NodeID
	for s := range fabric.NodeID(f.Switches()) {
		if height[s] > 0 && !slices.ContainsFunc(f.Neighbours(s), func(v fabric.NodeID) bool { return height[v] >= height[s] }) {
			tops = append(tops, s)
		}
	}
	return tops
}
