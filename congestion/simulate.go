package congestion

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/capacity"
	"github.com/weft-fabric/weft/internal/par"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// Model says what bandwidth the flows on a channel get.
type Model uint8

const (
	// Bottleneck is the model of the papers: a flow gets the smallest share on its route,
	// where the share on a channel is its rate divided by the number of its flows. What
	// other flows on a channel leave unused, because they are slower elsewhere, is lost.
	Bottleneck Model = iota

	// MaxMin is the max-min fair share, found by progressive filling (D. Bertsekas, R.
	// Gallager: Data Networks, 2nd ed., 1992, section 6.5.2): no flow can get more except
	// at the cost of one that has as much or less.
	MaxMin
)

func (m Model) String() string { return [...]string{"bottleneck", "maxmin"}[m] }

// ParseModel reads bottleneck or maxmin.
func ParseModel(s string) (Model, error) {
	for _, m := range [...]Model{Bottleneck, MaxMin} {
		if s == m.String() {
			return m, nil
		}
	}
	return 0, fmt.Errorf("a bandwidth model is bottleneck or maxmin, not %q", s)
}

// Limits of the number of runs.
const (
	// DefaultPrecision is the standard error at which runs end if neither their number nor
	// a precision is given.
	DefaultPrecision = 0.001
	// mostRuns is the number of runs after which it ends in any case.
	mostRuns = 1_000_000

	// round is how many runs there are between two checks of the precision.
	round = 256
)

// Options says what to simulate.
type Options struct {
	Pattern   traffic.Pattern
	Placement traffic.Placement

	Model        Model
	UniformRates bool   // give all links the same rate, as in the papers
	Seed         uint64 // run k draws from traffic.Stream(Seed, k)

	// Runs is the number of runs of a random pattern. 0: until the standard error of
	// Lambda is at most Precision; with both, whatever comes first. A pattern that is not
	// random has one run.
	Runs      int
	Precision float64 // 0: DefaultPrecision if Runs is 0 too

	Progress routing.Progress // of runs, or of phases of a pattern that is not random

	// Tiers, if not nil, is for which trunks together Result.Tiers says what they let
	// through; it does not change what flows get.
	Tiers *TrunkTiers
}

// bins is the number of bins of bandwidths, from none to full.
const bins = 20

// Result is what a simulation found, over all runs.
type Result struct {
	// Lambda is the mean bandwidth as a fraction of full, which is what the flows would
	// get if each were alone. For the pattern bisect it is the effective bisection
	// bandwidth. It is the mean over runs of the sum over flows, divided by the sum if
	// each were alone. A pair without a route counts, with bandwidth 0.
	Lambda float64
	StdErr float64 // of Lambda: the standard deviation of runs divided by √Runs
	Runs   int
	Phases int // of each run

	Flows  int64  // with a route, over all runs and phases
	Lost   int64  // pairs without a route, likewise
	Local  int64  // pairs whose ranks share an endpoint; they are not flows
	Losses []Lost // the first few pairs without a route, each once

	Congestion    []int64     // [flows on the fullest channel of the route] number of flows
	Bandwidth     [bins]int64 // number of flows by bandwidth as a fraction of full; those without a route are in the first bin
	MaxCongestion int         // most flows on one channel at a time, rounded up
	Worst         Flow        // the flow with the least bandwidth, the first of equals

	Sum  []float64 // [ChannelID] flows, over all runs and phases
	Most []float64 // [ChannelID] the most flows at a time

	Tiers []TierFlows // [tier of Options.Tiers]

	// Time is the mean duration of a run if every pair sends the same amount (or
	// Pair.Bytes) and every phase waits for the slowest flow of the phase before. Ideal is
	// the same without any other flow. The unit is the time that the fastest link takes
	// for what a pair sends (or for a byte). Both are infinite if a pair has no route.
	Time, Ideal float64

	Weighed bool // the pairs state their bytes
	Uniform bool // all links were treated alike
	Mbps    int  // the rate of the fastest link; 0: not known
	Split   bool // flows are split where switches choose
	Table   bool // routes were looked up in a table instead of walked; this changes no figure
}

// TrunkTiers is which trunk is of which tier, as Simulate shall tell them apart: those of a tree by the levels
// of switches, from the lowest up.
type TrunkTiers struct {
	Levels [][2]int // [tier] the levels from and to which its trunks lead
	Of     []int32  // [trunk] its tier; -1: none
}

// TierFlows is the flows that cross a tier, over all runs and phases.
type TierFlows struct {
	Flows int64

	// Share is the mean, over these flows, of the least share of a channel of the tier, as
	// a fraction of full: what they would get if all other channels had room for everything.
	// 0 if there are none.
	Share float64
}

// Slowdown is how many times as long a run takes as it would if each flow were alone.
func (r *Result) Slowdown() float64 { return r.Time / r.Ideal }

// Lost is a pair of endpoints without a route.
type Lost struct{ From, To fabric.EndpointID }

// Flow is a flow of one random pattern, and what it got.
type Flow struct {
	From, To  fabric.EndpointID
	Bandwidth float64            // a fraction of full
	Route     []fabric.ChannelID // from the source to the destination
	Load      []float64          // flows on these
	Share     []float64          // the part of it on these; nil: all of it
	Run       int
	Phase     int
	at        runPhase
	pair      int
}

// job is a call of Simulate or TimesOf: what its workers share and only read.
type job struct {
	Options
	routes   *routes
	ahead    *ahead    // nil: routes are looked up in the table, or split
	random   bool      // the pattern is
	phases   int       // of a run
	uniform  bool      // all links are treated alike
	mbps     int       // of the fastest link; 0: not known
	units    float64   // how many a flow has: 1, or splitUnits
	capacity []float64 // [ChannelID] rate, as a fraction of the fastest link's
	out, in  []float64 // [site] rate of its channels, 1 without
}

// Simulate counts flows. Every run of the pattern is laid on the routes of the tables;
// the number of flows that meet on each channel decides their bandwidths. A run takes
// O(F·h) for F flows of h hops with the model Bottleneck, and O(F·h·log C) on C
// channels with MaxMin. Unless there is little to simulate, it first makes a table of
// all routes between the endpoints of the placement: O(P·s·h) for P endpoints on s
// switches.
//
// The same options and tables give the same result, bit for bit, on any number of
// cores. It refuses placements without endpoints, patterns that do not exist for so
// many ranks, and placements in which every pair shares an endpoint. The error is the
// context's if that ends.
func Simulate(ctx context.Context, t *routing.Tables, o Options) (*Result, error) {
	j, err := newJob(t, o)
	if err != nil {
		return nil, err
	}
	if err := j.routes.makeTable(ctx, j.flowsToCome()); err != nil {
		return nil, err
	}
	if j.routes.table == nil && j.routes.fan == nil {
		j.ahead = j.newAhead()
	}
	return j.simulate(ctx)
}

// newJob checks options, and prepares all of a job but the table of routes and ahead.
func newJob(t *routing.Tables, o Options) (*job, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	if len(o.Placement) == 0 {
		return nil, errors.New("the placement is empty: no rank runs anywhere")
	}
	for rank, e := range o.Placement {
		if e < 0 || int(e) >= len(t.Fabric.Endpoints()) {
			return nil, fmt.Errorf("rank %d is on endpoint %d; the fabric has %d", rank, e, len(t.Fabric.Endpoints()))
		}
	}
	if o.Runs < 0 || o.Precision < 0 || math.IsNaN(o.Precision) {
		return nil, fmt.Errorf("%d runs, precision %g; neither can be negative", o.Runs, o.Precision)
	}
	if o.Runs == 0 && o.Precision == 0 {
		o.Precision = DefaultPrecision
	}
	if o.Runs == 0 || o.Runs > mostRuns {
		o.Runs = mostRuns
	}
	j := &job{Options: o, routes: newRoutes(t, o.Placement), random: o.Pattern.Random(), units: 1}
	if t.Groups != nil {
		j.units = splitUnits
	}
	var err error
	if j.phases, err = o.Pattern.Phases(len(o.Placement)); err != nil {
		return nil, err
	}
	j.setRates()
	return j, nil
}

// flowsToCome estimates the number of flows, as if every phase had as many as the
// first.
func (j *job) flowsToCome() int64 {
	runs := 1
	if j.random {
		runs = j.Runs
		if j.Precision > 0 {
			runs = min(runs, 4*round)
		}
	}
	return int64(j.flowsInPhase()) * int64(j.phases) * int64(runs)
}

// flowsInPhase is the number of pairs in the first phase of the first run.
func (j *job) flowsInPhase() int {
	return len(j.Pattern.Append(nil, len(j.routes.rank), 0, traffic.Stream(j.Seed, 0)))
}

// setRates sets capacity, mbps, uniform, out and in.
func (j *job) setRates() {
	j.capacity, j.mbps, j.uniform = capacity.Of(j.routes.tables.Fabric, j.routes.sites, j.UniformRates)
	at := func(c fabric.ChannelID) float64 {
		if c == fabric.None {
			return 1
		}
		return j.capacity[c]
	}
	for site := range j.routes.sites {
		j.out = append(j.out, at(j.routes.inject[site]))
		j.in = append(j.in, at(j.routes.deliver[site]))
	}
}

// whole is units as a number of flows, rounded up, except that a thousandth of a flow too much, which
// comes of dividing units, does not count.
func (j *job) whole(load uint64) uint32 {
	if j.units == 1 {
		return uint32(load)
	}
	return uint32((load + splitUnits - 1 - splitUnits>>10) / splitUnits)
}

// simulate has the workers go through all units, round by round, until there are enough.
func (j *job) simulate(ctx context.Context) (*Result, error) {
	units, step := j.phases, j.phases // in all, and between two checks of the precision
	if j.random {
		units, step = j.Runs, round
	}
	workers := make([]*worker, par.Workers(min(units, step)))
	for i := range workers {
		workers[i] = j.newWorker()
	}
	var all tally
	outcomes := make([]outcome, min(units, step))
	if j.Tiers != nil {
		for i := range outcomes {
			outcomes[i].tiers = make([]TierFlows, len(j.Tiers.Levels))
		}
		all.tiers = make([]TierFlows, len(j.Tiers.Levels))
	}
	for done := 0; done < units; done += len(outcomes) {
		outcomes = outcomes[:min(len(outcomes), units-done)]
		if err := j.run(ctx, workers, outcomes, done); err != nil {
			return nil, err
		}
		for i := range outcomes {
			all.add(&outcomes[i])
		}
		if j.random && j.Precision > 0 && all.stdErr() <= j.Precision {
			break
		}
	}
	return j.result(&all, workers)
}

// run simulates as many units as there are outcomes, from one on, into these.
func (j *job) run(ctx context.Context, workers []*worker, outcomes []outcome, from int) error {
	units := j.phases
	if j.random {
		units = j.Runs
	}
	some := len(outcomes)
	for first := 0; first < len(outcomes); first += some {
		if j.ahead != nil {
			some = min(j.ahead.units, len(outcomes)-first)
			if err := j.walkAhead(ctx, from+first, some); err != nil {
				return err
			}
		}
		err := par.For(ctx, some, func(worker, i int) {
			workers[worker].run(&outcomes[first+i], from+first+i)
			if worker == 0 {
				j.Progress.Report(from+first+i, units)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
