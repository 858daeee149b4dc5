package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/installed"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// firstAnswer is how long after the beginning of the work OpenSM gets the best so
// far, where the work goes on: it holds a lock while it waits that its SA needs. With
// reading the request and writing the answer it is five seconds at the most.
const firstAnswer = 4 * time.Second

// reply is what a request is answered with.
type reply struct {
	*proven
	cached bool // it was there already
	soFar  bool // better tables may follow
	aside  bool // a refusal that is no finding: there are no better tables than those in use

	handed *handed         // what the tables are remembered as; nil: there are none
	move   *installed.Move // how they replace those in use; nil: they were routed anew
	jumped bool            // steps of the move were left out
	saved  bool            // the tables are on their way into the state folder
	began  time.Time       // when there was something to do, of a question that stayed open until then; zero: at once
	why    string          // for tables routed anew: why those in use were not kept
}

var (
	errNoTime   = errors.New("no time left: the work goes on, and the next sweep finds the tables ready")
	errNoBetter = errors.New("there are no better tables than those in use")
	errNotYet   = errors.New("no better tables so far: the search goes on")
)

// refusal is the reply with the reason why there are no tables.
func refusal(err error) reply { return reply{proven: &proven{refusal: err.Error()}} }

// ask is the reply with tables that are routed anew: those of a search that is known, or begins, for as long as the
// plugin waits. Once the search has gone on for set.first, the best so far will do.
func (s *Server) ask(ctx context.Context, x *place, k key, f *fabric.Fabric, set *settings, q *wire.Request, start time.Time) reply {
	resumes := s.keeper.unfinished(k)
	job, known := s.search(ctx, k, f, set, q.Lanes(), resumes)
	wait := set.limit
	if q.Deadline > 0 {
		wait = min(wait, working(q)-time.Since(start))
	}
	if q.Again {
		s.jobs.leave(job) // who waits for better tables keeps no other fabric waiting
		return s.better(job, x, wait, resumes)
	}
	defer s.jobs.leave(job)
	if known {
		return reply{proven: job.result, cached: true}
	}
	return s.first(job, x, set.first, wait)
}

// search is the job for a fabric, begun if there is none. resumes is what was handed over by a search that a restart
// interrupted; nil: nothing. The caller has to leave the job.
func (s *Server) search(ctx context.Context, k key, f *fabric.Fabric, set *settings, lanes int, resumes *proven) (x *job, known bool) {
	return s.jobs.ask(ctx, k, task{
		limit: set.limit,
		work: func(ctx context.Context, found func(*proven)) (p *proven) {
			err := guarded(func() error {
				if resumes != nil {
					p = resume(ctx, f, set, lanes, found, resumes)
				} else {
					p = prove(ctx, f, set, lanes, found)
				}
				return nil
			})
			if err == nil {
				return p
			}
			s.internal(err)
			if resumes != nil {
				s.keeper.suspend(putAsideWhy)
				s.forget(err, nil)
			}
			return &proven{refusal: words.FirstLine(err.Error()), unfinished: err}
		},
		ended: s.searchEnded,
	})
}

// resume is a search that a restart interrupted, when some tables had been handed over: it is
// these that the fabric runs, so that nothing else is handed over before the search has
// ended.
func resume(ctx context.Context, f *fabric.Fabric, set *settings, lanes int, found func(*proven), given *proven) *proven {
	found(given)
	p := prove(ctx, f, set, lanes, func(*proven) {})
	if p.tables == nil || wire.Number(p.tables) == wire.Number(given.tables) {
		same := *given
		same.tried = p.tried
		if p.tables == nil {
			same.unfinished = errors.New(p.refusal)
		}
		return &same
	}
	return p
}

// first waits for the first answer of a search: until patience is over, counted from its beginning, for the best
// tables, and then for any, for wait at most.
func (s *Server) first(job *job, x *place, patience, wait time.Duration) reply {
	last, enough := time.NewTimer(wait), time.NewTimer(time.Until(job.began.Add(patience)))
	defer last.Stop()
	defer enough.Stop()
	var some <-chan struct{} // not yet of interest
	for {
		select {
		case <-job.done:
			return reply{proven: job.result}
		case <-enough.C:
			some = job.some
		case <-some:
			if p := s.bestSoFar(job); p != nil {
				return *p
			}
			some = nil // there is nothing: done follows
		case <-last.C:
			if p := s.bestSoFar(job); p != nil {
				return *p
			}
			return refusal(errNoTime)
		case <-x.lost:
			return refusal(errPlaceLost)
		}
	}
}

// bestSoFar is the best that a job has found so far, to be handed over; nil: nothing.
func (s *Server) bestSoFar(job *job) *reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ended := job.handOut()
	switch {
	case ended:
		return &reply{proven: p}
	case p == nil:
		return nil
	}
	s.status.Search = &result.Search{Began: job.began.UTC(), Given: p.engine}
	return &reply{proven: p, soFar: true}
}

// better waits until the search has ended, and answers with its result if that is
// another than what was handed over, by this job or before a restart.
func (s *Server) better(job *job, x *place, wait time.Duration, before *proven) reply {
	last := time.NewTimer(wait)
	defer last.Stop()
	given := cmp.Or(job.noteWaiter(), before)
	r := reply{proven: &proven{refusal: errNotYet.Error()}, aside: true}
	select {
	case <-job.done:
		if r.proven = job.result; r.tables != nil && given != nil && r.tables == given.tables {
			r.proven = &proven{refusal: errNoBetter.Error()}
		} else {
			r.aside = false
		}
	case <-last.C:
	case <-x.lost:
		r.proven = &proven{refusal: errPlaceLost.Error()}
	}
	return r
}

// searchEnded notes that a search has ended of which something, given, was handed over before.
func (s *Server) searchEnded(job *job, given *proven) {
	p, now, seconds := job.result, time.Now().UTC(), time.Since(job.began).Seconds()
	r := &result.Search{Began: job.began.UTC(), Ended: &now, Given: given.engine, Engine: p.engine, Better: p.tables != given.tables, Awaited: job.isAwaited(), Seconds: seconds}
	attrs := []any{"given", r.Given, "best", r.Engine, "better", r.Better, "awaited", r.Awaited, "seconds", fmt.Sprintf("%.4f", seconds)}
	if p.unfinished != nil {
		r.Unfinished = words.FirstLine(p.unfinished.Error())
		attrs = append(attrs, "unfinished", r.Unfinished)
	}
	s.Log.Info("search ended", attrs...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Search = r
}
