package transition

import "github.com/weft-fabric/weft/fabric"

// Parts is the difference between two fabrics: the same hardware some time later, with
// cables and nodes gone or new. Nodes are the same by GUID, cables by the ports that
// they join.
type Parts struct {
	Gone        Part                // in the old fabric only
	New         Part                // in the new fabric only
	Readdressed []fabric.EndpointID // in both, with other LIDs; numbered as in the new fabric
	Moved       []fabric.EndpointID // in both, on other switches; likewise
}

// Part is nodes and cables of one fabric.
type Part struct {
	Switches []fabric.NodeID
	Others   []fabric.NodeID    // adapters and routers
	Cables   []fabric.ChannelID // one channel of each, between nodes that both fabrics have
}

// PartsOf compares two fabrics.
func PartsOf(old, next *fabric.Fabric) Parts {
	p := Parts{Gone: missingIn(next, old), New: missingIn(old, next)}
	known := endpointsByPort(old)
	for i, e := range next.Endpoints() {
		at, ok := known[place{next.Node(e.Node).GUID, e.Port}]
		if !ok {
			continue
		}
		was := old.Endpoint(at)
		if was.LID != e.LID || was.LMC != e.LMC {
			p.Readdressed = append(p.Readdressed, fabric.EndpointID(i))
		}
		if was.Switch != fabric.None && e.Switch != fabric.None && old.Node(was.Switch).GUID != next.Node(e.Switch).GUID {
			p.Moved = append(p.Moved, fabric.EndpointID(i))
		}
	}
	return p
}

// missingIn is the parts of f that other does not have.
func missingIn(other, f *fabric.Fabric) Part {
	var p Part
	same := make([]fabric.NodeID, len(f.Nodes())) // [node of f] the same node in other, or None
	for i, n := range f.Nodes() {
		at := other.NodeByGUID(n.GUID)
		if at != fabric.None && other.Node(at).Kind != n.Kind {
			at = fabric.None
		}
		same[i] = at
		switch {
		case at != fabric.None:
		case n.Kind == fabric.Switch:
			p.Switches = append(p.Switches, fabric.NodeID(i))
		default:
			p.Others = append(p.Others, fabric.NodeID(i))
		}
	}
	for i, c := range f.Channels() {
		from, to := same[c.From], same[c.To]
		if c.Reverse < fabric.ChannelID(i) || from == fabric.None || to == fabric.None {
			continue
		}
		out := other.Out(from, c.FromPort)
		if out == fabric.None || other.Channel(out).To != to || other.Channel(out).ToPort != c.ToPort {
			p.Cables = append(p.Cables, fabric.ChannelID(i))
		}
	}
	return p
}
