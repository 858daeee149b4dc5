// Package choose is how the engine auto chooses: it tries engines, has each result judged under the requested contract,
// and keeps what is proven. All proven results are measured alike (see Meter), and the
// best for the aim of the options is taken:
//
//   - bisection: the largest effective bisection bandwidth Λ (T. Hoefler, T. Schneider,
//     A. Lumsdaine: Optimized Routing for Large-Scale InfiniBand Networks, HOTI 2009,
//     section IV.A);
//   - shifts: the least time of all to all in phases, with ranks by switch and by name,
//     or as Options.Orders says;
//   - mixed: both, as balance weighs them;
//   - alltoall: the fewest routes on the fullest channel;
//   - with Options.Demands, how long these take, whatever the aim.
//
// Of equally good ones it takes that whose proof holds for aggregation nodes and routers
// too, where the request is about host adapters only; then by time of phases, by lanes,
// engines that make no credit loop on any network first, and by the order of the table of
// engines, which begins with the simplest. See standing, also for lanes that cost nothing
// and for what is never passed over.
//
// If the options have weights of hosts, only engines are tried that use them for their
// paths; the figures are still those of all hosts alike.
//
// No engine is trusted: tables that the judge does not find free of deadlock are not
// chosen, and tables of an engine that promises nothing are chosen if the judge proves
// them.
//
// Time. Engines that are quick come first, so that there soon is a result: where one of
// them has phases as short as alone, for an aim that these are part of, the others are
// not tried. If none of them is proven, one that routes every network comes next. Then
// the others follow by their places, the most promising first. Of what falls far behind
// on a part of the patterns and phases the rest is not measured, and paths between hosts
// that were measured already are not measured again.
// Estimates of routing, judging and simulating, from the size of the network, decide
// which of them are begun, so that the same input gives the same bytes on a loaded
// machine too. The clock is only a limit, unless Patient is set: at overrun times the
// budget of time after the beginning, the engine at work is stopped and no other is
// begun. Then, and only then, the choice depends on the machine, and Choice.Stopped
// says so. Whatever the budget, the search goes on until something is proven.
package choose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/option"
	"github.com/weft-fabric/weft/internal/engine/paths/balance"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/traffic"
)

// leastTime is the budget of time for all but large networks.
const leastTime = 10 * time.Second

// overrun is how many times the budget of time the clock may reach.
const overrun = 1.5

// Choice is how Auto chose.
type Choice struct {
	Trials []Trial // in the order of their places
	Why    string  // a sentence
	Aim    string  // what the trials are ranked by
	Meter  Meter   // what they are measured by

	// Stopped is how many engines the clock kept from being tried. Unless it is
	// none, another run may choose otherwise.
	Stopped int
}

// Request says what is wanted.
type Request struct {
	Options  engines.Options
	Contract routing.Contract
	Scope    routing.Scope
	Time     time.Duration // what estimates may add up to; zero: ten seconds, more on large networks
	Patient  bool          // the clock is no limit
	Patterns int           // random patterns to simulate; zero: as many as tell engines apart
	Table    []engines.Engine
}

// Router is whoever routes for a search, and has the results.
type Router interface {
	// Route routes by an engine, on one lane if no other is safe, and keeps what comes of it
	// until it is dropped. The error is a refusal, or ends the search.
	Route(ctx context.Context, e engines.Engine, oneLane bool) (Judged, error)
	// Accept says why proven tables will not do.
	Accept(engine string) error
	// Found is told of every choice that is better than all before.
	Found(engine string, c *Choice)
	// Drop is told what can no longer win.
	Drop(engine string)
}

// Judged is tables with what is known of them.
type Judged struct {
	Tables  *routing.Tables
	Verdict *deadlock.Verdict
	Wider   *deadlock.Verdict // for all adapters; nil: there are no others than in scope
	Loads   *congestion.Loads
}

// Search is a choice that is being made.
type Search struct {
	Request
	router   Router
	fabric   *fabric.Fabric
	meter    Meter
	aimed    []int         // of the meter's orders, those that the aim is about
	trials   []Trial       // in the order of the table
	left     time.Duration // of the budget, by estimates
	balanced bool          // balanced paths have been made
	limit    time.Time
}

// New is a search that has tried nothing yet.
func New(f *fabric.Fabric, r Request, router Router) (*Search, error) {
	if r.Time == 0 {
		r.Time = DefaultTime(f)
	}
	s := &Search{Request: r, router: router, fabric: f, left: r.Time, limit: time.Now().Add(time.Duration(overrun * float64(r.Time)))}
	return s, s.setMeter()
}

// setMeter settles what trials are measured by.
func (s *Search) setMeter() (err error) {
	s.meter = Meter{Endpoints: s.fabric.ByPort(s.Scope.Endpoints(s.fabric)), Seed: s.Options.Seed, Demands: s.Options.Demands}
	hosts := len(s.meter.Endpoints)
	if hosts < 2 {
		return nil // nobody talks to anybody: all engines are alike
	}
	// The standard deviation of Λ over patterns falls with the root of the endpoints; that
	// of differences between engines on the same patterns is smaller still.
	s.meter.Runs = cmp.Or(s.Patterns, min(2000, max(50, 400_000/hosts)))
	s.meter.Phases = min(1000, max(64, 400_000/hosts))
	if s.meter.Orders, err = Orders(s.fabric, s.meter.Endpoints, s.Options.Seed); err != nil {
		return err
	}
	s.aimed = []int{0, 1} // by switch, and by name
	if s.Options.Orders != nil {
		s.aimed = nil
		for _, order := range s.Options.Orders {
			s.aimed = append(s.aimed, len(s.meter.Orders))
			s.meter.Orders = append(s.meter.Orders, order)
		}
	}
	return nil
}

// Run tries the engines, and is the best; empty: none is proven.
func (s *Search) Run(ctx context.Context, p routing.Progress) (engine string, c *Choice, err error) {
	done := make([]bool, len(s.Table))
	n := 0
	for _, now := range []func(engines.Auto) bool{
		func(a engines.Auto) bool { return a.Quick },
		func(a engines.Auto) bool { return a.Sure && !s.proven() },
		func(engines.Auto) bool { return true },
	} {
		for place := range s.Table {
			if done[place] || !now(s.Table[place].Auto) {
				continue
			}
			p.Report(n, len(s.Table))
			done[place] = true
			n++
			if err := s.take(ctx, place); err != nil {
				return "", nil, err
			}
		}
	}
	engine, c = s.choice()
	return engine, c, nil
}

// take tries an engine if it fits the request and the time, and records the result.
func (s *Search) take(ctx context.Context, place int) error {
	e := s.Table[place]
	if !Fits(e, s.Contract) {
		return nil
	}
	t := Trial{Engine: e.Name, place: place, simple: simplicity(e.Name), safe: e.Safe}
	cost := Estimate(e, s.fabric, s.balanced)
	switch {
	case deaf(e, s.Options):
		t.Outcome, t.Why = Skipped, "it does not heed --weight"
	case s.perfect() != nil:
		t.Outcome, t.Why = Skipped, fmt.Sprintf("no flow of a phase meets another on the paths of %s, which need one lane", s.perfect().Engine)
	case s.proven() && cost > s.left:
		t.Outcome, t.Why = Skipped, fmt.Sprintf("estimated at %s, and %s of %s are left by estimates, not by the clock (--time-budget)", round(cost), round(max(0, s.left)), round(s.Time))
	case s.limited() && !time.Now().Before(s.limit):
		t.Outcome, t.Why = Stopped, s.limitText()
	default:
		s.left -= cost
		s.balanced = s.balanced || Balanced(e)
		if err := s.within(ctx, e, &t); err != nil {
			return err
		}
	}
	s.add(t)
	return nil
}

// perfect is a trial that leaves the aim nothing to gain, as a search for balanced paths has
// it, which ends there too: on one lane, for all adapters, with phases that take no longer
// than alone; nil: there is none.
func (s *Search) perfect() *Trial {
	if s.served() || s.Options.Aim != engines.Mixed && s.Options.Aim != engines.Shifts || len(s.meter.Endpoints) < 2 {
		return nil
	}
	for i := range s.trials {
		t := &s.trials[i]
		if t.held && t.VLs == 1 && t.Wider && !slices.ContainsFunc(s.aimed, func(order int) bool { return order >= len(t.Shifts) || t.Shifts[order].Time != 1 }) {
			return t
		}
	}
	return nil
}

// within tries an engine within the limit of the clock; without a limit as long as
// nothing is proven.
func (s *Search) within(ctx context.Context, e engines.Engine, t *Trial) error {
	limited := ctx
	if s.limited() {
		var cancel context.CancelFunc
		limited, cancel = context.WithDeadline(ctx, s.limit)
		defer cancel()
	}
	err := s.try(limited, e, t)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		s.release(t)
		*t, err = Trial{Engine: t.Engine, Outcome: Stopped, Why: s.limitText(), Spent: t.Spent, place: t.place, simple: t.simple}, nil
	}
	return err
}

func (s *Search) limitText() string {
	return fmt.Sprintf("the clock reached %s, the limit for a --time-budget of %s", round(time.Duration(overrun*float64(s.Time))), round(s.Time))
}

// limited reports whether the clock is a limit at present.
func (s *Search) limited() bool { return s.proven() && !s.Patient }

func (s *Search) proven() bool {
	return slices.ContainsFunc(s.trials, func(t Trial) bool { return t.Outcome == Proven })
}

// round rounds a time to a sensible number of digits.
func round(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(10 * time.Millisecond)
	}
	if d < 20*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}

// add records a trial, drops tables that can no longer win, and reports a result that
// is better than those before.
func (s *Search) add(t Trial) {
	before := -1
	if won := s.rank().won; won != nil {
		before = won.place
	}
	at, _ := slices.BinarySearchFunc(s.trials, t.place, func(t Trial, place int) int { return cmp.Compare(t.place, place) })
	s.trials = slices.Insert(s.trials, at, t)
	s.drop()
	if won := s.rank().won; won != nil && won.place != before {
		s.router.Found(s.choice())
	}
}

// drop drops the tables that can no longer win.
func (s *Search) drop() {
	var all []*Trial
	for i := range s.trials {
		if t := &s.trials[i]; t.Outcome == Proven {
			all = append(all, t)
		} else {
			s.release(t)
		}
	}
	most, best := mostPairs(all), 0.0
	for _, t := range all {
		best = max(best, s.worth(t, most))
	}
	for _, t := range all {
		if s.worth(t, most) < best*keep {
			s.release(t)
		}
	}
}

// release lets the tables of a trial go.
func (s *Search) release(t *Trial) {
	if t.held {
		t.held, t.tables = false, nil
		s.router.Drop(t.Engine)
	}
}

// choice is the best trial, and how it was found; empty: none is proven.
func (s *Search) choice() (engine string, c *Choice) {
	r := s.rank()
	c = &Choice{Trials: slices.Clone(s.trials), Aim: s.aim(), Meter: s.meter}
	for i := range c.Trials {
		if c.Trials[i].Outcome == Stopped {
			c.Stopped++
		}
	}
	if r.won == nil {
		return "", c
	}
	c.Why = s.why(r, c.Stopped)
	return r.won.Engine, c
}

// aim is the name of what trials are ranked by.
func (s *Search) aim() string {
	if s.served() {
		return option.Demands.String()
	}
	return s.Options.Aim.String()
}

// Outcome is what came of trying an engine.
type Outcome uint8

// The outcomes.
const (
	Proven  Outcome = iota // free of deadlock under the contract
	Loop                   // has a credit loop under the contract
	Refused                // by the engine, or not accepted
	Skipped                // not tried: it would take more than is left of the budget, or not heed weights of hosts
	Stopped                // not begun, or not finished, when the clock reached the limit
)

func (o Outcome) String() string {
	return [...]string{"proven", "credit-loop", "refused", "skipped", "stopped"}[o]
}

// Trial is what became of one engine that auto tried.
type Trial struct {
	Engine  string
	Outcome Outcome
	Why     string        // of a refusal, a skip or a stop
	VLs     int           // lanes needed
	SLs     int           // service levels given out
	Figures               // where it is proven
	MaxLoad uint32        // routes on the fullest channel
	Wider   bool          // proven with aggregation nodes and routers as endpoints too, or there are none
	Spent   time.Duration // measured, and as long as the clock stops nothing the only thing that differs from run to run

	place  int             // in the order of trying
	simple int             // in the order of the table of engines, which begins with the simplest
	safe   bool            // its engine makes no credit loop on any network
	held   bool            // proven, and it can still win
	tables *routing.Tables // as long as it is held
}

// try has one engine route, and measures what is proven. An error is one that ends the
// search; a refusal is an outcome.
func (s *Search) try(ctx context.Context, e engines.Engine, t *Trial) error {
	began := time.Now()
	defer func() { t.Spent = time.Since(began) }()
	made, err := s.router.Route(ctx, e, onOneLane(e, s.Contract))
	if rule := (*routing.Refusal)(nil); errors.As(err, &rule) {
		t.Outcome, t.Why = Refused, rule.Brief()
		return nil
	}
	if routing.Refused(err) {
		t.Outcome, t.Why = Refused, err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	t.VLs, t.SLs, t.MaxLoad = made.Tables.Lanes.Needed, made.Verdict.SLs, made.Loads.Max
	if !made.Verdict.Free() {
		t.Outcome = Loop
		return nil
	}
	t.held, t.Wider = true, made.Wider == nil || made.Wider.Free()
	if len(s.meter.Endpoints) > 1 {
		if t.Figures, err = s.measure(ctx, made.Tables); err != nil {
			return err
		}
		t.tables = made.Tables
	}
	if no := s.router.Accept(t.Engine); no != nil {
		t.Outcome, t.Why = Refused, no.Error()
	}
	return nil
}

// A glance is a part of what is measured: one in so many of patterns and phases. What is
// worth less than farBehind of the best by it is not measured further: it is dropped at keep,
// and phases, which one in eight of them tells to a few hundredths, count for a tenth.
const (
	glance    = 8
	farBehind = 0.95
	manyHosts = 2000 // with fewer, all that is measured takes no time
)

// measure measures tables as far as they can win, and not what was measured before.
func (s *Search) measure(ctx context.Context, t *routing.Tables) (Figures, error) {
	most := 0.0
	for i := range s.trials {
		if was := &s.trials[i]; was.held && was.tables != nil {
			if s.samePaths(was.tables, t) {
				return was.Figures, ctx.Err()
			}
			most = max(most, was.Lambda)
		}
	}
	if len(s.meter.Endpoints) < manyHosts || s.served() || s.Options.Aim == engines.AllToAll || s.Options.Aim == engines.Shifts {
		return s.meter.Measure(ctx, t)
	}
	best := 0.0
	for i := range s.trials {
		if was := &s.trials[i]; was.held {
			best = max(best, s.worth(was, most))
		}
	}
	if best > 0 {
		m := s.meter
		m.Runs, m.Phases = (m.Runs+glance-1)/glance, (m.PhasesOf()+glance-1)/glance
		if part, err := m.Measure(ctx, t); err != nil || s.worth(&Trial{Figures: part}, most) < best*farBehind {
			return part, err
		}
	}
	return s.meter.Measure(ctx, t)
}

// samePaths reports whether hosts reach each other on the same paths by two tables, so that
// they measure alike.
func (s *Search) samePaths(a, b *routing.Tables) bool {
	if a.Groups != nil || b.Groups != nil || a.HasWithheld() || b.HasWithheld() {
		return false
	}
	for _, e := range s.meter.Endpoints {
		for lid := range s.fabric.Endpoint(e).LIDs() {
			if !slices.Equal(a.Forwarding.Row(lid), b.Forwarding.Row(lid)) {
				return false
			}
		}
	}
	return true
}

// Figures is how good tables are, whoever made them.
type Figures struct {
	Lambda float64 // effective bisection bandwidth: what pairs of hosts drawn at random get, of full
	StdErr float64 // of Lambda
	Shifts []Shift // by order of ranks, as in Meter

	// Traffic is how long the fullest channel takes for the demands of the Meter, and
	// TrafficMean in the mean over bytes the fullest on their way, if all are busy all the
	// time; in units of the fullest link of a host. 0: none are given.
	Traffic, TrafficMean float64
}

// Shift is how long all to all in phases takes with the ranks in an order: in phase k,
// rank i sends to i+k, and each phase waits for its slowest flow.
type Shift struct {
	Order string
	Time  float64 // a multiple of what it would take without other flows; 0: a pair has no route
}

// Meter measures tables, all of them alike. It needs at least two endpoints.
type Meter struct {
	Endpoints []fabric.EndpointID
	Orders    []engines.RankOrder // of ranks; see Orders
	Uniform   bool                // treat all links alike
	Seed      uint64              // of random pairs
	Runs      int                 // bisections at most; 0: as many as Precision takes
	Precision float64             // standard error of Lambda at which bisections end; 0: Runs alone decides
	Phases    int                 // of all to all, spread evenly, at most; 0: all
	Demands   []engines.Demand    // traffic that is measured too; nil: none is known
	Stage     func(what string) (p routing.Progress, done func())
}

// Orders is the orders of ranks by which tables are measured: by switch and port, by the
// names of hosts, as schedulers hand them out, and at random.
func Orders(f *fabric.Fabric, endpoints []fabric.EndpointID, seed uint64) ([]engines.RankOrder, error) {
	var orders []engines.RankOrder
	for _, name := range []string{"switch", "name", "random"} {
		ranks, err := traffic.Place(name, f, endpoints, seed)
		if err != nil {
			return nil, err
		}
		orders = append(orders, engines.RankOrder{Name: name, Ranks: ranks})
	}
	return orders, nil
}

// PhasesOf is how many phases of all to all are counted.
func (m *Meter) PhasesOf() int {
	all := max(0, len(m.Endpoints)-1)
	if m.Phases == 0 {
		return all
	}
	return min(m.Phases, all)
}

// Measure measures tables.
func (m *Meter) Measure(ctx context.Context, t *routing.Tables) (Figures, error) {
	o := congestion.Options{
		Pattern: traffic.Bisection(), Placement: m.Endpoints, UniformRates: m.Uniform, Seed: m.Seed, Runs: m.Runs, Precision: m.Precision,
	}
	b, err := m.simulate(ctx, "bisections", t, o)
	if err != nil {
		return Figures{}, err
	}
	x := Figures{Lambda: b.Lambda, StdErr: b.StdErr, Shifts: make([]Shift, len(m.Orders))}
	if o.Pattern, err = traffic.Parse(fmt.Sprintf("shifts:phases=%d", m.Phases)); err != nil {
		return x, err
	}
	for i, order := range m.Orders {
		x.Shifts[i].Order = order.Name
		same := slices.IndexFunc(m.Orders[:i], func(before engines.RankOrder) bool { return slices.Equal(before.Ranks, order.Ranks) })
		if same >= 0 {
			x.Shifts[i].Time = x.Shifts[same].Time
			continue
		}
		if len(order.Ranks) < 2 {
			continue
		}
		o.Placement = order.Ranks
		s, err := m.simulate(ctx, "all to all by "+order.Name, t, o)
		if err != nil {
			return x, err
		}
		if took := s.Slowdown(); !math.IsInf(took, 0) && !math.IsNaN(took) {
			x.Shifts[i].Time = took
		}
	}
	if len(m.Demands) > 0 {
		err = m.serve(ctx, t, &x)
	}
	return x, err
}

// serve measures the demands.
func (m *Meter) serve(ctx context.Context, t *routing.Tables, x *Figures) error {
	o := congestion.Options{UniformRates: m.Uniform}
	rank := map[fabric.EndpointID]int32{}
	rankOf := func(e fabric.EndpointID) int32 {
		k, ok := rank[e]
		if !ok {
			k = int32(len(o.Placement))
			rank[e], o.Placement = k, append(o.Placement, e)
		}
		return k
	}
	pairs := make([]traffic.Pair, len(m.Demands))
	for i, d := range m.Demands {
		pairs[i] = traffic.Pair{From: rankOf(d.From), To: rankOf(d.To), Bytes: d.Bytes}
	}
	o.Pattern = traffic.Pairs("demands", len(o.Placement), pairs)
	c, err := congestion.TimesOf(ctx, t, o)
	if err == nil {
		x.Traffic, x.TrafficMean = c.Time, c.Mean
	}
	return err
}

func (m *Meter) simulate(ctx context.Context, what string, t *routing.Tables, o congestion.Options) (*congestion.Result, error) {
	if m.Stage != nil {
		p, done := m.Stage(what)
		defer done()
		o.Progress = p
	}
	return congestion.Simulate(ctx, t, o)
}

// How proven trials are ranked. The aim makes one number of the figures of each. What is
// as good as the best by that is told apart by one criterion after another. Then lanes
// that cost nothing are saved: what needs fewer, and is at most cheap worse in every
// figure that the aim is about, is taken instead. At last nothing is passed over that is
// nowhere worse than what is left, lanes included, and somewhere better.

// Differences below which figures count as equal: they are measured on samples.
const (
	alike     = 0.002 // of Λ, which is at most 1
	alikeTime = 0.01  // of times, relative
)

// cheap is what a lane fewer may cost in each figure of the aim, relative.
const cheap = 0.01

// keep is the worth of a trial, relative to the best, below which it can no longer win
// and its tables are dropped.
const keep = 0.97

// logTime is the mean logarithm of the times of phases, in the orders that the aim is
// about; 0 where pairs have no route, which is so of all tables of a network in parts.
func (s *Search) logTime(t *Trial) float64 {
	sum := 0.0
	for _, time := range s.times(t) {
		sum += math.Log(time)
	}
	return sum / float64(max(1, len(s.aimed)))
}

// times is the times of phases in the orders that the aim is about.
func (s *Search) times(t *Trial) []float64 {
	all := make([]float64, len(s.aimed))
	for i, order := range s.aimed {
		all[i] = 1
		if order < len(t.Shifts) && t.Shifts[order].Time > 0 {
			all[i] = t.Shifts[order].Time
		}
	}
	return all
}

// worth is one number for the aim, the more the better; most is the bandwidth of the best.
func (s *Search) worth(t *Trial, most float64) float64 {
	if s.served() {
		return balance.WorthOfTraffic(t.Traffic, t.TrafficMean)
	}
	if s.Options.Aim == engines.AllToAll {
		return 1 / float64(max(1, t.MaxLoad))
	}
	return s.Options.Aim.Worth(t.Lambda, most, s.times(t))
}

// served says that the aim is the traffic given.
func (s *Search) served() bool { return len(s.Options.Demands) > 0 }

// mostPairs is the most bandwidth of any trial.
func mostPairs(all []*Trial) float64 {
	most := 0.0
	for _, t := range all {
		most = max(most, t.Lambda)
	}
	return most
}

// criterion tells trials apart that are as good by the aim: the least cost stays, and what
// costs at most slack more.
type criterion struct {
	how   string // what is said of those that stay
	slack float64
	cost  func(*Trial) float64
}

// criteria is in which order trials are told apart.
func (s *Search) criteria() []criterion {
	wider := criterion{"is proven for aggregation nodes and routers too", 0, func(t *Trial) float64 {
		if t.Wider {
			return 0
		}
		return 1
	}}
	bandwidth := criterion{"has more bandwidth for random pairs", alike, func(t *Trial) float64 { return -t.Lambda }}
	phases := criterion{"takes less time for phases", math.Log(1 + alikeTime), s.logTime}
	lanes := criterion{"needs fewer lanes", 0, func(t *Trial) float64 { return float64(t.VLs) }}
	safe := criterion{"makes no credit loop on any network", 0, func(t *Trial) float64 {
		if t.safe {
			return 0
		}
		return 1
	}}
	simple := criterion{"is the simplest", 0, func(t *Trial) float64 { return float64(t.simple) }}
	switch {
	case s.served():
		return []criterion{wider, bandwidth, phases, lanes, safe, simple}
	case s.Options.Aim == engines.Shifts:
		return []criterion{wider, bandwidth, lanes, safe, simple}
	case s.Options.Aim == engines.AllToAll:
		return []criterion{wider, bandwidth, phases, lanes, safe, simple}
	}
	return []criterion{wider, phases, lanes, safe, simple}
}

// standing is how trials rank at present.
type standing struct {
	won   *Trial
	equal []*Trial // as good as it by the aim, or as what it was taken for
	how   []string // what told them apart
	saves *Trial   // what won needs fewer lanes than, and is next to as good as; or nil
	beats *Trial   // what would have won, had won not been nowhere worse and somewhere better; or nil
}

// rank ranks the trials that can win; won is nil if nothing is proven.
func (s *Search) rank() (r standing) {
	var all []*Trial
	for i := range s.trials {
		if t := &s.trials[i]; t.held {
			all = append(all, t)
		}
	}
	if len(all) == 0 {
		return r
	}
	most := mostPairs(all)
	worth := func(t *Trial) float64 { return s.worth(t, most) }
	slack := alike
	switch {
	case s.served(), s.Options.Aim == engines.AllToAll: // counted, not sampled
		slack = 0
	case s.Options.Aim == engines.Shifts:
		slack = alikeTime * worth(slices.MaxFunc(all, by(worth)))
	}
	r.equal = within(all, slack, func(t *Trial) float64 { return -worth(t) })
	left := r.equal
	for _, c := range s.criteria() {
		if len(left) == 1 {
			break
		}
		if rest := within(left, c.slack, c.cost); len(rest) < len(left) {
			left, r.how = rest, append(r.how, c.how)
		}
	}
	r.won = left[0]
	if fewer := s.cheaper(all, r.won); len(fewer) > 0 {
		fewer = within(fewer, 0, func(t *Trial) float64 { return float64(t.VLs) })
		r.saves, r.won = r.won, slices.MaxFunc(fewer, by(worth))
	}
	for {
		better := slices.DeleteFunc(slices.Clone(all), func(t *Trial) bool { return !s.dominates(t, r.won) })
		if len(better) == 0 {
			break
		}
		r.beats, r.won = r.won, slices.MaxFunc(better, by(worth))
	}
	return r
}

// by orders trials by a number, of equals the simpler last.
func by(worth func(*Trial) float64) func(a, b *Trial) int {
	return func(a, b *Trial) int {
		switch x, y := worth(a), worth(b); {
		case x < y || x == y && a.simple > b.simple:
			return -1
		case x > y || a.simple < b.simple:
			return 1
		}
		return 0
	}
}

// within is the trials of the least cost, and those that cost at most slack more.
func within(all []*Trial, slack float64, cost func(*Trial) float64) (list []*Trial) {
	least := math.Inf(1)
	for _, t := range all {
		least = min(least, cost(t))
	}
	for _, t := range all {
		if cost(t) <= least+slack {
			list = append(list, t)
		}
	}
	return list
}

// cheaper is the trials that need fewer lanes than another, and are at most cheap worse
// in every figure that the aim is about.
func (s *Search) cheaper(all []*Trial, than *Trial) (list []*Trial) {
	for _, t := range all {
		ok := t.VLs < than.VLs && (t.Wider || !than.Wider)
		switch aim := s.Options.Aim; {
		case s.served():
			ok = ok && t.Traffic <= than.Traffic*(1+cheap) && t.TrafficMean <= than.TrafficMean*(1+cheap)
		case aim == engines.AllToAll:
			ok = ok && float64(t.MaxLoad) <= float64(than.MaxLoad)*(1+cheap)
		case aim != engines.Shifts:
			ok = ok && t.Lambda >= than.Lambda*(1-cheap)
		}
		if aim := s.Options.Aim; !s.served() && (aim == engines.Mixed || aim == engines.Shifts) {
			theirs := s.times(than)
			for i, time := range s.times(t) {
				ok = ok && time <= theirs[i]*(1+cheap)
			}
		}
		if ok {
			list = append(list, t)
		}
	}
	return list
}

// dominates reports whether a trial is nowhere worse than another, in random pairs, in phases
// by switch and by name and in lanes, and in one of these better by more than chance.
func (s *Search) dominates(t, than *Trial) bool {
	if t.Lambda < than.Lambda || t.VLs > than.VLs || than.Wider && !t.Wider || s.Options.Aim == engines.AllToAll && t.MaxLoad > than.MaxLoad ||
		t.Traffic > than.Traffic || t.TrafficMean > than.TrafficMean {
		return false
	}
	better := t.Lambda > than.Lambda+alike || t.VLs < than.VLs
	theirs := s.times(than)
	for i, time := range s.times(t) {
		if time > theirs[i] {
			return false
		}
		better = better || time*(1+alikeTime) < theirs[i]
	}
	return better
}

// why is the sentence that says why a trial won. stopped is how many the clock kept
// from being tried.
func (s *Search) why(r standing, stopped int) string {
	var b strings.Builder
	proven, contract := 0, s.Contract
	for i := range s.trials {
		if s.trials[i].Outcome == Proven {
			proven++
		}
	}
	if proven == 1 {
		fmt.Fprintf(&b, "%s is the only engine tried that is proven under contract %s", r.won.Engine, contract)
	} else {
		fmt.Fprintf(&b, "of the %d engines proven under contract %s, %s", proven, contract, s.reason(r))
	}
	if next := s.next(r); next != nil && proven > 1 {
		fmt.Fprintf(&b, "; the next is %s%s", next.Engine, s.behind(next, r.won))
	}
	if stopped > 0 {
		fmt.Fprintf(&b, "; the clock ended the search, %d not tried: another run may choose otherwise", stopped)
	}
	return b.String()
}

// reason is why a trial won over the other proven ones.
func (s *Search) reason(r standing) string {
	switch {
	case r.beats != nil:
		return fmt.Sprintf("%s is nowhere behind %s, and ahead in some of random pairs, phases and lanes", r.won.Engine, r.beats.Engine)
	case r.saves != nil:
		return fmt.Sprintf("%s is at most %.0f %% behind %s, which %s, and needs fewer lanes, %d in place of %d",
			r.won.Engine, 100*cheap, r.saves.Engine, s.best(), r.won.VLs, r.saves.VLs)
	case len(r.equal) == 1:
		return fmt.Sprintf("%s %s", r.won.Engine, s.best())
	}
	as := "is as good as " + names(r.equal, r.won)
	if len(s.meter.Endpoints) < 2 {
		as = "comes before " + names(r.equal, r.won) + ", as there is no bandwidth to compare"
	}
	return fmt.Sprintf("%s %s, and of these it %s", r.won.Engine, as, strings.Join(r.how, ", "))
}

// best is what is said of the best for the aim.
func (s *Search) best() string {
	if s.served() {
		return "is best for the traffic given"
	}
	switch s.Options.Aim {
	case engines.Bisection:
		return "has the most bandwidth for random pairs"
	case engines.Shifts:
		return "takes the least time for phases"
	case engines.AllToAll:
		return "has the least on its fullest channel"
	}
	return "is best for random pairs and phases together"
}

// next is the best of those that are not as good as what won.
func (s *Search) next(r standing) (next *Trial) {
	out := map[*Trial]bool{r.won: true, r.saves: true, r.beats: true}
	for _, t := range r.equal {
		out[t] = true
	}
	for i := range s.trials {
		t := &s.trials[i]
		if t.Outcome == Proven && !out[t] && (next == nil || s.worth(t, r.won.Lambda) > s.worth(next, r.won.Lambda)) {
			next = t
		}
	}
	return next
}

// behind is by how much a trial is behind, where the aim is about one figure.
func (s *Search) behind(next, won *Trial) string {
	worth, best := s.worth(next, 0), s.worth(won, 0)
	switch {
	case s.served() || s.Options.Aim == engines.Mixed || worth <= 0 || worth > best:
		return ""
	case s.Options.Aim == engines.Bisection:
		return fmt.Sprintf(", with %.1f %% less", 100*(1-worth/best))
	case s.Options.Aim == engines.Shifts:
		return fmt.Sprintf(", which takes %.0f %% longer", 100*(best/worth-1))
	}
	return fmt.Sprintf(", with %.0f %% more", 100*(best/worth-1))
}

func names(trials []*Trial, but *Trial) string {
	var n []string
	for _, t := range trials {
		if t != but {
			n = append(n, t.Engine)
		}
	}
	return strings.Join(n, ", ")
}

// Candidates is the engines that auto tries, by their places.
func Candidates() []engines.Engine {
	all := slices.DeleteFunc(engines.All(), func(e engines.Engine) bool { return e.Auto.Place == 0 })
	slices.SortFunc(all, func(a, b engines.Engine) int { return cmp.Compare(a.Auto.Place, b.Auto.Place) })
	return all
}

// Estimates for other parts of the work: judging and simulating tables, and making
// balanced paths, once for all engines that begin with them.
var (
	judging   = engines.Auto{Cost: 70, Search: 150 * time.Millisecond}
	balancing = engines.Auto{Cost: 50, Search: 1500 * time.Millisecond}
)

// searching is the nanoseconds per switch and LID of an engine's search, as long as its
// limit is not reached.
const searching = 6000

// shaping is the options for which balanced paths are made. Other engines do not use
// them.
const shaping = option.Aim | option.Weights

// Balanced reports whether an engine begins with balanced paths.
func Balanced(e engines.Engine) bool { return e.Uses&shaping != 0 }

// deaf says that an engine would make the same tables whatever weights of hosts are set,
// which no measurement of auto knows of.
func deaf(e engines.Engine, o engines.Options) bool {
	return o.Given()&option.Weights&^e.Uses != 0
}

// simplicity is the place of an engine in the table of all, which begins with the simplest.
func simplicity(name string) int {
	return slices.IndexFunc(engines.All(), func(e engines.Engine) bool { return e.Name == name })
}

// onOneLane says that an engine is safe under a contract on a single lane only.
func onOneLane(e engines.Engine, contract routing.Contract) bool {
	_, fixed := contract.FixedMask()
	return fixed && e.AnyOnOneLane
}

// Fits reports whether an engine could be proven under a contract.
func Fits(e engines.Engine, contract routing.Contract) bool {
	_, fixed := contract.FixedMask()
	return !fixed || e.AnyOnOneLane || e.Contract == routing.Any
}

// expected is how long a part of the work is expected to take. All parts go through the
// switches for every LID.
func expected(a engines.Auto, f *fabric.Fabric) time.Duration {
	work := 0
	for range f.LIDs() {
		work += f.Switches()
	}
	return time.Duration(work*a.Cost) + min(a.Search, time.Duration(work*searching))
}

// Estimate is how long it takes to route with an engine, to judge the tables and to
// simulate them. ready says that balanced paths have been made.
func Estimate(e engines.Engine, f *fabric.Fabric, ready bool) time.Duration {
	d := expected(e.Auto, f) + expected(judging, f)
	if Balanced(e) && !ready {
		d += expected(balancing, f)
	}
	return d
}

// DefaultTime is the default budget of time: ten seconds or, on large networks, the
// expected time of the engines that are best on most of them.
func DefaultTime(f *fabric.Fabric) time.Duration {
	d, ready := time.Duration(0), false
	for _, e := range Candidates() {
		if e.Auto.Sure || Balanced(e) {
			d += Estimate(e, f, ready)
			ready = ready || Balanced(e)
		}
	}
	return max(leastTime, d)
}
