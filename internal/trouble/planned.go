package trouble

import (
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/events"
	"github.com/weft-fabric/weft/internal/names"
)

// plan is the network as it should be, with its nodes as those that there are.
type plan struct {
	f    *fabric.Fabric
	now  []fabric.NodeID // [node of the plan] None: there is none
	here []fabric.NodeID // [node that is there] of the plan; None: not in it
}

// planOf finds the nodes of a plan: by GUID, as one that was discovered has them, or by name, as people write it.
func planOf(planned, f *fabric.Fabric) *plan {
	p := &plan{planned, fill(len(planned.Nodes())), fill(len(f.Nodes()))}
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
		if at != fabric.None && p.here[at] == fabric.None {
			p.now[i], p.here[at] = at, fabric.NodeID(i)
		}
	}
	return p
}

func fill(n int) []fabric.NodeID {
	all := make([]fabric.NodeID, n)
	for i := range all {
		all[i] = fabric.None
	}
	return all
}

// planned finds cables that are not where they should be. Nodes that the plan does not know, and those that are
// not there, are nothing about cables.
func (d *finder) planned() {
	if d.Planned == nil {
		return
	}
	f, p := d.Fabric, planOf(d.Planned, d.Fabric)
	for i := range f.Channels() {
		c := fabric.ChannelID(i)
		ch := f.Channel(c)
		a, b := p.here[ch.From], p.here[ch.To]
		if c != d.first(c) || a == fabric.None && b == fabric.None {
			continue
		}
		var is []string
		for _, end := range []struct {
			node fabric.NodeID
			port uint8
			at   string
			far  fabric.NodeID
			to   uint8
		}{{a, ch.FromPort, d.port(c), b, ch.ToPort}, {b, ch.ToPort, d.port(ch.Reverse), a, ch.FromPort}} {
			if end.node == fabric.None || int(end.port) > p.f.Node(end.node).Ports {
				continue
			}
			should := p.f.Out(end.node, end.port)
			switch {
			case should == fabric.None && end.far != fabric.None:
				is = append(is, end.at+" should be free")
			case should != fabric.None && (p.f.Channel(should).To != end.far || p.f.Channel(should).ToPort != end.to):
				to := p.f.Channel(should)
				is = append(is, fmt.Sprintf("%s should lead to %s:%d", end.at, p.f.Label(to.To), to.ToPort))
			}
		}
		if len(is) > 0 {
			text := is[0]
			if len(is) > 1 {
				text += ", and " + is[1]
			}
			d.add(c, false, Sign{Kind: Miscabled, Level: Bad, Text: text})
		}
	}
	d.missing(p)
}

// missing finds cables that should be there, and whose ports are free.
func (d *finder) missing(p *plan) {
	f := d.Fabric
	for i := range p.f.Channels() {
		ch := p.f.Channel(fabric.ChannelID(i))
		if ch.Reverse < fabric.ChannelID(i) {
			continue
		}
		a, b := p.now[ch.From], p.now[ch.To]
		if a == fabric.None || b == fabric.None || f.Out(a, ch.FromPort) != fabric.None || f.Out(b, ch.ToPort) != fabric.None {
			continue
		}
		here := fabric.Channel{From: a, To: b, FromPort: ch.FromPort, ToPort: ch.ToPort}
		d.list.Cables = append(d.list.Cables, Cable{
			Name: events.CableName(f, &here), A: d.node(a, ch.FromPort), B: d.node(b, ch.ToPort), Place: d.place(a, b), channel: fabric.None, Ends: [2]int{int(a), int(b)},
			Signs: []Sign{{Kind: Missing, Level: Bad, Text: "it should be there, and both of its ports are free"}},
		})
	}
}
