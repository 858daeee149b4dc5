// Package failures asks what becomes of a network when a link or a device fails: whether the
// routes that BGP computes then, or what the network holds while they change, let pauses
// wait for each other in a circle, and who is cut off.
//
// Routes change only for the classes that have a link that is down among their next hops; where a device only
// loses some of several and still announces the same path, nothing else changes. Where routes are only withdrawn,
// what is left is known without computing it (bgp.Withdrawal); else the class is computed anew. A pin whose next hops are among
// those of its subnet, before and after, leads no packet where none to the subnet goes, and is not judged.
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
	"slices"
	"sync"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/judge"
	"github.com/weft-fabric/weft/internal/ethernet/bgp"
	"github.com/weft-fabric/weft/internal/ethernet/dependencies"
	"github.com/weft-fabric/weft/internal/par"
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
	base     *dependencies.Base // nil where each failure is judged as a network of its own
	before   bool               // there is a loop before anything fails
	announce [][]uint64         // [class] bgp.Computer.Announce before anything fails; nil for a pin
	known    [][]uint64         // [class] devices that know the pin, as bits; nil for a class that is no pin
	pins     []*bgp.Pin         // [class] nil for a class that is no pin
	inside   []bool             // [class] it is a pin, and its next hops at devices that know it are those of its subnet or some of them
	under    [][]int            // [class] classes of pins whose subnet it is
	using    [][]uint64         // [LinkID] classes that have it as a next hop, as bits; of pins only at devices that know them
	senders  []ethernet.Sender
}

// Run tries failures on a network whose classes have the routes of the plan, for weft failures and weft watch.
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
	if err := t.prepare(ctx); err != nil {
		return nil, err
	}
	all, possible := t.failures()
	found := make([]Finding, len(all))
	workers := make([]*worker, par.Workers(len(all)))
	trying, stop := context.WithCancel(ctx)
	defer stop()
	var failed error
	var mu sync.Mutex // over failed and done
	done := 0
	stopped := par.For(trying, len(all), func(k, i int) {
		if workers[k] == nil {
			workers[k] = t.worker()
		}
		f, err := workers[k].try(trying, all[i])
		found[i] = f
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			failed = cmp.Or(failed, err)
			stop()
		}
		if done++; o.Progress != nil {
			o.Progress(done, len(all))
		}
	})
	if err := cmp.Or(failed, stopped); err != nil {
		return nil, err
	}
	return t.report(ctx, found, possible)
}

// judge judges the network before anything fails: it sets base, if the network can be one, and before.
func (t *trial) judge(ctx context.Context) error {
	base, err := dependencies.NewBase(ctx, t.n, ethernet.HostScope)
	switch {
	case err == nil:
		t.base, t.before = base, !base.Free()
		return nil
	case !errors.Is(err, dependencies.ErrWhole):
		return err
	}
	v, err := judge.Verify(ctx, t.n, judge.Options{})
	if err == nil {
		t.before = !v.Free()
	}
	return err
}

// prepare fills in what workers look up about the classes before anything fails: announce, known, pins, inside, under and using.
func (t *trial) prepare(ctx context.Context) error {
	n := t.n
	count := len(n.Classes)
	t.announce, t.known, t.pins = make([][]uint64, count), make([][]uint64, count), make([]*bgp.Pin, count)
	t.inside, t.under, t.using = make([]bool, count), make([][]int, count), make([][]uint64, len(n.Links))
	for l := range t.using {
		t.using[l] = make([]uint64, (count+63)/64)
	}
	for i := range count {
		if t.pins[i] = t.plan.Pin(i); t.pins[i] != nil {
			t.under[t.pins[i].Under] = append(t.under[t.pins[i].Under], i)
		}
	}
	down := make([]bool, len(n.Links))
	computers, rows := make([]*bgp.Computer, par.Workers(count)), make([]ethernet.Row, par.Workers(count))
	return par.For(ctx, (count+63)/64, func(k, block int) { // a word of using at a time, so that no two workers write one
		if computers[k] == nil {
			computers[k], rows[k] = bgp.NewComputer(t.plan), n.NewRow()
		}
		for i := block * 64; i < min(count, block*64+64); i++ {
			row := rows[k]
			if t.pins[i] != nil {
				computers[k].Known(i, down, row)
				t.known[i], t.inside[i] = make([]uint64, (len(n.Names)+63)/64), true
			} else {
				computers[k].Row(n.Classes[i].At, down, row)
				t.announce[i] = slices.Clone(computers[k].Announce)
			}
			for d := range ethernet.DeviceID(len(n.Names)) {
				words := n.Words(row, d)
				if empty(words) {
					continue
				}
				n.Each(words, d, func(l ethernet.LinkID) { t.using[l][block] |= 1 << (i % 64) })
				if t.pins[i] != nil {
					t.known[i][d/64] |= 1 << (d % 64)
					t.inside[i] = t.inside[i] && dependencies.Within(words, n.Words(n.Classes[t.pins[i].Under].Next, d))
				}
			}
		}
	})
}

// failures is what is tried, and how many failures of the kind are possible.
func (t *trial) failures() (list []Failure, possible int) {
	var cables []ethernet.LinkID
	for l := range ethernet.LinkID(len(t.n.Links)) {
		if l < t.n.Reverse[l] {
			cables = append(cables, l)
		}
	}
	switch t.o.Kind {
	case Links:
		for _, l := range cables {
			list = append(list, Failure{Links: []ethernet.LinkID{l}, Device: ethernet.None})
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

// pairs is all pairs of cables, or Options.Samples of them drawn at random, and how many are possible.
func (t *trial) pairs(cables []ethernet.LinkID) (list []Failure, possible int) {
	possible = len(cables) * (len(cables) - 1) / 2
	add := func(i, j int) {
		list = append(list, Failure{Links: []ethernet.LinkID{cables[i], cables[j]}, Device: ethernet.None})
	}
	if possible <= t.o.Samples {
		for i := range cables {
			for j := range i {
				add(j, i)
			}
		}
		return list, possible
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
	return list, possible
}

// report orders the findings, and judges the worst of them once more for the loop itself.
func (t *trial) report(ctx context.Context, found []Finding, possible int) (*Report, error) {
	r := &Report{Before: t.before, Tried: len(found), Of: possible}
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
