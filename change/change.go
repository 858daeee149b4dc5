// Package change plans a change of tables, has it judged, and says what it costs.
// Commands and the daemon use it when the network changes.
//
// Package repair makes the plan. Each of its steps is judged twice, by code that shares
// nothing with it: package transition judges every mixture of the tables before and
// after the step, and package deadlock the tables after it. A plan that a judge rejects
// is an error, not a result.
package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/routing"
)

// Options states the assumptions under which a change is planned and judged.
type Options struct {
	Contract   routing.Contract // what clients use; zero: honored
	Scope      routing.Scope    // who sends and receives; zero: host adapters
	AllowDrops bool             // where there is no other way, a destination may lose its packets for a step

	// Rows that switches hold for LIDs that nobody has in the fabric of the tables, [switch of it]: who has got
	// one since then gets its packets by them. The keys are LIDs.
	Unowned map[fabric.LID][]uint8

	Memory *deadlock.Memory // of the judge, from one plan to the next; nil: it derives all for each verdict
}

// deadlockOptions is what the judges of tables and of changes are asked.
func (o *Options) deadlockOptions() deadlock.Options {
	return deadlock.Options{Contract: o.Contract, Scope: o.Scope, Lost: -1, Memory: o.Memory}
}

// Proven is a plan of which every step was judged. What carries it out writes the tables of one step after
// another, each when all switches have confirmed the one before (see Hops).
type Proven struct {
	Before *routing.Tables // in force, as they act on the live cables
	After  *routing.Tables // the tables of the last step; Before if there is none
	Steps  []Step
	Left   []repair.Left // destinations that no step serves

	// Lanes that packets are sent to by the tables of some step, or by Before if there is no step, over cables
	// that do not run them: packets are dropped there. Repairs begin to use such a lane only where
	// destinations would be left otherwise.
	Absent []deadlock.Absent

	// Hosts that are back and would close a credit loop if they sent by the tables before, or were
	// sent to: all of it is proven if their links stay down until the first Waits steps are confirmed.
	Waiting []fabric.EndpointID
	Waits   int

	// Endpoints on other switches than before that have to ask for their paths anew: the plan is not about
	// packets from them on the service levels that they had there.
	Anew []fabric.EndpointID

	Pairs        int64 // ordered (source endpoint, destination LID) in scope
	CutBefore    int64 // pairs not delivered before the first step
	CutAfter     int64 // pairs not delivered after the last step
	Disconnected int64 // pairs of CutAfter in different parts of the network
}

// Step is a step of a plan with its verdicts.
type Step struct {
	repair.Step
	Union *transition.Verdict // of every mixture of the tables before and after it
	Alone *deadlock.Verdict   // of the tables after it
	Whole *deadlock.Verdict   // the credit loop of the tables after it if the hosts of Proven.Waiting sent, too; nil: none
}

// Rejected reports a step that a judge did not accept: a defect of the planner.
type Rejected struct {
	Step  int // from 1
	Union *transition.Verdict
	Alone *deadlock.Verdict
}

func (r *Rejected) Error() string {
	if !r.Union.Free() {
		return fmt.Sprintf("step %d passes through a credit loop of %d links", r.Step, len(r.Union.Cycle))
	}
	return fmt.Sprintf("the tables of step %d have a credit loop of %d links", r.Step, len(r.Alone.Cycle))
}

// Mend plans the repair of tables was when their network has changed to live: after failures, and for hosts that
// are new or have moved. LIDs are the hardware's: an entry for one that belongs to another port now brings
// packets there. Endpoints and LIDs that the tables do not know get the service levels of neighbours on their
// switch, or SL 0 where there is none. Endpoints that have moved to another switch get new levels in this way
// only if with their own there is no plan, or one that leaves more destinations; they are listed in
// Proven.Anew. The error is repair.ErrLoop if the tables have a credit loop on what is left of the network.
func Mend(ctx context.Context, was *routing.Tables, live *fabric.Fabric, o Options) (*Proven, error) {
	on, err := transition.On(live, was, nil)
	if err != nil {
		return nil, err
	}
	repair.PutUnowned(on, was.Fabric, o.Unowned)
	p, err := MendFrom(ctx, likeNeighbours(on, was.Fabric, nil), was, o)
	if err == nil && len(p.Left) == 0 || err != nil && !errors.Is(err, repair.ErrLoop) {
		return p, err
	}
	moved := transition.PartsOf(was.Fabric, live).Moved
	if len(moved) == 0 {
		return p, err
	}
	anew, e := MendFrom(ctx, likeNeighbours(on, was.Fabric, moved), was, o)
	if e != nil || err == nil && len(anew.Left) >= len(p.Left) {
		return p, cmp.Or(err, ctx.Err())
	}
	anew.Anew = moved
	return anew, nil
}

// MendFrom is Mend if the caller knows how the tables act on the live cables (before),
// with service levels for what is new; was is the same tables on the old network.
//
// Tables that are free of deadlock beyond o.Scope, when aggregation nodes and routers send, stay so if that costs no
// host an address: entries of other switches stay empty where every path would close a credit loop.
func MendFrom(ctx context.Context, before, was *routing.Tables, o Options) (*Proven, error) {
	plan, err := mendWider(ctx, before, was, o)
	if plan == nil && err == nil {
		plan, err = repair.Mend(ctx, before, was, repair.Options{Contract: o.Contract, Scope: o.Scope, AllowDrops: o.AllowDrops})
	}
	if err != nil {
		return nil, err
	}
	return prove(ctx, before, plan, o)
}

// prove has every step judged of a plan that begins with the tables before. The error is *Rejected if a judge
// does not accept one. If before has groups of ports to choose from, the tables of the steps get
// them, too, as far as that can be proven (see withGroups).
func prove(ctx context.Context, before *routing.Tables, plan *repair.Plan, o Options) (*Proven, error) {
	if before.Groups != nil {
		var without destinations // none has to lose its groups
		return withGroups(ctx, before, plan, before.Groups, without, o)
	}
	return judge(ctx, before, plan, o)
}

// judge has every step of a plan judged as it is.
func judge(ctx context.Context, before *routing.Tables, plan *repair.Plan, o Options) (*Proven, error) {
	p := &Proven{Before: before, After: before, Left: plan.Left}
	options := o.deadlockOptions()
	for i, s := range plan.Steps {
		union, err := transition.Verify(ctx, p.After, s.Tables, options)
		if err != nil {
			return nil, err
		}
		alone, err := deadlock.Verify(ctx, s.Tables, options)
		if err != nil {
			return nil, err
		}
		if !union.Free() || !alone.Free() {
			return nil, &Rejected{Step: i + 1, Union: union, Alone: alone}
		}
		if i == 0 {
			p.CutBefore = union.CutBefore()
		}
		p.Steps = append(p.Steps, Step{Step: s, Union: union, Alone: alone})
		p.After, p.Pairs, p.CutAfter = s.Tables, union.Pairs, union.CutAfter()
		p.addAbsent(alone.Absent)
	}
	if len(plan.Steps) == 0 {
		v, err := deadlock.Verify(ctx, before, options)
		if err != nil {
			return nil, err
		}
		p.Pairs, p.CutBefore, p.CutAfter = v.Pairs, v.Unreachable, v.Unreachable
		p.addAbsent(v.Absent)
	}
	p.Disconnected = o.Scope.Disconnected(before.Fabric)
	return p, nil
}

// addAbsent adds to p.Absent what it does not have yet.
func (p *Proven) addAbsent(more []deadlock.Absent) {
	for _, a := range more {
		if !slices.Contains(p.Absent, a) {
			p.Absent = append(p.Absent, a)
		}
	}
}

// Entries counts the forwarding entries that all steps change, and the blocks of 64 that have to be written.
func (p *Proven) Entries() (entries, blocks int) {
	for _, s := range p.Steps {
		entries += s.Union.Entries
		blocks += s.Union.Blocks
	}
	return entries, blocks
}
