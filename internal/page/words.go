package page

import (
	"github.com/weft-fabric/weft/fabric"
)

// endpointName names an endpoint, if there is one.
func endpointName(f *fabric.Fabric, e fabric.EndpointID) string {
	if e == fabric.None {
		return "nobody"
	}
	return f.EndpointLabel(e)
}
