package daemon

import (
	"context"
	"fmt"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/livepage"
	"github.com/weft-fabric/weft/internal/opensm/installed"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// The verdicts in words.
const (
	deadlockFree = "deadlock-free"
	refused      = "refused"
)

// What a proof covers, in words.
const (
	unicast             = "unicast"
	unicastAndMulticast = "unicast and multicast"
)

// sweep answers a request of OpenSM's plugin, in a connection of its own: it makes the reply, sends and reports it. The
// error is about the connection; refusals are answers.
func (s *Server) sweep(ctx context.Context, x *place, q *wire.Request, start time.Time) error {
	set := s.current()
	r := &result.StatusSweep{
		Sweep: q.Sweep, At: start.UTC(), OpenSM: q.OpenSM, Wanted: set.Engine, Verdict: refused,
		Contract: set.contract.String(), Scope: set.scope.String(), VLsAvailable: q.Lanes(), Tried: []result.Attempt{},
	}
	if set.VLs > 0 {
		r.VLsAvailable = min(r.VLsAvailable, set.VLs)
	}
	r.LanesAvailable = r.VLsAvailable
	f, err := q.Fabric()
	r.Seconds.Read = time.Since(start).Seconds()
	var p reply
	if err != nil {
		p = refusal(err)
	} else {
		n := f.Count()
		r.Switches, r.Endpoints, r.Links = n.Switches, n.HCA+n.Aggregation+n.Router, n.SwitchCables+n.AdapterCables+n.SelfCables
		if err := x.enter(waiting); err != nil {
			return err
		}
		k := keyOf(f, set, q.Lanes())
		r.Key = k.String()
		s.noteFree()
		s.noteConfirmed(q)
		p = s.replyOrNot(q, func() reply { return s.reply(ctx, x, k, f, set, q, start) })
	}
	r.Cached, r.SoFar, r.Again, r.Restored = p.cached, p.soFar, q.Again, p.restored
	return s.answer(x, q, r, p, start)
}

// reply is what a request is answered with: a step from the tables in use (follow), or else tables that are routed anew
// (ask). k is the key of fabric f.
func (s *Server) reply(ctx context.Context, x *place, k key, f *fabric.Fabric, set *settings, q *wire.Request, start time.Time) reply {
	kept, why := s.follow(ctx, x, k, f, set, q, start)
	if kept != nil {
		if kept.handed != nil {
			s.keeper.put(kept.handed, q)
		}
		return *kept
	}
	p := s.ask(ctx, x, k, f, set, q, start)
	switch {
	case p.tables != nil:
		p.why = why
		s.handOverAnew(ctx, &p, k, set, q, start)
		if s.keeper.put(p.handed, q) {
			s.writer.remember(p.handed)
		}
	case p.aside && p.refusal == errNoBetter.Error():
		if h := s.keeper.endSearch(q.InUse); h != nil {
			s.writer.remember(h)
		}
	}
	return p
}

// putAsideWhy is why tables in use are not kept after an internal error.
const putAsideWhy = "what was known of the tables in use led to an internal error, and was put aside"

// replyOrNot is answer's reply. If answer ends in an internal error it is called once more, with nothing
// known of what was handed over before. If that goes well, it was this that led to the error: it is put aside,
// so that the next question does not come upon it again.
func (s *Server) replyOrNot(q *wire.Request, answer func() reply) (p reply) {
	try := func() error {
		return guarded(func() error { p = answer(); return nil })
	}
	err := try()
	if err == nil {
		return p
	}
	s.internal(err)
	resume := s.keeper.suspend(putAsideWhy)
	if again := try(); again != nil {
		resume()
		s.internal(again)
		return refusal(fmt.Errorf("%s; report it, with the log of weft", words.FirstLine(again.Error())))
	}
	s.forget(err, q)
	return p
}

// internal reports an internal error.
func (s *Server) internal(err error) {
	s.metrics.internal.Inc()
	s.Log.Error("internal error", "error", err)
}

// forget has all snapshots put aside, with the internal error that they led to and the question, or nil, at which it
// came up.
func (s *Server) forget(err error, q *wire.Request) {
	s.writer.putAside(&aside{at: time.Now(), why: err.Error(), question: q})
}

// answer sends the reply to a request, fills in r by it and reports it, in its turn.
func (s *Server) answer(x *place, q *wire.Request, r *result.StatusSweep, p reply, start time.Time) error {
	begin := time.Now()
	if !p.began.IsZero() {
		start, r.At = p.began, p.began.UTC()
	}
	turn := s.nextTurn()
	defer turn.leave()
	s.save(r, &p, q, turn)
	if err := x.enter(taking); err != nil {
		return err
	}
	var sent error
	switch {
	case p.tables != nil:
		how := wire.Manner{SoFar: p.soFar, Orders: true}
		if m := p.move; m != nil {
			how.Step = &wire.Step{More: m.More, Drops: m.Drops, NewTree: m.NewTree}
		}
		sent = wire.WriteAnswer(x.conn, q, p.engine, p.tables, p.verdict.Certificate, how)
	default:
		sent = wire.WriteRefusal(x.conn, q.Sweep, p.refusal)
	}
	if sent == nil {
		sent = x.conn.CloseWrite() // the plugin need not wait for what follows
	}
	if err := x.enter(reporting); err != nil {
		return err
	}
	r.Seconds.Answer = time.Since(begin).Seconds()
	r.Seconds.Total = time.Since(start).Seconds()
	r.Tried, r.Missing = append(r.Tried, p.tried...), p.missing
	if !r.Cached {
		r.Seconds.Route, r.Seconds.Verify = p.route.Seconds(), p.verify.Seconds()
	}
	if sent != nil && q.Again { // the plugin has a newer question, and dropped this one
		return nil
	}
	if p.aside {
		return sent
	}
	turn.wait()
	last := s.last
	s.last = nil // unless all goes well
	switch {
	case p.tables == nil:
		r.Refusal = p.refusal
	case sent != nil:
		r.Refusal = "the tables could not be sent: " + sent.Error()
	default:
		r.Verdict, r.Engine, r.LanesUsed, r.MaxLoad = deadlockFree, p.engine, p.verdict.VLs, p.loads.Max
		r.LanesNeeded = max(1, p.tables.Lanes.Needed)
		r.VLsNeeded = r.LanesNeeded
		cover(r, &p)
		if last == nil {
			last = p.before
		}
		r.ChangedEntries, r.ChangedSLs = changes(last, p.tables)
		r.Change = changeOf(&p, q)
		if r.Change == nil && p.why != "" {
			r.Change = &result.StatusChange{Kind: string(installed.Full), Entries: int(r.ChangedEntries)}
		}
		if r.Change != nil {
			r.Change.Why = p.why
		}
	}
	s.report(r, &p, last)
	return sent
}

// cover says whose packets the proof of tables is about.
func cover(r *result.StatusSweep, p *reply) {
	r.Covers = unicast
	if m := p.tables.Multicast; m != nil {
		r.Covers = unicastAndMulticast
		for sl := range routing.SLs {
			if m.SLs>>sl&1 == 1 {
				r.MulticastSLs = append(r.MulticastSLs, sl)
			}
		}
		return
	}
	r.NoTree = p.noTree
	if p.move != nil {
		r.NoTree = "no tree goes together with this change"
	}
}

// diskFirst is how long tables wait until there is a snapshot of them: a daemon that is
// killed right after it handed them over is to know them.
const diskFirst = time.Second

// save has tables written into the state folder before they are handed over, and waits for their snapshot for diskFirst
// at most. Tables that come from memory are in the folder already.
func (s *Server) save(r *result.StatusSweep, p *reply, q *wire.Request, t turn) {
	if s.writer == nil || p.handed == nil || p.move == nil && p.cached {
		return
	}
	enough := time.After(diskFirst)
	if t.before != nil { // of which the tables, too, are on their way into the folder
		select {
		case <-t.before:
		case <-enough:
			return
		}
	}
	p.saved = true
	early := *r // as it will be once the tables are sent
	early.Verdict, early.Engine, early.VLsNeeded, early.LanesNeeded, early.Tried = deadlockFree, p.engine, max(1, p.tables.Lanes.Needed), max(1, p.tables.Lanes.Needed), p.tried
	early.Change = changeOf(p, q)
	known := s.writer.tables(&early, p.handed, s.keeper.find(q.InUse))
	if s.writer.hangs(diskFirst) {
		return
	}
	select {
	case <-known:
	case <-enough:
	}
}

// turn is the place of a sweep in the queue of reports. Sweeps are reported in the
// order in which they are answered, though the plugin may be back with the next one
// before the last was reported, and one slow to take its answer keeps no other
// waiting for its own.
type turn struct{ before, mine chan struct{} } // closed when the place before is left, and this one

// nextTurn is the next place in the queue.
func (s *Server) nextTurn() turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := turn{before: s.tail, mine: make(chan struct{})}
	s.tail = t.mine
	return t
}

// wait waits until all places before have been left.
func (t turn) wait() {
	if t.before != nil {
		<-t.before
	}
}

// leave leaves the place, in its turn.
func (t turn) leave() {
	t.wait()
	close(t.mine)
}

// report notes a sweep everywhere: metrics, log, status, and in the background the
// state folder. last is the tables handed over before.
func (s *Server) report(r *result.StatusSweep, p *reply, last *routing.Tables) {
	h := p.handed
	s.metrics.note(r)
	attrs := []any{
		"sweep", r.Sweep, "verdict", r.Verdict, "engine", r.Engine, "wanted", Names(r.Wanted).String(), "contract", r.Contract,
		"switches", r.Switches, "endpoints", r.Endpoints, "lanes_needed", r.LanesNeeded, "lanes_used", r.LanesUsed, "lanes_available", r.LanesAvailable, "max_load", r.MaxLoad,
		"changed_entries", r.ChangedEntries, "changed_sls", r.ChangedSLs, "cached", r.Cached, "so_far", r.SoFar, "restored", r.Restored, "seconds", fmt.Sprintf("%.4f", r.Seconds.Total),
	}
	good := r.Verdict == deadlockFree
	for _, a := range r.Tried {
		if good && a.Refused != "" { // else the reason has them all
			attrs = append(attrs, "refused_"+a.Engine, words.FirstLine(a.Refused))
		}
	}
	for _, what := range r.Missing {
		attrs = append(attrs, "missing", what)
	}
	attrs = append(attrs, changeAttrs(r.Change)...)
	if good {
		attrs = append(attrs, "covers", r.Covers)
		if r.NoTree != "" {
			attrs = append(attrs, "no_tree", words.FirstLine(r.NoTree))
		}
	}
	if good {
		s.Log.Info("proven", attrs...)
	} else {
		s.Log.Error("refused", append(attrs, "reason", words.FirstLine(r.Refusal))...)
	}
	switch {
	case !good:
		s.writer.refusal(r)
	case last != h.tables && !p.saved:
		s.writer.tables(r, h, nil)
	}
	s.last = last
	if good {
		s.last = h.tables
		s.secondOpinion(r, p, last)
		s.pages.Show(livepage.Shown{Tables: h.tables, Verdict: h.verdict, Engine: h.engine, When: r.At})
	}
	s.noteParts(r, h)
	s.mu.Lock()
	defer s.mu.Unlock()
	st := &s.status
	st.Sweeps++
	st.Last = r
	if r.Cached {
		st.Cached++
	}
	if good {
		st.LastGood = r
		st.NotCovered = p.verdict.Outside()
		if st.Plan = nil; h.progress != nil {
			st.Plan = &h.progress.Progress
		}
	} else {
		st.Refused++
	}
}
