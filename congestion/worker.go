package congestion

import (
	"math"
	"math/rand/v2"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/traffic"
)

// worker is the scratch space in which phases are counted, one after the other, and the
// counts. After the first few phases it allocates nothing.
type worker struct {
	*job
	source rand.PCG
	rand   *rand.Rand // of the run at hand, by source

	records []uint32 // of ahead, for the phase at hand
	pairs   []traffic.Pair
	weighed bool      // the pairs of the last phase state their bytes
	at      []uint32  // [pair] index of its route in the table
	hops    []uint16  // [pair] number of its trunks, or noRoute
	crossed []uint32  // the channels of all flows, one flow after the other
	parts   []uint32  // as crossed: units of the flow on the channel; empty: all
	end     []int32   // [pair] where its channels end in crossed; the same as for the pair before: not a flow
	load    []uint64  // [ChannelID] units of flows in this phase
	hist    []int64   // [largest load on the route] number of flows in this phase
	rate    []float64 // [pair] bandwidth, in units of the fastest link
	filler  filler
	split   *splitter // nil: flows are not split
	tier    []float64 // [tier] the least share of the flow at hand on it; 0: it does not cross it

	sum        []uint64 // [ChannelID] units of flows in all phases
	most       []uint64 // [ChannelID] the most units of flows in one phase
	congestion []int64  // [largest load on the route] number of flows in all phases
	bandwidth  [bins]int64
	worst      Flow
	lost       []loss
}

// outcome is the figures of one run, or of one phase of a pattern that is not random.
type outcome struct {
	got, full          float64 // bandwidth of all flows; full: if each were alone
	time, ideal        float64 // of the slowest flow of each phase; ideal: if each were alone
	flows, lost, local int64
	tiers              []TierFlows // of Options.Tiers; Share is the sum
}

// reset makes an outcome empty.
func (o *outcome) reset() {
	clear(o.tiers)
	*o = outcome{tiers: o.tiers}
}

func (j *job) newWorker() *worker {
	w := &worker{job: j, worst: Flow{Bandwidth: math.Inf(1)}}
	w.rand = rand.New(&w.source)
	w.load = make([]uint64, len(j.capacity))
	w.sum = make([]uint64, len(j.capacity))
	w.most = make([]uint64, len(j.capacity))
	w.split = newSplitter(j.routes.fan)
	return w
}

// run simulates a unit: a run of a random pattern, or else a phase.
func (w *worker) run(o *outcome, unit int) {
	o.reset()
	if !w.random {
		w.phase(o, runPhase{phase: unit})
		return
	}
	w.source.Seed(w.Seed, uint64(unit)) // as traffic.Stream
	for phase := range w.phases {
		w.phase(o, runPhase{run: unit, phase: phase})
	}
}

// phase simulates a phase and adds it to an outcome and the worker's counts.
func (w *worker) phase(o *outcome, at runPhase) {
	w.draw(at)
	w.expand(o, at)
	if w.uniform && w.Model == Bottleneck && !w.weighed && w.split == nil {
		w.countAlike(o, at)
	} else {
		w.countRates(o, at)
	}
	if w.Tiers != nil {
		w.countTiers(o)
	}
	for m, n := range w.hist {
		w.congestion[m] += n
		w.hist[m] = 0
	}
	load, sum, most := w.load, w.sum[:len(w.load)], w.most[:len(w.load)]
	for c, n := range load {
		sum[c] += n
		if n > most[c] {
			most[c] = n
		}
	}
	clear(load)
}

// draw sets pairs to those of a phase, drawn ahead or now.
func (w *worker) draw(at runPhase) {
	if w.ahead != nil {
		w.pairs, w.records = w.ahead.phase(at)
		return
	}
	w.pairs = w.Pattern.Append(w.pairs[:0], len(w.routes.rank), at.phase, w.rand)
}

// find sets at and hops of all pairs, if there is a table of routes. It
// does so for all pairs first, because each look-up misses the caches, and misses that
// do not depend on each other overlap.
func (w *worker) find() {
	r := w.routes
	w.at, w.hops = resized(w.at, len(w.pairs)), resized(w.hops, len(w.pairs))
	if r.table == nil {
		return
	}
	at, hops, classes := w.at, w.hops[:len(w.at)], len(r.sources)
	for i, p := range w.pairs {
		k := (int(r.rank[p.To])*classes + int(r.class[r.rank[p.From]])) * r.stride
		at[i], hops[i] = uint32(k), r.table[k]
	}
}

// expand sets crossed, parts and end, the channels of every flow, and load, the flows on each channel,
// and counts flows, local pairs and lost ones in an outcome.
func (w *worker) expand(o *outcome, at runPhase) {
	w.find()
	r, load, end := w.routes, w.load, resized(w.end, len(w.pairs))
	crossed, share := w.crossed[:0], w.parts[:0]
	bytes := int64(0)
	for i, p := range w.pairs {
		from, to := r.rank[p.From], r.rank[p.To]
		end[i] = int32(len(crossed))
		bytes |= p.Bytes
		if from == to {
			o.local++
			continue
		}
		if c := r.inject[from]; c != fabric.None {
			crossed = append(crossed, uint32(c))
		}
		ok := true
		switch {
		case w.split != nil:
			share = appendUnits(share, len(crossed))
			crossed, share, ok = w.split.walk(crossed, share, r.sites[from], r.sites[to])
		case w.ahead != nil:
			record := w.records[i*w.ahead.stride:]
			if ok = record[0] != none; ok {
				crossed = append(crossed, record[1:1+record[0]]...)
			}
		case r.table == nil:
			crossed, ok = r.walk(crossed, from, to)
		case w.hops[i] != noRoute:
			for _, c := range r.table[w.at[i]+1:][:w.hops[i]] {
				crossed = append(crossed, uint32(c))
			}
		default:
			ok = false
		}
		if !ok {
			crossed = crossed[:end[i]]
			share = share[:min(len(share), len(crossed))]
			o.lost++
			o.full += min(w.out[from], w.in[to])
			o.time = math.Inf(1)
			w.noteLost(loss{Lost: Lost{From: r.sites[from], To: r.sites[to]}, at: at, pair: i})
			continue
		}
		if c := r.deliver[to]; c != fabric.None {
			crossed = append(crossed, uint32(c))
		}
		if w.split == nil {
			for _, c := range crossed[end[i]:] {
				load[c]++
			}
		} else {
			share = appendUnits(share, len(crossed))
			for k, c := range crossed[end[i]:] {
				load[c] += uint64(share[int(end[i])+k])
			}
		}
		end[i] = int32(len(crossed))
		o.flows++
	}
	w.crossed, w.parts, w.end, w.weighed = crossed, share, end, bytes != 0
}

// appendUnits is shares of so many channels, those without one yet with a whole flow on each.
func appendUnits(share []uint32, channels int) []uint32 {
	for len(share) < channels {
		share = append(share, splitUnits)
	}
	return share
}

// fullest is the most flows on one of these channels, rounded up.
func (w *worker) fullest(crossed []uint32) uint32 {
	load, most := w.load, uint64(0)
	for _, c := range crossed {
		most = max(most, load[c])
	}
	return w.whole(most)
}

// note counts a flow in hist, whose fullest channel carries m flows.
func (w *worker) note(m uint32) {
	for int(m) >= len(w.hist) {
		w.hist = append(w.hist, 0)
		w.congestion = append(w.congestion, 0)
	}
	w.hist[m]++
}

// countAlike adds the bandwidths of a phase to an outcome where all links have one rate and all pairs
// the same bytes. They are fractions 1/m, so that it is enough to count the flows by m.
func (w *worker) countAlike(o *outcome, at runPhase) {
	first, worst, slowest := int32(0), -1, uint32(0)
	for i, end := range w.end {
		if end == first {
			continue
		}
		m := w.fullest(w.crossed[first:end])
		w.note(m)
		if m > slowest {
			worst, slowest = i, m
		}
		first = end
	}
	if worst < 0 {
		return
	}
	w.noteWorst(at, worst, 1/float64(slowest))
	for m, n := range w.hist {
		if n > 0 {
			o.got += float64(n) / float64(m)
			o.full += float64(n)
			w.bandwidth[bin(1/float64(m))] += n
		}
	}
	o.time += float64(slowest)
	o.ideal++
}

// countRates is countAlike for the general case.
func (w *worker) countRates(o *outcome, at runPhase) {
	w.rate = resized(w.rate, len(w.pairs))
	if w.Model == MaxMin {
		w.filler.fill(w.rate, w.crossed, w.parts, w.end, w.load, w.capacity)
	} else {
		w.setShares()
	}
	r := w.routes
	first, worst, least := int32(0), -1, math.Inf(1)
	time, ideal := 0.0, 0.0
	for i, end := range w.end {
		if end == first {
			continue
		}
		p := &w.pairs[i]
		full := min(w.out[r.rank[p.From]], w.in[r.rank[p.To]])
		if w.split != nil {
			w.rate[i] = min(w.rate[i], full) // by several ports at once a switch itself could send more
		}
		fraction := w.rate[i] / full
		w.note(w.fullest(w.crossed[first:end]))
		w.bandwidth[bin(fraction)]++
		if fraction < least {
			worst, least = i, fraction
		}
		bytes := float64(max(1, p.Bytes))
		time, ideal = max(time, bytes/w.rate[i]), max(ideal, bytes/full)
		o.got += w.rate[i]
		o.full += full
		first = end
	}
	if worst >= 0 {
		w.noteWorst(at, worst, least)
	}
	o.time += time
	o.ideal += ideal
}

// setShares sets rate: the smallest share on the route of every flow.
func (w *worker) setShares() {
	first := int32(0)
	for i, end := range w.end {
		rate := math.Inf(1)
		for _, c := range w.crossed[first:end] {
			rate = min(rate, w.capacity[c]*w.units/float64(w.load[c]))
		}
		w.rate[i] = rate
		first = end
	}
}

// countTiers adds, for every flow and every tier that it crosses, its least share there.
func (w *worker) countTiers(o *outcome) {
	r, of := w.routes, w.Tiers.Of
	w.tier = resized(w.tier, len(o.tiers))
	first := int32(0)
	for i, end := range w.end {
		if end == first {
			continue
		}
		clear(w.tier)
		for _, c := range w.crossed[first:end] {
			if int(c) >= len(of) || of[c] < 0 {
				continue
			}
			least, share := &w.tier[of[c]], w.capacity[c]*w.units/float64(w.load[c])
			if *least == 0 || share < *least {
				*least = share
			}
		}
		p := &w.pairs[i]
		full := min(w.out[r.rank[p.From]], w.in[r.rank[p.To]])
		for k, share := range w.tier {
			if share > 0 {
				o.tiers[k].Flows++
				o.tiers[k].Share += min(1, share/full)
			}
		}
		first = end
	}
}

// bin is the bin of a bandwidth that is a fraction of full. A value that rounding put
// just below a boundary belongs above it.
func bin(fraction float64) int { return min(bins-1, int(fraction*bins+1e-9)) }

// resized is a slice of length n, in the memory of s if that suffices.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/8)
	}
	return s[:n]
}
