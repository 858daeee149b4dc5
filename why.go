package weft

import (
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/routing/engines"
)

// why is the sentence that says why a trial won. stopped is how many the clock kept
// from being tried.
func (s *search) why(r standing, stopped int) string {
	var b strings.Builder
	proven, contract := 0, s.contract
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
func (s *search) reason(r standing) string {
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
func (s *search) best() string {
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
func (s *search) next(r standing) (next *Trial) {
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
func (s *search) behind(next, won *Trial) string {
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
