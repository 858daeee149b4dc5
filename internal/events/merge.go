package events

import (
	"slices"
	"time"

	"github.com/weft-fabric/weft/result"
)

// together is how much later than weft serve weft watch may note the same: it looks once a minute, and reads files that rest.
const together = 3 * time.Minute

// ahead is by how much it may be the first: weft serve notes what it was asked when it has answered.
const ahead = 10 * time.Second

// Merge is the events of several logs in the order of time. What two daemons noted is there once, when the first noted
// it, with who else did.
func Merge(lists ...[]result.Event) []result.Event {
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(a, b result.Event) int { return a.At.Compare(b.At) })
	merged := []result.Event{}
	for _, e := range all {
		if i := notedAs(merged, &e); i >= 0 {
			if !noted(&merged[i], e.From) {
				merged[i].Also = append(merged[i].Also, e.From)
			}
			continue
		}
		merged = append(merged, e)
	}
	// Of a step that weft watch saw first it is weft serve that knows what it was, and of what flapped when.
	for i := range merged {
		e := &merged[i]
		if e.What != Flapped && (e.What != Changed || e.By != ByServe || len(e.Also) > 0) {
			continue
		}
		for j := i + 1; j < len(merged) && merged[j].At.Sub(e.At) <= ahead; j++ {
			if next := &merged[j]; e.What == Changed && handsOver(next) || e.What == Flapped && flappedBy(e, next) {
				if !noted(next, e.From) {
					next.Also = append(next.Also, e.From)
				}
				e.What = ""
				break
			}
		}
	}
	return slices.DeleteFunc(merged, func(e result.Event) bool { return e.What == "" })
}

// notedAs is which of some events, the oldest first, another daemon noted that is the same as one; -1: none.
func notedAs(merged []result.Event, e *result.Event) int {
	first := true // of what is known of the part
	for i := len(merged) - 1; i >= 0; i-- {
		m := &merged[i]
		late := e.At.Sub(m.At)
		switch {
		case e.What == Changed:
			if late > together {
				return -1
			}
			if e.By == ByServe && handsOver(m) {
				return i
			}
		case e.What == Flapped:
			if late > together {
				return -1
			}
			if flappedBy(e, m) {
				return i
			}
		case e.Part == nil || e.What != Gone && e.What != Came:
			return -1
		case m.Part == nil || m.What != Gone && m.What != Came || !samePart(m.Part, e.Part):
		case m.What == e.What && !noted(m, e.From) && (first || late <= together): // a daemon that begins finds out late what went
			return i
		default:
			first = false
			if late > together {
				return -1
			}
		}
	}
	return -1
}

// flappedBy reports whether what went and came back between two looks of one daemon is what another saw go.
func flappedBy(e, other *result.Event) bool {
	return other.What == Gone && other.From != e.From && e.Part != nil && other.Part != nil && samePart(other.Part, e.Part)
}

// noted reports whether somebody noted an event.
func noted(e *result.Event, from string) bool { return e.From == from || slices.Contains(e.Also, from) }

// handsOver reports whether weft serve handed tables over.
func handsOver(e *result.Event) bool {
	return e.From == "serve" && slices.Contains([]string{Repair, Return, Drained, Full}, e.What)
}

// Who is who ordered what happened, or did it; empty: it came about.
func Who(e *result.Event) string {
	if e.By == "" && handsOver(e) {
		return ByServe
	}
	return e.By
}

// samePart reports whether two are the same part.
func samePart(a, b *result.Element) bool {
	return a.GUID == b.GUID && a.Port == b.Port && a.Kind == b.Kind && (a.GUID != "" || a.Name == b.Name)
}
