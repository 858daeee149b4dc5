package daemon

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// keep says what happens to the tables in use when the fabric changes.
type keep string

// The values of keep.
const (
	keepLeast    keep = "least"    // they are mended, and come back when what was broken is back
	keepBalanced keep = "balanced" // the same, and brought to better ones if there are any
	keepNever    keep = "never"    // routed anew
)

// parseKeep is the keep of a word; empty: least.
func parseKeep(text string) (keep, error) {
	switch k := keep(text); k {
	case "":
		return keepLeast, nil
	case keepLeast, keepBalanced, keepNever:
		return k, nil
	}
	return "", fmt.Errorf("keep %q; it is least, balanced or never", text)
}

// checkMostEntries checks max_entries_per_change; keep has to be set.
func (s *settings) checkMostEntries() error {
	switch {
	case s.MaxEntries < 0:
		return fmt.Errorf("max_entries_per_change %d is negative", s.MaxEntries)
	case s.MaxEntries > 0 && s.keep == keepNever:
		return errors.New("max_entries_per_change has no meaning with keep: never, which changes any number")
	}
	return nil
}

// settleDrops sets drops.
func (s *settings) settleDrops() error {
	switch s.drops = s.Drops == "allowed"; {
	case s.drops, s.Drops == "", s.Drops == "never":
		return nil
	}
	return fmt.Errorf("drops %q; it is allowed or never", s.Drops)
}

// hours is a part of the day, by the clock of the host; none: the whole day.
type hours struct{ from, to time.Duration }

// settleHours sets hours; keep has to be set.
func (s *settings) settleHours() (err error) {
	if s.Rebalance == "" {
		return nil
	}
	if s.keep != keepBalanced {
		return fmt.Errorf("rebalance is for keep: balanced; with keep: %s nothing is rebalanced", s.keep)
	}
	from, to, ok := strings.Cut(s.Rebalance, "-")
	var a, b time.Time
	if ok {
		a, err = time.Parse("15:04", strings.TrimSpace(from))
		if err == nil {
			b, err = time.Parse("15:04", strings.TrimSpace(to))
		}
	}
	if !ok || err != nil || a.Equal(b) {
		return fmt.Errorf("rebalance %q; it is a part of the day, as 02:00-05:00", s.Rebalance)
	}
	s.hours = hours{from: sinceMidnight(a), to: sinceMidnight(b)}
	return nil
}

// sinceMidnight is the time of the day.
func sinceMidnight(t time.Time) time.Duration {
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second
}

// until is the time until the hours begin; 0: they have begun.
func (h hours) until(now time.Time) time.Duration {
	at := sinceMidnight(now)
	within := h.from <= at && at < h.to
	if h.from > h.to { // over midnight
		within = at >= h.from || at < h.to
	}
	switch {
	case h == hours{} || within:
		return 0
	case at < h.from:
		return h.from - at
	}
	return h.from - at + 24*time.Hour
}
