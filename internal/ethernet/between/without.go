package between

import (
	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/ethernet/bgp"
)

// Without is a network after devices fail, [DeviceID], and cables, [LinkID] of at least one direction: without
// them, and with the routes that BGP has then by the plan, which must be that of the network. Devices and links are
// numbered anew. Classes whose devices have all failed are left out.
func Without(plan *bgp.Plan, n *ethernet.Network, devices, down []bool) (*ethernet.Network, error) {
	var names []string
	for d, name := range n.Names {
		if !devices[d] {
			names = append(names, name)
		}
	}
	allDown := make([]bool, len(n.Links)) // those of failed devices too
	var cables []ethernet.Cable
	for l, link := range n.Links {
		back := n.Reverse[l]
		allDown[l] = down[l] || down[back] || devices[link.From] || devices[link.To]
		if ethernet.LinkID(l) < back && !allDown[l] {
			cables = append(cables, ethernet.Cable{A: n.End(ethernet.LinkID(l)), B: n.End(back)})
		}
	}
	c, err := ethernet.NewCabling(names, cables)
	if err != nil {
		return nil, err
	}
	p := &pair{old: n, new: &ethernet.Network{Cabling: c}}
	p.newDevice, p.oldDevice = match(n.Cabling, c), match(c, n.Cabling)
	p.newLink, p.oldLink = links(n.Cabling, c, p.newDevice), links(c, n.Cabling, p.oldDevice)
	after := &ethernet.Network{Cabling: c, TunnelMaps: n.TunnelMaps, Notes: n.Notes, Gaps: n.Gaps, Priorities: p.priorities()}
	if n.AS != nil {
		for _, d := range p.oldDevice {
			after.AS = append(after.AS, n.AS[d])
		}
	}
	if n.Speeds != nil {
		for _, l := range p.oldLink {
			after.Speeds = append(after.Speeds, n.Speeds[l])
		}
	}
	if n.HostSpeeds != nil {
		for _, d := range p.oldDevice {
			after.HostSpeeds = append(after.HostSpeeds, n.HostSpeeds[d])
		}
	}
	if n.Addresses != nil {
		for _, l := range p.oldLink {
			after.Addresses = append(after.Addresses, n.Addresses[l])
		}
	}
	p.recompute(plan, allDown, after)
	return after, nil
}

// recompute gives the network after a failure its classes; down is by links of the network before.
func (p *pair) recompute(plan *bgp.Plan, down []bool, after *ethernet.Network) {
	n := p.old
	computer := bgp.NewComputer(plan)
	row := n.NewRow()
	index := make([]int, len(n.Classes)) // [class before] the class after; None: left out
	for i := range n.Classes {
		index[i] = ethernet.None
		var at, atNew []ethernet.DeviceID
		for _, d := range n.Classes[i].At {
			if p.newDevice[d] != ethernet.None {
				at, atNew = append(at, d), append(atNew, p.newDevice[d])
			}
		}
		if len(at) == 0 {
			continue
		}
		computer.Class(i, at, down, row)
		c := ethernet.Class{Prefixes: n.Classes[i].Prefixes, At: atNew, Hosts: n.Classes[i].Hosts, Next: after.NewRow(), Tunnels: n.Classes[i].Tunnels}
		for l, there := range p.newLink {
			if there != ethernet.None && n.Has(row, ethernet.LinkID(l)) {
				after.Add(c.Next, there)
			}
		}
		index[i] = len(after.Classes)
		after.Classes = append(after.Classes, c)
	}
	for i := range after.Classes {
		var tunnels []ethernet.Tunnel
		for _, t := range after.Classes[i].Tunnels {
			if d := p.newDevice[t.Device]; d != ethernet.None && index[t.Into] != ethernet.None {
				tunnels = append(tunnels, ethernet.Tunnel{Device: d, Into: index[t.Into], Map: t.Map})
			}
		}
		after.Classes[i].Tunnels = tunnels
	}
}

// priorities is those of the first network on the links of the second, which are all in the first.
func (p *pair) priorities() *ethernet.Priorities {
	was := p.old.Priorities
	is := &ethernet.Priorities{Marks: was.Marks, Start: was.Start}
	for mark := range uint8(len(was.Marks)) {
		for _, l := range p.oldLink {
			is.Lane = append(is.Lane, was.Of(mark, l))
		}
	}
	if was.Rules == nil {
		return is
	}
	is.Rules = ethernet.NewRules(p.new.Cabling, len(was.Marks))
	for out := range ethernet.LinkID(len(p.new.Links)) {
		first, end := p.new.LinksFrom(p.new.Links[out].From)
		for from := first - 1; from < end; from++ {
			in, before := ethernet.LinkID(ethernet.None), ethernet.LinkID(ethernet.None)
			if from >= first {
				in = p.new.Reverse[from]
				before = p.oldLink[in]
			}
			for mark := range uint8(len(was.Marks)) {
				if to := was.Rules.Becomes(before, p.oldLink[out], mark); to != mark {
					is.Rules.Set(in, out, mark, to)
				}
			}
		}
	}
	return is
}
