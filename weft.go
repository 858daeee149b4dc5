// Package weft routes a lossless network and proves that it cannot deadlock.
//
// Route is the whole way from a fabric to tables that are proven: it makes them with
// the engine asked for, or with the best one there is, asks the judge (package
// deadlock, which shares no code with the engines) and holds the engine to what it
// promises. A fabric comes from one of the packages under format, from topology or
// from fabric.Builder; tables are written by those under format.
//
// An engine that cannot do as asked refuses and says why; nothing weaker is put in its
// place. See the errors of Route.
package weft

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/choose"
	"github.com/weft-fabric/weft/internal/engine/auto"
	"github.com/weft-fabric/weft/internal/engine/spanning"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// Auto is the name of the engine that is several: the best of those that are proven
// for the network.
const Auto = auto.Name

// DefaultSeed is what a Request without a seed has, and the command line.
const DefaultSeed = 1

// Request says what is wanted. The zero Request is the best engine that is proven
// whatever service levels clients use, on 8 lanes or as few as a cable between switches
// is stated to run, for host adapters.
type Request struct {
	// Engine is the name of an engine, of a path finder + lane assigner such as
	// "sssp+first-fit", or Auto. Empty: Auto.
	Engine string
	// Custom is an engine that is not in the table of package engines, in place of Engine.
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
	Patient  bool          // the clock is no limit: Found tells of the best so far
	Patterns int           // random patterns to simulate; zero: as many as tell engines apart

	// Accept says why proven tables will not do for what they are meant for, by an error. A nil Accept takes all.
	Accept func(*Result) error

	// Found is told of every choice that is better than all before, as soon as it is
	// known, and the search goes on when it returns. Nil: nobody is.
	Found func(*Result)

	counted *counted // of Auto; nil: all paths are counted
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
	Choice       *choose.Choice    // how Auto chose; nil: not asked
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
	if n := len(f.Endpoints()); n > int(fabric.MaxLID) { // see fabric.Builder.WithoutLIDs
		return nil, routing.Refuse(f, "tables go by LIDs, so each endpoint needs one", fabric.None, 0, "%d endpoints, and InfiniBand has %d LIDs", n, fabric.MaxLID)
	}
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

// limited is an error, in which a refusal for want of lanes names the cable that runs no more, if one does.
func (r *Request) limited(f *fabric.Fabric, err error) error {
	few := (*routing.TooFewLanes)(nil)
	if limit := routing.LimitOf(f); limit.Lanes == r.VLs && errors.As(err, &few) {
		few.Where = limit.Text(f)
	}
	return err
}

// with is Route by one engine; r.VLs is filled in.
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
		return nil, &EngineDefect{Result: s}
	}
	return s, err
}

// contract is what an engine is to plan for: what was asked for, or else what it is made for.
func (r *Request) contract(e engines.Engine) routing.Contract {
	switch {
	case r.Contract != nil:
		return *r.Contract
	case r.Classes > 1:
		return routing.Any // senders choose their class by the service level
	}
	return e.Contract
}

// choose is Route where the engine is Auto.
func (r *Request) choose(ctx context.Context, f *fabric.Fabric) (*Result, error) {
	t := newTries(f, r)
	if _, err := r.forClass(routing.Budget{VLs: r.VLs, SLs: r.SLs, Contract: *t.Contract}); err != nil {
		return nil, err
	}
	var p routing.Progress
	if r.Stages != nil {
		var done func()
		p, done = r.Stages("choose")
		defer done()
	}
	return t.best(ctx, choose.Candidates(), p)
}

// tries is a request to Auto, and the results of the engines that it tries, as long as they can win.
type tries struct {
	Request
	fabric *fabric.Fabric
	made   map[string]*Result // by engine
}

// newTries fills in the contract, and lets the engines share paths.
func newTries(f *fabric.Fabric, r *Request) *tries {
	t := &tries{Request: *r, fabric: f, made: map[string]*Result{}}
	if r.Contract == nil {
		t.Contract = &routing.Any
	}
	t.Options, t.counted = r.Options.Sharing(), new(counted)
	return t
}

// best is the result of the engine that package choose finds best of a table of engines. It asks router to route.
func (t *tries) best(ctx context.Context, table []engines.Engine, p routing.Progress) (*Result, error) {
	s, err := choose.New(t.fabric, choose.Request{
		Options: t.Options, Contract: *t.Contract, Scope: t.Scope, Time: t.Time, Patient: t.Patient, Patterns: t.Patterns, Table: table,
	}, router{t})
	if err != nil {
		return nil, err
	}
	engine, c, err := s.Run(ctx, p)
	if err != nil {
		return nil, err
	}
	if engine == "" {
		return nil, &NoneProven{Contract: *t.Contract, Trials: c.Trials}
	}
	return t.chosen(engine, c), nil
}

// chosen is the result of an engine, with how it was chosen.
func (t *tries) chosen(engine string, c *choose.Choice) *Result {
	best := *t.made[engine]
	best.Choice = c
	return &best
}

// router is tries as package choose sees them, by its methods.
type router struct{ *tries }

// Route implements choose.Router: it has an engine route, on one lane for each class if oneLane. Tables with a credit
// loop are returned, but not kept.
func (t router) Route(ctx context.Context, e engines.Engine, oneLane bool) (choose.Judged, error) {
	r := t.Request
	r.Stages, r.NoCycle = nil, true
	if oneLane {
		r.VLs = max(1, r.Classes)
	}
	s, err := r.with(ctx, t.fabric, e)
	if loop := (*CreditLoop)(nil); errors.As(err, &loop) {
		s = loop.Result // which cannot win
	} else if err != nil {
		return choose.Judged{}, err
	} else {
		t.made[e.Name] = s
	}
	return choose.Judged{Tables: s.Tables, Verdict: s.Verdict, Wider: s.Wider, Loads: s.Loads}, nil
}

// Accept implements choose.Router.
func (t router) Accept(engine string) error {
	if t.Request.Accept == nil {
		return nil
	}
	return t.Request.Accept(t.made[engine])
}

// Found implements choose.Router.
func (t router) Found(engine string, c *choose.Choice) {
	if t.Request.Found != nil {
		t.Request.Found(t.chosen(engine, c))
	}
}

// Drop implements choose.Router.
func (t router) Drop(engine string) { delete(t.made, engine) }

// Verify has tables judged that came from elsewhere, as Route has its own. Custom or Engine
// says what they are said to come from, whose promises they are held to.
func Verify(ctx context.Context, t *routing.Tables, r Request) (*Result, error) {
	e, err := r.engine()
	if err != nil {
		return nil, err
	}
	return r.judge(ctx, t, e, r.Scope)
}

// engine is Custom, or the engine with the name.
func (r *Request) engine() (engines.Engine, error) {
	if r.Custom != nil {
		return *r.Custom, nil
	}
	return engines.Named(r.Engine)
}

// counted is the loads of the paths that were counted last: some engines that Auto tries keep
// the paths of the one before.
type counted struct {
	paths *routing.Forwarding
	loads *congestion.Loads
}

// of is the loads of tables; c may be nil.
func (c *counted) of(ctx context.Context, t *routing.Tables, scope routing.Scope) (*congestion.Loads, error) {
	if c == nil || t.Groups != nil {
		return congestion.CountTables(ctx, t, scope)
	}
	if c.paths == t.Forwarding {
		return c.loads, ctx.Err()
	}
	loads, err := congestion.CountTables(ctx, t, scope)
	if err == nil {
		c.paths, c.loads = t.Forwarding, loads
	}
	return loads, err
}

// judge asks the judge about tables of an engine, counts their loads, and holds the engine to what it promises: the error
// is *EngineDefect or *CreditLoop if they are not as they should be. planned is whom their lanes are for.
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
	if s.Loads, err = r.counted.of(ctx, t, r.Scope); err != nil {
		return nil, err
	}
	if s.Verdict.Unreachable > s.Disconnected || s.Verdict.Loops > 0 || e.Safe && e.Contract.Covers(s.Contract) && !s.Verdict.Free() {
		return nil, &EngineDefect{Result: s}
	}
	if !s.Verdict.Free() {
		return nil, &CreditLoop{Result: s}
	}
	return s, nil
}

// TooFewForClasses is the refusal of more classes of traffic than there are lanes, or service
// levels, for. It wraps a *routing.TooFewLanes or *routing.TooFewLevels about all of them.
type TooFewForClasses struct {
	Classes int
	Fit     int   // how many classes there is room for; 0: not even for one
	Err     error // about all classes together
}

func (e *TooFewForClasses) Error() string {
	return fmt.Sprintf("%d classes of traffic: %v", e.Classes, e.Err)
}

func (e *TooFewForClasses) Unwrap() error { return e.Err }

// forClass is the part of a budget that an engine may use where every class of traffic
// gets as much.
func (r *Request) forClass(b routing.Budget) (routing.Budget, error) {
	if r.Classes <= 1 {
		return b, nil
	}
	if b.Contract != routing.Any {
		return b, fmt.Errorf("classes of traffic are told apart by service levels, so clients may use any: contract %s does not go with them", b.Contract)
	}
	b, err := b.WithDefaults()
	if err != nil {
		return b, err
	}
	vls, sls := b.VLs, b.SLs
	b.VLs, b.SLs = vls/r.Classes, sls/r.Classes
	switch {
	case b.VLs == 0:
		return b, &TooFewForClasses{Classes: r.Classes, Fit: vls, Err: &routing.TooFewLanes{Need: r.Classes, AtLeast: true, Have: vls}}
	case b.SLs == 0:
		return b, &TooFewForClasses{Classes: r.Classes, Fit: sls, Err: &routing.TooFewLevels{Need: r.Classes, Have: sls}}
	}
	return b, nil
}

// inClasses is tables with a copy of their lanes for each class of traffic, or a refusal if
// their lanes depend on service levels already.
func (r *Request) inClasses(t *routing.Tables, e engines.Engine) (*routing.Tables, error) {
	if r.Classes <= 1 {
		return t, nil
	}
	if t.Lanes.Needed != 1 && !t.Lanes.SL2VL.IgnoresSL() {
		return nil, &routing.Refusal{
			Rule: "classes of traffic are told apart by service levels, so the lanes of an engine may not be", Node: -1,
			Why: fmt.Sprintf("%s needs a service level for each of its lanes here; weave-any, nue on one lane, updn and df-d2 do without", e.Name),
		}
	}
	return t.InClasses(r.Classes)
}

// forAll is the error of an engine that was given the lanes of one class (forClass); a refusal for want of lanes or
// levels becomes one in numbers of all classes.
func (r *Request) forAll(err error) error {
	if r.Classes <= 1 {
		return err
	}
	lanes, levels := (*routing.TooFewLanes)(nil), (*routing.TooFewLevels)(nil)
	switch {
	case errors.As(err, &lanes):
		have := cmp.Or(r.VLs, routing.DefaultVLs)
		return &TooFewForClasses{Classes: r.Classes, Fit: have / lanes.Need, Err: &routing.TooFewLanes{Need: r.Classes * lanes.Need, AtLeast: lanes.AtLeast, Have: have}}
	case errors.As(err, &levels):
		have := cmp.Or(r.SLs, routing.SLs)
		return &TooFewForClasses{Classes: r.Classes, Fit: have / levels.Need, Err: &routing.TooFewLevels{Need: r.Classes * levels.Need, Have: have}}
	}
	return err
}

// NoTree is the error where no spanning tree for multicast was found beside the paths.
type NoTree struct {
	*spanning.None
	Loop *deadlock.Verdict // of the tables with the tree that one would take first; nil: not known
}

func (e *NoTree) Error() string {
	text := e.None.Error()
	if e.Loop != nil && len(e.Loop.Cycle) > 0 {
		f, first := e.Tree.Fabric, e.Loop.Cycle[0]
		c := f.Channel(first.Trunk)
		text += fmt.Sprintf("; the shortest one would close a credit loop of %d links, one of them %s port %d on VL %d", len(e.Loop.Cycle), f.Label(c.From), c.FromPort, first.VL)
	}
	return text
}

// AnySL is all service levels, as bits.
const AnySL uint16 = 1<<routing.SLs - 1

// WithMulticast is a result whose tables have a spanning tree for multicast, and whose verdicts
// are about unicast and multicast together: the trees of all groups are to be parts of that
// one. sls is service levels that groups may use, as bits; of several sets the first is taken
// for which there is a tree. The error is a *NoTree where there is none.
func (s *Result) WithMulticast(ctx context.Context, sls ...uint16) (*Result, error) {
	o := spanning.Options{Contract: s.Contract, Scope: s.Scope}
	if s.Wider != nil && s.Wider.Free() {
		o.Scope = s.Wider.Scope
	}
	var err error
	for _, o.SLs = range sls {
		var m *routing.Multicast
		if m, err = spanning.Tree(ctx, s.Tables, o); err == nil {
			return s.judgedWith(ctx, m)
		}
		if none := (*spanning.None)(nil); !errors.As(err, &none) {
			return nil, err
		}
	}
	no := &NoTree{}
	errors.As(err, &no.None)
	if no.Tree != nil {
		if no.Loop, err = deadlock.Verify(ctx, no.Tree, deadlock.Options{Contract: s.Contract, Scope: o.Scope}); err != nil {
			return nil, err
		}
	}
	return nil, no
}

// judgedWith is the result with a spanning tree for multicast in its tables, judged once more. It is an error, a defect of
// ours, if that loses the proof.
func (s *Result) judgedWith(ctx context.Context, m *routing.Multicast) (*Result, error) {
	with, tables := *s, *s.Tables
	tables.Multicast = m
	with.Tables = &tables
	for _, v := range []**deadlock.Verdict{&with.Verdict, &with.Wider} {
		if *v == nil {
			continue
		}
		was := (*v).Free()
		now, err := deadlock.Verify(ctx, &tables, deadlock.Options{Contract: s.Contract, Scope: (*v).Scope})
		if err != nil {
			return nil, err
		}
		if *v = now; was && !now.Free() || len(now.Multicast.Circling)+len(now.Multicast.Split) > 0 {
			return nil, errors.New("the spanning tree for multicast is not what it was said to be")
		}
	}
	return &with, nil
}

// CreditLoop is the error for tables that can deadlock. It contains them, for
// inspection.
type CreditLoop struct{ *Result }

func (e *CreditLoop) Error() string {
	text := fmt.Sprintf("a credit loop under contract %s", e.Contract)
	if len(e.Verdict.Cycle) > 0 {
		f, first := e.Tables.Fabric, e.Verdict.Cycle[0]
		c := f.Channel(first.Trunk)
		text = fmt.Sprintf("a credit loop of %d links under contract %s, one of them %s port %d on VL %d",
			len(e.Verdict.Cycle), e.Contract, f.Label(c.From), c.FromPort, first.VL)
	}
	return text
}

// EngineDefect is the error for tables that break the promise of their engine: it left
// out connected pairs, packets circle or take a lane that a cable does not run, or there is
// a credit loop although the engine is one that cannot have any.
type EngineDefect struct{ *Result }

func (e *EngineDefect) Error() string {
	if v := e.Verdict; v.Unreachable > e.Disconnected || v.Loops > 0 {
		return fmt.Sprintf("%s left %d pairs without a route where %d are in different parts, and %d forwarding loops", e.Engine.Name, v.Unreachable, e.Disconnected, v.Loops)
	}
	if absent := e.Verdict.Absent; len(absent) > 0 && e.Verdict.Free() {
		return fmt.Sprintf("%s sends packets on VL %d over %s, which runs %d", e.Engine.Name, absent[0].VL, e.Tables.Fabric.ChannelLabel(absent[0].Channel), e.Tables.Fabric.Channel(absent[0].Channel).DataVLs)
	}
	return fmt.Sprintf("the tables of %s have a credit loop, which it promises never to make", e.Engine.Name)
}

// NoneProven is the error of Auto if no engine is proven.
type NoneProven struct {
	Contract routing.Contract
	Trials   []choose.Trial
}

func (e *NoneProven) Error() string {
	return fmt.Sprintf("none of %d engines is proven under contract %s within the lanes and service levels given", len(e.Trials), e.Contract)
}
