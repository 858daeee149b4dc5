package trouble

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/events"
	"github.com/weft-fabric/weft/internal/names"
	"github.com/weft-fabric/weft/result"
)

// plan is the network as it should be, and which of its nodes is which of those that are there.
type plan struct {
	f      *fabric.Fabric  // as it should be
	actual []fabric.NodeID // [node of f] the node that is there, or None
	inPlan []fabric.NodeID // [node that is there] the node of f, or None
}

// planOf matches the nodes of planned with those of f, which are there: by GUID, which a plan has that was
// discovered, or by a name that only one node has.
func planOf(planned, f *fabric.Fabric) *plan {
	p := &plan{f: planned, actual: noNodes(len(planned.Nodes())), inPlan: noNodes(len(f.Nodes()))}
	byName := map[string]fabric.NodeID{}
	for i := range f.Nodes() {
		name := names.Short(f.Node(fabric.NodeID(i)))
		if _, twice := byName[name]; twice || name == "" {
			byName[name] = fabric.None
			continue
		}
		byName[name] = fabric.NodeID(i)
	}
	for i := range planned.Nodes() {
		n := planned.Node(fabric.NodeID(i))
		at := f.NodeByGUID(n.GUID)
		if at == fabric.None {
			var ok bool
			if at, ok = byName[names.Short(n)]; !ok {
				continue
			}
		}
		if at != fabric.None && p.inPlan[at] == fabric.None {
			p.actual[i], p.inPlan[at] = at, fabric.NodeID(i)
		}
	}
	return p
}

// noNodes is None n times.
func noNodes(n int) []fabric.NodeID { return slices.Repeat([]fabric.NodeID{fabric.None}, n) }

// findMiscabled finds cables that are not where they should be, and has findMissing find those that are not there. Of
// cables between nodes that the plan does not know, or to nodes that are not there, it says nothing.
func (d *finder) findMiscabled() {
	if d.Planned == nil {
		return
	}
	f, p := d.Fabric, planOf(d.Planned, d.Fabric)
	for i := range f.Channels() {
		c := fabric.ChannelID(i)
		ch := f.Channel(c)
		a, b := p.inPlan[ch.From], p.inPlan[ch.To]
		if c != d.fromA(c) || a == fabric.None && b == fabric.None {
			continue
		}
		var wrong []string
		for _, end := range []struct {
			node    fabric.NodeID // of the plan
			port    uint8
			name    string
			far     fabric.NodeID // of the plan
			farPort uint8
		}{
			{node: a, port: ch.FromPort, name: d.port(c), far: b, farPort: ch.ToPort},
			{node: b, port: ch.ToPort, name: d.port(ch.Reverse), far: a, farPort: ch.FromPort},
		} {
			if end.node == fabric.None || int(end.port) > p.f.Node(end.node).Ports {
				continue
			}
			should := p.f.Out(end.node, end.port)
			switch {
			case should == fabric.None && end.far != fabric.None:
				wrong = append(wrong, end.name+" should be free")
			case should != fabric.None && (p.f.Channel(should).To != end.far || p.f.Channel(should).ToPort != end.farPort):
				to := p.f.Channel(should)
				wrong = append(wrong, fmt.Sprintf("%s should lead to %s:%d", end.name, p.f.Label(to.To), to.ToPort))
			}
		}
		if len(wrong) > 0 {
			d.add(c, false, result.TroubleSign{Kind: Miscabled, Level: Bad, Text: strings.Join(wrong, ", and ")})
		}
	}
	d.findMissing(p)
}

// findMissing finds cables of the plan whose two nodes are there and whose ports are both free.
func (d *finder) findMissing(p *plan) {
	f := d.Fabric
	for i := range p.f.Channels() {
		ch := p.f.Channel(fabric.ChannelID(i))
		if ch.Reverse < fabric.ChannelID(i) {
			continue
		}
		a, b := p.actual[ch.From], p.actual[ch.To]
		if a == fabric.None || b == fabric.None || f.Out(a, ch.FromPort) != fabric.None || f.Out(b, ch.ToPort) != fabric.None {
			continue
		}
		here := fabric.Channel{From: a, To: b, FromPort: ch.FromPort, ToPort: ch.ToPort}
		d.list.Cables = append(d.list.Cables, result.CableInTrouble{
			Name: events.CableName(f, &here), CableEnds: result.CableEnds{A: d.node(a, ch.FromPort), B: d.node(b, ch.ToPort)}, Place: d.place(a, b), Ends: [2]int{int(a), int(b)}, Gone: true,
			Signs: []result.TroubleSign{{Kind: Missing, Level: Bad, Text: "it should be there, and both of its ports are free"}},
		})
	}
}
