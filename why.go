package weft

import (
	"fmt"
	"strings"
)

// why is the sentence that says why a trial won. stopped is how many the clock kept
// from being tried.
func (s *search) why(won *Trial, stopped int) string {
	var equal []*Trial
	var next *Trial
	proven := 0
	for i := range s.trials {
		t := &s.trials[i]
		if t.Outcome != Proven {
			continue
		}
		proven++
		switch {
		case t == won:
		case t.result != nil: // within alike of the best
			equal = append(equal, t)
		case next == nil || t.Lambda > next.Lambda:
			next = t
		}
	}
	var b strings.Builder
	switch {
	case proven == 1:
		fmt.Fprintf(&b, "%s is the only engine tried that is proven under contract %s", won.Engine, s.contract)
	case s.best == 0:
		fmt.Fprintf(&b, "of the %d engines proven under contract %s, %s %s; there is no bandwidth to compare",
			proven, s.contract, won.Engine, ahead(won, equal))
	case len(equal) == 0:
		fmt.Fprintf(&b, "of the %d engines proven under contract %s, %s has the most bandwidth", proven, s.contract, won.Engine)
	default:
		fmt.Fprintf(&b, "of the %d engines proven under contract %s, %s is as fast as %s, and %s",
			proven, s.contract, won.Engine, names(equal), ahead(won, equal))
	}
	if next != nil {
		fmt.Fprintf(&b, "; the next, %s, has %.1f %% less", next.Engine, 100*(1-next.Lambda/won.Lambda))
	}
	if stopped > 0 {
		fmt.Fprintf(&b, "; the clock ended the search, %d not tried: another run may choose otherwise", stopped)
	}
	return b.String()
}

// ahead says what decided for won among trials that are as fast.
func ahead(won *Trial, others []*Trial) string {
	wider, lanes, load := won.Wider, true, true // whether it was enough to beat all others
	for _, t := range others {
		wider = wider && !t.Wider
		behind := won.Wider && !t.Wider
		lanes = lanes && (behind || won.VLs < t.VLs)
		load = load && (behind || won.VLs < t.VLs || won.MaxLoad < t.MaxLoad)
	}
	switch {
	case wider:
		return "is proven for aggregation nodes and routers too"
	case lanes && won.VLs == 1:
		return "needs one lane"
	case lanes:
		return fmt.Sprintf("needs fewer lanes, %d", won.VLs)
	case load:
		return fmt.Sprintf("has the least on its fullest channel, %d routes", won.MaxLoad)
	}
	return "comes first in the order of trying"
}

func names(trials []*Trial) string {
	n := make([]string, len(trials))
	for i, t := range trials {
		n[i] = t.Engine
	}
	return strings.Join(n, ", ")
}
