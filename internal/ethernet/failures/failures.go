// Package failures asks what becomes of a network when a link or a device fails: whether the
// routes that BGP computes then, or what the network holds while they change, let pauses
// wait for each other in a circle, and who is cut off.
//
// Routes are computed anew for the classes that a failure concerns; where a device only
// loses some of several next hops and still announces the same path, nothing else changes.
// What is new is first judged together with everything that was there before: if that is
// free of circles, so is any part of it. Only where it is not, the network is judged whole; and so is
// every network whose devices change priorities or wrap packets, or whose links differ in them.
//
// While BGP converges, each device forwards by the routes of before or those of after, at
// any time either. So the union of both at every device is judged, without what is down. This is
// the argument of package transition, but not its code: that judges forwarding tables of
// InfiniBand, with one port for each destination and service levels and SL2VL maps beside, into
// which sets of next hops and priorities by DSCP do not fit. What is not covered is routes that are
// neither those before nor those after: longer paths that BGP tries in between.
package failures

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/judge"
	"github.com/weft-fabric/weft/internal/ethernet/bgp"
)

// Kind is what fails.
type Kind uint8

// The kinds of failures.
const (
	Links    Kind = iota // each cable
	Switches             // each device
	TwoLinks             // each pair of cables
)

var kinds = []string{"links", "switches", "2-links"}

func (k Kind) String() string { return kinds[k] }

// ParseKind finds a kind by name.
func ParseKind(word string) (Kind, error) {
	i := slices.Index(kinds, word)
	if i < 0 {
		return 0, fmt.Errorf("failures are of links, switches or 2-links, not %q", word)
	}
	return Kind(i), nil
}

// Options are usable as zero: each cable in turn, judged as the network is after it has failed.
type Options struct {
	Kind       Kind
	Converging bool // judge what the network holds during the change, not after it
	Samples    int  // pairs of cables to try at most, drawn at random where there are more; 0: 10,000
	Seed       uint64
	Most       int                   // findings that come with a verdict; 0: 10
	Progress   func(done, total int) // may be nil
}

// Failure is what fails together.
type Failure struct {
	Links  []ethernet.LinkID // a direction of each cable
	Device ethernet.DeviceID // None: no device
}

// Finding is a failure that opens a loop or cuts a pair.
type Finding struct {
	Failure
	Loop    bool
	Cut     int64          // pairs of prefixes that had a route and have none
	Verdict *judge.Verdict // of the first findings with a loop; nil otherwise
}

// Report is what Run found, worst failures first.
type Report struct {
	Before    bool      // there is a loop before anything fails
	Tried, Of int       // failures; Of counts all, where only some were drawn
	Loops     int       // failures that open a loop
	Cuts      int       // failures that cut a pair
	Findings  []Finding // those with a loop or a pair cut, the worst first
}

// trial is everything that failures are tried on.
type trial struct {
	plan     *bgp.Plan
	n        *ethernet.Network // with the routes of the plan
	o        Options
	base     *judge.Base // nil where each failure is judged as a network of its own
	before   bool        // there is a loop before anything fails
	announce [][]uint64  // [class][DeviceID] see bgp.Computer
	known    [][]uint64  // [class] devices that know it, as bits; nil where it is of no pin
	senders  []ethernet.Sender
}

// Run tries failures on a network whose classes have the routes of the plan.
func Run(ctx context.Context, plan *bgp.Plan, n *ethernet.Network, o Options) (*Report, error) {
	if o.Samples == 0 {
		o.Samples = 10_000
	}
	if o.Most == 0 {
		o.Most = 10
	}
	t := &trial{plan: plan, n: n, o: o, senders: n.Senders(ethernet.HostScope)}
	if err := t.judge(ctx); err != nil {
		return nil, err
	}
	t.prepare()
	all, of := t.failures()
	found := make([]Finding, len(all))
	var next atomic.Int64
	var failed error
	var mu sync.Mutex // over failed and done
	done := 0
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			w := t.worker()
			for i := int(next.Add(1)) - 1; i < len(all) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				f, err := w.try(ctx, all[i])
				found[i] = f
				mu.Lock()
				done++
				failed = cmp.Or(failed, err)
				if o.Progress != nil {
					o.Progress(done, len(all))
				}
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	if err := cmp.Or(failed, ctx.Err()); err != nil {
		return nil, err
	}
	return t.report(ctx, found, of)
}

// judge judges the network before anything fails.
func (t *trial) judge(ctx context.Context) error {
	base, err := judge.NewBase(ctx, t.n, ethernet.HostScope)
	switch {
	case err == nil:
		t.base, t.before = base, !base.Free()
		return nil
	case !errors.Is(err, judge.ErrWhole):
		return err
	}
	v, err := judge.Verify(ctx, t.n, judge.Options{})
	if err == nil {
		t.before = !v.Free()
	}
	return err
}

// prepare notes what every device announces of every class.
func (t *trial) prepare() {
	t.announce, t.known = make([][]uint64, len(t.n.Classes)), make([][]uint64, len(t.n.Classes))
	c := bgp.NewComputer(t.plan)
	row := t.n.NewRow()
	down := make([]bool, len(t.n.Links))
	for i := range t.n.Classes {
		c.Row(t.n.Classes[i].At, down, row)
		t.announce[i] = slices.Clone(c.Announce)
		if t.plan.Pin(i) == nil {
			continue
		}
		c.Known(i, down, row)
		t.known[i] = make([]uint64, (len(t.n.Names)+63)/64)
		for d := range t.n.Names {
			if !empty(t.n.Words(row, ethernet.DeviceID(d))) {
				t.known[i][d/64] |= 1 << (d % 64)
			}
		}
	}
}

// failures is what is tried, and how many there are in all.
func (t *trial) failures() (list []Failure, of int) {
	var cables []ethernet.LinkID
	for l := range ethernet.LinkID(len(t.n.Links)) {
		if l < t.n.Reverse[l] {
			cables = append(cables, l)
		}
	}
	switch t.o.Kind {
	case Links:
		for _, l := range cables {
			list = append(list, Failure{[]ethernet.LinkID{l}, ethernet.None})
		}
	case Switches:
		for d := range ethernet.DeviceID(len(t.n.Names)) {
			f := Failure{Device: d}
			for l, end := t.n.LinksFrom(d); l < end; l++ {
				f.Links = append(f.Links, l)
			}
			list = append(list, f)
		}
	case TwoLinks:
		return t.pairs(cables)
	}
	return list, len(list)
}

// pairs is all pairs of cables, or so many of them drawn at random.
func (t *trial) pairs(cables []ethernet.LinkID) (list []Failure, of int) {
	of = len(cables) * (len(cables) - 1) / 2
	add := func(i, j int) {
		list = append(list, Failure{[]ethernet.LinkID{cables[i], cables[j]}, ethernet.None})
	}
	if of <= t.o.Samples {
		for i := range cables {
			for j := range i {
				add(j, i)
			}
		}
		return list, of
	}
	r := rand.New(rand.NewPCG(t.o.Seed, 2))
	drawn := map[[2]int]bool{}
	for len(list) < t.o.Samples {
		i, j := r.IntN(len(cables)), r.IntN(len(cables))
		if i > j {
			i, j = j, i
		}
		if i != j && !drawn[[2]int{i, j}] {
			drawn[[2]int{i, j}] = true
			add(i, j)
		}
	}
	return list, of
}

// report orders the findings, and judges the worst of them once more for the loop itself.
func (t *trial) report(ctx context.Context, found []Finding, of int) (*Report, error) {
	r := &Report{Before: t.before, Tried: len(found), Of: of}
	for _, f := range found {
		if f.Loop {
			r.Loops++
		}
		if f.Cut > 0 {
			r.Cuts++
		}
		if f.Loop || f.Cut > 0 {
			r.Findings = append(r.Findings, f)
		}
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		if a.Loop != b.Loop {
			if a.Loop {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.Cut, a.Cut)
	})
	w := t.worker()
	for i := range r.Findings[:min(t.o.Most, len(r.Findings))] {
		if f := &r.Findings[i]; f.Loop {
			w.fail(f.Failure)
			w.recompute(f.Failure, true)
			v, err := judge.Verify(ctx, w.after(), judge.Options{})
			if err != nil {
				return nil, err
			}
			f.Verdict = v
		}
	}
	return r, nil
}
