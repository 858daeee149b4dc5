package page

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/result"
)

// endpointName names an endpoint, if there is one.
func endpointName(f *fabric.Fabric, e fabric.EndpointID) string {
	if e == fabric.None {
		return "nobody"
	}
	return f.EndpointLabel(e)
}

// laneName is what a lane is called.
func laneName(n *result.ReportNetwork) string {
	if n.Ethernet {
		return "priority"
	}
	return "VL"
}
