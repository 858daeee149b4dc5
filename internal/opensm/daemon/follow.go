package daemon

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/installed"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// progress is how far the plan of tables handed over is.
type progress struct {
	result.Progress
	start time.Time // Began by the clock that is never set; zero: an earlier run began it
}

// lasts is for how many seconds the plan has gone on. After a restart it goes by the time of the day, and
// is no shorter than CutFor was.
func (p *progress) lasts() float64 {
	if p.start.IsZero() {
		return max(p.CutFor, time.Since(p.Began).Seconds())
	}
	return time.Since(p.start).Seconds()
}

// settled reports whether no further step follows the tables handed over.
func (h *handed) settled() bool { return len(h.state.Plan.Steps) == 0 && !h.state.Returning }

// wasRouted reports whether the tables are as they were routed, and not mended since.
func (h *handed) wasRouted() bool {
	return h.state.Goal != nil && wire.Number(h.state.Goal) == h.number
}

// follow is the reply to a request by which the tables in use go on: the same again, a step of a plan, a step to better
// ones, or a refusal because there is nothing new. It may wait, where the plugin keeps its question open. If it
// returns nil, tables are to be made anew, and why is for the report why those in use were not kept; empty if there
// is nothing to report: none are in use, or a search for better ones goes on.
func (s *Server) follow(ctx context.Context, x *place, k key, f *fabric.Fabric, set *settings, q *wire.Request, start time.Time) (r *reply, why string) {
	limited, cancel := inTime(ctx, q, start)
	defer cancel()
	s.keeper.wait(limited.Done())
	h, why := s.keeper.inUse(q, set.settingsKey(q.Lanes()))
	if h == nil && q.InUse != 0 {
		h = s.planAgain(limited, f, set, q)
	}
	switch {
	case h == nil:
		return nil, why
	case h.key == key{}: // read back after a restart
		read := *h
		read.key = keyOf(h.tables.Fabric, set, q.Lanes())
		h = &read
	}
	if set.keep == keepNever && (h.key != k || h.settled() && !h.wasRouted()) {
		return nil, "the settings say keep: never"
	}
	var was *handed // the tables in use, if h is these with better ones as their goal
	free, ordered := s.drained.placesNow(s.clock)
	if h.key == k && h.settled() && h.state.Drained.Equal(free) && h.verdict != nil && len(q.Blocks) == 0 {
		switch {
		case h.open:
			return nil, "" // the search for better tables goes on; its result answers
		case q.Again:
			if q.Stands && !h.mayImprove(set) {
				if err := s.keepOpen(ctx, x, q, start, ordered); err != nil {
					return &reply{proven: &proven{refusal: err.Error()}, aside: true}, ""
				}
				now := time.Now()
				if r, why = s.follow(ctx, x, k, f, set, q, now); r != nil && r.began.IsZero() {
					r.began = now
				}
				return r, why
			}
			better := s.rebalance(ctx, x, h, f, set, q, start)
			if better == nil {
				return &reply{proven: &proven{refusal: errNoBetter.Error()}, aside: true}, ""
			}
			was, h = h, better
		default:
			return &reply{proven: h.proven, cached: true, handed: h, soFar: h.mayImprove(set)}, ""
		}
	}
	begin := time.Now()
	state := h.state
	state.Confirmed, state.Beside, state.Earlier = h.confirmed(q), h.beside(q), h.lingering(q)
	m, jumped, err := nextStep(limited, state, f, set.installed(free, &s.memory), q)
	switch {
	case limited.Err() != nil:
		r := refusal(errNoTime)
		return &r, ""
	case was != nil && (err != nil || m.Left > 0 || m.Kind != installed.Return):
		s.Log.Info("rebalance", "better", false, "reason", "no safe steps lead from the tables in use to the better ones")
		s.keeper.put(was.withoutBetter(), q)
		return &reply{proven: &proven{refusal: errNoBetter.Error()}, aside: true}, ""
	case err != nil:
		return nil, err.Error()
	}
	if q.Lifetime == 0 && m.More > 0 {
		s.Log.Warn("packet_life_time of OpenSM has no end: nothing bounds how long packets of earlier tables are about", "wait", waitAfter(m, 0).Seconds())
	}
	now := h.afterMove(m, f, set, q.Lifetime, start)
	now.key, now.route = k, time.Since(begin)
	if now.since.number == h.number && now.number != h.number {
		now.since.beside = state.Confirmed
	}
	return &reply{proven: now.proven, handed: now, move: m, soFar: m.More > 0 || h.open || now.mayImprove(set), jumped: jumped}, ""
}

// mostAgain limits the steps that are planned again to find those in use.
const mostAgain = 8

// planAgain finds tables in use that are not known, since an earlier run handed them over and they never got into the
// state folder, on a full disk or one that hangs: where they are a step from tables that are known, that step
// is planned again, and known by its number. nil: they are no such step.
func (s *Server) planAgain(ctx context.Context, f *fabric.Fabric, set *settings, q *wire.Request) *handed {
	free, _ := s.drained.placesNow(s.clock)
	for _, h := range s.keeper.keepable(set.settingsKey(q.Lanes())) {
		for range mostAgain {
			m, err := h.state.Next(ctx, f, set.installed(free, &s.memory))
			if err != nil {
				break
			}
			h = h.afterMove(m, f, set, q.Lifetime, time.Now())
			h.key = keyOf(f, set, q.Lanes())
			if h.number == q.InUse {
				s.Log.Info("the tables in use are planned again", "steps_follow", m.More)
				s.keeper.put(h, q)
				return h
			}
			if m.More == 0 {
				break
			}
		}
	}
	return nil
}

// working is how much of the plugin's time there is for work; 0: it has no end. A tenth is for
// writing the answer and for the plugin to check it.
func working(q *wire.Request) time.Duration { return q.Deadline * 9 / 10 }

// inTime ends when the answer is due.
func inTime(ctx context.Context, q *wire.Request, start time.Time) (context.Context, context.CancelFunc) {
	if q.Deadline == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, start.Add(working(q)))
}

// nextStep is the next step from a state. A plugin that has none of our tables in use cannot check a step, and accepts
// tables that leave pairs cut only while a plan goes on and some switch has what was handed over; so it gets
// the first step that cuts none (State.End), and jumped says that steps were left out.
func nextStep(ctx context.Context, state installed.State, f *fabric.Fabric, o installed.Options, q *wire.Request) (m *installed.Move, jumped bool, err error) {
	if q.InUse == 0 {
		return state.End(ctx, f, o, q.Filled)
	}
	m, err = state.Next(ctx, f, o)
	return m, false, err
}

// installed is the settings that steps are planned under.
func (s *settings) installed(free installed.Drained, m *deadlock.Memory) installed.Options {
	return installed.Options{Drained: free, Contract: s.contract, Scope: s.scope, Most: s.MaxEntries, Drops: s.drops, Groups: s.groups, Memory: m}
}

// afterMove is what is handed over by a move from h. A packet waits in a switch for no longer than
// lifetime; 0 stands for OpenSM's default. start is when the question came.
func (h *handed) afterMove(m *installed.Move, f *fabric.Fabric, set *settings, lifetime time.Duration, start time.Time) *handed {
	p := &proven{
		restored: h.verdict == nil, tables: m.Tables, verdict: m.Verdict(), engine: h.engine, tried: h.tried, missing: h.missing, before: h.tables,
		loads: congestion.Count(f, m.Tables.Forwarding, set.scope),
	}
	now := &handed{proven: p, number: wire.Number(m.Tables), settings: h.settings, open: h.open, state: h.state, balanced: h.balanced}
	now.state.Sent, now.state.Confirmed, now.state.Beside, now.state.Plan, now.state.Returning, now.state.Drained = m.Tables, nil, nil, m.Plan, m.Returning, m.Drained
	now.undrained = m.Undrained
	now.since, now.hops = h.since, m.Hops
	if entries, _ := changes(h.tables, m.Tables); m.Cost.Entries > 0 && entries > 0 { // else it is what was handed over before, once more
		now.since, now.step = since{at: start, earlier: h.tables, number: h.number}, true
	}
	now.grown = now.state.Goal != nil && hasMore(f, now.state.Goal.Fabric)
	now.progress = h.progress.next(m, start, waitAfter(m, lifetime))
	return now
}

// lingering is the tables before those in use, if packets of theirs may still be in the
// network when OpenSM asks; nil: none. The next step of a plan waits until they are gone.
func (h *handed) lingering(q *wire.Request) *routing.Tables {
	if q.Again || time.Since(h.since.at) > writing+time.Duration(h.hops)*cmp.Or(q.Lifetime, defaultLifetime) {
		return nil
	}
	return h.since.earlier
}

// handOverAnew completes a reply with tables that were routed anew: what they are remembered as and, if those in use are
// known and nothing can deadlock while they are replaced, the move that replaces them, maybe in several steps.
func (s *Server) handOverAnew(ctx context.Context, r *reply, k key, set *settings, q *wire.Request, start time.Time) {
	h := &handed{
		proven: r.proven, number: wire.Number(r.tables), key: k, balanced: []key{k}, settings: set.settingsKey(q.Lanes()), open: r.soFar,
		state: installed.State{Sent: r.tables, Goal: r.tables}, hops: change.Hops(r.tables),
	}
	r.handed = h
	was := s.keeper.find(q.InUse)
	switch {
	case was == nil && h.number == q.InUse: // not known, and made once more
		r.why = ""
		return
	case was == nil:
		return
	case was.number == h.number:
		h.since = was.since
		return
	}
	h.since = since{at: start, earlier: was.tables, beside: reported(was.tables, q), number: was.number}
	if r.why == "" {
		r.why = "there are better tables than the best so far"
	}
	if !mayKeep(was.settings, h.settings) { // under which those in use may have a loop
		return
	}
	ctx, cancel := inTime(ctx, q, start)
	defer cancel()
	state := was.state
	state.Confirmed, state.Earlier = reported(was.tables, q), was.lingering(q)
	m, err := state.Replace(ctx, r.tables, set.installed(nil, &s.memory))
	if err != nil {
		return
	}
	now := h.afterMove(m, r.tables.Fabric, set, q.Lifetime, start)
	now.key, now.since, now.step, now.route, now.verify = k, h.since, true, r.route, r.verify
	r.proven, r.handed, r.move, r.soFar = now.proven, now, m, r.soFar || m.More > 0
}

// writing is how long OpenSM takes at most to write tables.
const writing = 10 * time.Second

// defaultLifetime is how long a packet waits in a switch by OpenSM's default. It stands in
// too where packets are to live for ever: then it is no bound, which the log and weft deploy
// check say, but no step could ever follow another if it were not taken for one.
const defaultLifetime = 1073741 * time.Microsecond

// waitAfter is how long the next step has to wait for packets of the tables before these; 0 if
// none follows or nothing changed.
func waitAfter(m *installed.Move, lifetime time.Duration) time.Duration {
	if m.More == 0 || m.Cost.Entries == 0 {
		return 0
	}
	return time.Duration(m.Hops) * cmp.Or(lifetime, defaultLifetime)
}

// next is the progress after a move: p with the move added, or a new one if there is no plan or the last has ended.
func (p *progress) next(m *installed.Move, start time.Time, wait time.Duration) *progress {
	if m.Kind == installed.Same && (p == nil || p.Ended != nil) && m.More == 0 {
		return p
	}
	now := progress{Progress: result.Progress{Kind: string(m.Kind), Began: start.UTC(), CutPairs: m.CutBefore}, start: start}
	if p != nil && p.Ended == nil {
		now = *p
		if m.Kind != installed.Same {
			now.Kind = string(m.Kind)
		}
		now.CutPairs = max(now.CutPairs, m.CutBefore)
	}
	if m.Cost.Entries > 0 {
		now.Steps++
	}
	now.More, now.CutNow, now.Left, now.Wait = m.More, m.CutAfter, m.Left, wait.Seconds()
	now.Entries += m.Cost.Entries
	now.Due += m.Cost.Due
	if now.CutPairs > 0 && m.CutBefore > 0 {
		now.CutFor = now.lasts()
	}
	if m.More == 0 {
		end := time.Now().UTC()
		now.Ended = &end
	}
	return &now
}

// changeOf is how the tables of a reply replace those in use, for the report; nil: they were routed anew, or are those.
func changeOf(p *reply, q *wire.Request) *result.StatusChange {
	m := p.move
	if m == nil {
		return nil
	}
	c := &result.StatusChange{
		Kind: string(m.Kind), Proven: !p.jumped, Entries: m.Cost.Entries, Due: m.Cost.Due, Blocks: m.Cost.Blocks, Switches: m.Cost.Switches,
		CutBefore: m.CutBefore, CutAfter: m.CutAfter, More: m.More, Wait: waitAfter(m, q.Lifetime).Seconds(), NewTree: m.NewTree,
	}
	if g := p.handed.progress; g != nil {
		c.Step = g.Steps
	}
	return c
}

// changeAttrs is a change as attributes for the log.
func changeAttrs(c *result.StatusChange) []any {
	if c == nil {
		return nil
	}
	attrs := []any{"change", c.Kind, "entries", c.Entries}
	if c.Why != "" {
		attrs = append(attrs, "not_kept", c.Why)
	}
	attrs = append(attrs, "due", c.Due, "blocks", c.Blocks, "step", c.Step, "more", c.More)
	if c.More > 0 {
		attrs = append(attrs, "wait", fmt.Sprintf("%.1f", c.Wait))
	}
	if c.CutBefore+c.CutAfter > 0 {
		attrs = append(attrs, "cut_before", c.CutBefore, "cut_after", c.CutAfter)
	}
	if c.NewTree {
		attrs = append(attrs, "new_tree", true)
	}
	if !c.Proven {
		attrs = append(attrs, "proven_meanwhile", false)
	}
	return attrs
}
