package choose

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/internal/engine/paths/balance"
	"github.com/weft-fabric/weft/routing/engines"
)

// Differences below which figures count as equal: they are measured on samples.
const (
	alike     = 0.002 // of Λ, which is at most 1
	alikeTime = 0.01  // of times, relative
)

// cheap is what a lane fewer may cost in each figure of the aim, relative: as much as times that count as equal differ by.
const cheap = 0.01

// keep is the worth of a trial, relative to the best, below which it can no longer win
// and its tables are dropped. Of ten of the sixty networks of test/bench/patchwork none comes out otherwise
// at .9, and farBehind at .5: both save a sixth of the CPU.
const keep = 0.97

// logTime is the mean logarithm of the times of phases, in the orders that the aim is
// about; 0 where pairs have no route, which is so of all tables of a network in parts.
func (s *Search) logTime(t *Trial) float64 {
	sum := 0.0
	for _, time := range s.times(t) {
		sum += math.Log(time)
	}
	return sum / float64(max(1, len(s.aimed)))
}

// times is the times of phases in the orders that the aim is about, as multiples of the least possible; 1 where none was
// measured, so that such an order decides nothing.
func (s *Search) times(t *Trial) []float64 {
	all := make([]float64, len(s.aimed))
	for i, order := range s.aimed {
		all[i] = 1
		if order < len(t.Shifts) && t.Shifts[order].Time > 0 {
			all[i] = t.Shifts[order].Time
		}
	}
	return all
}

// worth is one number for the aim, the more the better; most is the bandwidth of the best.
func (s *Search) worth(t *Trial, most float64) float64 {
	if s.served() {
		return balance.WorthOfTraffic(t.Traffic, t.TrafficMean)
	}
	if s.Options.Aim == engines.AllToAll {
		return 1 / float64(max(1, t.MaxLoad))
	}
	return s.Options.Aim.Worth(t.Lambda, most, s.times(t))
}

// served says that the aim is the traffic given, before which Options.Aim counts nothing.
func (s *Search) served() bool { return len(s.Options.Demands) > 0 }

func mostPairs(all []*Trial) float64 {
	most := 0.0
	for _, t := range all {
		most = max(most, t.Lambda)
	}
	return most
}

// criterion tells trials apart that are as good by the aim: the least cost stays, and what
// costs at most slack more.
type criterion struct {
	how   string // what is said of those that stay
	slack float64
	cost  func(*Trial) float64
}

// criteria is in which order trials are told apart.
func (s *Search) criteria() []criterion {
	wider := criterion{"is proven for aggregation nodes and routers too", 0, func(t *Trial) float64 {
		if t.Wider {
			return 0
		}
		return 1
	}}
	bandwidth := criterion{"has more bandwidth for random pairs", alike, func(t *Trial) float64 { return -t.Lambda }}
	phases := criterion{"takes less time for phases", math.Log(1 + alikeTime), s.logTime}
	lanes := criterion{"needs fewer lanes", 0, func(t *Trial) float64 { return float64(t.VLs) }}
	safe := criterion{"makes no credit loop on any network", 0, func(t *Trial) float64 {
		if t.safe {
			return 0
		}
		return 1
	}}
	simple := criterion{"is the simplest", 0, func(t *Trial) float64 { return float64(t.simple) }}
	switch {
	case s.served():
		return []criterion{wider, bandwidth, phases, lanes, safe, simple}
	case s.Options.Aim == engines.Shifts:
		return []criterion{wider, bandwidth, lanes, safe, simple}
	case s.Options.Aim == engines.AllToAll:
		return []criterion{wider, bandwidth, phases, lanes, safe, simple}
	}
	return []criterion{wider, phases, lanes, safe, simple}
}

// standing is how trials rank at present.
type standing struct {
	won   *Trial
	equal []*Trial // as good as it by the aim, or as what it was taken for
	how   []string // what told them apart
	saves *Trial   // what won needs fewer lanes than, and is next to as good as; or nil
	beats *Trial   // what would have won, had won not been nowhere worse and somewhere better; or nil
}

// rank ranks the trials that can win; won is nil if nothing is proven.
func (s *Search) rank() (r standing) {
	var all []*Trial
	for i := range s.trials {
		if t := &s.trials[i]; t.held {
			all = append(all, t)
		}
	}
	if len(all) == 0 {
		return r
	}
	most := mostPairs(all)
	worth := func(t *Trial) float64 { return s.worth(t, most) }
	slack := alike
	switch {
	case s.served(), s.Options.Aim == engines.AllToAll: // counted, not sampled
		slack = 0
	case s.Options.Aim == engines.Shifts:
		slack = alikeTime * worth(slices.MaxFunc(all, by(worth)))
	}
	r.equal = cheapest(all, slack, func(t *Trial) float64 { return -worth(t) })
	left := r.equal
	for _, c := range s.criteria() {
		if len(left) == 1 {
			break
		}
		if rest := cheapest(left, c.slack, c.cost); len(rest) < len(left) {
			left, r.how = rest, append(r.how, c.how)
		}
	}
	r.won = left[0]
	if fewer := s.cheaper(all, r.won); len(fewer) > 0 {
		fewer = cheapest(fewer, 0, func(t *Trial) float64 { return float64(t.VLs) })
		r.saves, r.won = r.won, slices.MaxFunc(fewer, by(worth))
	}
	for {
		better := slices.DeleteFunc(slices.Clone(all), func(t *Trial) bool { return !s.dominates(t, r.won) })
		if len(better) == 0 {
			break
		}
		r.beats, r.won = r.won, slices.MaxFunc(better, by(worth))
	}
	return r
}

// by orders trials by a number, of equals the simpler last.
func by(worth func(*Trial) float64) func(a, b *Trial) int {
	return func(a, b *Trial) int {
		switch x, y := worth(a), worth(b); {
		case x < y || x == y && a.simple > b.simple:
			return -1
		case x > y || a.simple < b.simple:
			return 1
		}
		return 0
	}
}

// cheapest is the trials of the least cost, and those that cost at most slack more.
func cheapest(all []*Trial, slack float64, cost func(*Trial) float64) (list []*Trial) {
	least := math.Inf(1)
	for _, t := range all {
		least = min(least, cost(t))
	}
	for _, t := range all {
		if cost(t) <= least+slack {
			list = append(list, t)
		}
	}
	return list
}

// cheaper is the trials that need fewer lanes than another, and are at most cheap worse
// in every figure that the aim is about.
func (s *Search) cheaper(all []*Trial, than *Trial) (list []*Trial) {
	for _, t := range all {
		ok := t.VLs < than.VLs && (t.Wider || !than.Wider)
		switch aim := s.Options.Aim; {
		case s.served():
			ok = ok && t.Traffic <= than.Traffic*(1+cheap) && t.TrafficMean <= than.TrafficMean*(1+cheap)
		case aim == engines.AllToAll:
			ok = ok && float64(t.MaxLoad) <= float64(than.MaxLoad)*(1+cheap)
		case aim != engines.Shifts:
			ok = ok && t.Lambda >= than.Lambda*(1-cheap)
		}
		if aim := s.Options.Aim; !s.served() && (aim == engines.Mixed || aim == engines.Shifts) {
			theirs := s.times(than)
			for i, time := range s.times(t) {
				ok = ok && time <= theirs[i]*(1+cheap)
			}
		}
		if ok {
			list = append(list, t)
		}
	}
	return list
}

// dominates reports whether a trial is nowhere worse than another, in random pairs, in phases
// by switch and by name and in lanes, and in one of these better by more than chance.
func (s *Search) dominates(t, than *Trial) bool {
	if t.Lambda < than.Lambda || t.VLs > than.VLs || than.Wider && !t.Wider || s.Options.Aim == engines.AllToAll && t.MaxLoad > than.MaxLoad ||
		t.Traffic > than.Traffic || t.TrafficMean > than.TrafficMean {
		return false
	}
	better := t.Lambda > than.Lambda+alike || t.VLs < than.VLs
	theirs := s.times(than)
	for i, time := range s.times(t) {
		if time > theirs[i] {
			return false
		}
		better = better || time*(1+alikeTime) < theirs[i]
	}
	return better
}

// why is the sentence that says why a trial won. stopped is how many the clock kept
// from being tried.
func (s *Search) why(r standing, stopped int) string {
	var b strings.Builder
	proven, contract := 0, s.Contract
	for i := range s.trials {
		if s.trials[i].Outcome == Proven {
			proven++
		}
	}
	if proven == 1 {
		fmt.Fprintf(&b, "%s is the only engine tried that is proven under contract %s", r.won.Engine, contract)
	} else {
		fmt.Fprintf(&b, "of the %d engines proven under contract %s, %s", proven, contract, s.reason(r))
	}
	if next := s.next(r); next != nil && proven > 1 {
		fmt.Fprintf(&b, "; the next is %s%s", next.Engine, s.behind(next, r.won))
	}
	if stopped > 0 {
		fmt.Fprintf(&b, "; the clock ended the search, %d not tried: another run may choose otherwise", stopped)
	}
	return b.String()
}

// reason is why a trial won over the other proven ones.
func (s *Search) reason(r standing) string {
	switch {
	case r.beats != nil:
		return fmt.Sprintf("%s is nowhere behind %s, and ahead in some of random pairs, phases and lanes", r.won.Engine, r.beats.Engine)
	case r.saves != nil:
		return fmt.Sprintf("%s is at most %.0f %% behind %s, which %s, and needs fewer lanes, %d in place of %d",
			r.won.Engine, 100*cheap, r.saves.Engine, s.best(), r.won.VLs, r.saves.VLs)
	case len(r.equal) == 1:
		return fmt.Sprintf("%s %s", r.won.Engine, s.best())
	}
	as := "is as good as " + names(r.equal, r.won)
	if len(s.meter.Endpoints) < 2 {
		as = "comes before " + names(r.equal, r.won) + ", as there is no bandwidth to compare"
	}
	return fmt.Sprintf("%s %s, and of these it %s", r.won.Engine, as, strings.Join(r.how, ", "))
}

// best is what is said of the best for the aim.
func (s *Search) best() string {
	if s.served() {
		return "is best for the traffic given"
	}
	switch s.Options.Aim {
	case engines.Bisection:
		return "has the most bandwidth for random pairs"
	case engines.Shifts:
		return "takes the least time for phases"
	case engines.AllToAll:
		return "has the least on its fullest channel"
	}
	return "is best for random pairs and phases together"
}

// next is the best of those that are not as good as what won.
func (s *Search) next(r standing) (next *Trial) {
	out := map[*Trial]bool{r.won: true, r.saves: true, r.beats: true}
	for _, t := range r.equal {
		out[t] = true
	}
	for i := range s.trials {
		t := &s.trials[i]
		if t.Outcome == Proven && !out[t] && (next == nil || s.worth(t, r.won.Lambda) > s.worth(next, r.won.Lambda)) {
			next = t
		}
	}
	return next
}

// behind is by how much a trial is behind, where the aim is about one figure.
func (s *Search) behind(next, won *Trial) string {
	worth, best := s.worth(next, 0), s.worth(won, 0)
	switch {
	case s.served() || s.Options.Aim == engines.Mixed || worth <= 0 || worth > best:
		return ""
	case s.Options.Aim == engines.Bisection:
		return fmt.Sprintf(", with %.1f %% less", 100*(1-worth/best))
	case s.Options.Aim == engines.Shifts:
		return fmt.Sprintf(", which takes %.0f %% longer", 100*(best/worth-1))
	}
	return fmt.Sprintf(", with %.0f %% more", 100*(best/worth-1))
}

func names(trials []*Trial, but *Trial) string {
	var n []string
	for _, t := range trials {
		if t != but {
			n = append(n, t.Engine)
		}
	}
	return strings.Join(n, ", ")
}
