package outputs

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/bandwidths"
	"github.com/weft-fabric/weft/internal/least"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// StepsOfPlan is the steps of a plan.
func StepsOfPlan(p *change.Proven) []result.StepOfPlan {
	return list.Of(p.Steps, func(s change.Step) result.StepOfPlan {
		return result.StepOfPlan{
			Mended: s.Mended, Follow: s.Follow, Dropped: s.Drops, Rebuilt: s.Rebuilt, Balanced: s.Balanced, Due: s.Union.Due, Blocks: s.Union.Blocks, Touched: s.Union.Switches, Cut: s.Union.CutAfter(),
			NotCovered: s.Union.Outside(), BySwitch: SwitchEntries(p.After.Fabric, s.Union.BySwitch),
		}
	})
}

// Least is what any one step has to write at least, for tables as they act on a network that has changed.
func Least(t *routing.Tables, scope routing.Scope) result.Least {
	l := least.Of(t, scope)
	return result.Least{LeastEntries: l.Entries, LeastBlocks: l.Blocks}
}

// HeldBack is who has to wait while a plan is written.
func HeldBack(p *change.Proven) result.HeldBack {
	return result.HeldBack{Waiting: list.Of(p.Waiting, p.After.Fabric.EndpointLabel), Waits: p.Waits}
}

// SwitchEntries is the rows of counts of entries, [NodeID], without switches where nothing changes.
func SwitchEntries(f *fabric.Fabric, entries []int) []result.SwitchEntries {
	by := []result.SwitchEntries{}
	for at, n := range entries {
		if n > 0 {
			by = append(by, result.SwitchEntries{Switch: Node(f, fabric.NodeID(at), 0), Entries: n})
		}
	}
	return by
}

// Left is the destinations that a plan does not mend.
func Left(p *change.Proven) []result.LeftOver {
	f := p.After.Fabric
	return list.Of(p.Left, func(l repair.Left) result.LeftOver {
		e := f.Owner(l.LID)
		return result.LeftOver{LID: l.LID, Endpoint: f.EndpointLabel(e), Node: Endpoint(f, e)}
	})
}

// switchLifetime is how long OpenSM lets a packet stay in a switch by default
// (packet_life_time 0x12: 4.096 µs × 2^18, IBA 14.2.5.4).
const switchLifetime = 4096 * time.Nanosecond << 18

// Plan is a plan of which each step goes into a folder. Whoever read the tables and fabrics names
// them in what it returns.
func Plan(p *change.Proven, contract routing.Contract, scope routing.Scope) *result.Plan {
	s := &result.Plan{
		Contract: contract.String(), Endpoints: scope.String(), Pairs: p.Pairs, CutNow: p.CutBefore, CutAfter: p.CutAfter, Apart: p.Disconnected,
		Least: Least(p.Before, scope), Steps: []result.PlanStep{}, HeldBack: HeldBack(p),
		AbsentLanes: AbsentLanes(p.After.Fabric, p.Absent), Anew: Endpoints(p.After.Fabric, p.Anew),
	}
	for i, step := range StepsOfPlan(p) {
		hops := change.Hops(p.Steps[i].Tables)
		s.Steps = append(s.Steps, result.PlanStep{Folder: fmt.Sprintf("step-%d", i+1), StepOfPlan: step, WaitHops: hops, WaitSeconds: (time.Duration(hops) * switchLifetime).Seconds()})
	}
	return s
}

// Moved is what the plan of a change treats as gone from one place and new in another.
func Moved(before, now *fabric.Fabric) []result.MovedEndpoint {
	parts := transition.PartsOf(before, now)
	differs := map[fabric.EndpointID]bool{}
	for _, e := range append(parts.Readdressed, parts.Moved...) {
		differs[e] = true
	}
	var all []result.MovedEndpoint
	for i := range now.Endpoints() {
		e := fabric.EndpointID(i)
		ep, known := now.Endpoint(e), bandwidths.Has(before, now, e)
		if ep.Switch == fabric.None || known && !differs[e] || !known && ep.Class == fabric.SwitchPort {
			continue
		}
		m := result.MovedEndpoint{Endpoint: Endpoint(now, e), LID: ep.LID, Switch: now.Label(ep.Switch)}
		how := []string{"new"}
		if known {
			how = since(&m, now, before, ep)
		}
		m.Text = now.EndpointLabel(e) + " (" + strings.Join(how, "; ") + ")"
		all = append(all, m)
	}
	return all
}

// since fills in where an endpoint was in the fabric before, which has it, and is what is other now, in words.
func since(m *result.MovedEndpoint, now, before *fabric.Fabric, ep *fabric.Endpoint) (how []string) {
	all, guid := before.Endpoints(), now.Node(ep.Node).GUID
	was := &all[slices.IndexFunc(all, func(e fabric.Endpoint) bool { return e.Port == ep.Port && before.Node(e.Node).GUID == guid })]
	m.LIDBefore = was.LID
	switch {
	case was.LID == 0:
		how = append(how, "new")
	case was.LID != ep.LID:
		how = append(how, fmt.Sprintf("LID %d, was %d", ep.LID, was.LID))
	}
	if was.LID != 0 && ep.LMC != was.LMC {
		how = append(how, fmt.Sprintf("LMC %d, was %d", ep.LMC, was.LMC))
	}
	if was.Switch == fabric.None {
		return how
	}
	m.SwitchBefore = before.Label(was.Switch)
	switch at := now.Node(ep.Switch).GUID; {
	case at == before.Node(was.Switch).GUID:
	case m.SwitchBefore == m.Switch:
		how = append(how, fmt.Sprintf("to %s with GUID %s", m.Switch, at))
	default:
		how = append(how, "from "+m.SwitchBefore+" to "+m.Switch)
	}
	return how
}
