package fabric

import (
	"fmt"
	"strings"
)

// Vendor and device ID of the SHARP aggregation nodes in switches of Mellanox and
// NVIDIA. They come with the firmware, while root on any host can set its description.
const (
	AggregationVendor = 0x2c9
	AggregationDevice = 0xcf09
)

// calledAggregationNode is in the descriptions of aggregation nodes.
const calledAggregationNode = "Aggregation Node"

// classOf is the class of the ports of an adapter or router. The device decides what a
// proof for host adapters may leave out: one that is unknown or not in the input counts
// as a host, whatever its description.
func classOf(n *Node) Class {
	switch {
	case n.Kind == Router:
		return RouterPort
	case n.VendorID == AggregationVendor && n.DeviceID == AggregationDevice:
		return Aggregation
	}
	return HostAdapter
}

// warnClaims warns of adapters whose description and device disagree.
func (f *Fabric) warnClaims() {
	// Adapters called aggregation nodes whose device is not known, and whose device is another; and those by their device alone.
	var unknown, hosts, uncalled []string
	for i := range f.nodes {
		n := &f.nodes[i]
		called := strings.Contains(n.Name, calledAggregationNode)
		switch byDevice := classOf(n) == Aggregation; {
		case n.Kind != Adapter || called == byDevice:
		case byDevice:
			uncalled = append(uncalled, f.Label(NodeID(i)))
		case n.DeviceID == 0:
			unknown = append(unknown, n.GUID.String())
		default:
			hosts = append(hosts, fmt.Sprintf("%s (vendor %#x, device %#x)", n.GUID, n.VendorID, n.DeviceID))
		}
	}
	for _, w := range []struct {
		names []string
		what  string
	}{
		{hosts, "called an aggregation node, but the device is none that weft knows: it counts as a host"},
		{unknown, "called an aggregation node, and the input does not say the device: it counts as a host"},
		{uncalled, "an aggregation node by its device, but not called one: it counts as an aggregation node"},
	} {
		switch len(w.names) {
		case 0:
		case 1:
			f.warnings = append(f.warnings, fmt.Sprintf("%s is %s", w.names[0], w.what))
		default:
			f.warnings = append(f.warnings, fmt.Sprintf("%s and %d more: each is %s", w.names[0], len(w.names)-1, w.what))
		}
	}
}
