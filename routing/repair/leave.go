package repair

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Leave plans how packets leave some trunks, given as [trunk], which are still there: no new
// entry uses one, but the packets of old entries are on them until a step is confirmed. A switch
// all of whose incoming trunks are to be left goes with them, and keeps the packets to its hosts.
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
		o.Steps = defaultWay
	}
	plan, sh := &Plan{}, newShared(tables, tables, o)
	if err := plan.bring(ctx, sh, tables, target, upTo{steps: o.Steps}); err != nil {
		return nil, err
	}
	if len(plan.Left) == 0 {
		plan.followTarget(sh, tables, target.Forwarding)
		return plan, plan.keepWhole(ctx, tables, o.Scope)
	}
	sh.leave(doomed)
	if err := plan.mend(ctx, sh, tables, defaultSteps); err != nil {
		return nil, err
	}
	if err := plan.makeWay(ctx, sh, tables, wayWork); err != nil {
		return nil, err
	}
	if err := plan.merge(ctx, sh, tables); err != nil {
		return nil, err
	}
	return plan, plan.keepWhole(ctx, tables, o.Scope)
}

// leave says which trunks packets have to leave from now on.
func (sh *shared) leave(doomed []bool) {
	sh.doomed = doomed
	for c := range fabric.ChannelID(sh.f.Trunks()) {
		if ch := sh.f.Channel(c); doomed[c] {
			sh.dead.onward[ch.From][ch.FromPort>>6] &^= 1 << (ch.FromPort & 63)
		}
	}
}

// isDoomed says whether packets have to leave a trunk.
func (sh *shared) isDoomed(c fabric.ChannelID) bool { return sh.doomed != nil && sh.doomed[c] }

// goes says whether all trunks to a switch are doomed.
func (sh *shared) goes(s fabric.NodeID) bool {
	if sh.doomed == nil {
		return false
	}
	first, end := sh.f.TrunksFrom(s)
	for out := first; out < end; out++ {
		if !sh.doomed[sh.f.Reverses()[out]] {
			return false
		}
	}
	return true
}
