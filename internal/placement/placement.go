// Package placement puts the ranks of a job on its hosts so that what they send to each
// other shares as little of the network as can be, under routes that stay as they are.
//
// The hosts are given, and so are the routes: what is chosen is which rank runs where. Two
// ranks are exchanged as long as that makes the phases of the job lighter, from several
// beginnings, the order at hand first. What is made lighter is the sum, over all phases
// and channels, of the fourth power of what a channel carries for its rate: the fullest
// channels, for which a phase waits, count nearly alone, and yet every exchange shows. What
// is told is measured: the time of the job by package congestion, before and after. If
// that is no shorter, the ranks stay.
//
// The idea to choose places by the routes is future work of T. Hoefler, T. Schneider, A.
// Lumsdaine: Optimized Routing for Large-Scale InfiniBand Networks, HOTI 2009.
//
// An exchange takes the flows of two ranks times the length of their routes. Memory is a
// number for each phase and channel.
package placement

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/capacity"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// Options says what to place.
type Options struct {
	Pattern      traffic.Pattern
	Ranks        traffic.Placement // where the ranks run now
	UniformRates bool              // give all links the same rate
	Seed         uint64            // of beginnings, of the order of exchanges, and of random patterns
	Beginnings   int               // number of orders to begin with: the one at hand, the others at random; 0: DefaultBeginnings
	Progress     routing.Progress  // of beginnings
}

const (
	// DefaultBeginnings is how many orders of ranks are improved.
	DefaultBeginnings = 4

	draws    = 8       // of a random pattern, each as phases of their own
	mostLoad = 1 << 27 // length of search.load, 1 GB
)

// Result is a placement with what it is worth.
type Result struct {
	Ranks          traffic.Placement
	Before, After  *congestion.Result // measured
	Exchanged      int                // number of ranks that run elsewhere than before
	Tried, Counted int                // number of exchanges tried, and of flows in all phases
}

// Improve finds the best of several placements of the same ranks on the same endpoints, by the measured time of
// the job: what weft place asks. It keeps the ranks where they are if none is faster.
func Improve(ctx context.Context, t *routing.Tables, o Options) (*Result, error) {
	before, err := measure(ctx, t, &o, o.Ranks)
	if err != nil {
		return nil, err
	}
	if before.Lost > 0 {
		return nil, fmt.Errorf("%d pairs have no route", before.Lost)
	}
	s, err := newSearch(t, &o)
	if err != nil {
		return nil, err
	}
	r := &Result{Ranks: o.Ranks, Before: before, After: before, Counted: len(s.flows)}
	if s.alike() {
		return r, nil
	}
	beginnings := o.Beginnings
	if beginnings == 0 {
		beginnings = DefaultBeginnings
	}
	for i := range beginnings {
		rng := rand.New(rand.NewPCG(o.Seed, uint64(i)))
		s.begin(o.Ranks)
		if i > 0 {
			rng.Shuffle(len(s.ranks), func(a, b int) { s.exchange(a, b) })
		}
		if err := s.descend(ctx, rng); err != nil {
			return nil, err
		}
		after, err := measure(ctx, t, &o, s.ranks)
		if err != nil {
			return nil, err
		}
		if after.Time < r.After.Time*(1-1e-9) {
			r.After, r.Ranks = after, append(traffic.Placement(nil), s.ranks...)
		}
		if o.Progress != nil {
			o.Progress(i+1, beginnings)
		}
	}
	r.Tried = s.tried
	for i, e := range r.Ranks {
		if e != o.Ranks[i] {
			r.Exchanged++
		}
	}
	return r, nil
}

// measure takes the time of the job with its ranks placed so, by package congestion.
func measure(ctx context.Context, t *routing.Tables, o *Options, ranks traffic.Placement) (*congestion.Result, error) {
	options := congestion.Options{Pattern: o.Pattern, Placement: ranks, UniformRates: o.UniformRates, Seed: o.Seed}
	if o.Pattern.Random() {
		options.Runs = 100
	}
	return congestion.Simulate(ctx, t, options)
}

// flow is what a rank sends to another in a phase.
type flow struct {
	from, to int32 // [rank]
	phase    int32
	amount   float64
}

// search is the ranks on their endpoints while they are exchanged.
type search struct {
	t       *routing.Tables
	flows   []flow
	flowsOf [][]int32 // [rank] indices into flows of those that it sends or receives
	rate    []float64 // [ChannelID] relative to the fastest
	load    []float64 // [phase × channels + ChannelID] what it carries, for its rate
	ranks   traffic.Placement
	tried   int
	seen    []int32 // [flow] mark when it was moved last: a flow between the two ranks is moved once
	mark    int32   // rises with each half of an exchange
}

func newSearch(t *routing.Tables, o *Options) (*search, error) {
	n := len(o.Ranks)
	phases, err := o.Pattern.Phases(n)
	if err != nil {
		return nil, err
	}
	times := 1
	if o.Pattern.Random() {
		times = draws
	}
	channels := len(t.Fabric.Channels())
	if phases*times > mostLoad/max(1, channels) {
		return nil, fmt.Errorf("%d phases on %d channels are too many to keep; take a pattern with fewer, such as ring for shifts", phases, channels)
	}
	s := &search{t: t, flowsOf: make([][]int32, n), load: make([]float64, phases*times*channels)}
	s.rate, _, _ = capacity.Of(t.Fabric, o.Ranks, o.UniformRates)
	for run := range times {
		stream := traffic.Stream(o.Seed, uint64(run))
		for phase := range phases {
			for _, p := range o.Pattern.Append(nil, n, phase, stream) {
				amount := float64(max(1, p.Bytes))
				next := int32(len(s.flows))
				s.flowsOf[p.From], s.flowsOf[p.To] = append(s.flowsOf[p.From], next), append(s.flowsOf[p.To], next)
				s.flows = append(s.flows, flow{from: p.From, to: p.To, phase: int32(run*phases + phase), amount: amount})
			}
		}
	}
	s.scale()
	s.seen = make([]int32, len(s.flows))
	return s, nil
}

// alike reports whether every order of the ranks loads the network alike: in each phase each sends as much to each other.
func (s *search) alike() bool {
	n := len(s.flowsOf)
	phase := max(1, n*(n-1)) // flows
	if len(s.flows)%phase != 0 {
		return false
	}
	met := make([]bool, n*n) // pairs, of a phase
	for i := 0; i < len(s.flows); i += phase {
		clear(met)
		for _, w := range s.flows[i : i+phase] {
			pair := int(w.from)*n + int(w.to)
			if w.from == w.to || w.phase != s.flows[i].phase || w.amount != s.flows[i].amount || met[pair] {
				return false
			}
			met[pair] = true
		}
	}
	return true
}

// scale makes the mean flow 1, so that fourth powers stay small.
func (s *search) scale() {
	sum := 0.0
	for _, f := range s.flows {
		sum += f.amount
	}
	for i := range s.flows {
		s.flows[i].amount *= float64(len(s.flows)) / sum
	}
}

// begin puts the ranks where they are given.
func (s *search) begin(ranks traffic.Placement) {
	s.ranks = append(s.ranks[:0], ranks...)
	clear(s.load)
	for i := range s.flows {
		s.add(&s.flows[i], 1)
	}
}

// add adds a flow to the channels of its route, or takes it away (sign -1), and returns by
// how much the cost changes.
func (s *search) add(w *flow, sign float64) (change float64) {
	f := s.t.Fabric
	from, to := f.Endpoint(s.ranks[w.from]), f.Endpoint(s.ranks[w.to])
	if s.ranks[w.from] == s.ranks[w.to] {
		return 0
	}
	row := s.load[int(w.phase)*len(s.rate):]
	on := func(c fabric.ChannelID) {
		old := row[c]
		row[c] = old + sign*w.amount/s.rate[c]
		change += power(row[c]) - power(old)
	}
	on(from.Inject)
	for at := from.Switch; ; {
		c := f.Out(at, s.t.Forwarding.Port(at, to.LID))
		on(c)
		if c == to.Deliver {
			return change
		}
		at = f.Heads()[c]
	}
}

func power(x float64) float64 { return x * x * x * x }

// exchange lets two ranks change places, and returns by how much the cost changes.
func (s *search) exchange(a, b int) (change float64) {
	s.mark++
	move := func(sign float64) {
		for _, list := range [][]int32{s.flowsOf[a], s.flowsOf[b]} {
			for _, i := range list {
				if s.seen[i] != s.mark {
					s.seen[i] = s.mark
					change += s.add(&s.flows[i], sign)
				}
			}
		}
	}
	move(-1)
	s.ranks[a], s.ranks[b] = s.ranks[b], s.ranks[a]
	s.mark++
	move(1)
	return change
}

// descend exchanges ranks, pair after pair in an order drawn anew for each pass, as long as
// a pass makes the cost smaller.
func (s *search) descend(ctx context.Context, rng *rand.Rand) error {
	n := len(s.ranks)
	for better := true; better; {
		better = false
		for _, a := range rng.Perm(n) {
			if err := ctx.Err(); err != nil {
				return err
			}
			for _, b := range rng.Perm(n) {
				if a == b || s.ranks[a] == s.ranks[b] {
					continue
				}
				s.tried++
				if s.exchange(a, b) < -1e-6 {
					better = true
				} else {
					s.exchange(a, b) // back
				}
			}
		}
	}
	return nil
}
