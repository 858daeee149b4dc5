package outputs

import (
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// LaneLimit is the cable between switches that runs the fewest lanes, if it runs no more than those available; else nil.
func LaneLimit(f *fabric.Fabric, available int) *result.LaneLimit {
	l := routing.LimitOf(f)
	if l.Lanes == 0 || l.Lanes > available {
		return nil
	}
	return &result.LaneLimit{NamedChannel: Channel(f, l.Trunk), DataVLs: l.Lanes, Cables: l.Cables, Text: l.Text(f)}
}

// Channel is a channel with its name.
func Channel(f *fabric.Fabric, c fabric.ChannelID) result.NamedChannel {
	return result.NamedChannel{Channel: f.ChannelLabel(c), ChannelNodes: Ends(f, c)}
}

// Pair is a source and a destination with their names.
func Pair(f *fabric.Fabric, src, dst fabric.EndpointID) result.Pair {
	return result.Pair{Src: f.EndpointLabel(src), Dst: f.EndpointLabel(dst), PairNodes: result.PairNodes{SrcNode: Endpoint(f, src), DstNode: Endpoint(f, dst)}}
}

// Node is a node with a port of it, or without one if port is 0.
func Node(f *fabric.Fabric, n fabric.NodeID, port uint8) result.Node {
	return result.Node{Name: f.Node(n).Name, GUID: f.Node(n).GUID.String(), Port: port}
}

// Endpoint is the port of an endpoint.
func Endpoint(f *fabric.Fabric, e fabric.EndpointID) result.Node {
	return Node(f, f.Endpoint(e).Node, f.Endpoint(e).Port)
}

// Endpoints is Endpoint for several.
func Endpoints(f *fabric.Fabric, endpoints []fabric.EndpointID) []result.Node {
	return list.Of(endpoints, func(e fabric.EndpointID) result.Node { return Endpoint(f, e) })
}

// Nodes is Node for several, without ports.
func Nodes(f *fabric.Fabric, nodes []fabric.NodeID) []result.Node {
	return list.Of(nodes, func(n fabric.NodeID) result.Node { return Node(f, n, 0) })
}

// Ends is the ports that a channel joins.
func Ends(f *fabric.Fabric, c fabric.ChannelID) result.ChannelNodes {
	ch := f.Channel(c)
	return result.ChannelNodes{FromNode: Node(f, ch.From, ch.FromPort), ToNode: Node(f, ch.To, ch.ToPort)}
}

// RemovedLinks is the cables of channels.
func RemovedLinks(f *fabric.Fabric, channels []fabric.ChannelID) []result.RemovedLink {
	return list.Of(channels, func(c fabric.ChannelID) result.RemovedLink {
		ch := f.Channel(c)
		return result.RemovedLink{From: f.Label(ch.From), FromPort: ch.FromPort, To: f.Label(ch.To), ToPort: ch.ToPort, ChannelNodes: Ends(f, c)}
	})
}

// Fabric names a fabric and counts it.
func Fabric(name string, f *fabric.Fabric) result.Fabric {
	n := f.Count()
	return result.Fabric{Name: name, Switches: n.Switches, Endpoints: n.HCA + n.Aggregation + n.Router, Links: n.SwitchCables + n.AdapterCables + n.SelfCables}
}

// LimitText says, in lines that each begin with a newline, which cable limits the lanes available, and on how many
// cables to endpoints service levels share lanes; empty: no cable is stated to run too few.
func LimitText(l result.LaneCounts, f *fabric.Fabric) string {
	text := ""
	if l.Limit != nil && l.Limit.DataVLs < routing.DefaultVLs {
		text = fmt.Sprintf("\nno more than %d, as %s", l.Limit.DataVLs, l.Limit.Text)
	}
	if n := sharesLanes(f, l.Used); n > 0 && !l.Absent {
		text += fmt.Sprintf("\n%s fewer than %d lanes: there service levels share those there are, which closes no loop", words.Counted(n, "cable to an endpoint runs", "cables to endpoints run"), l.Used)
	}
	return text
}

// sharesLanes counts the cables to endpoints that run fewer data lanes than some number:
// on them service levels share lanes.
func sharesLanes(f *fabric.Fabric, lanes int) (cables int) {
	for c := range f.Channels()[f.Trunks():] {
		ch := f.Channel(fabric.ChannelID(f.Trunks() + c))
		if f.Node(ch.From).Kind == fabric.Switch && ch.DataVLs > 0 && int(ch.DataVLs) < lanes {
			cables++
		}
	}
	return cables
}
