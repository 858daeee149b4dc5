package balance

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/weft-fabric/weft/routing"
)

// patience is the passes without a better routing after which a trial ends.
const patience = 3

// plans is the ways to begin, the likeliest to be good first.
func plans(n *network, fd Finder) []plan {
	if n.tier != nil && fd.Regular {
		return []plan{
			{regular: true, keep: true, own: true, share: 1},
			{regular: true, keep: true, rounds: true, own: true, share: 2},
		}
	}
	var all []plan
	if n.tier != nil {
		all = append(all, plan{regular: true, own: true, share: 1})
	}
	return append(all,
		plan{},
		plan{own: true, share: 2},
		plan{rounds: true, own: true, share: 2},
		plan{own: true, share: 1},
		plan{rounds: true, own: true, share: 1},
		plan{own: true},
	)
}

// price is the work of a pass.
func (n *network) price(p plan) int64 {
	if p.share > 0 {
		return 2*n.looks + 4*n.steps
	}
	return n.looks + 3*n.steps
}

// search is a tournament. As many plans are begun as leave half of the work; each
// gets a pass. Then the better half goes on for two passes, the better half of it
// for four, and so on.
func search(ctx context.Context, n *network, fd Finder, p routing.Progress) (*trial, error) {
	passes := max(0, cmp.Or(fd.Passes, DefaultPasses))
	work := fd.Work
	if work == 0 {
		work = max(LeastWork, min(MostWork, LeastPasses*n.price(plan{share: 1})))
	}
	deadline := time.Time{}
	if fd.Time > 0 {
		deadline = time.Now().Add(fd.Time)
	}
	var trials []*trial
	begun := int64(0)
	for _, p := range plans(n, fd) {
		begun += 2 * n.price(p)
		if len(trials) == 0 || len(trials) == 1 && begun <= work || begun <= work/2 {
			trials = append(trials, newTrial(n, p, fd.Seed))
		}
	}
	s := newSample(n, fd.Seed)
	if err := run(ctx, trials, func(t *trial) {
		t.begin()
		t.moved = len(t.dests)
		t.judge(s)
	}); err != nil {
		return nil, err
	}
	for _, t := range trials {
		work -= n.price(t.plan)
	}
	for done, rung := 0, 1; ; rung *= 2 {
		some := min(rung, passes-done)
		each := int64(0)
		for _, t := range trials {
			each += n.price(t.plan)
		}
		if each > 0 {
			some = int(min(int64(some), work/each))
		}
		err := run(ctx, trials, func(t *trial) {
			for k := 0; k < some && t.stale < patience && ctx.Err() == nil; k++ {
				if !deadline.IsZero() && time.Now().After(deadline) {
					return
				}
				t.pass()
				t.judge(s)
			}
		})
		if err != nil {
			return nil, err
		}
		work -= int64(some) * each
		done += some
		p.Report(min(done, passes), passes)
		slices.SortStableFunc(trials, func(a, b *trial) int { return cmp.Compare(b.best, a.best) })
		going := slices.ContainsFunc(trials, func(t *trial) bool { return t.stale < patience })
		if some == 0 && len(trials) == 1 || !going || done == passes {
			return trials[0], nil
		}
		trials = trials[:(len(trials)+1)/2]
	}
}

// run calls do for every trial, on all cores: trials do not know of each other.
func run(ctx context.Context, trials []*trial, do func(*trial)) error {
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, t := range trials {
		slots <- struct{}{}
		wg.Go(func() {
			do(t)
			<-slots
		})
	}
	wg.Wait()
	return ctx.Err()
}

// judge measures the routing as it is, and keeps the best. A pass that changed
// nothing is the last.
func (t *trial) judge(s *sample) {
	t.score = t.bandwidth(s)
	t.keepBest()
	if t.moved == 0 {
		t.stale = patience
	}
}
