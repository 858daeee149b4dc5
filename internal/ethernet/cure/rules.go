package cure

import (
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/ethernet"
)

// spare is the priorities that packets are taken to, in order: 4 first, which is often lossless beside 3, then those
// that SONiC uses for the same end.
var spare = []uint8{4, 2, 6, 5, 7, 1}

// ladders gives each priority that hosts send with further ones, so that it has as many as levels, while there are some.
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

// cure makes the rules of a plan, and the network with them. levels is how many priorities there may be for each that
// hosts send with; packets that need more become lossy.
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
			for level := range ladder { // also where no path takes the turn at the level: hosts may send with any priority
				mark := uint8(i*len(c.Ladders[0]) + level)
				if level+1 < len(ladder) {
					rules.Set(in, out, mark, mark+1)
				} else {
					rules.Set(in, out, mark, lossyMark)
				}
			}
		}
		if used>>(len(c.Ladders[0])-1)&1 == 1 { // from the last step of a ladder
			c.Lossy++
		}
	}
	cured := *n
	cured.Priorities = priorities
	keep := make([]uint64, len(priorities.Marks)) // packets keep their priority when they are wrapped; then rules change it
	for mark := range keep {
		keep[mark] = 1 << mark
	}
	cured.TunnelMaps = nil
	for range n.TunnelMaps {
		cured.TunnelMaps = append(cured.TunnelMaps, keep)
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

// priorities is a mark for each priority of the ladders, ladder by ladder, and behind them one for lossy packets; the
// rules belong to it, and change nothing yet.
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

// compress is the rules of all devices, few for many turns: interfaces that packets come by and that have the same change
// to the same interfaces share a rule.
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

// together is the rules of a device for one mark, that of a priority at a level of a ladder. An interface by which
// packets come may be among those of its own rule by which they leave, if that saves a rule: no packet does that.
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
