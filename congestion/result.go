package congestion

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// runPhase is a phase of a run; that of a pattern that is not random is 0.
type runPhase struct{ run, phase int }

func (p runPhase) compare(q runPhase) int {
	return cmp.Or(cmp.Compare(p.run, q.run), cmp.Compare(p.phase, q.phase))
}

// mostLosses is how many pairs without a route are listed at most.
const mostLosses = 100

// loss is a pair without a route, and the first phase that had it.
type loss struct {
	Lost
	at   runPhase
	pair int // its number in the phase
}

// compare orders losses by when they were found.
func (l loss) compare(m loss) int {
	return cmp.Or(l.at.compare(m.at), cmp.Compare(l.pair, m.pair))
}

// noteLost puts a pair into w.lost, if it is one of the first without a route.
func (w *worker) noteLost(l loss) {
	if len(w.lost) == mostLosses && l.compare(w.lost[mostLosses-1]) > 0 {
		return
	}
	w.lost = insertLoss(w.lost, l)
}

// insertLoss is a list, in order and each pair once, with one more loss; at most mostLosses stay.
func insertLoss(list []loss, l loss) []loss {
	if i := slices.IndexFunc(list, func(m loss) bool { return m.Lost == l.Lost }); i >= 0 {
		if list[i].compare(l) <= 0 {
			return list
		}
		list = slices.Delete(list, i, i+1)
	}
	i, _ := slices.BinarySearchFunc(list, l, loss.compare)
	list = slices.Insert(list, i, l)
	return list[:min(len(list), mostLosses)]
}

// noteWorst makes a flow w.worst if it is worse than the worst so far, or as bad and earlier.
func (w *worker) noteWorst(at runPhase, pair int, bandwidth float64) {
	old := &w.worst
	if cmp.Or(cmp.Compare(bandwidth, old.Bandwidth), at.compare(old.at), cmp.Compare(pair, old.pair)) >= 0 {
		return
	}
	r, p := w.routes, w.pairs[pair]
	first := int32(0)
	if pair > 0 {
		first = w.end[pair-1]
	}
	*old = Flow{
		From: r.sites[r.rank[p.From]], To: r.sites[r.rank[p.To]], Bandwidth: bandwidth,
		Route: old.Route[:0], Load: old.Load[:0], Share: old.Share[:0], Run: at.run, Phase: at.phase, at: at, pair: pair,
	}
	for i, c := range w.crossed[first:w.end[pair]] {
		old.Route = append(old.Route, fabric.ChannelID(c))
		old.Load = append(old.Load, float64(w.load[c])/w.units)
		if w.split != nil {
			old.Share = append(old.Share, float64(w.parts[int(first)+i])/w.units)
		}
	}
}

// tally adds up outcomes in their order, and keeps the mean of their fractions and the
// squares of the deviations from it (B. P. Welford, 1962).
type tally struct {
	outcome
	n             int
	mean, squares float64
}

func (t *tally) add(o *outcome) {
	t.got += o.got
	t.full += o.full
	t.time += o.time
	t.ideal += o.ideal
	t.flows += o.flows
	t.lost += o.lost
	t.local += o.local
	for i, x := range o.tiers {
		t.tiers[i].Flows += x.Flows
		t.tiers[i].Share += x.Share
	}
	t.n++
	d := o.fraction() - t.mean
	t.mean += d / float64(t.n)
	t.squares += d * (o.fraction() - t.mean)
}

func (t *tally) stdErr() float64 {
	if t.n < 2 {
		return 0
	}
	return math.Sqrt(t.squares / float64(t.n-1) / float64(t.n))
}

// fraction is 0 to 1; 0 too where there was no flow, so that nothing could be had.
func (o *outcome) fraction() float64 {
	if o.full == 0 {
		return 0
	}
	return o.got / o.full
}

// result is the Result of all outcomes, and of what the workers found.
func (j *job) result(all *tally, workers []*worker) (*Result, error) {
	channels := len(j.capacity)
	r := &Result{
		Phases: j.phases, Sum: make([]float64, channels), Most: make([]float64, channels),
		Worst: Flow{Bandwidth: math.Inf(1)}, Uniform: j.uniform, Mbps: j.mbps, Split: j.routes.fan != nil, Table: j.routes.table != nil,
	}
	sum, most := make([]uint64, channels), make([]uint64, channels)
	var losses []loss
	for _, w := range workers {
		for c := range sum {
			sum[c] += w.sum[c]
			most[c] = max(most[c], w.most[c])
		}
		for len(r.Congestion) < len(w.congestion) {
			r.Congestion = append(r.Congestion, 0)
		}
		for m, n := range w.congestion {
			r.Congestion[m] += n
		}
		for b, n := range w.bandwidth {
			r.Bandwidth[b] += n
		}
		for _, l := range w.lost {
			losses = insertLoss(losses, l)
		}
		r.Weighed = r.Weighed || w.weighed
		if x, y := &w.worst, &r.Worst; cmp.Or(cmp.Compare(x.Bandwidth, y.Bandwidth), x.at.compare(y.at), cmp.Compare(x.pair, y.pair)) < 0 {
			r.Worst = w.worst
		}
	}
	for _, l := range losses {
		r.Losses = append(r.Losses, l.Lost)
	}
	for c := range sum {
		r.Sum[c], r.Most[c] = float64(sum[c])/j.units, float64(most[c])/j.units
	}
	r.MaxCongestion = int(j.whole(slices.Max(most)))
	r.Flows, r.Lost, r.Local = all.flows, all.lost, all.local
	if r.Flows+r.Lost == 0 {
		return nil, errors.New("nothing crosses the network: every pair of the pattern has both its ranks on one endpoint")
	}
	r.Bandwidth[0] += r.Lost
	r.Runs, r.Lambda = 1, all.fraction()
	if j.random {
		r.Runs, r.Lambda, r.StdErr = all.n, all.mean, all.stdErr()
	}
	for _, x := range all.tiers {
		x.Share /= float64(max(1, x.Flows))
		r.Tiers = append(r.Tiers, x)
	}
	r.Time, r.Ideal = all.time/float64(r.Runs), all.ideal/float64(r.Runs)
	return r, nil
}

// Hot is the channels with the most flows over all runs and phases, fullest first,
// equal ones by number. It leaves out those that never had more than one flow at a
// time.
func (r *Result) Hot(most int) []fabric.ChannelID {
	var hot []fabric.ChannelID
	for c, n := range r.Most {
		if n > 1 {
			hot = append(hot, fabric.ChannelID(c))
		}
	}
	slices.SortFunc(hot, func(a, b fabric.ChannelID) int {
		return cmp.Or(cmp.Compare(r.Sum[b], r.Sum[a]), cmp.Compare(a, b))
	})
	return hot[:min(most, len(hot))]
}
