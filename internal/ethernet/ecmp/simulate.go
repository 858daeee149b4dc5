package ecmp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// Options are the traffic, and how it finds its way.
type Options struct {
	Pattern   traffic.Pattern
	Placement []int32 // [rank] its adapter

	QueuePairs int  // queue pairs between two adapters, which share its bytes; at least 1
	Polarized  bool // all devices hash with one seed
	Spray      bool // packets are divided evenly over all next hops; QueuePairs and Polarized do not matter

	// Fixed appends the way of all packets between two adapters to links; false if there is none. nil: packets are hashed.
	Fixed func(links []ethernet.LinkID, from, to int32) ([]ethernet.LinkID, bool)

	Seed      uint64 // run k draws patterns from traffic.Stream(Seed, k), and hashes with a seed of its own
	Runs      int    // 0: until the standard error of Time is at most Precision
	Precision float64
	Progress  routing.Progress
}

// DefaultPrecision is the standard error at which runs end if neither it nor their number is said.
const DefaultPrecision = .01

// maxRuns ends runs whose figures never come to rest.
const maxRuns = 100_000

// Result is what the runs found. Times are in those that the phases would take if each pair of
// adapters were alone.
type Result struct {
	Time   float64 // in the mean over runs
	StdErr float64
	Worst  float64 // of a run
	Bound  float64 // no choice of ways is quicker, in the mean over runs
	Runs   int
	Phases int   // of a run
	Flows  int64 // pairs that cross a cable between adapters, in all runs
	Lost   int64 // pairs of them with queue pairs that do not arrive
	Local  int64 // pairs on one adapter

	Load []float64 // [LinkID] what crosses it in a phase, in the mean over all runs and phases; the unit is what the largest pair of a phase sends
	Most []float64 // [LinkID] the most that crosses it in one phase, in the same unit
}

// phase is what one phase of a run took, in bytes over the speed of the fastest adapter.
type phase struct {
	time, ideal, bound float64 // as it was, if each pair were alone, and no choice of ways is quicker
	unit               float64 // bytes of the largest pair
	flows, lost, local int64   // pairs, as in Result
}

// Simulate lays a pattern on the network, run after run, until the figures are as precise as Options ask, and counts.
func Simulate(ctx context.Context, w *Network, o Options) (*Result, error) {
	phases, err := o.Pattern.Phases(len(o.Placement))
	if err != nil {
		return nil, err
	}
	if o.QueuePairs < 1 {
		return nil, fmt.Errorf("%d queue pairs; there is at least one", o.QueuePairs)
	}
	if o.Precision == 0 && o.Runs == 0 {
		o.Precision = DefaultPrecision
	}
	most := o.Runs
	if most == 0 {
		most = maxRuns
	}
	if (o.Spray || o.Fixed != nil) && !o.Pattern.Random() {
		most = 1 // nothing is left to chance
	}
	r := &Result{Phases: phases, Load: make([]float64, len(w.Links)), Most: make([]float64, len(w.Links))}
	sum := make([]uint64, len(w.Links)) // [LinkID] loads of all phases, in loadUnits
	var times []float64
	bound := 0.
	for batch := 16; r.Runs < most; batch = min(2*batch, 1024) {
		n := min(batch, most-r.Runs)
		if phases > 64 && o.Runs == 0 { // such runs are long and differ little
			n = min(n, 4)
		}
		found, err := w.runs(ctx, &o, r, sum, n, phases)
		if err != nil {
			return nil, err
		}
		for k := range n {
			var all phase
			for _, p := range found[k*phases : (k+1)*phases] {
				all.time, all.ideal, all.bound = all.time+p.time, all.ideal+p.ideal, all.bound+p.bound
				r.Flows, r.Lost, r.Local = r.Flows+p.flows, r.Lost+p.lost, r.Local+p.local
			}
			if all.ideal > 0 {
				times = append(times, all.time/all.ideal)
				bound += all.bound / all.ideal
			}
		}
		r.Runs += n
		r.settle(times, bound)
		o.Progress.Report(r.Runs, most)
		if o.Runs == 0 && (len(times) == 0 || len(times) > 1 && r.StdErr <= o.Precision) {
			break
		}
	}
	for l, units := range sum {
		r.Load[l] = float64(units) / loadUnits / float64(max(r.Runs*phases, 1))
	}
	return r, nil
}

// loadUnits is in how many parts the unit of a load is counted, so that sums are whole numbers,
// which do not depend on who adds them up.
const loadUnits = 1 << 16

// settle computes the figures of all runs of their times and the sum of their bounds.
func (r *Result) settle(times []float64, bound float64) {
	n := float64(len(times))
	if n == 0 {
		return
	}
	sum, squares := 0., 0.
	for _, t := range times {
		sum += t
	}
	r.Time, r.Bound, r.Worst = sum/n, bound/n, slices.Max(times)
	for _, t := range times {
		squares += (t - r.Time) * (t - r.Time)
	}
	if n > 1 {
		r.StdErr = math.Sqrt(squares / (n - 1) / n)
	}
}

// runs computes n further runs, on all cores, and returns their phases, run by run; it adds to the loads sum and r.Most. Phases of a
// pattern that is not random can be computed by themselves; those of a random one draw from one stream, so a job is a whole run.
func (w *Network) runs(ctx context.Context, o *Options, r *Result, sum []uint64, n, phases int) ([]phase, error) {
	found := make([]phase, n*phases)
	jobs := make(chan int)
	var wg sync.WaitGroup
	var mu sync.Mutex
	each := 1 // phases of a job
	if o.Pattern.Random() {
		each = phases
	}
	for range min(runtime.GOMAXPROCS(0), max(n*phases/max(each, 1), 1)) {
		wg.Go(func() {
			k := newWorker(w, o)
			k.ctx = ctx
			for job := range jobs {
				run, at := r.Runs+job*each/phases, job*each%phases
				k.start(run)
				for i := range each {
					found[job*each+i] = k.phase(at + i)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			for l := range sum {
				sum[l] += k.sum[l]
				r.Most[l] = max(r.Most[l], k.most[l])
			}
		})
	}
	err := func() error {
		defer close(jobs)
		for job := range n * phases / max(each, 1) {
			select {
			case jobs <- job:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}()
	wg.Wait()
	return found, cmp.Or(err, ctx.Err())
}

// worker counts the flows of one phase at a time, for runs.
type worker struct {
	*Network
	ctx     context.Context // ended: what is counted does not matter any more
	o       *Options
	draw    func(at int) // puts the pairs of a phase into pairs
	pairs   []traffic.Pair
	seed    uint64    // of the run's hashes
	salt    []uint64  // [DeviceID] of its hash
	load    []float64 // [LinkID] in this phase
	in, out []float64 // [NIC] in this phase
	cutOut  []float64 // [DeviceID] what its adapters send to those at other devices, in this phase
	cutIn   []float64 // [DeviceID] what its adapters get from those, if their packets leave nowhere else
	way     []ethernet.LinkID
	walkers [abreast]walker
	sum     []uint64  // [LinkID] loads of all phases, in loadUnits
	most    []float64 // [LinkID] the most in one phase
	spray   *sprayer  // nil: packets are not sprayed
}

func newWorker(w *Network, o *Options) *worker {
	k := &worker{
		Network: w, o: o, salt: make([]uint64, w.devices), load: make([]float64, len(w.Links)), sum: make([]uint64, len(w.Links)), most: make([]float64, len(w.Links)),
		in: make([]float64, len(w.NICs)), out: make([]float64, len(w.NICs)), cutIn: make([]float64, w.devices), cutOut: make([]float64, w.devices),
	}
	if o.Spray {
		k.spray = newSprayer(w)
	}
	return k
}

// start begins a run.
func (k *worker) start(run int) {
	stream := traffic.Stream(k.o.Seed, uint64(run))
	k.draw = func(at int) { k.pairs = k.o.Pattern.Append(k.pairs[:0], len(k.o.Placement), at, stream) }
	k.seed = mix(mix(k.o.Seed+1) ^ uint64(run)*0x9E3779B97F4A7C15)
	for d := range k.salt {
		k.salt[d] = 0
		if !k.o.Polarized {
			k.salt[d] = mix(k.seed + uint64(d)*0xD1342543DE82EF95)
		}
	}
}

// phase counts phase at of the run.
func (k *worker) phase(at int) (p phase) {
	k.draw(at)
	clear(k.load)
	clear(k.in)
	clear(k.out)
	clear(k.cutIn)
	clear(k.cutOut)
	for i, pair := range k.pairs {
		if i%8 == 0 && k.ctx.Err() != nil {
			return p
		}
		from, to := k.o.Placement[pair.From], k.o.Placement[pair.To]
		if from == to {
			p.local++
			continue
		}
		size := float64(max(pair.Bytes, 1))
		p.flows++
		p.unit = max(p.unit, size)
		p.ideal = max(p.ideal, size/min(k.nic[from], k.nic[to]))
		k.out[from] += size
		k.in[to] += size
		a, b := k.NICs[from].Device, k.NICs[to].Device
		class := k.NICs[to].Class
		if k.set[class*k.devices+int(a)] == delivered {
			continue
		}
		k.cutOut[a] += size
		if !k.anywhere[class] {
			k.cutIn[b] += size
		}
		switch {
		case k.spray != nil:
			k.spray.add(class, a, size)
		case k.o.Fixed != nil && !k.fixed(from, to, size), k.o.Fixed == nil && !k.hashed(from, to, size):
			p.lost++
		}
	}
	if k.spray != nil {
		p.lost += k.spray.spread(k.load)
	}
	for i := range k.in {
		p.bound = max(p.bound, k.in[i]/k.nic[i], k.out[i]/k.nic[i])
	}
	p.time = p.bound
	for d, speed := range k.uplinks {
		if speed > 0 {
			p.bound = max(p.bound, k.cutIn[d]/speed, k.cutOut[d]/speed)
		}
	}
	for l, load := range k.load {
		if load > 0 {
			p.time = max(p.time, load/k.speed[l])
			load /= p.unit
			k.sum[l] += uint64(load*loadUnits + .5)
			k.most[l] = max(k.most[l], load)
		}
	}
	return p
}

// fixed sends all that one adapter sends to another by one way; false if it does not arrive.
func (k *worker) fixed(from, to int32, size float64) (arrives bool) {
	k.way, arrives = k.o.Fixed(k.way[:0], from, to)
	for _, l := range k.way {
		k.load[l] += size
	}
	return arrives
}

// walker is a queue pair on its way.
type walker struct {
	tuple uint64 // the hash of its header
	base  int    // of its class in Network.set
	at    ethernet.DeviceID
}

// abreast is how many queue pairs are walked hop by hop at a time: the look-ups of one do not wait for those of another.
const abreast = 64

// hashed sends the queue pairs of two adapters, by a hash each; false if one does not arrive. All of them add the same to the links that
// they cross, so the order in which they do does not matter.
func (k *worker) hashed(from, to int32, size float64) bool {
	arrived := true
	part := size / float64(k.o.QueuePairs)
	flow := mix(k.seed ^ uint64(uint32(from))<<32 ^ uint64(uint32(to)))
	subnet, pins := k.NICs[to].Class*k.devices, k.NICs[to].Pins
	for first := 0; first < k.o.QueuePairs; first += abreast {
		walkers := k.walkers[:min(abreast, k.o.QueuePairs-first)]
		for i := range walkers {
			qp, base := first+i, subnet
			if len(pins) > 0 {
				base = pins[qp%len(pins)] * k.devices
			}
			walkers[i] = walker{tuple: mix(flow + uint64(qp)*0x9E3779B97F4A7C15), base: base, at: k.NICs[from].Device}
		}
		arrived = k.walk(walkers, part) && arrived
	}
	return arrived
}

// walk leads queue pairs to where they leave, each with its part of the load; false if one does not arrive.
func (k *worker) walk(walkers []walker, part float64) bool {
	set, sets, next, salt, load := k.set, k.sets, k.next, k.salt, k.load
	lost := false
	for left, moved := k.devices, true; moved; left-- {
		moved = false
		for i := range walkers {
			f := &walkers[i]
			id := set[f.base+int(f.at)]
			if id < 0 || left == 0 { // there, or no route, or round and round
				lost = lost || id != delivered
				continue
			}
			hop := next[id] // of a set of one
			if int(id) >= len(load) {
				hash := mix(f.tuple ^ salt[f.at])
				if s := &sets[id]; s.total == 0 {
					hop = next[s.from+reduced(hash, s.count)]
				} else {
					hop = k.weighted(s, hash)
				}
			}
			load[hop.link] += part
			f.at, moved = hop.to, true
		}
	}
	return !lost
}
