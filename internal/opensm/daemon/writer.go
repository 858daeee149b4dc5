package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weft-fabric/weft/internal/whole"
	"github.com/weft-fabric/weft/internal/words"
)

// Limits of what waits to be written, and times.
const (
	waitingRefusals = 16               // the oldest make room for newer ones
	slowDisk        = 5 * time.Second  // after which a write is said to hang
	retryFirst      = time.Second      // after a failed write, and twice as long each time
	retryMost       = 60 * time.Second //
	lookAfter       = 2 * time.Second  // between looks whether the folder is where it was
)

// State is how the state folder is, for the status.
type State struct {
	StateError   string     `json:"state_error,omitempty"`       // of the last write, or that one hangs; empty once one succeeded
	StateSince   *time.Time `json:"state_error_since,omitempty"` // since when there is an error
	StateWaiting int        `json:"state_waiting"`               // tables and refusals to be written
	StateDropped int64      `json:"state_dropped,omitempty"`     // refusals that made room for newer ones
	StateAside   string     `json:"state_put_aside,omitempty"`   // folder, in the state folder, of what could not be believed or used, the last time
	StateWhy     string     `json:"state_put_aside_why,omitempty"`
}

// folder is what the writer writes into.
type folder interface {
	remember(h, inUse *handed) error
	tables(r *Sweep, h *handed, newer func() bool) error // errNewer: it was not finished
	refusal(*Sweep) error
	drained([]Drained) error
	putAside(*aside) (string, error)
	there() error // it is where its name leads
	close()
}

// record is something to write: a refusal, what is to be put aside, or tables.
type record struct {
	sweep  *Sweep // nil: only a snapshot
	aside  *aside
	free   *[]Drained // nil: it is something else
	handed *handed
	inUse  *handed       // by the question that handed is the answer to; nil: not known
	known  chan struct{} // closed when there is a snapshot of handed
}

func (r *record) into(f folder, w *writer) error {
	switch {
	case r.aside != nil:
		dir, err := f.putAside(r.aside)
		if err == nil {
			w.setAside(dir, r.aside.why)
		}
		return err
	case r.free != nil:
		err := f.drained(*r.free)
		if err == nil {
			close(r.known)
		}
		return err
	case r.handed == nil:
		return f.refusal(r.sweep)
	}
	if !closed(r.known) {
		if err := f.remember(r.handed, r.inUse); err != nil {
			return err
		}
		w.remembered(r.inUse, r.handed)
		close(r.known)
	}
	if r.sweep == nil {
		return nil
	}
	return f.tables(r.sweep, r.handed, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.newest != r || len(w.first) > 0
	})
}

// writer writes to the state folder behind the answers: a disk that is slow or
// hangs delays none of them. Of the tables only the newest wait to be written, and
// few refusals. What fails is tried again until it succeeds or newer tables take
// its place, and till then it is reported. A nil writer writes nothing.
type writer struct {
	open func() (folder, error)
	log  *slog.Logger

	wake   chan struct{} // there is something to do
	end    chan struct{} // closed when nothing follows
	ended  chan struct{} // closed when all is written or given up
	tried  chan struct{} // closed when the folder was opened, or could not be
	found  bool          // it was; once tried is closed
	failed prometheus.Counter
	asides prometheus.Counter

	mu       sync.Mutex
	first    []*record // to put aside, and snapshots to write again, before newest; the oldest first
	kept     []*handed // of which there are snapshots, the oldest first: they are written again where the folder was taken away
	lastDir  string    // of what was put aside last
	lastWhy  string
	free     *[]Drained // parts that are to be kept free, as written last or to be; nil: none were
	newest   *record    // tables to write; nil: none
	refusals []*record  // to write, the oldest first
	begun    time.Time  // of the write under way; zero: none
	err      error      // of the last attempt; nil: it succeeded
	since    time.Time  // of the first of the errors in a row
	dropped  int64
}

// startWriter opens the state folder and starts writing to it. What is wrong with
// the folder is an error, unless the disk does not answer in time to say so.
func (s *Server) startWriter() (*writer, error) {
	dir := s.settings.State
	if dir == "" {
		return nil, nil
	}
	open := s.open
	if open == nil {
		open = func(dir string) (folder, error) { return openState(dir) }
	}
	w := &writer{
		open: func() (folder, error) { return open(dir) }, log: s.Log, failed: s.metrics.unwritten, asides: s.metrics.asides,
		wake: make(chan struct{}, 1), end: make(chan struct{}), ended: make(chan struct{}), tried: make(chan struct{}),
	}
	first := make(chan error, 1)
	go w.run(first)
	select {
	case err := <-first:
		if err != nil {
			w.finish(0)
		}
		return w, err
	case <-time.After(slowDisk):
		return w, nil
	}
}

// tables has tables written, in place of older ones that wait, and returns what is closed
// when there is a snapshot of them.
func (w *writer) tables(r *Sweep, h, inUse *handed) <-chan struct{} {
	copied, known := *r, make(chan struct{}) // the sweep goes on meanwhile
	w.add(func() { w.newest = &record{sweep: &copied, handed: h, inUse: inUse, known: known} })
	return known
}

// putAside has snapshots put aside, before anything else is written. If that is all of them,
// because of an internal error, tables that wait to be written go as well.
func (w *writer) putAside(a *aside) {
	w.add(func() {
		w.first = append(w.first, &record{aside: a})
		if a.names == nil {
			w.newest = nil
		}
	})
}

// remember has the snapshot of tables written again that are in use, since there is more to say.
func (w *writer) remember(h *handed) {
	w.add(func() { w.first = append(w.first, &record{handed: h, known: make(chan struct{})}) })
}

// remembered notes of which tables there are snapshots now; nil: of none.
func (w *writer) remembered(written ...*handed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range written {
		if h != nil {
			w.kept = append(slices.DeleteFunc(w.kept, func(o *handed) bool { return o.number == h.number }), h)
		}
	}
	w.kept = w.kept[max(0, len(w.kept)-handedKept):]
}

// moved is an error where the folder is not where its name leads any more. Snapshots are to be written again then.
func (w *writer) moved(f folder) error {
	err := w.timed(f.there)
	if err == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.kept {
		w.first = append(w.first, &record{handed: h, known: make(chan struct{})})
	}
	w.kept = nil
	if w.free != nil {
		w.first = append(w.first, &record{free: w.free, known: make(chan struct{})})
	}
	return err
}

// drained has the list of parts written that are to be kept free, and returns what is closed when it is.
func (w *writer) drained(list []Drained) <-chan struct{} {
	known := make(chan struct{})
	w.add(func() {
		w.first = slices.DeleteFunc(w.first, func(r *record) bool { return r.free != nil })
		w.first, w.free = append(w.first, &record{free: &list, known: known}), &list
	})
	return known
}

// setAside notes that it was done.
func (w *writer) setAside(dir, why string) {
	w.asides.Inc()
	w.log.Error("state put aside, for a bug report", "folder", dir, "why", words.FirstLine(why))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lastDir, w.lastWhy = dir, words.FirstLine(why)
}

// isFound waits until the folder was opened, and says whether it could be.
func (w *writer) isFound() bool {
	<-w.tried
	return w.found
}

// refusal queues a refusal; on a disk that hangs the oldest are dropped, and counted.
func (w *writer) refusal(r *Sweep) {
	w.add(func() {
		if len(w.refusals) == waitingRefusals {
			w.refusals = w.refusals[1:]
			w.dropped++
		}
		w.refusals = append(w.refusals, &record{sweep: r})
	})
}

func (w *writer) add(record func()) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	record()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run writes until the end. first is told how the folder was found.
func (w *writer) run(first chan<- error) {
	defer close(w.ended)
	f, err := w.opened()
	w.found = err == nil
	close(w.tried)
	first <- err // and noted at the next attempt, unless there is none
	pause := retryFirst
	every := time.NewTicker(lookAfter)
	defer every.Stop()
	for ending := false; !ending; {
		var again, look <-chan time.Time
		if f != nil {
			look = every.C
		}
		if err != nil {
			again = time.After(pause)
			pause = min(2*pause, retryMost)
		}
		select {
		case <-w.wake:
		case <-again:
		case <-look:
		case <-w.end:
			if ending = true; w.state().StateWaiting == 0 {
				continue
			}
		}
		if f == nil {
			f, err = w.opened()
		}
		if f != nil {
			if err = w.moved(f); err == nil {
				err = w.write(f)
			}
			if err == nil {
				err = room(f)
			}
		}
		w.note(err)
		if err == nil {
			pause = retryFirst
		} else if f != nil && !errors.Is(err, errFull) { // it is opened again, or made
			f.close()
			f = nil
		}
	}
	if f != nil {
		f.close()
	}
}

// errFull is that hardly anything can be written any more.
var errFull = errors.New("the disk is full")

// leastRoom is how many bytes are taken to be enough for what is written next.
const leastRoom = 256 << 10

// room says whether there is room, before it is needed: what is written next is the network after a failure.
func room(f folder) error {
	s, ok := f.(*state)
	if !ok {
		return nil
	}
	if n, ok := whole.Left(s.dir); ok && n < leastRoom {
		return fmt.Errorf("%w: %s can still be written in %s, and at least %s are wanted for what comes next", errFull, words.Size(int64(n)), s.dir, words.Size(leastRoom))
	}
	return nil
}

// opened opens the folder.
func (w *writer) opened() (f folder, err error) {
	err = w.timed(func() (err error) { f, err = w.open(); return err })
	if err != nil {
		return nil, err
	}
	return f, nil
}

// write writes what waits, tables before refusals, until nothing does or something fails. What
// is to be put aside is tried once, and so is what makes an internal error.
func (w *writer) write(f folder) error {
	for {
		w.mu.Lock()
		r := w.newest
		switch {
		case len(w.first) > 0:
			r = w.first[0]
		case r == nil && len(w.refusals) > 0:
			r = w.refusals[0]
		}
		w.mu.Unlock()
		if r == nil {
			return nil
		}
		err := w.timed(func() error { return guarded(func() error { return r.into(f, w) }) })
		if errors.Is(err, errNewer) {
			continue
		}
		if err != nil && r.aside == nil && !errors.As(err, new(*internalError)) {
			return err
		}
		w.mu.Lock()
		switch {
		case len(w.first) > 0 && w.first[0] == r:
			w.first = w.first[1:]
		case w.newest == r: // nothing newer came
			w.newest = nil
		case len(w.refusals) > 0 && w.refusals[0] == r:
			w.refusals = w.refusals[1:]
		}
		w.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

// timed does something with the disk, and says so where it hangs.
func (w *writer) timed(do func() error) error {
	begin := func(t time.Time) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.begun = t
	}
	begin(time.Now())
	defer begin(time.Time{})
	defer time.AfterFunc(slowDisk, func() { w.log.Error("state folder", "error", errHangs) }).Stop()
	return do()
}

// note remembers what came of an attempt.
func (w *writer) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	had := w.err
	w.err = err
	switch {
	case err != nil:
		w.failed.Inc()
		if had == nil {
			w.since = time.Now()
		}
		if had == nil || had.Error() != err.Error() { // not once for every attempt
			w.log.Error("state folder", "error", err)
		}
	case had != nil:
		w.log.Info("state folder is written again", "error_before", had, "since", w.since.UTC().Format(time.RFC3339))
	}
}

var errHangs = fmt.Errorf("nothing could be written for more than %v: the disk is slow or hangs", slowDisk)

// hangs says whether the disk has been at something for longer than a while.
func (w *writer) hangs(while time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.begun.IsZero() && time.Since(w.begun) > while
}

// state is how the folder is.
func (w *writer) state() State {
	if w == nil {
		return State{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s := State{StateWaiting: len(w.refusals) + len(w.first), StateDropped: w.dropped, StateAside: w.lastDir, StateWhy: w.lastWhy}
	if w.newest != nil {
		s.StateWaiting++
	}
	err, since := w.err, w.since
	if !w.begun.IsZero() && time.Since(w.begun) > slowDisk {
		err = errors.Join(errHangs, err)
		if w.err == nil {
			since = w.begun
		}
	}
	if err != nil {
		since = since.UTC().Truncate(time.Second)
		s.StateError, s.StateSince = err.Error(), &since
	}
	return s
}

// finish has written what waits, for as long as patience lasts.
func (w *writer) finish(patience time.Duration) {
	if w == nil {
		return
	}
	close(w.end)
	select {
	case <-w.ended:
	case <-time.After(patience):
	}
	if s := w.state(); s.StateWaiting > 0 {
		w.log.Error("state folder: not everything was written", "waiting", s.StateWaiting, "error", s.StateError)
	}
}
