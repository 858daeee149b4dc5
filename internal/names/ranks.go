package names

import (
	"cmp"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/words"
)

// ByName is endpoints in the order of the names of their hosts, numbers in names by value,
// as schedulers hand hosts out; those of one host by adapter and port. Descriptions that
// name no host are names themselves.
func (x *Index) ByName(list []fabric.EndpointID) []fabric.EndpointID {
	list = slices.Clone(list)
	slices.SortFunc(list, x.compareHosts)
	return list
}

// ByRail is endpoints rail by rail, each by name; those on no rail come last.
func (x *Index) ByRail(list []fabric.EndpointID) []fabric.EndpointID {
	list = slices.Clone(list)
	rail := func(e fabric.EndpointID) uint { return uint(x.rail[e]) } // None is the largest
	slices.SortFunc(list, func(a, b fabric.EndpointID) int {
		return cmp.Or(cmp.Compare(rail(a), rail(b)), x.compareHosts(a, b))
	})
	return list
}

// compareHosts orders endpoints by host, then by adapter, then by port.
func (x *Index) compareHosts(a, b fabric.EndpointID) int {
	v, w := x.fabric.Endpoint(a).Node, x.fabric.Endpoint(b).Node
	host, other := x.hostOrName(v), x.hostOrName(w)
	if c := words.Natural(host, other); c != 0 {
		return c
	}
	return cmp.Or(x.compareAdapters(v, w), cmp.Compare(x.fabric.Endpoint(a).Port, x.fabric.Endpoint(b).Port), cmp.Compare(a, b))
}

// hostOrName is the host of a node or, if its description names none, the description.
func (x *Index) hostOrName(n fabric.NodeID) string {
	node := x.fabric.Node(n)
	if host, _ := HostOf(node); host != "" {
		return host
	}
	return node.Name
}
