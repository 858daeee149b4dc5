package report

import (
	"strconv"

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
