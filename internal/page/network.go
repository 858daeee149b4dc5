package page

import (
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/inspect"
	"github.com/weft-fabric/weft/internal/names"
	"github.com/weft-fabric/weft/internal/page/layout"
	"github.com/weft-fabric/weft/result"
)

// NewNetwork describes a fabric, without tables.
func NewNetwork(name string, f *fabric.Fabric) *result.ReportNetwork {
	l := layout.Of(f)
	c := f.Count()
	n := &result.ReportNetwork{
		Name: name, Shape: string(l.Kind), Found: l.Name, Parts: len(f.Parts()), Warnings: append([]string{}, f.Warnings()...),
		Counts: result.ReportCounts{
			Switches: c.Switches, Adapters: c.Adapters, Routers: c.Routers, HostPorts: c.HCA, Aggregation: c.Aggregation, RouterPorts: c.Router,
			SwitchCables: c.SwitchCables, AdapterCables: c.AdapterCables, SelfCables: c.SelfCables,
		},
		Levels: []result.ReportLevel{}, Odd: []result.ReportOdd{}, Tables: []*result.ReportTables{},
	}
	for _, v := range inspect.Levels(f) {
		n.Levels = append(n.Levels, result.ReportLevel{
			Switches: v.Switches, Hosts: v.Hosts, Others: v.Others, Down: v.Down, Up: v.Up, Across: v.Across, Free: v.Free, Over: v.Over.Value(),
		})
	}
	addNodes(n, f, l)
	addEndpoints(n, f)
	cable := addCables(n, f)
	addOddities(n, f, cable)
	return n
}

// addNodes adds the nodes, those that are switches with their places, and counts free ports.
func addNodes(n *result.ReportNetwork, f *fabric.Fabric, l *layout.Layout) {
	c := &n.Nodes
	for i := range f.Nodes() {
		v := f.Node(fabric.NodeID(i))
		c.Name, c.Short, c.GUID = append(c.Name, v.Name), append(c.Short, names.Short(v)), append(c.GUID, v.GUID.String())
		c.Ports, c.Kind = append(c.Ports, int32(v.Ports)), append(c.Kind, int32(v.Kind))
	}
	c.X, c.Y = l.X, l.Y
	for s := range f.Switches() {
		c.LID = append(c.LID, int32(f.Endpoint(fabric.EndpointID(s)).LID))
		c.Level, c.Group = append(c.Level, l.Level[s]), append(c.Group, int32(l.Group[s]))
		for p := 1; p <= f.Node(fabric.NodeID(s)).Ports; p++ {
			if f.Out(fabric.NodeID(s), uint8(p)) == fabric.None {
				n.Counts.Free++
			}
		}
	}
}

// addEndpoints adds the endpoints behind those that are port 0 of switches; endpoint e of
// the fabric is e - switches here.
func addEndpoints(n *result.ReportNetwork, f *fabric.Fabric) {
	c := &n.Ports
	for i := f.Switches(); i < len(f.Endpoints()); i++ {
		e := f.Endpoint(fabric.EndpointID(i))
		c.Node, c.Port = append(c.Node, int32(e.Node)), append(c.Port, int32(e.Port))
		c.LID, c.LMC, c.Class = append(c.LID, int32(e.LID)), append(c.LMC, int32(e.LMC)), append(c.Class, int32(e.Class))
		c.GUID = append(c.GUID, e.PortGUID.String())
		c.Switch, c.At = append(c.Switch, int32(e.Switch)), append(c.At, int32(f.LastPort(e)))
	}
}

// addCables adds every cable once, by the channel with the lower number, and returns the
// cable of every channel.
func addCables(n *result.ReportNetwork, f *fabric.Fabric) []int32 {
	c := &n.Cables
	cable := make([]int32, len(f.Channels()))
	rate := map[string]int32{}
	for i := range f.Channels() {
		ch := f.Channel(fabric.ChannelID(i))
		if ch.Reverse < fabric.ChannelID(i) {
			cable[i] = cable[ch.Reverse]
			continue
		}
		name := ch.Rate.String()
		r, ok := rate[name]
		if !ok {
			r = int32(len(n.Rates))
			rate[name] = r
			n.Rates = append(n.Rates, name)
		}
		cable[i] = int32(len(c.A))
		c.A, c.APort = append(c.A, int32(ch.From)), append(c.APort, int32(ch.FromPort))
		c.B, c.BPort = append(c.B, int32(ch.To)), append(c.BPort, int32(ch.ToPort))
		c.Rate, c.Odd = append(c.Rate, r), append(c.Odd, 0)
		if i < f.Trunks() {
			c.Trunks++
		}
	}
	return cable
}

// addOddities adds what is unusual about the fabric, and notes it at the cables concerned; cable is
// what addCables returned.
func addOddities(n *result.ReportNetwork, f *fabric.Fabric, cable []int32) {
	for _, o := range inspect.Anomalies(f) {
		odd := result.ReportOdd{Kind: string(o.Kind), What: o.What, Places: []result.ReportPlace{}}
		for _, l := range o.Links {
			p := result.ReportPlace{A: int(l.A), B: int(l.B), Cable: -1, Text: fmt.Sprintf("%s – %s", f.Label(l.A), f.Label(l.B))}
			if l.APort > 0 {
				p.Text = fmt.Sprintf("%s, port %d – %s, port %d", f.Label(l.A), l.APort, f.Label(l.B), l.BPort)
				if c := f.Out(l.A, l.APort); c != fabric.None {
					p.Cable = int(cable[c])
					n.Cables.Odd[p.Cable] = int32(len(n.Odd)) + 1
				}
			}
			odd.Places = append(odd.Places, p)
		}
		for _, v := range o.Nodes {
			text := f.Label(v)
			if o.Kind == inspect.DuplicateName || o.Kind == inspect.NoName {
				text = f.Node(v).GUID.String() // the name is known
			}
			odd.Places = append(odd.Places, result.ReportPlace{Text: text, A: int(v), B: -1, Cable: -1})
		}
		for _, h := range o.Hosts {
			odd.Places = append(odd.Places, hostPlace(f, h))
		}
		n.Odd = append(n.Odd, odd)
	}
}

// hostPlace is a host, with its adapters, as the place of an oddity.
func hostPlace(f *fabric.Fabric, h names.Host) result.ReportPlace {
	list := make([]string, len(h.Adapters))
	for i, v := range h.Adapters {
		if _, list[i] = names.HostOf(f.Node(v)); list[i] == "" {
			list[i] = f.Node(v).GUID.String()
		}
	}
	p := result.ReportPlace{Text: fmt.Sprintf("%s: %s", h.Name, strings.Join(list, ", ")), A: -1, B: -1, Cable: -1}
	if len(h.Adapters) > 0 {
		p.A = int(h.Adapters[0])
	}
	return p
}
