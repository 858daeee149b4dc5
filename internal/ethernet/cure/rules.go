package cure

import (
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/ethernet"
)

// spare is the priorities that packets are taken to, in order: 4 first, then those that
// SONiC uses for the same end.
var spare = []uint8{4, 2, 6, 5, 7, 1}

// ladders gives each priority that hosts send with further ones.
func ladders(start []uint8, levels int) [][]uint8 {
	list := make([][]uint8, len(start))
	free := slices.DeleteFunc(slices.Clone(spare), func(p uint8) bool { return slices.Contains(start, p) })
	if !slices.Contains(start, 3) {
		free = append(free, 3)
	}
	for i, p := range start {
		list[i] = []uint8{p}
	}
	for range levels - 1 {
		for i := range list {
			if len(free) > 0 {
				list[i] = append(list[i], free[0])
				free = free[1:]
			}
		}
	}
	return list
}

// cure makes rules of a plan.
func (p *plan) cure(n *ethernet.Network, o Options, levels int) *Cure {
	levels = min(levels, p.needed)
	c := &Cure{Ladders: ladders(o.Start, max(1, levels)), Needed: p.needed * len(o.Start), Order: p.name}
	lossyMark := uint8(len(o.Start) * max(1, levels))
	priorities, rules := p.priorities(n, c.Ladders)
	for turn, used := range p.used {
		if used == 0 || !p.raises(int32(turn)) {
			continue
		}
		c.Turns++
		in, out := p.ends(int32(turn))
		for i, ladder := range c.Ladders {
			for level := range ladder { // those that no path gets to as well: hosts may send with any
				mark := uint8(i*len(c.Ladders[0]) + level)
				if level+1 < len(ladder) {
					rules.Set(in, out, mark, mark+1)
				} else {
					rules.Set(in, out, mark, lossyMark)
				}
			}
		}
		lossy := used>>(len(c.Ladders[0])-1)&1 == 1
		if lossy {
			c.Lossy++
		}
	}
	cured := *n
	cured.Priorities = priorities
	same := make([]uint64, len(priorities.Marks)) // packets keep their priority when they are wrapped, but for rules
	for mark := range same {
		same[mark] = 1 << mark
	}
	cured.TunnelMaps = nil
	for range n.TunnelMaps {
		cured.TunnelMaps = append(cured.TunnelMaps, same)
	}
	c.Network = &cured
	c.Rules = p.compress(c.Ladders, rules)
	perDevice := map[ethernet.DeviceID]int{}
	for _, r := range c.Rules {
		perDevice[r.Device]++
		c.PerDevice = max(c.PerDevice, perDevice[r.Device])
	}
	return c
}

// priorities is a mark for each priority of the ladders, and one for lossy packets.
func (p *plan) priorities(n *ethernet.Network, ladders [][]uint8) (*ethernet.Priorities, *ethernet.Rules) {
	q := &ethernet.Priorities{}
	add := func(name string, lane int8) {
		q.Marks = append(q.Marks, name)
		for range n.Links {
			q.Lane = append(q.Lane, lane)
		}
	}
	for _, ladder := range ladders {
		for _, priority := range ladder {
			q.Start |= 1 << len(q.Marks)
			add(fmt.Sprintf("priority %d", priority), int8(priority))
		}
	}
	add("lossy", ethernet.Lossy)
	q.Rules = ethernet.NewRules(n.Cabling, len(q.Marks))
	return q, q.Rules
}

// compress puts the turns of a device with the same change together: interfaces by which packets leave
// alike first, then those by which they come. No packet leaves by the interface it came by, so
// that interface may be among those it leaves by.
func (p *plan) compress(ladders [][]uint8, rules *ethernet.Rules) []Rule {
	n := p.n
	var list []Rule
	for d := range ethernet.DeviceID(len(n.Names)) {
		if !rules.Changes(d) {
			continue
		}
		for i, ladder := range ladders {
			for level, priority := range ladder {
				mark := uint8(i*len(ladders[0]) + level)
				list = append(list, p.together(d, rules, mark, priority, ladder, level)...)
			}
		}
	}
	return list
}

// together is the rules of a device for one priority.
func (p *plan) together(d ethernet.DeviceID, rules *ethernet.Rules, mark, priority uint8, ladder []uint8, level int) []Rule {
	n := p.n
	becomes := int8(ethernet.Lossy)
	if level+1 < len(ladder) {
		becomes = int8(ladder[level+1])
	}
	var list []Rule
	first, end := n.LinksFrom(d)
	for port := first; port < end; port++ {
		in := n.Reverse[port]
		var outs []ethernet.LinkID
		for out := first; out < end; out++ {
			if rules.Becomes(in, out, mark) != mark {
				outs = append(outs, out)
			}
		}
		if len(outs) == 0 {
			continue
		}
		if turn := p.of(in, port); p.weight[turn] == 0 && !slices.Contains(outs, port) {
			outs = append(outs, port)
			slices.Sort(outs)
		}
		i := slices.IndexFunc(list, func(r Rule) bool { return slices.Equal(r.Out, outs) })
		if i < 0 {
			i = len(list)
			list = append(list, Rule{Device: d, Out: outs, Priority: priority, Becomes: becomes})
		}
		list[i].In = append(list[i].In, in)
	}
	return list
}
