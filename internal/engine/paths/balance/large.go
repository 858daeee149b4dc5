package balance

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/par"
	"github.com/weft-fabric/weft/routing"
)

// searchLarge is one of the three ways of searchPhases, for networks on which the work does not
// allow even one pass over everything, or on which whole passes do not pay. It takes the beginning
// that is worth most as it is, and mends what is in trouble on it. If the result has less bandwidth
// than the floor of Mixed, it mends the beginning that is worth most by the floor, too.
func (s *phases) searchLarge(ctx context.Context, fd Finder, p routing.Progress) (*trial, error) {
	starts, err := s.beginnings(ctx, fd, progressBetween(p, 0, 2))
	if err != nil {
		return nil, err
	}
	s.settle(starts)
	first := slices.MaxFunc(starts, func(a, b *start) int { return cmp.Compare(a.worth(s.aim), b.worth(s.aim)) })
	above := s.best(starts)
	best := s.mended(ctx, fd, first) // the other beginnings are not needed any more, and large
	if best.found.bandwidth < s.floor {
		p.Report(3, stages)
		if t := s.mended(ctx, fd, above); t.best > best.best {
			best = t
		}
	}
	p.Report(stages, stages)
	return best, ctx.Err()
}

// best is the beginning that is worth most by the floor of Mixed.
func (s *phases) best(starts []*start) *start {
	return slices.MaxFunc(starts, func(a, b *start) int { return cmp.Compare(s.worth(a.figures), s.worth(b.figures)) })
}

// wholePasses is one of the three ways of searchPhases, for networks with levels on which the work
// allows a few passes over everything, but no tournament. It makes them from the best beginning, with
// the evenness that costs little bandwidth.
func (s *phases) wholePasses(ctx context.Context, fd Finder, work int64, p routing.Progress) (*trial, error) {
	starts, err := s.beginnings(ctx, fd, progressBetween(p, 0, 2))
	if err != nil {
		return nil, err
	}
	s.settle(starts)
	from := s.best(starts)
	quick := slices.MaxFunc(starts, func(a, b *start) int { return cmp.Compare(a.worth(Shifts), b.worth(Shifts)) })
	r := newTournament(s.network, fd, s.judge)
	r.enter(s.network, fd, []plan{{from: from, quick: quick, power: wholePower, even: wholeEven, share: 2}})
	if r.work, r.passes = work, int(work/s.counted); !s.fits || from.perfect() || fd.Passes < 0 {
		r.passes = 0
	}
	best, err := r.run(ctx, progressBetween(p, 2, stages))
	return best, err
}

// How costs grow in whole passes, and what random pairs count beside that: as powers and evens. Of the sixty networks of
// test/bench/patchwork twenty have other paths than at 3 and 1, worth .10 hundredths more in the mean, by Aim.Worth;
// with .07 in place of .2 durations are 1.7 hundredths shorter in the mean, for .16 of bandwidth.
const (
	wholePower = 6
	wholeEven  = .07
)

// unusual is how many times as much as on the beginning with the shortest durations may be usual in whole passes.
// Paths for random pairs may take twice as long, and more; measured by that, routes at equal offsets would cost next to
// nothing, and few passes leave it so. Of fourteen trees of 1,728 hosts without a fifth of their cables phases are 2 hundredths
// shorter for it in the mean, of two networks drawn as those of test/bench/patchwork 16 and 17; on networks on
// which the paths for random pairs take less than 1.5 times as long it changes nothing. At 1 bandwidth falls by two hundredths
// on a network on which phases gain half a hundredth, at 1.25 by six thousandths.
const unusual = 1.5

// mostPass is what a pass over everything that is counted may look at, in words of cells; it takes two to three
// seconds. Of 26 networks of 2,700 to 6,100 hosts, drawn as those of test/bench/patchwork, 17 have a cell for each
// offset by it and most others a pass over larger cells. With the passes that there was time for before, phases
// took 16 hundredths longer in the mean, in a quarter less CPU.
const mostPass = 300_000_000

// tooLargeForAPass reports whether even a pass over everything that is counted takes too long.
func (n *network) tooLargeForAPass() bool { return n.counted > mostPass }

// beginnings is what to begin with on a large network. What is given first often serves
// as it is, unless cables are missing: then there is no waiting for it. One for random
// pairs is made beside the others, on the largest networks only if something made for any
// network has more bandwidth than the first one, which then does not suit this one.
func (s *phases) beginnings(ctx context.Context, fd Finder, p routing.Progress) ([]*start, error) {
	fd.Begin = quick(fd.Begin)
	some := min(1, len(fd.Begin))
	first, rest := fd, fd
	first.Begin, rest.Begin = fd.Begin[:some], fd.Begin[some:]
	var starts, others []*start
	var failed [2]error
	var own *trial
	forPairs := func() {
		own = newTrial(s.network, plan{turns: true, share: 1}, fd.Seed)
		own.begin(ctx)
	}
	begin := []func(){
		func() { starts, failed[0] = s.given(ctx, first, s.measure, nil) },
		func() { others, failed[1] = s.given(ctx, rest, s.measure, nil) },
		forPairs,
	}
	if s.tooLargeForAPass() {
		begin = begin[:2]
	}
	if Alike(s.f, func(u fabric.NodeID) bool { return s.src[u] > 0 }) {
		begin[0]()
		begin = begin[1:]
		if failed[0] != nil || anyPerfect(starts) {
			return starts, failed[0]
		}
		p.Report(1, 2)
	}
	if err := cmp.Or(par.For(ctx, len(begin), func(_, i int) { begin[i]() }), failed[0], failed[1]); err != nil {
		return nil, err
	}
	p.Report(2, 2)
	if anyPerfect(starts) {
		return starts, nil
	}
	suits := len(starts) > 0 && !slices.ContainsFunc(others, func(x *start) bool { return x.worth(s.aim) > starts[0].worth(s.aim) })
	starts = append(starts, others...)
	if s.tooLargeForAPass() {
		if suits {
			return starts, ctx.Err()
		}
		forPairs()
	}
	return append(starts, s.promising(ctx, fd, own)), ctx.Err()
}

// anyPerfect reports whether one of some beginnings is perfect.
func anyPerfect(starts []*start) bool {
	return slices.ContainsFunc(starts, func(x *start) bool { return x.perfect() })
}

// Alike reports whether all switches that send have equally many trunks, as in a tree from
// which nothing is missing.
func Alike(f *fabric.Fabric, sends func(fabric.NodeID) bool) bool {
	trunks := int32(-1)
	for s := range fabric.NodeID(f.Switches()) {
		if !sends(s) {
			continue
		}
		first, end := f.TrunksFrom(s)
		if trunks < 0 {
			trunks = int32(end - first)
		}
		if int32(end-first) != trunks {
			return false
		}
	}
	return true
}

// promising is a trial for random pairs as a beginning, after some passes more: with as much work as a
// whole pass takes. They give what is begun with more bandwidth, most of which the whole pass keeps.
func (s *phases) promising(ctx context.Context, fd Finder, t *trial) *start {
	x := &start{"balance", t.pick, s.measure(t)}
	if fd.Passes < 0 || fd.Work > 0 && fd.Work < s.price(t.plan) {
		return x
	}
	x.pick = slices.Clone(t.pick)
	const idle = 2 // passes without a better one
	left, stale := min(s.counted, cmp.Or(fd.Work, phasedWork)), 0
	for ; left > 0 && stale < idle && fd.goesOn(ctx, t); left -= s.price(t.plan) {
		t.pass(ctx)
		stale++
		if y := s.measure(t); y.worth(s.aim) > x.worth(s.aim) {
			copy(x.pick, t.pick)
			x.figures, stale = y, 0
		}
	}
	return x
}

// goesOn reports whether a trial may make another pass: by Passes, by Time, and by whoever waits.
func (fd Finder) goesOn(ctx context.Context, t *trial) bool {
	return (fd.Passes == 0 || t.passes < fd.Passes) && (fd.deadline.IsZero() || time.Now().Before(fd.deadline)) && ctx.Err() == nil
}

// mendsToAPass is how many passes that mend take the time of one over everything, about.
const mendsToAPass = 3

// mended is a trial that mends a beginning as long as that is worth it.
func (s *phases) mended(ctx context.Context, fd Finder, from *start) *trial {
	even := 12.0
	if s.aim == Shifts {
		even = .2
	}
	t := newTrial(s.network, plan{from: from, power: 6, even: even, share: 2, mend: true}, fd.Seed)
	t.begin(ctx)
	t.judge(s.judge)
	if !s.fits || from.perfect() || fd.Passes < 0 {
		return t
	}
	passes := int64(1)
	if s.tooLargeForAPass() {
		passes = mostMends
	}
	if fd.Work > 0 {
		passes = min(passes, mendsToAPass*fd.Work/s.counted)
	}
	for int64(t.passes) < passes && t.stale == 0 && fd.goesOn(ctx, t) {
		t.pass(ctx)
		t.judge(s.judge)
	}
	return t
}
