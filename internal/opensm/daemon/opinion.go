package daemon

import (
	"context"
	"log/slog"
	"time"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/internal/proofchecker"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// opinions asks weft-proof about what was handed over, one after another and behind the answers: on
// a large fabric it takes seconds, and writes files. Of what waits only the newest is asked about.
type opinions struct {
	log     *slog.Logger
	metrics *metrics
	waiting chan opinion
	done    chan struct{}
	end     context.CancelFunc
}

// opinion is a question to weft-proof.
type opinion struct {
	program string // weft-proof
	limit   time.Duration
	sweep   uint64
	tables  *routing.Tables
	before  *routing.Tables // what tables replace in a proven step; nil: it is no such step
	ranks   *deadlock.Certificate
}

// newOpinions begins to ask what put gives it, until finish.
func newOpinions(log *slog.Logger, m *metrics) *opinions {
	ctx, end := context.WithCancel(context.Background())
	o := &opinions{log: log, metrics: m, waiting: make(chan opinion, 1), done: make(chan struct{}), end: end}
	go func() {
		defer close(o.done)
		for {
			select {
			case <-ctx.Done():
				return
			case x := <-o.waiting:
				o.ask(ctx, x)
			}
		}
	}()
	return o
}

// finish ends what is under way.
func (o *opinions) finish() {
	o.end()
	<-o.done
}

// put has tables asked about. Sweeps are reported one at a time, so there is one caller at a time.
func (o *opinions) put(x opinion) {
	select {
	case <-o.waiting: // there are newer ones
		o.metrics.opinions.WithLabelValues(opinionSkipped).Inc()
	default:
	}
	o.waiting <- x
}

// What came of a question, in words.
const (
	opinionHolds   = "holds"
	opinionRefused = "refused"
	opinionFailed  = "failed"
	opinionSkipped = "skipped"
)

// ask asks about tables, and where they replace others in a proven step about all mixtures with those.
func (o *opinions) ask(ctx context.Context, x opinion) {
	limited, cancel := context.WithTimeout(ctx, x.limit)
	defer cancel()
	questions := []proofchecker.Question{{Tables: x.tables, Certificate: x.ranks}}
	if x.before != nil {
		questions = append(questions, proofchecker.Question{Tables: x.tables, Before: x.before, Certificate: x.ranks})
	}
	for _, q := range questions {
		start := time.Now()
		attrs := []any{"sweep", x.sweep, "proof_checker", x.program, "step", q.Before != nil}
		if unknown := q.Unknown(); unknown != "" {
			o.metrics.opinions.WithLabelValues(opinionSkipped).Inc()
			o.log.Warn("not asked of the proof checker, which does not know them", append(attrs, "tables", unknown)...)
			return
		}
		a, err := proofchecker.Ask(limited, x.program, q)
		attrs = append(attrs, "seconds", time.Since(start).Seconds())
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			o.metrics.opinions.WithLabelValues(opinionFailed).Inc()
			o.log.Error("the proof checker gave no verdict", append(attrs, "error", err.Error())...)
		case !a.Holds || a.Delivers != nil && !*a.Delivers: // all of what is handed over arrives, the judge says
			o.metrics.opinions.WithLabelValues(opinionRefused).Inc()
			o.log.Error("the proof checker does not accept tables that were handed over: keep the state folder, and report it", append(attrs, "why", words.FirstLine(a.Why))...)
		default:
			o.metrics.opinions.WithLabelValues(opinionHolds).Inc()
			o.log.Info("accepted by the proof checker", attrs...)
		}
	}
}

// secondOpinion has weft-proof asked about tables that were handed over, if the settings say so and they are others than
// last, those handed over before.
func (s *Server) secondOpinion(r *result.StatusSweep, p *reply, last *routing.Tables) {
	set := s.current()
	if set.ProofChecker == "" || last == p.handed.tables {
		return
	}
	x := opinion{program: set.ProofChecker, limit: set.limit, sweep: r.Sweep, tables: p.handed.tables, ranks: p.verdict.Certificate}
	if p.move != nil {
		x.before = p.handed.since.earlier
	}
	s.opinions.put(x)
}
