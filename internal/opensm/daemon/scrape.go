package daemon

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weft-fabric/weft/internal/events"
	"github.com/weft-fabric/weft/internal/shell"
	"github.com/weft-fabric/weft/internal/trouble"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// site is what the daemon answers over HTTP.
func (s *Server) site() *shell.Site {
	return &shell.Site{Name: "weft serve", Metrics: s.metrics.registry, Page: s.pages, Healthy: s.healthy, Ready: s.ready, Troubles: s.troubles}
}

// healthy is an error if the daemon itself does not work.
func (s *Server) healthy() error {
	if s.writer.hangs(time.Minute) {
		return errors.New("the disk of the state folder hangs")
	}
	return nil
}

// ready is an error if OpenSM has no tables that can be relied on.
func (s *Server) ready() error {
	switch st := s.Status(); {
	case st.Last == nil:
		return errors.New("OpenSM has not asked yet")
	case st.Last.Refusal != "":
		return fmt.Errorf("OpenSM's last question was refused: %s", st.Last.Refusal)
	case !st.OpenSM:
		return errors.New("OpenSM has no question open: it does not run, or its plugin is of an earlier release")
	}
	return nil
}

// troubles is a sentence for everything that is missing, drained, in trouble or cut off, for /health.
func (s *Server) troubles() []string {
	st, all := s.Status(), []string{}
	if st.StateError != "" {
		all = append(all, "the state folder cannot be written: "+st.StateError)
	}
	for _, a := range st.Watch {
		all = append(all, "weft watch: "+a.What)
	}
	for _, m := range st.Missing {
		if s.pulledOnPurpose(m) {
			continue // what is drained follows
		}
		all = append(all, fmt.Sprintf("%s %s is gone since %s", m.Kind, m.Name, m.Since.Local().Format(time.DateTime)))
	}
	for _, d := range st.Drained {
		state := d.State
		if d.Gone {
			state = "gone"
		}
		all = append(all, fmt.Sprintf("%s %s is drained by %s: %s", d.Kind, d.Part, d.By, state))
	}
	if st.Trouble != nil {
		all = append(all, trouble.Texts(st.Trouble)...)
	}
	if p := st.Plan; p != nil && p.CutNow > 0 {
		all = append(all, words.Counted(p.CutNow, "pair is", "pairs are")+" cut until the next step")
	}
	return all
}

// mostShown is how many missing parts metrics name.
const mostShown = 50

// noteParts notes what went and came since the last question, in the status and as events, and adds an event for the
// tables that were handed over, or that there were none (h is nil). The caller does not hold mu.
func (s *Server) noteParts(r *result.StatusSweep, h *handed) {
	if h == nil {
		if r.Refusal != "" {
			s.events.Add(result.Event{At: r.At, What: events.Refused, Text: r.Refusal})
		}
		return
	}
	f := h.tables.Fabric
	s.mu.Lock()
	last := s.seen
	s.seen = f
	s.mu.Unlock()
	if last != nil && last != f {
		gone, came := events.Between(last, f)
		s.mu.Lock()
		for i := range gone {
			gone[i].Drained = slices.ContainsFunc(s.free, func(p result.Drained) bool { return matches(&p, gone[i]) })
		}
		s.status.Missing = events.Miss(s.status.Missing, gone, came, r.At)
		s.cables.went(r.At, gone)
		s.mu.Unlock()
		s.showMissing()
		for what, parts := range map[string][]result.Element{events.Gone: gone, events.Came: came} {
			for i := range parts {
				s.events.Add(result.Event{At: r.At, What: what, Part: &parts[i]})
				if parts[i].With == "" {
					s.Log.Info(what, "kind", parts[i].Kind, "name", parts[i].Name)
				}
			}
		}
	}
	if c := r.Change; c != nil && c.Kind != "same" {
		what := map[string]string{"repair": events.Repair, "return": events.Return, "drain": events.Drained}[c.Kind]
		if what == "" {
			what = events.Full
		}
		e := result.Event{At: r.At, What: what, Entries: c.Entries, Text: c.Why}
		if c.CutBefore > c.CutAfter {
			e.Cut, e.Seconds = c.CutBefore-c.CutAfter, r.Seconds.Total
		}
		s.events.Add(e)
	}
}
