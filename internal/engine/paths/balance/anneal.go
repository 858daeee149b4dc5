package balance

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/par"
)

// annealer is the last part of a search for phases where networks are small: simulated
// annealing. A switch takes another way to one destination, with all routes that come
// through it. What that is worth the durations of all shifts say themselves, not prices,
// and each is kept up to date: a move changes those of the offsets of its routes only. For
// Mixed counts beside that what random pairs meet, see meets.go.
type annealer struct {
	*trial
	classes int32
	depth   int32   // most routes that a cell can have, and one more
	having  []int32 // [(cell × classes + class) × depth + routes] trunks of a class with so many routes
	most    []int32 // [cell × classes + class] routes on the fullest of them
	price   []int64 // [cell] of a unit of time, so that orders of ranks count alike
	slowest int64   // of the links of hosts
	left    int64   // work
	pairs   float64 // what counts if a route meets a unit of trial.cost more; 0: nothing

	off, on []fabric.ChannelID // what the routes at hand leave and take
}

// Limits of annealing. Of the sixty networks of test/bench/patchwork eight have other paths for it. Six of these are worth .2 to
// 2.4 hundredths more for it, by Aim.Worth, and one 1.2 less. Work is cells that get more routes or fewer, for each order of
// ranks: 10 million take about a quarter of a second.
const (
	annealWork  = 40_000_000
	annealCells = 8_000_000 // of annealer.having
	fewSweeps   = 100       // fewer are not worth to begin
	mostSweeps  = 600       // more hardly find anything, on networks where they would take no time
)

// Temperatures are in units of the fullest trunk of one shift carrying one route more. A
// low one mends good paths, a high one leads away from them. Of twenty of the sixty networks of
// test/bench/patchwork one has other paths by the low one alone, with shifts .4 hundredths shorter.
var temperatures = [...]float64{.1, .3}

// hint is what one more trunk counts that is as full as the fullest in a shift: a
// hundred-and-sixtieth of what it counts if these carry a route more, which is fine times unit. Of twenty of the
// sixty networks of test/bench/patchwork two have other paths without it, shifts 1.5 hundredths longer on one and
// 3.4 shorter on the other.
const hint = fine / 10

// anneal improves a trial's best routing. What is no better is forgotten.
func (s *phases) anneal(ctx context.Context, fd Finder, best *trial) error {
	if !s.fits || s.shift > 0 || fd.Passes < 0 || best.found.perfect() {
		return nil
	}
	work := annealWork * int64(len(s.orders))
	if fd.Work > 0 {
		work = min(work, fd.Work/4)
	}
	if s.counted*fewSweeps > 2*work { // a sweep is at least half a pass
		return nil
	}
	trials := make([]*trial, len(temperatures))
	err := par.For(ctx, len(trials), func(_, i int) {
		t := newTrial(s.network, best.plan, fd.Seed+uint64(i))
		copy(t.pick, best.kept)
		t.unload()
		t.countFirst(ctx, t.countAll)
		a := newAnnealer(t, work)
		if a != nil && s.aim == Mixed {
			a.weighPairs(best.found.bandwidth)
		}
		if a != nil && a.run(ctx, fd.deadline, temperatures[i]) {
			t.judge(s.judge)
			trials[i] = t
		}
	})
	for _, t := range trials {
		if err == nil && t != nil && t.best > best.best {
			best.best, best.found, best.kept, best.annealed = t.best, t.found, t.kept, true
		}
	}
	return err
}

// newAnnealer prepares for a trial with everything counted; nil if that takes too much
// memory.
func newAnnealer(t *trial, work int64) *annealer {
	x := t.phased
	a := &annealer{trial: t, classes: int32(len(x.inverses)), depth: int32(len(t.dests)) + 1, slowest: t.slowest(), left: work}
	if int64(t.width)*int64(a.classes)*int64(a.depth) > annealCells {
		return nil
	}
	a.having = make([]int32, t.width*a.classes*a.depth)
	a.most, a.price = make([]int32, t.width*a.classes), make([]int64, t.width)
	for c := range fabric.ChannelID(t.f.Trunks()) {
		for cell := range x.width {
			k, n := cell*a.classes+int32(x.class[c]), x.get(c, cell)
			a.having[k*a.depth+n]++
			a.most[k] = max(a.most[k], n)
		}
	}
	for i := range t.orders {
		o, sum := &t.orders[i], int64(0)
		for cell := range o.cells() {
			if duration, _ := a.duration(o.base + cell); !o.unused(cell) {
				sum += duration
			}
		}
		for cell := range o.cells() {
			a.price[o.base+cell] = fine * unit * unit * int64(len(o.Ranks)) / max(1, sum)
		}
	}
	return a
}

// duration is how long the shift of a cell takes, and how many trunks take that long.
func (a *annealer) duration(cell int32) (longest int64, trunks int32) {
	longest = a.slowest
	for class, inverse := range a.phased.inverses {
		k := cell*a.classes + int32(class)
		n := a.most[k]
		switch takes := int64(n) * inverse; {
		case takes > longest:
			longest, trunks = takes, a.having[k*a.depth+n]
		case takes == longest && takes > a.slowest:
			trunks += a.having[k*a.depth+n]
		}
	}
	return longest, trunks
}

// counts is what a cell counts whose shift takes as long on so many trunks.
func (a *annealer) counts(cell int32, longest int64, trunks int32) int64 {
	return a.price[cell] * (longest*fine + int64(trunks)*hint)
}

// would is how much more the routes at hand would cost on other trunks. Most ways that are
// offered are refused: so nothing is counted before one is taken.
func (a *annealer) would(off, on []fabric.ChannelID) (more int64) {
	for _, s := range a.phased.spans {
		for cell := range a.phased.cells(s) {
			longest, trunks := a.duration(cell)
			after, then := a.durationWith(cell, off, on)
			if after != longest || then != trunks {
				more += a.counts(cell, after, then) - a.counts(cell, longest, trunks)
			}
		}
	}
	return more
}

// durationWith is duration if a route left some trunks for others.
func (a *annealer) durationWith(cell int32, off, on []fabric.ChannelID) (longest int64, trunks int32) {
	longest = a.slowest
	for class, inverse := range a.phased.inverses {
		k := cell*a.classes + int32(class)
		n := a.most[k]
		having := a.having[k*a.depth:][:a.depth]
		full, below, above := having[n], int32(0), int32(0) // trunks with n routes, one less, and one more
		if n > 0 {
			below = having[n-1]
		}
		for _, c := range off {
			if int(a.phased.class[c]) != class {
				continue
			}
			switch a.phased.get(c, cell) {
			case n:
				full--
				below++
			case n - 1:
				below--
			}
		}
		for _, c := range on {
			if int(a.phased.class[c]) != class {
				continue
			}
			switch a.phased.get(c, cell) {
			case n:
				above++
			case n - 1:
				full++
			case n - 2:
				below++
			}
		}
		// Of what leaves trunks with n routes, none are left with less than one route less.
		switch {
		case above > 0:
			n, full = n+1, above
		case full == 0 && n > 0:
			n, full = n-1, below
		}
		switch takes := int64(n) * inverse; {
		case takes > longest:
			longest, trunks = takes, full
		case takes == longest && takes > a.slowest:
			trunks += full
		}
	}
	return longest, trunks
}

// recount notes that a cell of a trunk is about to get a route, or to lose one.
func (a *annealer) recount(c fabric.ChannelID, cell int32, sign int32) {
	n := a.phased.get(c, cell)
	k := cell*a.classes + int32(a.phased.class[c])
	trunks := a.having[k*a.depth:][:a.depth]
	trunks[n]--
	if sign < 0 && n == a.most[k] && trunks[n] == 0 {
		a.most[k]--
	}
	n += sign
	trunks[n]++
	a.most[k] = max(a.most[k], n)
}

// move takes the routes at hand from some trunks to others.
func (a *annealer) move(off, on []fabric.ChannelID) {
	for _, s := range a.phased.spans {
		for cell := range a.phased.cells(s) {
			for _, c := range off {
				a.recount(c, cell, -1)
			}
			for _, c := range on {
				a.recount(c, cell, 1)
			}
		}
	}
	for _, c := range off {
		a.phased.add(c, a.phased.spans, -1)
	}
	for _, c := range on {
		a.phased.add(c, a.phased.spans, 1)
	}
}

// works is the work of a move.
func (a *annealer) works(off, on []fabric.ChannelID) (work int64) {
	for _, s := range a.phased.spans {
		work += int64(bits.OnesCount64(s.add)) * int64(len(off)+len(on))
	}
	return work
}

// run sweeps over all destinations and switches as often as there is work for, while the
// temperature falls to nothing. It says whether there was enough to begin with.
func (a *annealer) run(ctx context.Context, deadline time.Time, temperature float64) bool {
	all, hot := a.left, temperature*fine*unit*float64(a.price[0])
	a.sweep(hot)
	first := all - a.left
	if first*fewSweeps > all {
		return false
	}
	end := max(0, all-first*mostSweeps)
	for a.left > end && ctx.Err() == nil && (deadline.IsZero() || time.Now().Before(deadline)) {
		before := a.left
		a.sweep(hot * float64(a.left-end) / float64(all-end))
		if a.left == before {
			break // nowhere is a choice
		}
	}
	return true
}

// sweep offers every switch another way to every destination, drawn by chance.
func (a *annealer) sweep(temperature float64) {
	t := a.trial
	for i := range t.shuffled() {
		d := &t.dests[i]
		r, pick := &t.roots[d.root], t.picks(i)
		t.phased.old(r, pick)
		if a.pairs > 0 {
			t.charge(r, pick, -d.weight)
		}
		for j := 1; j < len(r.order); j++ {
			if ways := r.ways[r.first[j]:r.first[j+1]]; len(ways) > 1 && t.behind(d, r, int32(j)) > 0 {
				a.offer(d, r, pick, int32(j), another(t.random, len(ways), pick[j]), temperature)
			}
		}
		if a.pairs > 0 {
			t.charge(r, pick, d.weight)
		}
	}
}

// another is a number below n that is not the one at hand.
func another(random *rand.Rand, n int, not uint8) uint8 {
	k := uint8(random.IntN(n - 1))
	if k >= not {
		k++
	}
	return k
}

// offer lets a switch take another way for the routes at hand, if that costs no more or, by
// chance, not much.
func (a *annealer) offer(d *dest, r *root, pick []uint8, j int32, to uint8, temperature float64) {
	rehang := a.exchange(r, pick, j, to)
	more := float64(a.would(a.off, a.on))
	if a.pairs > 0 {
		more += float64(a.pairs * float64(d.weight*(a.meets(r, pick, j, to)-a.meets(r, pick, j, pick[j]))))
	}
	if more > 0 && more >= temperature*a.random.ExpFloat64() || a.phased.over {
		a.left -= 2 * a.works(a.off, a.on) // as if it were taken and given back
		return
	}
	a.left -= a.works(a.off, a.on)
	a.move(a.off, a.on)
	pick[j] = to
	if rehang {
		a.phased.old(r, pick)
	}
}

// exchange lists the trunks that the routes at hand leave, and those that they take, if a switch
// takes another way. It says whether that leads by another switch.
func (a *annealer) exchange(r *root, pick []uint8, j int32, to uint8) (rehang bool) {
	v, w := r.ways[r.first[j]+int32(pick[j])], r.ways[r.first[j]+int32(to)]
	rehang = v.head != w.head
	a.off, a.on = append(a.off[:0], v.trunk), append(a.on[:0], w.trunk)
	for v.head != w.head { // whoever is behind the other on the way goes on
		if v.head > w.head {
			v = r.ways[r.first[v.head]+int32(pick[v.head])]
			a.off = append(a.off, v.trunk)
		} else {
			w = r.ways[r.first[w.head]+int32(pick[w.head])]
			a.on = append(a.on, w.trunk)
		}
	}
	return rehang
}
