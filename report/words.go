package report

import (
	"fmt"
	"strconv"

	"github.com/weft-fabric/weft/fabric"
)

// endpointName names an endpoint, with its port if the node has several.
func endpointName(f *fabric.Fabric, e fabric.EndpointID) string {
	if e == fabric.None {
		return "nobody"
	}
	ep := f.Endpoint(e)
	if n := f.Node(ep.Node); n.Kind != fabric.Switch && n.Ports > 1 {
		return fmt.Sprintf("%s, port %d", f.Label(ep.Node), ep.Port)
	}
	return f.Label(ep.Node)
}

// channelName names both ends of a channel.
func channelName(f *fabric.Fabric, c fabric.ChannelID) string {
	ch := f.Channel(c)
	return fmt.Sprintf("%s, port %d → %s, port %d", f.Label(ch.From), ch.FromPort, f.Label(ch.To), ch.ToPort)
}

// thousands writes a number with commas.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// counted is a number and the words for one or for many.
func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}
