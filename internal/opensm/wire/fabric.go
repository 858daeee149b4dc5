package wire

import (
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Fabric is the fabric of the request, with the LIDs that OpenSM assigned. It refuses a
// fabric in which a port has no valid LID of its own, because OpenSM's tables are by
// LID. It also refuses a fabric without a switch: OpenSM asks for no tables then, and
// there is nothing to prove. It has the lanes of cables between switches; on those to
// others the plugin has service levels share the lanes that there are.
func (q *Request) Fabric() (*fabric.Fabric, error) {
	var b fabric.Builder
	refs := make([]fabric.Ref, len(q.Nodes))
	for i := range q.Nodes {
		n := &q.Nodes[i]
		refs[i] = b.Node(fabric.Node{
			GUID: n.GUID, SystemGUID: n.SystemGUID, Kind: n.Kind, Ports: n.Ports, Name: n.Name, VendorID: n.VendorID, DeviceID: n.DeviceID,
		}, "")
	}
	for i := range q.Nodes {
		n := &q.Nodes[i]
		for _, p := range n.Has {
			if p.Number == 0 || n.Kind != fabric.Switch {
				b.Port(refs[i], p.Number, fabric.Port{GUID: p.GUID, LID: p.LID, LMC: p.LMC})
			}
			if p.Peer > i || p.Peer == i && p.PeerPort > p.Number {
				b.Cable(refs[i], p.Number, refs[p.Peer], p.PeerPort, p.Rate)
			}
			if p.Peer >= 0 && n.Kind == fabric.Switch && q.Nodes[p.Peer].Kind == fabric.Switch {
				b.DataVLs(refs[i], p.Number, max(1, p.VLs))
			}
		}
	}
	f, err := b.Build()
	if err != nil {
		return nil, err
	}
	if f.Switches() == 0 {
		return nil, fmt.Errorf("the fabric has %d nodes and none of them is a switch: there is nothing to route", len(q.Nodes))
	}
	for i := range q.Nodes {
		n := &q.Nodes[i]
		for _, p := range n.Has {
			if (p.Number == 0 || n.Kind != fabric.Switch) && !owns(f, f.NodeByGUID(n.GUID), p) {
				return nil, fmt.Errorf("%s port %d has LID %d with LMC %d, which is not valid or not its own", n.GUID, p.Number, p.LID, p.LMC)
			}
		}
	}
	return f, nil
}

// owns reports whether the fabric kept the LID of a port.
func owns(f *fabric.Fabric, n fabric.NodeID, p Port) bool {
	e := f.Owner(p.LID)
	if e == fabric.None {
		return false
	}
	ep := f.Endpoint(e)
	return ep.Node == n && ep.Port == p.Number && ep.LID == p.LID && ep.LMC == p.LMC
}

// Lanes is the number of data lanes that every cable between switches can use once
// OpenSM has configured them: the least of both ends and of max_op_vls. Without QoS it
// is 1, because OpenSM writes no SL2VL table.
func (q *Request) Lanes() int {
	if !q.QoS {
		return 1
	}
	lanes := q.MaxVLs
	for i := range q.Nodes {
		if q.Nodes[i].Kind != fabric.Switch {
			continue
		}
		for _, p := range q.Nodes[i].Has {
			if p.Peer >= 0 && q.Nodes[p.Peer].Kind == fabric.Switch {
				lanes = min(lanes, max(1, int(p.VLs)))
			}
		}
	}
	return lanes
}

// Of is the request that a plugin would send for a fabric in which every port has the
// default number of lanes, for tools and tests.
func Of(f *fabric.Fabric, sweep uint64) *Request {
	q := &Request{Sweep: sweep, MaxVLs: routing.DefaultVLs, QoS: true, Nodes: make([]Node, len(f.Nodes()))}
	addresses := make(map[[2]int]*fabric.Endpoint, len(f.Endpoints()))
	for i := range f.Endpoints() {
		e := f.Endpoint(fabric.EndpointID(i))
		addresses[[2]int{int(e.Node), int(e.Port)}] = e
	}
	for i := range q.Nodes {
		n := f.Node(fabric.NodeID(i))
		q.Nodes[i] = Node{
			GUID: n.GUID, SystemGUID: n.SystemGUID, Kind: n.Kind, Ports: n.Ports, Name: n.Name, VendorID: n.VendorID, DeviceID: n.DeviceID,
		}
		for number := range n.Ports + 1 {
			p := Port{Peer: -1, Number: uint8(number), VLs: routing.DefaultVLs}
			e := addresses[[2]int{i, number}]
			if e != nil {
				p.GUID, p.LID, p.LMC = e.PortGUID, e.LID, e.LMC
			}
			if c := f.Out(fabric.NodeID(i), p.Number); c != fabric.None {
				ch := f.Channel(c)
				p.Peer, p.PeerPort, p.Rate = int(ch.To), ch.ToPort, ch.Rate
			} else if e == nil {
				continue
			}
			q.Nodes[i].Has = append(q.Nodes[i].Has, p)
		}
	}
	return q
}
