package installed

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/spanning"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/routing"
)

// State is what the switches have, and what they are to come back to. The daemon keeps one for the tables that it
// handed over last, and asks it for the next step (Next, End, Replace); Move says how the state goes on.
type State struct {
	Sent      *routing.Tables // handed over last
	Confirmed *routing.Tables // what switches may have in place of Sent: what they have confirmed, or the tables before Sent; nil: all have Sent
	Goal      *routing.Tables // routed from scratch last; nil: there is nothing to come back to
	Returning bool            // something is back, and the tables are not yet what the goal is with it
	Plan      Plan            // what is to follow Sent, while the fabric stays as it was
	Beside    *routing.Tables // what some switch may have beside both: what it had confirmed when Sent was handed over; nil: nothing
	Earlier   *routing.Tables // the tables before Sent, if their packets may still be in the network; nil: they are gone
	Drained   Drained         // the parts that Sent, or the plan that goes on, keeps free as far as that can be
}

// Plan is the steps that are left of a plan, and what it is for.
type Plan struct {
	Kind  Kind
	Steps []*routing.Tables
}

// Options says under which assumptions a step is planned and judged.
type Options struct {
	Contract routing.Contract
	Scope    routing.Scope
	Drops    bool     // where there is no other way, a step may cut pairs until the next
	Groups   []uint16 // service levels that multicast groups may use, as bits, the first set with a tree; empty: no tree is wanted
	Drained  Drained  // parts that no packet is to use that could go another way
	Most     int      // entries that a step may change where nothing is broken, at least a row; 0: any number

	Memory *deadlock.Memory // of the judge, from one step to the next; nil: none
}

// Kind is what a move is for.
type Kind string

// The kinds of moves.
const (
	Same   Kind = "same"   // nothing changes
	Repair Kind = "repair" // of what is broken, and for what is new
	Return Kind = "return" // to the goal, since something is back
	Full   Kind = "full"   // to tables that were routed anew
	Drain  Kind = "drain"  // away from parts that are to be pulled
)

// Move is what is handed over next.
type Move struct {
	Kind      Kind
	Tables    *routing.Tables
	Union     *deadlock.MixtureVerdict // of every mixture with Sent, Confirmed and Beside, and with Earlier if that has no loop
	Alone     *deadlock.Verdict        // of the tables
	Cost      transition.Cost          // against what the switches have
	CutBefore int64                    // pairs that what the switches have does not deliver
	CutAfter  int64                    // pairs that the tables do not deliver
	More      int                      // number of steps that follow, at least
	Hops      int                      // switches that a packet has to leave at most under the tables: the next step waits for so many lifetimes in a switch
	Returning bool                     // State.Returning from now on
	Plan      Plan                     // State.Plan from now on
	Drops     bool                     // it may cut pairs that the tables before deliver, until the next step
	NewTree   bool                     // the tree for multicast is another than that in use: nothing is proven about multicast until all is written
	Left      int                      // destinations that no safe step brings to the goal: they stay as they are
	Drained   Drained                  // State.Drained from now on
	Undrained string                   // why parts that are to be kept free are not; empty: they are, or a plan is under way

	before *routing.Tables // what the switches have, on the fabric as it is
}

// Verdict is the verdict of the tables, with the certificate of every mixture, which holds for the tables as well.
func (m *Move) Verdict() *deadlock.Verdict {
	v := *m.Alone
	v.Certificate = m.Union.Certificate
	return &v
}

// ErrNone is why there is no step near the tables that are installed.
var ErrNone = errors.New("no repair near the tables in use")

// none is ErrNone with the reason.
func none(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrNone}, args...)...)
}

// Next is the next step for a fabric as it is now. The error is ErrNone where there is none: then everything has to be
// routed anew (Replace). s stays as it is.
func (s *State) Next(ctx context.Context, live *fabric.Fabric, o Options) (*Move, error) {
	aimed := s.aim(o.Drained)
	s = &aimed
	c, parts, err := s.carrier(live, o)
	if err != nil {
		return nil, err
	}
	if nothing(parts.Gone) && nothing(parts.New) && len(parts.Readdressed) == 0 {
		return c.goOn(ctx)
	}
	return c.adapt(ctx, parts)
}

// carrier is the state on the fabric as it is now, and what of that is gone or new. It refuses what no step can begin
// with: from here on tables have one multicast tree or none.
func (s *State) carrier(live *fabric.Fabric, o Options) (*carrier, transition.Parts, error) {
	parts := transition.PartsOf(s.Sent.Fabric, live)
	for _, t := range []*routing.Tables{s.Sent, s.Goal} {
		if t != nil && t.Multicast != nil && t.Multicast.One() == nil {
			return nil, parts, none("the tables in use have %d trees for multicast in place of the one that spans all switches", len(t.Multicast.Trees))
		}
	}
	if err := s.elsewhere(live, parts, o.Contract); err != nil {
		return nil, parts, err
	}
	c := &carrier{State: s, live: live, o: o, kept: s.Drained, change: change.Options{Contract: o.Contract, Scope: o.Scope, Memory: o.Memory}}
	return c, parts, c.carry()
}

// End is Next for an OpenSM that has no tables in use, after a start, and takes only tables that connect all pairs: the
// first step of the plan that does, if every mixture of it with what the switches have is free of loops; else a
// later one that does, and jumped says that no proof covers the time until the tables are written. filled says that
// some switch has what was handed over: then OpenSM also takes the step that is next while the fabric stays as it was,
// though it leaves pairs cut until the plan goes on.
func (s State) End(ctx context.Context, live *fabric.Fabric, o Options, filled bool) (m *Move, jumped bool, err error) {
	m, next, jumped, err := s.end(ctx, live, o)
	if ctx.Err() == nil && filled && (jumped || err != nil) && next != nil && next.More > 0 {
		if parts := transition.PartsOf(s.Sent.Fabric, live); nothing(parts.Gone) && nothing(parts.New) && len(parts.Readdressed) == 0 {
			return next, false, nil
		}
	}
	if err != nil && s.Confirmed != nil && ctx.Err() == nil {
		s.Confirmed, s.Beside = nil, nil // what was handed over last did not go with it either
		m, _, _, err = s.end(ctx, live, o)
		return m, true, err
	}
	return m, jumped, err
}

// end is End as if the switches were not filled; next is the step that is next, nil: none is safe.
func (s State) end(ctx context.Context, live *fabric.Fabric, o Options) (m, next *Move, jumped bool, err error) {
	begin := s
	c, _, err := begin.carrier(live, o)
	if err != nil {
		return nil, nil, false, err
	}
	var last *Move // that connects all pairs
	for m == nil || m.Kind == Repair && len(m.Plan.Steps) > 0 {
		first := m == nil
		if m, err = s.Next(ctx, live, o); err != nil {
			return nil, next, false, err
		}
		if first {
			next = m
		}
		s.Sent, s.Confirmed, s.Beside, s.Earlier, s.Plan, s.Returning, s.Drained = m.Tables, nil, nil, nil, m.Plan, m.Returning, m.Drained
		switch {
		case m.CutAfter > o.Scope.Disconnected(live):
			continue
		case first:
			return m, next, false, nil
		}
		direct := *m // from what the switches have, in place of the step before
		if err = c.judge(ctx, &direct); err == nil {
			return &direct, next, false, nil
		}
		if ctx.Err() != nil {
			return nil, next, false, err
		}
		last = m
	}
	if last == nil {
		return nil, next, false, none("they leave %s cut that cables join, and OpenSM has no tables yet", words.Counted(m.CutAfter-o.Scope.Disconnected(live), "pair", "pairs"))
	}
	mixed, err := c.mixed()
	if err != nil {
		return nil, next, false, err
	}
	last.before, last.CutBefore, last.Cost = mixed[0], next.CutBefore, transition.CostOf(mixed[0], last.Tables)
	return last, next, true, nil
}

// nothing reports whether nothing is gone, or new.
func nothing(p transition.Part) bool { return len(p.Switches)+len(p.Others)+len(p.Cables) == 0 }

// goOn is the next step where nothing changed in the fabric.
func (c *carrier) goOn(ctx context.Context) (*Move, error) {
	switch {
	case c.Confirmed != nil: // once more
		m := &Move{Kind: Repair, Tables: c.before, Returning: c.Returning, More: len(c.Plan.Steps), Plan: c.Plan, Drained: c.Drained, Drops: c.o.Drops && c.Plan.Kind == Full}
		if c.Returning {
			m.More++
		}
		return m, c.judge(ctx, m)
	case len(c.Plan.Steps) > 0 && c.Plan.Kind == Full: // the goal, with service levels and maps of its own
		goal, err := transition.On(c.live, c.Goal, nil)
		if err != nil {
			return nil, err
		}
		m := &Move{Kind: Full, Tables: goal}
		return m, c.judge(ctx, m)
	case len(c.Plan.Steps) > 0:
		plan, err := c.onLive(c.Plan.Steps)
		if err != nil {
			return nil, err
		}
		if c.Plan.Kind == Return || c.Plan.Kind == Drain {
			plan = c.atMost(plan)
		}
		return c.move(ctx, c.Plan.Kind, plan, c.Returning)
	}
	if !c.Drained.Equal(c.o.Drained) {
		plan, err := c.drain(ctx)
		if err != nil {
			return nil, err
		}
		if len(plan) > 0 {
			return c.move(ctx, Drain, c.atMost(plan), c.Returning)
		}
	}
	if c.Returning && c.Goal != nil {
		plan, err := c.bring(ctx)
		if err != nil {
			return nil, err
		}
		if len(plan) > 0 {
			return c.move(ctx, Return, c.atMost(plan), true)
		}
	}
	return c.move(ctx, Same, nil, false)
}

// adapt is the first step where the fabric is another: it mends what is broken. Links that are new are used later
// (goOn), since they are not armed yet.
func (c *carrier) adapt(ctx context.Context, parts transition.Parts) (*Move, error) {
	unarmed := trunksOf(c.live, parts.New.Cables)
	plan, err := c.mendFree(ctx, unarmed)
	if err != nil && ctx.Err() == nil && c.likeNeighbours() {
		plan, err = c.mend(ctx, unarmed)
	}
	if err != nil {
		return nil, err
	}
	back := len(unarmed)+len(parts.New.Switches) > 0
	returning := (c.Returning || back) && c.Goal != nil
	if len(plan) == 0 && c.Confirmed != nil {
		plan = []*routing.Tables{c.before}
	}
	if len(plan) > 0 {
		return c.move(ctx, Repair, plan, returning)
	}
	m, err := c.move(ctx, Same, nil, returning)
	if err == nil && returning { // links that are new are not armed yet
		m.More = 1
	}
	return m, err
}

// trunksOf is those of some channels that are trunks.
func trunksOf(f *fabric.Fabric, channels []fabric.ChannelID) []fabric.ChannelID {
	var trunks []fabric.ChannelID
	for _, c := range channels {
		if int(c) < f.Trunks() {
			trunks = append(trunks, c)
		}
	}
	return trunks
}

// mend plans the repair of what is broken, without trunks that are not armed yet if it can do without them.
func (c *carrier) mend(ctx context.Context, unarmed []fabric.ChannelID) ([]*routing.Tables, error) {
	if len(unarmed) > 0 {
		less, err := c.live.Without(unarmed, nil)
		if err != nil {
			return nil, err
		}
		before, err := transition.On(less, c.before, nil)
		if err != nil {
			return nil, err
		}
		if plan, err := c.mended(ctx, before); err == nil {
			return plan, nil
		}
	}
	return c.mended(ctx, c.before)
}

// mended is the steps of a repair of tables, beside the tree for multicast if that can be. The error is ErrNone if it
// leaves anything.
func (c *carrier) mended(ctx context.Context, before *routing.Tables) ([]*routing.Tables, error) {
	with, err := c.besideTree(ctx, before)
	if err != nil {
		return nil, err
	}
	plan, err := c.mendedBeside(ctx, with)
	if err != nil && ctx.Err() == nil && with.Multicast != nil {
		return c.mendedBeside(ctx, before)
	}
	return plan, err
}

// mendedBeside is the steps of a repair whose tables have the trees of those in force.
func (c *carrier) mendedBeside(ctx context.Context, before *routing.Tables) ([]*routing.Tables, error) {
	p, err := change.MendFrom(ctx, before, c.Sent, c.change)
	switch {
	case err != nil && ctx.Err() == nil:
		return nil, none("%w", err)
	case err != nil:
		return nil, err
	}
	if err := whole(p); err != nil {
		return nil, err
	}
	return c.steps(p)
}

// whole is an error if a plan does not mend everything.
func whole(p *change.Proven) error {
	if n := len(p.Left); n > 0 {
		return none("%s left that cables join, the first of them LID %d", words.Counted(n, "destination is", "destinations are"), p.Left[0].LID)
	}
	if p.CutAfter > p.Disconnected {
		return none("%s cut that cables join", words.Counted(p.CutAfter-p.Disconnected, "pair stays", "pairs stay"))
	}
	if n := len(p.Absent); n > 0 {
		return none("packets would be dropped for want of a lane at %d places: %s", n, p.Absent[0].Text(p.After.Fabric))
	}
	return nil
}

// bring plans the way to what the goal is on the fabric as it is, and sets c.left. The goal is mended first; where too
// much is broken for that there are no steps, and the tables stay.
func (c *carrier) bring(ctx context.Context) ([]*routing.Tables, error) {
	goal, err := c.goal()
	if err != nil {
		return nil, err
	}
	p, err := change.MendFrom(ctx, goal, c.Goal, c.change)
	if err != nil || whole(p) != nil {
		return nil, ctx.Err()
	}
	target := p.After
	if len(c.o.Drained) > 0 {
		without, err := c.without(ctx, target)
		if err != nil || without == nil {
			return nil, ctx.Err()
		}
		target = without.After
	}
	if p, err = change.Return(ctx, c.before, target, c.change); err != nil {
		return nil, err
	}
	c.left = len(p.Left)
	return c.steps(p)
}

// steps is the tables of a plan, on the fabric as it is, without steps that change
// nothing. Rows for LIDs out of scope, which no proof is about, are those of the last
// step from the first step on: no packet in scope follows them.
func (c *carrier) steps(p *change.Proven) ([]*routing.Tables, error) {
	var plan []*routing.Tables
	end, err := transition.On(c.live, p.After, nil)
	if err != nil {
		return nil, err
	}
	last := c.before
	for i := range p.Steps {
		t, err := transition.On(c.live, p.Steps[i].Tables, nil)
		if err != nil {
			return nil, err
		}
		now := c.rows(func(lid fabric.LID, owner fabric.EndpointID) *routing.Tables {
			if c.o.Scope.Includes(c.live.Endpoint(owner).Class) {
				return t
			}
			return end
		})
		if tree := t.Multicast.One(); tree != nil && spanning.Whole(c.live, tree) != nil {
			now.Multicast = t.Multicast
		}
		if transition.CostOf(last, now).Entries > 0 {
			plan, last = append(plan, now), now
		}
	}
	return plan, nil
}

// atMost puts a step before the others that changes at most Options.Most entries, by whole rows of the first, if that
// changes more. A part of a step is as safe as the step: its mixtures are among those of the step.
func (c *carrier) atMost(plan []*routing.Tables) []*routing.Tables {
	if c.o.Most == 0 || transition.CostOf(c.before, plan[0]).Entries <= c.o.Most {
		return plan
	}
	entries := 0
	part := c.rows(func(lid fabric.LID, _ fabric.EndpointID) *routing.Tables {
		was, now, n := c.before.Forwarding.Row(lid), plan[0].Forwarding.Row(lid), 0
		for s := range was {
			if was[s] != now[s] {
				n++
			}
		}
		if entries > 0 && entries+n > c.o.Most {
			return c.before
		}
		entries += n
		return plan[0]
	})
	return append([]*routing.Tables{part}, plan...)
}

// union judges every mixture of some tables: first those that the switches have, last the new ones. It takes in the
// tables of earlier packets (Earlier) if there is no loop with them: then the step need not wait until these packets
// are gone. Where the first tables come without a tree for multicast, since nothing is to be proven about it, the
// trees of earlier packets do not count either.
func (c *carrier) union(ctx context.Context, tables []*routing.Tables, judge deadlock.Options) (*deadlock.MixtureVerdict, error) {
	if c.Earlier != nil {
		on, err := transition.On(c.live, c.Earlier, c.before)
		if err != nil {
			return nil, err
		}
		if tables[0].Multicast == nil {
			on = withTrees(on, nil)
		}
		all := append(append([]*routing.Tables{tables[0], on}, tables[1:len(tables)-1]...), tables[len(tables)-1])
		if v, err := deadlock.VerifyMixture(ctx, all, judge); err != nil || v.Free() {
			return v, err
		}
	}
	return deadlock.VerifyMixture(ctx, tables, judge)
}

// move is the first step of a plan, judged; with an empty plan the tables as they are. returning is State.Returning
// after it.
func (c *carrier) move(ctx context.Context, kind Kind, plan []*routing.Tables, returning bool) (*Move, error) {
	m := &Move{Kind: kind, Tables: c.before, Returning: returning, Left: c.left, Drained: c.kept, Undrained: c.undrained}
	if len(plan) > 0 {
		m.Tables, m.More, m.Plan = plan[0], len(plan)-1, Plan{Kind: kind, Steps: plan[1:]}
	}
	switch {
	case kind == Repair && returning:
		m.More++
	case kind == Return:
		m.Returning = m.More > 0
	}
	return m, c.judge(ctx, m)
}

// judge completes a move: it gives its tables a tree for multicast, has them and every mixture judged, and fills in what
// it costs. The error is ErrNone where it is not safe.
func (c *carrier) judge(ctx context.Context, m *Move) error {
	mixed, err := c.mixed()
	if err != nil {
		return err
	}
	judge := deadlock.Options{Contract: c.o.Contract, Scope: c.o.Scope, Lost: -1, Memory: c.o.Memory}
	if err := c.addTree(ctx, m, mixed, judge); err != nil {
		return err
	}
	if !m.Union.Free() {
		return none("its first step passes through a credit loop of %d links", len(m.Union.Cycle))
	}
	if m.Alone, err = deadlock.Verify(ctx, m.Tables, judge); err != nil {
		return err
	}
	m.CutBefore, m.CutAfter = m.Union.Cut[0], m.Union.Cut[len(m.Union.Cut)-1]
	if cut := m.CutAfter - c.o.Scope.Disconnected(c.live); cut > 0 && m.More == 0 {
		return none("%s cut that cables join", words.Counted(cut, "pair stays", "pairs stay"))
	}
	m.before = mixed[0]
	m.Cost, m.Hops = transition.CostOf(m.before, m.Tables), change.Hops(m.Tables)
	return nil
}
