package daemon

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/weft-fabric/weft/choose"
	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/plain"
	"github.com/weft-fabric/weft/opensm/wire"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// proven is tables with their proof, or why there are none.
type proven struct {
	tables  *routing.Tables   // nil: refused
	verdict *deadlock.Verdict // of the tables
	loads   *congestion.Loads // of the tables
	engine  string
	tried   []Attempt
	refusal string   // what to tell OpenSM; empty with tables
	missing []string // what the settings name and the fabric has not
	route   time.Duration
	verify  time.Duration

	restored bool            // read back from the state folder, and proven again
	before   *routing.Tables // what was handed over before a restart, as far as it was read back

	// unfinished is why better tables were not looked for to the end; nil: they were.
	unfinished error
}

// Attempt is an engine that was tried, and what came of it.
type Attempt struct {
	Engine     string `json:"engine"`
	Refused    string `json:"refused,omitempty"` // empty: its tables were handed over
	CreditLoop bool   `json:"credit_loop"`
}

// prove routes a fabric with the engines of the settings in their order, until the
// judge proves what one of them made. found is told of every proven routing that is
// better than those before, while the search goes on.
func prove(ctx context.Context, f *fabric.Fabric, s *settings, lanes int, found func(*proven)) *proven {
	p := &proven{}
	if s.VLs > 0 {
		lanes = min(lanes, s.VLs)
	}
	s, missing, err := s.about(f)
	if p.missing = missing; err != nil {
		p.refusal = err.Error()
		return p
	}
	for _, r := range s.routers {
		a := Attempt{Engine: r.name()}
		var last *proven
		err := p.try(ctx, f, r, s, lanes, func(better proven) {
			better.tried = append(slices.Clone(p.tried), a)
			last = &better
			found(last)
		})
		if err != nil && last != nil { // cut off or broken, with something to show
			q := *last
			q.unfinished = err
			return &q
		}
		if err == nil {
			p.tried = append(p.tried, a)
			return p
		}
		a.Refused = plain.Error(err)
		a.CreditLoop = errors.As(err, new(*loopError))
		p.tried = append(p.tried, a)
		if ctx.Err() != nil {
			break
		}
	}
	p.tables, p.verdict, p.loads = nil, nil, nil
	why := make([]string, len(p.tried))
	for i, a := range p.tried {
		why[i] = a.Engine + ": " + a.Refused
	}
	p.refusal = strings.Join(why, "; ")
	return p
}

// try routes in one way and asks the judge. An engine that breaks is one that
// refuses.
func (p *proven) try(ctx context.Context, f *fabric.Fabric, how router, s *settings, lanes int, found func(proven)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("daemon: internal error: %v\n%s", r, debug.Stack())
		}
	}()
	if several, ok := how.(searcher); ok {
		return p.search(ctx, f, several, s, lanes, found)
	}
	start := time.Now()
	p.tables, p.engine, err = how.route(ctx, f, s, lanes)
	p.route += time.Since(start)
	if err != nil {
		return err
	}
	start = time.Now()
	defer func() { p.verify += time.Since(start) }()
	p.verdict, err = deadlock.Verify(ctx, p.tables, deadlock.Options{Contract: s.contract, Scope: s.scope})
	if err != nil {
		return err
	}
	return p.accept(f, s, lanes)
}

// search has several engines tried, and found told of the best so far. Judging is
// part of the search.
func (p *proven) search(ctx context.Context, f *fabric.Fabric, how searcher, s *settings, lanes int, found func(proven)) error {
	start, before := time.Now(), p.route
	take := func(c *choose.Choice) error {
		p.tables, p.verdict, p.engine = c.Tables, c.Verdict, c.Engine.Name
		p.route = before + time.Since(start)
		return p.accept(f, s, lanes)
	}
	c, err := how.search(ctx, f, s, lanes, func(c *choose.Choice) {
		if take(c) == nil {
			found(*p)
		}
	})
	if err != nil {
		return err
	}
	if c.Stopped > 0 {
		p.unfinished = errors.New("the clock reached one and a half times the budget")
	}
	return take(c)
}

// accept says why tables that were judged will not do.
func (p *proven) accept(f *fabric.Fabric, s *settings, lanes int) error {
	v := p.verdict
	switch {
	case !v.Complete():
		return fmt.Errorf("daemon: %d of %d pairs have no route that delivers", v.Unreachable+v.Loops, v.Pairs)
	case !v.Free():
		return &loopError{f, v}
	case v.VLs > lanes:
		return fmt.Errorf("daemon: the tables use %d lanes of %d", v.VLs, lanes)
	}
	if err := wire.Expressible(p.tables, s.contract); err != nil {
		return err
	}
	p.loads = congestion.Count(f, p.tables.Forwarding, s.scope)
	return nil
}

// router makes tables: one engine does, or what picks the engine for a fabric.
// Either way the judge is asked about them before anybody else sees them.
type router interface {
	name() string
	uses() engines.Option
	// route returns the tables and the name of the engine that made them.
	route(ctx context.Context, f *fabric.Fabric, s *settings, lanes int) (*routing.Tables, string, error)
}

// searcher is a router that tries several engines, and tells of each that is proven
// and better than those before.
type searcher interface {
	search(ctx context.Context, f *fabric.Fabric, s *settings, lanes int, found func(*choose.Choice)) (*choose.Choice, error)
}

// single is an engine of the table.
type single struct{ engines.Engine }

func (e single) name() string         { return e.Name }
func (e single) uses() engines.Option { return e.Uses }

// route plans lanes for all adapters if that is possible, else for the endpoints
// that count.
func (e single) route(ctx context.Context, f *fabric.Fabric, s *settings, lanes int) (*routing.Tables, string, error) {
	t, _, err := e.RouteWide(ctx, f, s.told, s.budget(lanes), s.scope, nil)
	return t, e.Name, err
}

// best is the best engine that is proven.
type best struct{}

func (best) name() string         { return engines.AutoName }
func (best) uses() engines.Option { return engines.AutoUses() }

func (b best) route(ctx context.Context, f *fabric.Fabric, s *settings, lanes int) (*routing.Tables, string, error) {
	c, err := b.search(ctx, f, s, lanes, nil)
	if err != nil {
		return nil, engines.AutoName, err
	}
	return c.Tables, c.Engine.Name, nil
}

func (best) search(ctx context.Context, f *fabric.Fabric, s *settings, lanes int, found func(*choose.Choice)) (*choose.Choice, error) {
	return choose.Best(ctx, f, choose.Wish{
		Contract: s.contract, Scope: s.scope, Options: s.told, Time: s.Budget, Patient: s.Budget == 0,
		Budget: s.budget(lanes),
		Accept: func(t *routing.Tables) error { return wire.Expressible(t, s.contract) },
		Found:  found,
	})
}

// loopError is a credit loop.
type loopError struct {
	f *fabric.Fabric
	v *deadlock.Verdict
}

func (e *loopError) Error() string {
	first := e.v.Cycle[0]
	c := e.f.Channel(first.Trunk)
	return fmt.Sprintf("a credit loop of %d links under contract %s, one of them %s port %d on VL %d", len(e.v.Cycle), e.v.Contract, e.f.Label(c.From), c.FromPort, first.VL)
}
