package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/weft-fabric/weft/internal/trouble"
	"github.com/weft-fabric/weft/internal/words"
)

// StatusPath is where weft watch says how it is: it reads what ports count, which the daemon does not.
const StatusPath = "/status"

const (
	askEvery    = 10 * time.Second // lists of weft watch are asked for so often
	askPatience = 3 * time.Second
	mostAnswer  = 64 << 20 // bytes
)

// watched is what weft watch says of cables.
type watched struct {
	mu      sync.Mutex
	address string          // of weft watch; empty: it is not asked
	list    *trouble.Cables // of its last look; nil: it is not known
	alarms  []WatchAlarm    // of its last look, other than about cables in that list
	why     string          // why it is not
	changed time.Time       // when list or why became others
}

// said is the part of the answer that counts.
type said struct {
	At      time.Time       `json:"at"`
	Every   string          `json:"every"`
	Trouble *trouble.Cables `json:"trouble"`
	Alarms  []WatchAlarm    `json:"alarms"`
}

// WatchAlarm is an alarm of weft watch, which sees tables that others wrote.
type WatchAlarm struct {
	Kind string `json:"kind"`
	What string `json:"what"`
}

// Other says whether tables are another's than the daemon's.
func (a WatchAlarm) Other() bool { return a.Kind == "fallback" || a.Kind == "other-tables" }

// besideCables is alarms that are not about cables of the list.
func besideCables(all []WatchAlarm) []WatchAlarm {
	return slices.DeleteFunc(all, func(a WatchAlarm) bool { return a.Kind == "cable-trouble" || a.Kind == "degraded-link" })
}

// ask asks once; now is the time by which a list is too old.
func (w *watched) ask(ctx context.Context, address string, now time.Time) {
	list, alarms, err := askWatch(ctx, address, now)
	why := ""
	if err != nil {
		why = fmt.Sprintf("weft watch at %s: %s; what ports count is not in this list", address, words.FirstLine(err.Error()))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.address, w.list, w.alarms, w.why, w.changed = address, list, alarms, why, now
}

func askWatch(ctx context.Context, address string, now time.Time) (*trouble.Cables, []WatchAlarm, error) {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+StatusPath, http.NoBody)
	if err != nil {
		return nil, nil, err
	}
	a, err := (&http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}).Do(q)
	if err != nil {
		if op := (*net.OpError)(nil); errors.As(err, &op) {
			return nil, nil, fmt.Errorf("it does not answer: %w", op.Err)
		}
		return nil, nil, err
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK {
		return nil, nil, fmt.Errorf("it answers %s", a.Status)
	}
	var s said
	if err := json.NewDecoder(io.LimitReader(a.Body, mostAnswer)).Decode(&s); err != nil {
		return nil, nil, fmt.Errorf("its answer cannot be read: %w", err)
	}
	every, err := time.ParseDuration(s.Every)
	switch late := now.Sub(s.At); {
	case err != nil:
		return nil, nil, fmt.Errorf("its answer cannot be read: %w", err)
	case s.Trouble == nil:
		return nil, nil, errors.New("it has not looked yet")
	case late > 3*every+time.Minute:
		return nil, nil, fmt.Errorf("its last look was %v ago", late.Round(time.Second))
	}
	for i := range s.Trouble.Cables {
		if len(s.Trouble.Cables[i].Signs) == 0 {
			return nil, nil, errors.New("its answer cannot be read: a cable without a sign")
		}
	}
	return s.Trouble, besideCables(s.Alarms), nil
}

// askOn asks weft watch again and again until the context ends.
func (s *Server) askOn(ctx context.Context) {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		if address := s.current().Watch; address != "" {
			s.watched.ask(ctx, address, time.Now())
		} else {
			s.watched.mu.Lock()
			s.watched.list, s.watched.alarms, s.watched.why = nil, nil, ""
			s.watched.mu.Unlock()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// now is the list of weft watch, or why it is not known, and since when it is so.
func (w *watched) now() (list *trouble.Cables, why string, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.list, w.why, w.changed
}

// alarmed is its alarms.
func (w *watched) alarmed() []WatchAlarm {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.alarms
}

// withNote is a list with one note more; the list given, which others may have, stays as it is.
func withNote(l *trouble.Cables, text string) *trouble.Cables {
	if text == "" {
		return l
	}
	noted := *l
	noted.Notes = append(slices.Clone(l.Notes), text)
	return &noted
}
