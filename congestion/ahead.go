package congestion

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/internal/par"
	"github.com/weft-fabric/weft/traffic"
)

// mostAhead is about how many flows are walked ahead at a time, which bounds the memory.
var mostAhead = 1_000_000

// ahead is the flows of some units (runs of a random pattern, or else phases), whose routes are walked
// before workers count them, on networks too large for the table of routes: all to
// one destination in a row, so that its row of the forwarding tables stays in a cache, which
// from flow to flow of a phase it never does.
type ahead struct {
	units   int            // how many at a time
	from    runPhase       // the first phase of the first of them
	phases  int            // of a unit
	pairs   []traffic.Pair // of all phases of all units
	first   []int32        // [unit × phases + phase, plus one at the end] into pairs
	order   []int32        // pairs by destination
	stride  int            // length of a record; 0: not known yet
	records []uint32       // [pair × stride] the number of trunks, or none, then the trunks
}

// none in place of the number of trunks says that there is no route.
const none = ^uint32(0)

// phase is the pairs of a phase, and the records of their routes.
func (a *ahead) phase(at runPhase) ([]traffic.Pair, []uint32) {
	k := (at.run-a.from.run)*a.phases + at.phase - a.from.phase
	first, end := a.first[k], a.first[k+1]
	return a.pairs[first:end], a.records[int(first)*a.stride:]
}

// newAhead is for as many units at a time as have about mostAhead flows, if each has as many as
// the first.
func (j *job) newAhead() *ahead {
	flows := j.flowsInPhase()
	if j.random {
		flows *= j.phases
	}
	return &ahead{units: max(1, mostAhead/max(1, flows))}
}

// walkAhead makes j.ahead the flows of n units from one on, with their routes, in place of those before.
func (j *job) walkAhead(ctx context.Context, unit, n int) error {
	a := j.ahead
	a.draw(j, unit, n)
	a.sort(j.routes)
	if a.stride == 0 {
		longest, err := j.routes.longest(ctx, max(1, len(j.routes.sites)/sampled))
		if err != nil {
			return err
		}
		a.stride = 1 + longest
	}
	for {
		a.records = slices.Grow(a.records[:0], len(a.pairs)*a.stride)[:len(a.pairs)*a.stride]
		longest, err := a.walk(ctx, j.routes)
		if err != nil || longest < a.stride {
			return err
		}
		a.stride = 1 + longest
	}
}

// draw sets pairs and first to the flows of n units from one on.
func (a *ahead) draw(j *job, unit, n int) {
	a.from, a.phases = runPhase{phase: unit}, 1
	if j.random {
		a.from, a.phases = runPhase{run: unit}, j.phases
	}
	a.pairs, a.first = a.pairs[:0], append(a.first[:0], 0)
	for i := range n {
		random := traffic.Stream(j.Seed, uint64(unit+i))
		for phase := range a.phases {
			if !j.random {
				phase = unit + i
			}
			a.pairs = j.Pattern.Append(a.pairs, len(j.routes.rank), phase, random)
			if len(a.first) == 1 {
				a.pairs = slices.Grow(a.pairs, len(a.pairs)*(n*a.phases-1))
			}
			a.first = append(a.first, int32(len(a.pairs)))
		}
	}
}

// sort sets order: the pairs by destination.
func (a *ahead) sort(r *routes) {
	next := make([]int32, len(r.sites)+1) // [site, plus one] pairs to it; then where the next of them belongs
	for _, p := range a.pairs {
		next[r.rank[p.To]+1]++
	}
	for site := range r.sites {
		next[site+1] += next[site]
	}
	a.order = slices.Grow(a.order[:0], len(a.pairs))[:len(a.pairs)]
	for i, p := range a.pairs {
		to := r.rank[p.To]
		a.order[next[to]] = int32(i)
		next[to]++
	}
}

// walk walks all routes, notes those that fit into records, and returns the number of trunks on
// the longest.
func (a *ahead) walk(ctx context.Context, r *routes) (longest int, err error) {
	const chunk = 4096
	n := (len(a.order) + chunk - 1) / chunk
	trunks, most := make([][]uint32, par.Workers(n)), make([]int, par.Workers(n))
	err = par.For(ctx, n, func(worker, k int) {
		way := trunks[worker]
		for _, i := range a.order[k*chunk : min((k+1)*chunk, len(a.order))] {
			p := a.pairs[i]
			var ok bool
			way, ok = r.walk(way[:0], r.rank[p.From], r.rank[p.To])
			most[worker] = max(most[worker], len(way))
			record := a.records[int(i)*a.stride:][:a.stride]
			if !ok {
				record[0] = none
			} else if len(way) < a.stride {
				record[0] = uint32(len(way))
				copy(record[1:], way)
			}
		}
		trunks[worker] = way
	})
	return slices.Max(most), err
}
