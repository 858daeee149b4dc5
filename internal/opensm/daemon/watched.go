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

	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// StatusPath is where weft watch says how it is: it reads what ports count, which the daemon does not.
const StatusPath = "/status"

const (
	askEvery    = 10 * time.Second // lists of weft watch are asked for so often
	askPatience = 3 * time.Second
	mostAnswer  = 64 << 20 // bytes
)

// watched is what weft watch says, as it was asked last: cables in trouble, and alarms.
type watched struct {
	mu      sync.Mutex
	address string          // of weft watch; empty: it is not asked
	list    *result.Trouble // of its last look; nil: it is not known
	alarms  []result.Doubt  // of its last look, other than about cables in that list
	why     string          // why list is not known
	changed time.Time       // when list or why became others
}

// watchStatus is what is read of weft watch's status.
type watchStatus struct {
	At      time.Time       `json:"at"`
	Every   string          `json:"every"`
	Trouble *result.Trouble `json:"trouble"`
	Alarms  []result.Doubt  `json:"alarms"`
}

// OtherTables reports whether an alarm of weft watch, which sees tables that others wrote, is that tables in force are others
// than the daemon's.
func OtherTables(a result.Doubt) bool { return a.Kind == "fallback" || a.Kind == "other-tables" }

// notAboutCables is alarms that are not about cables of the list.
func notAboutCables(all []result.Doubt) []result.Doubt {
	return slices.DeleteFunc(all, func(a result.Doubt) bool { return a.Kind == "cable-trouble" || a.Kind == "degraded-link" })
}

// ask asks weft watch at an address once, and takes over its answer or why there is none.
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

// askWatch is the list and the alarms of weft watch at an address; the error is why they cannot be had, or are too old
// at now.
func askWatch(ctx context.Context, address string, now time.Time) (*result.Trouble, []result.Doubt, error) {
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
	var s watchStatus
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
	return s.Trouble, notAboutCables(s.Alarms), nil
}

// askOn asks weft watch every askEvery until the context ends, as long as the settings have its address.
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

// known is the list of weft watch, or why it is not known, and since when that is so.
func (w *watched) known() (list *result.Trouble, why string, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.list, w.why, w.changed
}

// alarmList is the alarms of weft watch.
func (w *watched) alarmList() []result.Doubt {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.alarms
}

// withNote is a list with one note more; the list given, which others may have, stays as it is.
func withNote(l *result.Trouble, text string) *result.Trouble {
	if text == "" {
		return l
	}
	noted := *l
	noted.Notes = append(slices.Clone(l.Notes), text)
	return &noted
}
