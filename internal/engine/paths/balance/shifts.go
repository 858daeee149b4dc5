package balance

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/routing"
)

// start is paths that trials for shifts begin with.
type start struct {
	name string
	pick []uint8 // as in trial
	figures
}

// text says the figures.
func (x figures) text(orders []order) string {
	all := make([]string, len(orders))
	for i, d := range x.durations {
		all[i] = fmt.Sprintf("%.2f (%s)", d, orders[i].Name)
	}
	text := fmt.Sprintf("shifts take %s times as long as alone", strings.Join(all, ", "))
	if x.bandwidth == 0 { // nobody looked at it
		return text
	}
	return fmt.Sprintf("flows of random bisections get %.3f of what they would alone, %s", x.bandwidth, text)
}

// powers is how the cost of a route that meets n others at its offset grows: with the
// power of n. What counts in the end is the trunk on which most meet, which a high power
// cares for; a low one finds its way from bad beginnings.
var powers = []int{3, 2, 6}

// highest is the power to which it grows while passes bring nothing better; then it begins
// again with lowest. Of twenty of the sixty networks of test/bench/patchwork six have other paths if it is 4: shifts 4 to
// 6 hundredths shorter on three, on two of them for a hundredth of bandwidth, and 2.5 longer on one.
const lowest, highest = 2, 8

// evens is what random pairs count beside that, for Mixed: the more, the more bandwidth
// they have. It is for routes that meet as many at their offset as is usual. Of twenty of the sixty networks of
// test/bench/patchwork three have other paths with .2 in place of all of them, shifts 3.2 hundredths longer on one,
// 3.2 and 4.9 shorter on two.
var evens = []float64{.2, 1, .1, 4, 12}

// fewPasses is the passes for shifts below which what is not in trouble stays where it is, for time. Of twenty of
// the sixty networks of test/bench/patchwork seven have other paths without it, for half as much CPU again on
// all: shifts 5, 5, 10 and 61 hundredths shorter on four, 15 longer on one.
const fewPasses = 6

// phases is what a search for the aims Shifts and Mixed judges by.
type phases struct {
	*network
	aim    Aim
	pairs  *sample
	shifts *shiftSample
	floor  float64 // bandwidth below which Mixed goes at a price only
}

// measure is the figures of a routing, as far as the aim is about them.
func (s *phases) measure(t *trial) figures {
	if s.aim == Shifts {
		return figures{0, t.durations(s.shifts)}
	}
	return figures{t.bandwidth(s.pairs), t.durations(s.shifts)}
}

// worth is figures.worth, less where bandwidth is below the floor.
func (s *phases) worth(x figures) float64 {
	return s.aim.Worth(x.bandwidth, s.floor/leastBandwidth, x.durations)
}

// judge measures a trial and notes the figures of its best routing.
func (s *phases) judge(t *trial) float64 {
	var x figures
	if t.begun {
		x = t.from.figures
	} else {
		x = s.measure(t)
	}
	b := s.worth(x)
	if b > t.best || t.kept == nil {
		t.found = x
	}
	return b
}

// searchPhases is search for the aims Shifts and Mixed. It measures the paths that it may
// begin with, those for random pairs among them. If no flow of a shift meets another on
// some of them, they are it. Otherwise the search improves the best beginnings, in one of three
// ways, by the work that it may do: compete, where that is fewPasses passes over everything and
// more; wholePasses, where it is less, but a pass, and the network has levels; else searchLarge, which
// looks only at what is in trouble. Without levels some paths often have to be changed for want of
// lanes, and then what a whole pass gains is lost.
func searchPhases(ctx context.Context, n *network, fd Finder, p routing.Progress) (*trial, error) {
	s := &phases{network: n, aim: fd.Aim, pairs: newSample(n, fd.Seed), shifts: newShiftSample(n, fd.Seed)}
	if work := cmp.Or(fd.Work, s.work()); work >= fewPasses*n.counted {
		return s.compete(ctx, fd, work, p)
	} else if n.levelled && work >= n.counted && !n.tooLargeForAPass() {
		return s.wholePasses(ctx, fd, work, p)
	}
	return s.searchLarge(ctx, fd, p)
}

// compete is one of the three ways of searchPhases: a tournament of trials, each of which routes everything again and again.
func (s *phases) compete(ctx context.Context, fd Finder, work int64, p routing.Progress) (*trial, error) {
	starts, err := s.given(ctx, fd, s.measure, progressBetween(p, 0, 1))
	if err != nil {
		return nil, err
	}
	if !anyPerfect(starts) {
		own, err := searchPairs(ctx, s.network, fd, progressBetween(p, 1, 2))
		if err != nil {
			return nil, err
		}
		own.pick = own.kept
		starts = append(starts, &start{"balance", own.pick, s.measure(own)})
	}
	s.settle(starts)
	slices.SortStableFunc(starts, func(a, b *start) int { return cmp.Compare(s.worth(b.figures), s.worth(a.figures)) })
	r := newTournament(s.network, fd, s.judge)
	r.work = work
	r.enter(s.network, fd, phasedPlans(s.network, fd, starts, r.work))
	r.passes *= longer
	if !s.fits || starts[0].perfect() {
		r.passes = 0
	}
	best, err := r.run(ctx, progressBetween(p, 2, stages))
	if err == nil {
		err = s.anneal(ctx, fd, best)
	}
	return best, err
}

// settle puts the floor below the most bandwidth of some beginnings.
func (s *phases) settle(starts []*start) {
	for _, x := range starts {
		s.floor = max(s.floor, leastBandwidth*x.bandwidth)
	}
}

// stages is the parts of the search for phases, by the time that they take about: the
// beginnings, those for random pairs, and the tournament.
const stages = 4

// progressBetween is progress that goes from one stage of the search to another.
func progressBetween(p routing.Progress, from, to int) routing.Progress {
	const steps = 100
	return func(done, total int) { p.Report(from*steps+(to-from)*steps*done/max(1, total), stages*steps) }
}

// longer is how many times as many passes trials for shifts get, and may go on without a
// better routing, as others: meanwhile costs grow steeper. Of the sixty networks of test/bench/patchwork two are worth .4
// and 1.0 hundredths more for it, by Aim.Worth, and one .3 less.
const longer = 4

// phasedWork is the work that goes into trials for shifts, in words of cells, or more, see phases.work. The
// sixty networks of test/bench/patchwork are worth .18 hundredths less in the mean, by Aim.Worth, for two thirds of it,
// in a sixth less CPU, and .12 more for four thirds.
const phasedWork = 60_000_000

// work is what goes into trials for shifts where no work is given: two passes over everything at least. Six
// networks of 2,900 to 5,300 hosts, drawn as those of test/bench/patchwork, are worth 1 to 2.5 hundredths more by
// Aim.Worth for the second pass, which takes two to three seconds.
func (s *phases) work() int64 { return max(2*s.counted, phasedWork) }

// mostTrials is how many trials for shifts there are at most: a bound of time where the network is so small that the work would
// allow more.
const mostTrials = 60

// phasedPlans is the trials for shifts, the likeliest to be worth their work first, as
// many as the work and the memory allow.
func phasedPlans(n *network, fd Finder, starts []*start, work int64) []plan {
	weights := evens
	if fd.Aim == Shifts {
		weights = []float64{0, .2}
	}
	var all []plan
	for seed := uint64(0); len(all) < mostTrials; seed++ {
		for _, power := range powers {
			for _, even := range weights {
				for _, from := range starts {
					all = append(all, plan{from: from, power: power, even: even, seed: seed, share: 2})
				}
			}
		}
	}
	most := int(min(int64(mostTrials), max(1, mostCells/max(1, n.cells()))))
	return affordable(n, all[:most], work)
}

// given is the beginnings that do not refuse the network. Once one is perfect, no other
// is needed.
func (n *network) given(ctx context.Context, fd Finder, measure func(*trial) figures, p routing.Progress) ([]*start, error) {
	var starts []*start
	for i, b := range fd.Begin {
		x, err := n.begun(ctx, fd, b, measure)
		if err != nil {
			return nil, err
		}
		p.Report(i+1, len(fd.Begin)+1)
		if x == nil {
			continue
		}
		starts = append(starts, x)
		if x.perfect() {
			break
		}
	}
	return starts, ctx.Err()
}

// begun is a beginning, or nil if it refuses the network.
func (n *network) begun(ctx context.Context, fd Finder, b Beginning, measure func(*trial) figures) (*start, error) {
	fw, err := b.Paths.Paths(ctx, n.f, nil)
	if routing.Refused(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	t := newTrial(n, plan{}, fd.Seed)
	t.adopt(ctx, fw)
	return &start{b.Name, t.pick, measure(t)}, nil
}
