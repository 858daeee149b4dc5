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

// channelName names both ends of a channel.
func channelName(f *fabric.Fabric, c fabric.ChannelID) string {
	return f.ChannelLabel(c)
}
