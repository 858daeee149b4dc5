package weave

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/intree"
	"github.com/weft-fabric/weft/internal/list"
)

// spares chooses spare entries, which no packet follows, as a spine's for a destination to which all its
// leaves go by another: a repair sends packets there, and cannot in the same step change where they
// go from there.
type spares struct {
	*grower
	used    []bool          // [switch] packets pass it
	senders []int32         // [switch] how many switches packets come from; twigs count only if there are no others
	sender  []fabric.NodeID // [switch] one of those
	twig    []bool          // [switch] twigs
	via     []fabric.NodeID // [switch] on its path, the last switch before those that all packets pass; None: it is one of these
	shun    []fabric.NodeID // [switch] the via that its path should not have; None: it may have any

	may []fabric.ChannelID // scratch: trunks to choose from
}

// fillSpares gives switches that no packet passes paths beside those of others: by turns that close
// no cycle together with all others, and by another last switch than all its neighbours' packets,
// which would otherwise be cut off together with it. The shortest first; the others keep their entries.
func (r *rerouting) fillSpares(ctx context.Context) error {
	r.grower.lanes.FreeParts()
	n := r.f.Switches()
	p := &spares{
		grower: r.grower, used: make([]bool, n), senders: make([]int32, n),
		sender: make([]fabric.NodeID, n), twig: twigs(r.f), via: make([]fabric.NodeID, n), shun: make([]fabric.NodeID, n),
	}
	d := dag.DAG{Root: fabric.None}
	for _, lid := range r.lids {
		if err := ctx.Err(); err != nil {
			return err
		}
		d.Root = r.f.Endpoint(r.f.Owner(lid)).Switch
		if row := r.fw.Row(lid); p.refill(&d, row) {
			intree.Write(r.f, row, lid, p.tree.Order, p.tree.Out)
		}
	}
	return nil
}

// refill makes in p.tree a tree of a row to d.Root, with other paths for switches with spare entries.
// It returns false if all entries can stay as they are: p.tree is of no use then.
func (p *spares) refill(d *dag.DAG, row []uint8) bool {
	t := p.tree
	p.had.Build(p.f, row, d.Root)
	p.followPackets()
	p.plant(d.Root)
	for _, u := range p.had.Order[1:] {
		c := p.had.Out[u]
		if p.shun[u] = fabric.None; !p.used[u] {
			p.shun[u] = p.allVia(u)
		}
		if v := p.heads[c]; t.Hops[v] != intree.NoPath && (p.shun[u] == fabric.None || p.via[v] != p.shun[u]) {
			if m := p.admittingBy(c); m != 0 {
				p.put(u, c, m)
				if !p.used[u] {
					p.via[u] = p.comesBy(u, v)
				}
				continue
			}
		}
		t.Late = append(t.Late, u)
	}
	if len(t.Late) == 0 {
		return false
	}
	t.Finish(d, nil, p)
	for _, u := range t.Late { // what has no path yet may pass where it should not
		p.shun[u] = fabric.None
	}
	t.Finish(d, nil, p)
	return true
}

// followPackets follows the packets of all sources along p.had, and sets used, senders and sender, and
// via of the switches that they pass.
func (p *spares) followPackets() {
	order, out := p.had.Order, p.had.Out
	clear(p.used)
	clear(p.senders)
	for i := len(order) - 1; i > 0; i-- {
		if u := order[i]; p.used[u] || p.sends[u] {
			v := p.heads[out[u]]
			p.used[u], p.used[v] = true, true
			if p.senders[v] == 0 || p.twig[p.sender[v]] && !p.twig[u] {
				p.sender[v], p.senders[v] = u, 1
			} else if p.twig[u] == p.twig[p.sender[v]] {
				p.senders[v]++
			}
		}
	}
	for s := range p.via {
		p.via[s] = fabric.None
	}
	base := order[0] // in the end the switch farthest from the root that all packets pass
	for p.senders[base] == 1 {
		base = p.sender[base]
	}
	for _, u := range order[1:] {
		if v := p.heads[out[u]]; p.used[u] && (v == base || p.via[v] != fabric.None) {
			p.via[u] = p.comesBy(u, v)
		}
	}
}

// twigs reports of each switch, [switch], whether it is in a tree which hangs on one switch of the rest,
// as leaves behind a leaf: no way to others avoids that switch.
func twigs(f *fabric.Fabric) []bool {
	listed, queue := make([]bool, f.Switches()), fabric.All[fabric.NodeID](f.Switches())
	for len(queue) > 0 {
		s, only, several := queue[0], fabric.NodeID(fabric.None), false
		queue = queue[1:]
		for _, u := range list.Once(f.Neighbours(s)) {
			several = several || !listed[u] && only != fabric.None
			if !listed[u] {
				only = u
			}
		}
		if !listed[s] && !several && only != fabric.None {
			listed[s] = true
			queue = append(queue, only)
		}
	}
	return listed
}

// comesBy is via of switch u, which forwards to v.
func (p *spares) comesBy(u, v fabric.NodeID) fabric.NodeID {
	if p.via[v] == fabric.None {
		return u
	}
	return p.via[v]
}

// Settle implements intree.Rules, for switches with spare entries: as grower.Settle, except by shun.
func (p *spares) Settle(u fabric.NodeID, choices []fabric.ChannelID, hops int32) bool {
	p.may = p.may[:0]
	for _, c := range choices {
		v := p.heads[c]
		if p.tree.Hops[v] != hops || p.shun[u] != fabric.None && p.via[v] == p.shun[u] {
			continue
		}
		if next := p.tree.Out[v]; next == fabric.None || !p.lanes.Bars(int32(p.f.Turn(c, next))) {
			p.may = append(p.may, c)
		}
	}
	if len(p.may) == 0 || !p.grower.Settle(u, p.may, hops) {
		return false
	}
	p.via[u] = p.comesBy(u, p.heads[p.tree.Out[u]])
	return true
}

// allVia is the via that the paths of all u's neighbours that send have in common, or None.
func (p *spares) allVia(u fabric.NodeID) fabric.NodeID {
	all := fabric.NodeID(fabric.None)
	for c, end := p.f.TrunksFrom(u); c < end; c++ {
		v := p.heads[c]
		if !p.sends[v] {
			continue
		}
		if p.via[v] == fabric.None || all != fabric.None && p.via[v] != all {
			return fabric.None
		}
		all = p.via[v]
	}
	return all
}
