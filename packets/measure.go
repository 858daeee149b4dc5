package packets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Status says how a run ended; the package comment defines the words.
type Status string

// How a run can end.
const (
	Steady      Status = "steady"
	Unstable    Status = "unstable"
	Saturated   Status = "saturated"
	Deadlocked  Status = "deadlocked"
	Completed   Status = "completed"   // all messages have arrived or were dropped
	Interrupted Status = "interrupted" // cancelled: the figures are of what was measured until then
)

// Window says how long to measure. The zero Window is a sensible default.
type Window struct {
	Length  Time   // how long to measure; 0: 4,000 times the time of a full packet on a link, at the most frequent rate of endpoints
	WarmUp  Time   // longest time before measuring; 0: three times Length
	Batch   func() // called at the end of each part of the run, some 30 times; may be nil
	Exactly bool   // warm up for exactly WarmUp, even if the latency is stationary earlier

	// The latency of a network that is offered more than it delivers never settles.
	Throughput bool // the warm-up also ends when what arrives has settled below what is offered: see overloaded
	Verdict    bool // and the window once twice as much is missing as makes a run Saturated: see short
}

// batches is the number of parts of a window, for batch means.
const batches = 20

// Result is what a run measured. Times of packets are from the creation of their
// message to the arrival of their last byte, unless stated otherwise.
type Result struct {
	Status   Status
	Offered  float64 // bytes created, as a share of what the links of the senders carry
	Accepted float64 // bytes delivered in the window, likewise
	Packets  int64   // delivered in the window
	Mean     float64 // mean latency in ps
	Error    float64 // half-width of the 95 % confidence interval of Mean in ps, from batch means; 0: the window ended within two batches
	Median   Time
	P90, P99 Time
	P999     Time
	Max      Time
	Network  float64 // mean latency in ps without the wait at the source
	Hops     float64 // mean number of channels between switches
	WarmUp   Time
	Window   Time
	Created  int64 // packets, in the whole run
	Arrived  int64
	Dropped  int64
	Held     int64 // packets in the network at the end
	Moved    int64 // blocks sent, counted once for each channel
	Makespan Time  // when the last packet arrived, for runs that end by themselves
	Deadlock *Deadlock
	Classes  []Class // histogram of latencies
	Channels []Usage // [ChannelID × lanes + lane]
	Lanes    int
	Counters []Counter // [ChannelID] in the window; nil without Config.Counters
}

// Usage is the use of a lane of a channel in the window.
type Usage struct {
	Busy float64 // share of the time in which it was sending
	Mean float64 // mean blocks in the input buffer behind the channel
	Peak int     // most blocks in that buffer in the whole run
}

// watch collects the measurements of a run.
type watch struct {
	measuring bool // the window has begun
	parts     []part
	deadlock  *Deadlock
	batch     func()  // Window.Batch
	moves     []bool  // scratch of stuckNow: [buffer] it will move
	queue     []int32 // scratch of stuckNow: buffers
}

// closePart ends a batch, adds it to the parts, and begins the next.
func (s *sim) closePart() {
	n, sum := int64(0), int64(0)
	for _, r := range s.regions {
		n, sum = n+r.tally.n, sum+r.tally.sum
		r.tally.n, r.tally.sum = 0, 0
	}
	s.watch.parts = append(s.watch.parts, part{n: n, sum: float64(sum)})
}

// Measure runs an Injection: it warms up until the mean latency is stationary, then
// measures. If the context ends, the Result is Interrupted and holds what was measured
// until then; the error is for what cannot be run.
func (n *Network) Measure(ctx context.Context, l Injection, w Window) (*Result, error) {
	s := newSim(n)
	s.begin(l.Seed, l.Run)
	g, err := n.prepare(&l, s.sending.random)
	if err != nil {
		return nil, err
	}
	n.fillDefaults(&w, g)
	s.watch.batch = w.Batch
	s.generate(g)
	batch := max(1, w.Length/batches)
	accepted := func(from Time) float64 { return float64(s.tallied().bytes) / (g.rate * float64(s.now-from)) }
	perBatch := l.Offered * g.rate * float64(batch) / float64(n.Config.wire(min(g.bytes, int64(n.Config.MTU)))) // packets
	settled, stop, err := s.warmUp(ctx, w, batch, perBatch)
	warm := s.now
	if stop == "" && err == nil {
		s.measureFrom()
		stop, err = s.batchesOf(ctx, batch, batches, func() bool {
			const times = 2 // as much as makes a run Saturated
			return w.Verdict && short(s.tallied().all.n, accepted(warm), l.Offered, times)
		})
	}
	if err != nil {
		return nil, err
	}
	r := s.result(warm)
	r.Offered = l.Offered
	if r.Window > 0 {
		r.Accepted = accepted(warm)
	}
	r.Status = stop
	if stop == "" {
		r.Status = s.verdict(r, settled)
	}
	return r, nil
}

// verdict is the status of a run that ended by itself; settled: the warm-up became stationary.
func (s *sim) verdict(r *Result, settled bool) Status {
	parts := s.watch.parts
	switch half := len(parts) / 2; {
	case short(r.Packets, r.Accepted, r.Offered, 1):
		return Saturated
	case !settled || len(parts) > 1 && drifts(parts[:half], parts[half:]):
		return Unstable
	}
	return Steady
}

// fillDefaults replaces the zero fields of a Window.
func (n *Network) fillDefaults(w *Window, g *generator) {
	if w.Length <= 0 {
		packet := Time(1)
		for e, gap := range g.gap {
			if gap > 0 {
				packet = max(packet, serial(n.Config.wire(int64(n.Config.MTU)), n.kindAt(int32(n.Fabric.Endpoint(fabric.EndpointID(e)).Inject)).perByte))
			}
		}
		w.Length = 4000 * packet
	}
	if w.WarmUp <= 0 && !w.Exactly {
		w.WarmUp = 3 * w.Length
	}
}

// warmUp runs until the latency is stationary, but no longer than the window allows. perBatch
// is how many packets are offered in a batch.
func (s *sim) warmUp(ctx context.Context, w Window, batch Time, perBatch float64) (settled bool, stop Status, err error) {
	if w.Exactly {
		batch = max(1, w.WarmUp/8)
		stop, err = s.batchesOf(ctx, batch, 8, func() bool { return false })
		return true, stop, err
	}
	most := max(8, int(w.WarmUp/batch))
	stop, err = s.batchesOf(ctx, batch, most, func() bool {
		settled = stationary(s.watch.parts)
		return settled || w.Throughput && overloaded(s.watch.parts, perBatch)
	})
	return settled, stop, err
}

// batchesOf runs up to count batches, or until enough returns true, and looks for
// deadlocks several times in each.
func (s *sim) batchesOf(ctx context.Context, batch Time, count int, enough func() bool) (Status, error) {
	const checks = 4 // per batch
	start := s.now
	for i := range Time(count) {
		for k := range Time(checks) {
			switch err := s.run(ctx, start+i*batch+(k+1)*batch/checks); {
			case err == nil:
			case errors.Is(err, ctx.Err()):
				s.closePart()
				return Interrupted, nil
			default:
				return "", err
			}
			if s.watch.deadlock = s.stuckNow(); s.watch.deadlock != nil {
				s.closePart()
				return Deadlocked, nil
			}
		}
		s.closePart()
		if s.watch.batch != nil {
			s.watch.batch()
		}
		if enough() {
			break
		}
	}
	return "", nil
}

// measureFrom begins the window.
func (s *sim) measureFrom() {
	s.watch.measuring = true
	s.watch.parts = s.watch.parts[:0]
	for _, r := range s.regions {
		r.tally.measuring = true
		if r.flits != nil {
			r.flits.measureFrom(s.now)
		}
	}
	for b := range s.near {
		s.near[b].busy, s.far[b].area = 0, 0
	}
	restart(s.counting, s.now)
}

// result is the figures of a run whose window began at from.
func (s *sim) result(from Time) *Result {
	w, t, c := &s.watch, s.tallied(), s.counted()
	r := &Result{
		WarmUp: from, Window: s.now - from, Packets: t.all.n, Lanes: s.lanes,
		Median: t.all.quantile(.5), P90: t.all.quantile(.9), P99: t.all.quantile(.99), P999: t.all.quantile(.999), Max: t.all.max,
		Created: c.created, Arrived: c.delivered, Dropped: c.dropped, Held: c.inside, Moved: c.blockHops,
		Classes: t.all.classes(), Deadlock: w.deadlock, Makespan: t.last,
	}
	if t.all.n > 0 {
		sum := 0.0
		for _, p := range w.parts {
			sum += p.sum
		}
		n := float64(t.all.n)
		r.Mean, r.Network, r.Hops = sum/n, float64(t.net)/n, float64(t.hops)/n
		r.Error = halfWidth(w.parts)
	}
	window := float64(max(1, r.Window))
	if !w.measuring { // the run ended before its window: report all of it
		window = float64(max(1, s.now))
	}
	r.Counters = countersOf(s.counting, int(s.channels), s.now)
	r.Channels = make([]Usage, int(s.channels)*s.lanes)
	for c := range int(s.channels) {
		for lane := range s.lanes {
			b := c<<s.shift | lane
			r.Channels[c*s.lanes+lane] = Usage{Busy: min(1, float64(s.near[b].busy)/window), Mean: float64(s.far[b].area) / window, Peak: int(s.near[b].peak)}
		}
	}
	return r
}

// Complete sends messages phase by phase, each phase when all of the one before has
// arrived, until everything has arrived or a deadlock stops it. It gives up at the time
// limit; 0: never.
func (n *Network) Complete(ctx context.Context, phases [][]Message, seed uint64, limit Time) (*Result, error) {
	if err := n.checkMessages(phases); err != nil {
		return nil, err
	}
	busy := 0
	for _, list := range phases {
		busy += min(1, len(list))
	}
	if busy > 1 {
		n = n.inOneRegion()
	}
	s := newSim(n)
	s.begin(seed, 0)
	return s.complete(ctx, phases, limit)
}

// checkMessages refuses messages that cannot be sent.
func (n *Network) checkMessages(phases [][]Message) error {
	type pair struct{ from, to fabric.EndpointID }
	seen := map[pair]bool{}
	for _, list := range phases {
		for _, m := range list {
			if m.Bytes < 0 || m.At < 0 || m.From == m.To && m.LID < routing.FirstMLID {
				return fmt.Errorf("a message of %d bytes at %d ps from endpoint %d to %d", m.Bytes, m.At, m.From, m.To)
			}
			if m.LID != 0 {
				if err := n.coversRoute(m); err != nil {
					return err
				}
			} else if p := (pair{m.From, m.To}); !seen[p] {
				seen[p] = true
				if err := n.Covers(m.From, m.To); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// complete is Complete for messages that were checked, in a new sim.
func (s *sim) complete(ctx context.Context, phases [][]Message, limit Time) (*Result, error) {
	s.measureFrom()
	s.play(phases)
	if limit <= 0 {
		limit = never
	}
	look := 64 * max(1, serial(s.Config.wire(int64(s.Config.MTU)), s.slowest()))
	status := Completed
	for s.now < limit {
		if err := s.run(ctx, min(limit, s.now+look)); err != nil {
			if ctx.Err() == nil {
				return nil, err
			}
			status = Interrupted
			break
		}
		if s.watch.deadlock = s.stuckNow(); s.watch.deadlock != nil {
			status = Deadlocked
			break
		}
		if s.pending() == 0 {
			break
		}
	}
	if c := s.counted(); status == Completed && c.inside+c.atSource > 0 {
		status = Interrupted
	}
	s.closePart()
	r := s.result(0)
	r.Status = status
	return r, nil
}

// slowest is the time per byte of the slowest channel.
func (n *Network) slowest() int64 {
	most := int64(1)
	for _, k := range n.kinds {
		most = max(most, k.perByte)
	}
	return most
}

// Use is the usage of a lane of a channel.
func (r *Result) Use(c fabric.ChannelID, vl int) Usage { return r.Channels[int(c)*r.Lanes+vl] }

// Busy is a lane of a channel with its usage.
type Busy struct {
	Channel fabric.ChannelID
	VL      int
}

// Busiest is the lanes of channels that sent most, at most so many; equal ones by
// number.
func (r *Result) Busiest(most int) []Busy {
	order := make([]int, 0, len(r.Channels))
	for i, u := range r.Channels {
		if u.Busy > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.Channels[b].Busy, r.Channels[a].Busy) })
	var list []Busy
	for _, i := range order[:min(most, len(order))] {
		list = append(list, Busy{Channel: fabric.ChannelID(i / r.Lanes), VL: i % r.Lanes})
	}
	return list
}
