package repair

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Leave plans how packets leave some trunks, given as [trunk], which are still there: no new
// entry uses one, but the packets of old entries are on them until a step is confirmed. Packets
// between switches that no other cables join stay; so a switch all of whose incoming trunks are to
// be left keeps the packets to its hosts and from them.
//
// It begins with steps to target, tables that do not use these trunks, as far as they lead
// without detours. That is harder than Mend when the trunks are gone, whose dead entries cause no
// dependency. So destinations that are left get other rows than those of target, beside what
// their old entries cause, and others make way for them. Then entries for which no packet in
// scope uses the trunks may stay.
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

// leave says which trunks packets have to leave from now on.
func (p *problem) leave(doomed []bool) {
	p.doomed, p.apart = doomed, p.partsWithout(doomed)
	for c := range fabric.ChannelID(p.f.Trunks()) {
		if ch := p.f.Channel(c); doomed[c] {
			p.dead.onward[ch.From][ch.FromPort>>6] &^= 1 << (ch.FromPort & 63)
		}
	}
}

// partsWithout is which part each switch is in, [switch], without cables of which packets have to
// leave a direction.
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

// leaves reports whether packets to a switch have to leave the trunk at another.
func (p *problem) leaves(at fabric.NodeID, c fabric.ChannelID, home fabric.NodeID) bool {
	return p.doomed != nil && p.doomed[c] && p.apart[at] == p.apart[home]
}
