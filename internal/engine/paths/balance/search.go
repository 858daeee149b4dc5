package balance

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/weft-fabric/weft/internal/par"
	"github.com/weft-fabric/weft/routing"
)

// patience is the passes without a better routing after which a trial ends.
const patience = 3

// patience is longer where a trial for shifts lets costs grow steeper meanwhile.
func (t *trial) patience() int {
	if t.from != nil {
		return longer * patience
	}
	return patience
}

// handicap is how much better all but the first plan must be: what begins switch
// by switch or along the dimensions is more regular, needs fewer lanes and serves traffic
// that is not random better, so that chance shall not decide against it. Of twenty of the sixty networks
// of test/bench/patchwork one has other paths at 1, with 1.1 hundredths more bandwidth and shifts .9 longer.
const handicap = 0.999

// plans is the ways to begin, the likeliest to be worth their work first.
func plans(n *network, fd Finder) []plan {
	if fd.Aim == AllToAll && !fd.Regular {
		all := []plan{{}, {turns: true}}
		if n.tier != nil {
			all = append(all, plan{tiers: true})
		}
		return all
	}
	if n.tier != nil && fd.Regular {
		return []plan{{tiers: true, keep: true}, {tiers: true, keep: true, share: 1}}
	}
	var all []plan
	if n.tier != nil {
		all = append(all, plan{tiers: true, share: 1})
	}
	return append(all,
		plan{},
		plan{turns: true, share: 2},
		plan{share: 2},
		plan{share: 1},
		plan{turns: true, share: 1},
	)
}

// price is the work of a pass: trunks looked at, and trunks of trees charged.
func (n *network) price(p plan) int64 {
	if p.from != nil {
		return n.counted
	}
	if p.share > 0 {
		return 2*n.looked + 4*n.placed
	}
	return n.looked + 3*n.placed
}

// tournament is the state of the search.
type tournament struct {
	trials   []*trial // the best first, once they are judged
	work     int64    // left
	passes   int      // left
	deadline time.Time
	judge    func(*trial) float64 // the more the better
}

// affordable is the plans that are begun: the first in any case, a second if two
// passes of each are within the work, more if they are within half of it.
func affordable(n *network, all []plan, work int64) []plan {
	var chosen []plan
	cost := int64(0)
	for _, p := range all {
		cost += 2 * n.price(p)
		if k := len(chosen); k == 0 || k == 1 && cost <= work || cost <= work/2 {
			chosen = append(chosen, p)
		}
	}
	return chosen
}

// search finds the best routing for the aim. In the order of dimensions nothing is left to
// choose that shifts would notice. Where switches with hosts pass on what others send,
// Mixed is for pairs at random: what shifts would gain there, irregular paths would lose
// by the lanes that they need.
func search(ctx context.Context, n *network, fd Finder, p routing.Progress) (*trial, error) {
	regular := fd.Regular && n.tier != nil
	if fd.Demands != nil && len(n.hosts) > 1 {
		return searchMatrix(ctx, n, fd, p)
	}
	if len(n.hosts) > 1 && !regular && (fd.Aim == Shifts || fd.Aim == Mixed && !n.direct) {
		return searchPhases(ctx, n, fd, p)
	}
	return searchPairs(ctx, n, fd, p)
}

// searchPairs is search for pairs at random, or for everybody to everybody at once.
func searchPairs(ctx context.Context, n *network, fd Finder, p routing.Progress) (*trial, error) {
	judge := (*trial).fullest
	if fd.Aim != AllToAll {
		s := newSample(n, fd.Seed)
		judge = func(t *trial) float64 { return t.bandwidth(s) }
	}
	r := newTournament(n, fd, judge)
	r.enter(n, fd, affordable(n, plans(n, fd), r.work))
	return r.run(ctx, p)
}

func newTournament(n *network, fd Finder, judge func(*trial) float64) *tournament {
	r := &tournament{passes: max(0, cmp.Or(fd.Passes, DefaultPasses)), work: fd.Work, judge: judge}
	if r.work == 0 {
		r.work = max(LeastWork, min(MostWork, LeastPasses*n.price(plan{share: 1})))
	}
	r.deadline = fd.deadline
	return r
}

// enter makes a trial of each plan.
func (r *tournament) enter(n *network, fd Finder, plans []plan) {
	for k, p := range plans {
		t := newTrial(n, p, fd.Seed+p.seed)
		t.first = k == 0
		r.trials = append(r.trials, t)
		if p.from == nil {
			r.work -= n.price(p)
		}
	}
}

// run is the tournament. Each trial is begun and judged. Then all go on for a pass, the
// better half for two, the better half of it for four, and so on.
func (r *tournament) run(ctx context.Context, p routing.Progress) (*trial, error) {
	total := max(1, r.passes)
	// Trials do not know of each other: they may run at the same time.
	err := par.For(ctx, len(r.trials), func(_, i int) {
		r.trials[i].begin(ctx)
		r.trials[i].judge(r.judge)
	})
	for rung := 1; err == nil; rung *= 2 {
		var more bool
		if more, err = r.goOn(ctx, rung); !more {
			break
		}
		p.Report(total-r.passes, total)
		half := (len(r.trials) + 1) / 2
		clear(r.trials[half:])
		r.trials = r.trials[:half]
	}
	p.Report(total, total)
	return r.trials[0], err
}

// goOn gives every trial some passes, as far as the work suffices, and says
// whether there can be more.
func (r *tournament) goOn(ctx context.Context, passes int) (bool, error) {
	each := int64(0)
	for _, t := range r.trials {
		each += t.price(t.plan)
	}
	passes = min(passes, r.passes)
	if each > 0 {
		passes = int(min(int64(passes), max(0, r.work/each)))
	}
	err := par.For(ctx, len(r.trials), func(_, i int) {
		t := r.trials[i]
		for k := 0; k < passes && t.stale < t.patience() && ctx.Err() == nil; k++ {
			if !r.deadline.IsZero() && time.Now().After(r.deadline) {
				t.stale = t.patience()
				return
			}
			t.pass(ctx)
			t.judge(r.judge)
		}
	})
	r.work -= int64(passes) * each
	r.passes -= passes
	slices.SortStableFunc(r.trials, func(a, b *trial) int { return cmp.Compare(b.worth(), a.worth()) })
	hope := slices.ContainsFunc(r.trials, func(t *trial) bool { return t.stale < t.patience() })
	return hope && r.passes > 0 && (passes > 0 || len(r.trials) > 1), err
}

// worth is what the judge said of the best routing, with the handicap.
func (t *trial) worth() float64 {
	switch {
	case t.first:
		return t.best
	case t.best < 0:
		return t.best / handicap
	}
	return t.best * handicap
}

// note says how a trial went.
func (t *trial) note() string {
	if t.said != "" {
		return t.said
	}
	how := "first routed switch by switch"
	switch {
	case t.plan.from != nil:
		how = "begun with the paths of " + t.plan.from.name
	case t.plan.tiers:
		how = "first routed in the order of dimensions"
	case t.plan.turns:
		how = "first routed one destination of each switch in turn"
	}
	what := fmt.Sprintf("flows of random bisections get %.3f of what they would alone", t.best)
	switch {
	case t.plan.from != nil:
		what = t.found.text(t.orders)
	case t.best < 0:
		what = "judged by its fullest trunk"
	}
	passes := "passes"
	if t.bestPass == 1 {
		passes = "pass"
	}
	if t.annealed {
		passes += ", then annealed"
	}
	return fmt.Sprintf("balance: %s, best after %d %s; %s", how, t.bestPass, passes, what)
}
