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
		plan{rounds: true, own: true, share: 2},
		plan{own: true, share: 2},
		plan{own: true, share: 1},
		plan{rounds: true, own: true, share: 1},
		plan{own: true},
	)
}

// search is a tournament. All plans that the work suffices for are begun; then
// the better half goes on for twice as many passes, and so on.
func search(ctx context.Context, n *network, fd Finder, p routing.Progress) (*trial, error) {
	passes := cmp.Or(fd.Passes, DefaultPasses)
	work := cmp.Or(fd.Work, max(DefaultWork, LeastPasses*n.looks))
	var deadline time.Time
	if fd.Time > 0 {
		deadline = time.Now().Add(fd.Time)
	}
	var trials []*trial
	for _, p := range plans(n, fd) {
		if len(trials) == 0 || int64(len(trials)+1)*2*n.looks*2 <= work {
			trials = append(trials, newTrial(n, p, fd.Seed))
		}
	}
	s := newSample(n, fd.Seed)
	done := 0
	for rung := 0; ; rung++ {
		var left = int64(len(trials)) * n.looks
		some := min(1<<rung, max(0, passes-done), int(max(0, work/max(1, left))))
		if rung == 0 {
			some = min(1, max(0, passes))
		}
		run(trials, func(t *trial) {
			if rung == 0 {
				t.begin()
				t.judge(s)
			}
			for k := 0; k < some && t.stale < patience && ctx.Err() == nil; k++ {
				if !deadline.IsZero() && time.Now().After(deadline) {
					return
				}
				t.pass()
				if t.moved == 0 {
					t.stale = patience
					break
				}
				t.judge(s)
			}
		})
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		work -= int64(some) * left
		if rung == 0 {
			work -= left
		}
		done += some
		slices.SortStableFunc(trials, func(a, b *trial) int { return cmp.Compare(b.best, a.best) })
		alive := slices.ContainsFunc(trials, func(t *trial) bool { return t.stale < patience })
		p.Report(min(done, passes), passes)
		if !alive || done >= passes || work < n.looks || some == 0 {
			return trials[0], nil
		}
		trials = trials[:(len(trials)+1)/2]
	}
}

// run calls do for every trial, on all cores: trials do not know of each other.
func run(trials []*trial, do func(*trial)) {
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
}

// judge measures the routing as it is, and keeps the best.
func (t *trial) judge(s *sample) {
	t.score = t.bandwidth(s)
	t.keepBest()
}
