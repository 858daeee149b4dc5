// Package weft routes a lossless network and proves that it cannot deadlock.
//
// Route is the whole way from a fabric to tables that are proven: it makes them with
// the engine asked for, or with the best one there is, asks the judge (package
// deadlock, which shares no code with the engines) and holds the engine to what it
// promises. A fabric comes from one of the packages under format, from topology or
// from fabric.Builder; tables are written by those under format and opensm.
//
// An engine that cannot do as asked refuses and says why; nothing weaker is put in its
// place. See the errors of Route.
package weft

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// Auto is the name of the engine that is several: the best of those that are proven
// for the network.
const Auto = engines.AutoName

// DefaultSeed is what a Request without a seed has, and the command line.
const DefaultSeed = 1

// Request says what is wanted. The zero Request is the best engine that is proven
// whatever service levels clients use, on 8 lanes or as few as a cable between switches
// is stated to run, for host adapters.
type Request struct {
	// Engine is the name of an engine, of a path finder + lane assigner such as
	// "sssp+first-fit", or Auto. Empty: Auto.
	Engine string
	// Custom is an engine that no table has, in place of Engine.
	Custom *engines.Engine

	// Contract is what clients do with service levels. Nil: what the engine is made for,
	// of Auto Any; where the tables turn out to serve whoever uses any service level,
	// that is what they are proven for.
	Contract *routing.Contract

	// VLs is the data lanes available. Zero: routing.DefaultVLs, or as many as each cable
	// between switches is stated to run where these are fewer (routing.LimitOf). More than
	// these are refused.
	VLs int

	// Classes is how many classes of traffic shall have lanes of their own, a copy of all
	// for each (routing.Tables.InClasses), proven together. Zero: one.
	Classes int
	SLs     int // service levels available; zero: all

	// Scope is the endpoints that count. Lanes are planned for all adapters where they
	// suffice for that, unless ExactScope.
	Scope      routing.Scope
	ExactScope bool

	Options engines.Options // a zero seed is DefaultSeed
	Stages  engines.Stages  // told of "paths", "lanes" and "verify", of Auto of "choose"; nil: nobody is
	NoCycle bool            // leave out the search for a shortest credit loop

	// Of Auto only:

	Time     time.Duration // what its estimates may add up to; zero: ten seconds, more on large networks
	Patient  bool          // the clock is no limit: who waits has the best so far, by Found
	Patterns int           // random patterns to simulate; zero: as many as tell engines apart

	// Accept says why proven tables will not do for what they are meant for; nil: they
	// always will.
	Accept func(*Result) error

	// Found is told of every choice that is better than all before, as soon as it is
	// known, and the search goes on when it returns. Nil: nobody is.
	Found func(*Result)
}

// Result is tables with the judge's verdict.
type Result struct {
	Engine       engines.Engine // of Auto the one chosen
	Tables       *routing.Tables
	Contract     routing.Contract // of the verdict
	Scope        routing.Scope    // of the verdict
	Planned      routing.Scope    // endpoints that lanes were planned for: those in scope or more
	Verdict      *deadlock.Verdict
	Wider        *deadlock.Verdict // for all adapters, where Scope is host adapters and there are others
	Loads        *congestion.Loads // routes over every channel, in scope
	Disconnected int64             // pairs in different parts of the network, which nothing can join
	Choice       *Choice           // how Auto chose; nil: not asked
}

// Route routes a fabric and has the tables proven. The error is
//
//   - a refusal (routing.Refused): *routing.Refusal with the rule that the fabric breaks
//     and where, *routing.TooFewLanes or *routing.TooFewLevels, also where more lanes are
//     asked for than a cable between switches is stated to run;
//   - *CreditLoop, which holds the tables and their loop;
//   - *NoneProven, where Auto finds nothing;
//   - *EngineDefect, where an engine did not do what it says: a defect of ours;
//   - or whatever else went wrong: a context that ended, an engine that nobody has.
func Route(ctx context.Context, f *fabric.Fabric, r Request) (*Result, error) {
	r.Options.Seed = cmp.Or(r.Options.Seed, DefaultSeed)
	if err := r.limitLanes(f); err != nil {
		return nil, err
	}
	if r.Custom == nil && cmp.Or(r.Engine, Auto) == Auto {
		s, err := r.choose(ctx, f)
		return s, r.limited(f, err)
	}
	e, err := r.engine()
	if err != nil {
		return nil, err
	}
	return r.with(ctx, f, e)
}

// limitLanes fills in the lanes available by what the cables state, and refuses more.
func (r *Request) limitLanes(f *fabric.Fabric) error {
	limit := routing.LimitOf(f)
	if r.VLs == 0 {
		r.VLs = limit.Within(routing.DefaultVLs)
	}
	if limit.Within(r.VLs) < r.VLs && r.VLs <= routing.MaxDataVLs {
		return limit.Refuse(f, r.VLs)
	}
	return nil
}

// limited names in a refusal for want of lanes the cable that has no more.
func (r *Request) limited(f *fabric.Fabric, err error) error {
	few := (*routing.TooFewLanes)(nil)
	if limit := routing.LimitOf(f); limit.Lanes == r.VLs && errors.As(err, &few) {
		few.Where = limit.Text(f)
	}
	return err
}

// with is Route by one engine.
func (r *Request) with(ctx context.Context, f *fabric.Fabric, e engines.Engine) (*Result, error) {
	b, err := r.forClass(routing.Budget{VLs: r.VLs, SLs: r.SLs, Contract: r.contract(e), Scope: r.Scope})
	if err != nil {
		return nil, r.limited(f, err)
	}
	if !r.ExactScope {
		b.Scope = max(b.Scope, routing.Adapters)
	}
	t, planned, err := e.RouteWide(ctx, f, r.Options, b, r.Scope, r.Stages)
	if err == nil {
		t, err = r.inClasses(t, e)
	}
	if err != nil {
		return nil, r.limited(f, r.forAll(err))
	}
	s, err := r.judge(ctx, t.WithinCables(), e, planned)
	if err == nil && len(s.Verdict.Absent) > 0 {
		return nil, &EngineDefect{s}
	}
	return s, err
}

// contract is what an engine is to plan for: what was asked for or, without, what it is made for.
func (r *Request) contract(e engines.Engine) routing.Contract {
	switch {
	case r.Contract != nil:
		return *r.Contract
	case r.Classes > 1:
		return routing.Any // senders choose their class by the service level
	}
	return e.Contract
}

// Verify has tables judged that came from elsewhere, as Route has its own. Custom or Engine
// says what they are said to come from, whose promises they are held to.
func Verify(ctx context.Context, t *routing.Tables, r Request) (*Result, error) {
	e, err := r.engine()
	if err != nil {
		return nil, err
	}
	return r.judge(ctx, t, e, r.Scope)
}

func (r *Request) engine() (engines.Engine, error) {
	if r.Custom != nil {
		return *r.Custom, nil
	}
	return engines.Named(r.Engine)
}

func (r *Request) judge(ctx context.Context, t *routing.Tables, e engines.Engine, planned routing.Scope) (*Result, error) {
	s := &Result{Engine: e, Tables: t, Contract: r.contract(e), Scope: r.Scope, Planned: planned, Disconnected: r.Scope.Disconnected(t.Fabric)}
	if r.Contract == nil && (t.Lanes.Needed == 1 || t.Lanes.SL2VL.IgnoresSL()) {
		s.Contract = routing.Any // whichever service level is used, lanes are the same
	}
	o := deadlock.Options{Contract: s.Contract, Scope: r.Scope, NoCycle: r.NoCycle}
	if r.Stages != nil {
		p, done := r.Stages("verify")
		defer done()
		o.Progress = p
	}
	var err error
	if s.Verdict, err = deadlock.Verify(ctx, t, o); err != nil {
		return nil, err
	}
	if n := t.Fabric.Count(); r.Scope == routing.HCA && n.Aggregation+n.Router > 0 {
		o.Scope = routing.Adapters
		if s.Wider, err = deadlock.Verify(ctx, t, o); err != nil {
			return nil, err
		}
	}
	if s.Loads, err = congestion.CountTables(ctx, t, r.Scope); err != nil {
		return nil, err
	}
	if s.Verdict.Unreachable > s.Disconnected || s.Verdict.Loops > 0 || e.Safe && e.Contract.Covers(s.Contract) && !s.Verdict.Free() {
		return nil, &EngineDefect{s}
	}
	if !s.Verdict.Free() {
		return nil, &CreditLoop{s}
	}
	return s, nil
}
