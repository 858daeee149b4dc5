package repair

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Leave plans how packets leave the trunks that are doomed, [trunk], as long as these are still there, before
// they are drained: no new entry uses one, but the packets of old entries are on them until a step is
// confirmed. Packets between switches that no other cables join stay; so a switch all of whose incoming
// trunks are doomed keeps the packets to its hosts and from them.
//
// It begins with steps to target, tables that do not use these trunks, as far as they lead
// without detours. That is harder than Mend after the trunks are gone, since dead entries cause no
// dependencies and these still do. So destinations that are left get other rows than those of target, beside
// what their old entries cause, and others make way for them. In that case entries to doomed trunks that no
// packet in scope uses may stay.
func Leave(ctx context.Context, tables, target *routing.Tables, doomed []bool, o Options) (*Plan, error) {
	if err := tables.Check(); err != nil {
		return nil, err
	}
	if err := byLevels(tables); err != nil {
		return nil, err
	}
	if o.Slack == 0 {
		o.Slack = defaultSlack
	}
	if o.Steps == 0 {
		o.Steps = migrateSteps
	}
	plan, in := &Plan{}, newProblem(tables, tables, o)
	if err := plan.migrate(ctx, in, tables, target, upTo{steps: o.Steps}); err != nil {
		return nil, err
	}
	if len(plan.Left) == 0 {
		plan.migrateOutside(in, tables, target.Forwarding)
		return plan, plan.keepWhole(ctx, tables, o.Scope)
	}
	in.leave(doomed)
	if err := plan.mend(ctx, in, tables, defaultSteps); err != nil {
		return nil, err
	}
	if err := plan.ripUp(ctx, in, tables, ripUpWork); err != nil {
		return nil, err
	}
	if err := plan.merge(ctx, in, tables); err != nil {
		return nil, err
	}
	return plan, plan.keepWhole(ctx, tables, o.Scope)
}

// leave sets which trunks packets have to leave: from now on entries to them count as dead.
func (p *problem) leave(doomed []bool) {
	p.doomed, p.partWithout = doomed, p.partsWithout(doomed)
	for c := range fabric.ChannelID(p.f.Trunks()) {
		if ch := p.f.Channel(c); doomed[c] {
			p.dead.onward[ch.From][ch.FromPort>>6] &^= 1 << (ch.FromPort & 63)
		}
	}
}

// partsWithout is the part that each switch is in, [switch], in the network without the cables of which either
// direction is doomed. Parts count from 1.
func (p *problem) partsWithout(doomed []bool) []int32 {
	parts := make([]int32, p.f.Switches())
	count := int32(0)
	for s := range parts {
		if parts[s] != 0 {
			continue
		}
		count++
		parts[s] = count
		for queue := []fabric.NodeID{fabric.NodeID(s)}; len(queue) > 0; queue = queue[1:] {
			first, end := p.f.TrunksFrom(queue[0])
			for c := first; c < end; c++ {
				if to := p.f.Heads()[c]; parts[to] == 0 && !doomed[c] && !doomed[p.f.Reverses()[c]] {
					parts[to] = count
					queue = append(queue, to)
				}
			}
		}
	}
	return parts
}

// mustLeave reports whether packets to switch home that are at switch at have to leave its trunk c: it is
// doomed, and other cables lead there.
func (p *problem) mustLeave(at fabric.NodeID, c fabric.ChannelID, home fabric.NodeID) bool {
	return p.doomed != nil && p.doomed[c] && p.partWithout[at] == p.partWithout[home]
}
