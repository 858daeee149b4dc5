package bound

import (
	"context"
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/levels"
	"github.com/weft-fabric/weft/internal/par"
)

// Limits of the search for cuts, which bound its time; with fewer cuts the bound is weaker.
const (
	ballSwitches = 1000        // in larger networks no balls are looked at
	ballSizes    = 3           // largest radius of a ball, in hops
	flowWork     = 400_000_000 // trunks that maximum flows look at, over all augmenting paths
)

// findCuts sets n.cuts and n.tiers, by single switches, levels of a tree, and balls: what is within some hops of a
// switch. Each set of hosts comes once.
func (n *Network) findCuts() {
	seen := map[string]bool{}
	add := func(switches []fabric.NodeID) (at int) {
		hosts, key := 0, []byte{}
		for _, s := range switches {
			if n.hostsOn[s] > 0 {
				hosts += n.hostsOn[s]
				key = fmt.Append(key, s, " ")
			}
		}
		if hosts == 0 || hosts == len(n.hosts) || seen[string(key)] {
			return -1
		}
		seen[string(key)] = true
		n.cuts = append(n.cuts, n.cut(switches))
		return len(n.cuts) - 1
	}
	tier := func(sets [][]fabric.NodeID) {
		var list []int
		for _, set := range sets {
			if at := add(set); at >= 0 {
				list = append(list, at)
			}
		}
		n.tiers = append(n.tiers, list)
	}
	var single [][]fabric.NodeID
	for s, hosts := range n.hostsOn {
		if hosts > 0 {
			single = append(single, []fabric.NodeID{fabric.NodeID(s)})
		}
	}
	tier(single)
	if l, notATree := levels.Find(n.f); notATree == nil {
		for height := int32(1); height <= slices.Max(l.Height); height++ {
			tier(n.below(l, height))
		}
	}
	if n.f.Switches() > ballSwitches {
		return
	}
	for s := range fabric.NodeID(n.f.Switches()) {
		hops := n.f.Hops(s)
		for size := int32(1); size <= ballSizes; size++ {
			var ball []fabric.NodeID
			for v, h := range hops {
				if h >= 0 && h <= size {
					ball = append(ball, fabric.NodeID(v))
				}
			}
			add(ball)
		}
	}
}

// below is the connected components of the switches below a height, and each higher switch with hosts by itself.
func (n *Network) below(l *levels.Levels, height int32) (sets [][]fabric.NodeID) {
	seen := make([]bool, n.f.Switches())
	for s := range fabric.NodeID(n.f.Switches()) {
		if seen[s] || l.Height[s] >= height && n.hostsOn[s] == 0 {
			continue
		}
		seen[s] = true
		set := []fabric.NodeID{s}
		for i := 0; i < len(set) && l.Height[s] < height; i++ {
			for _, v := range n.f.Neighbours(set[i]) {
				if !seen[v] && l.Height[v] < height {
					seen[v] = true
					set = append(set, v)
				}
			}
		}
		slices.Sort(set)
		sets = append(sets, set)
	}
	return sets
}

// cut counts the hosts on switches and the cables that leave them.
func (n *Network) cut(switches []fabric.NodeID) Cut {
	inside := make([]bool, n.f.Switches())
	c := Cut{Switches: switches}
	for _, s := range switches {
		inside[s] = true
		c.Hosts += n.hostsOn[s]
	}
	for _, s := range switches {
		for _, v := range n.f.Neighbours(s) {
			if !inside[v] {
				c.Cables++
			}
		}
	}
	return c
}

// tighten replaces each cut by the one around the same hosts that fewest cables leave, by taking in and leaving
// out switches without hosts; the first cuts only, where flowWork does not suffice for all.
func (n *Network) tighten(ctx context.Context) error {
	work := int64(0)
	some := 0 // of the cuts, within the work
	for ; some < len(n.cuts) && work < flowWork; some++ {
		work += int64(n.f.Trunks()) * int64(min(64, n.cuts[some].Cables))
	}
	return par.For(ctx, some, func(_, i int) { n.cuts[i] = n.least(n.cuts[i]) })
}

// least is the cut around the same hosts that fewest cables leave, found by a maximum flow from them to all others
// (augmenting paths); of several the one with fewest switches.
func (n *Network) least(c Cut) Cut {
	const outside, source = 1, 2
	role := make([]uint8, n.f.Switches())
	for s, hosts := range n.hostsOn {
		if hosts > 0 {
			role[s] = outside
		}
	}
	for _, s := range c.Switches {
		if n.hostsOn[s] > 0 {
			role[s] = source
		}
	}
	heads, reverse := n.f.Heads(), n.f.Reverses()
	flow := make([]int8, n.f.Trunks()) // 1: it carries a unit; -1: its reverse does
	from := make([]fabric.ChannelID, n.f.Switches())
	var reached []fabric.NodeID
	for {
		reached = reached[:0]
		for s := range from {
			from[s] = fabric.None
			if role[s] == source {
				reached = append(reached, fabric.NodeID(s))
			}
		}
		sink := fabric.NodeID(fabric.None)
		for i := 0; i < len(reached) && sink == fabric.None; i++ {
			for t, end := n.f.TrunksFrom(reached[i]); t < end; t++ {
				v := heads[t]
				if flow[t] > 0 || role[v] == source || from[v] != fabric.None {
					continue
				}
				from[v] = t
				reached = append(reached, v)
				if role[v] == outside {
					sink = v
					break
				}
			}
		}
		if sink == fabric.None {
			slices.Sort(reached)
			return n.cut(slices.Clone(reached))
		}
		for v := sink; role[v] != source; {
			t := from[v]
			flow[t]++
			flow[reverse[t]]--
			v = n.f.Channel(t).From
		}
	}
}
