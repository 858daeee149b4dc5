package trouble

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/result"
)

// join adds to our list that of another program, Beside: each cable is there once, with the signs of both, each kind
// of a port once.
func (d *finder) join() {
	if d.Beside == nil {
		return
	}
	nodes := map[string]fabric.NodeID{}
	for i := range d.Fabric.Nodes() {
		nodes[d.Fabric.Node(fabric.NodeID(i)).GUID.String()] = fabric.NodeID(i)
	}
	leaving := func(at result.Node) fabric.ChannelID {
		n, ok := nodes[at.GUID]
		if !ok || int(at.Port) > d.Fabric.Node(n).Ports {
			return fabric.None
		}
		return d.Fabric.Out(n, at.Port)
	}
	for _, c := range d.Beside.Cables {
		var entry *result.CableInTrouble
		from := "a" // our end that the other calls a
		switch out := leaving(c.A); {
		case out != fabric.None && d.leads(out, c.B):
			entry, from = d.entryOf(out)
		default: // it is not there any more, or is not yet
			if i := slices.IndexFunc(d.list.Cables, func(o result.CableInTrouble) bool { return o.Name == c.Name }); i >= 0 {
				entry = &d.list.Cables[i]
				break
			}
			c.Gone, c.Ends, c.Command, c.Then = true, [2]int{-1, -1}, "", ""
			c.Signs = slices.Clone(c.Signs)
			d.list.Cables = append(d.list.Cables, c)
			continue
		}
		for _, s := range c.Signs {
			if from == "b" {
				s.At = map[string]string{"a": "b", "b": "a"}[s.At]
			}
			if i := slices.IndexFunc(entry.Signs, func(o result.TroubleSign) bool { return o.Kind == s.Kind && o.At == s.At }); i < 0 {
				entry.Signs = append(entry.Signs, s)
			}
		}
	}
	for _, text := range d.Beside.Notes {
		if !slices.Contains(d.list.Notes, text) {
			d.list.Notes = append(d.list.Notes, text)
		}
	}
	if d.Time == 0 && d.Counted == nil {
		d.list.Seconds, d.list.Limits, d.list.Source = d.Beside.Seconds, d.Beside.Limits, d.Beside.Source
	}
}

// leads reports whether a channel leads to a port; true if the port is not known.
func (d *finder) leads(c fabric.ChannelID, to result.Node) bool {
	ch := d.Fabric.Channel(c)
	return to.GUID == "" || d.Fabric.Node(ch.To).GUID.String() == to.GUID && ch.ToPort == to.Port
}
