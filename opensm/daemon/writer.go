package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Limits of what waits to be written, and times.
const (
	waitingRefusals = 16               // the oldest make room for newer ones
	slowDisk        = 5 * time.Second  // after which a write is said to hang
	retryFirst      = time.Second      // after a failed write, and twice as long each time
	retryMost       = 60 * time.Second //
)

// State is how the state folder is, for the status.
type State struct {
	StateError   string     `json:"state_error,omitempty"`       // of the last write, or that one hangs; empty once one succeeded
	StateSince   *time.Time `json:"state_error_since,omitempty"` // since when there is an error
	StateWaiting int        `json:"state_waiting"`               // tables and refusals to be written
	StateDropped int64      `json:"state_dropped,omitempty"`     // refusals that made room for newer ones
}

// folder is what the writer writes into.
type folder interface {
	tables(*Sweep, *handed) error
	refusal(*Sweep) error
	close()
}

// record is something to write.
type record struct {
	sweep  *Sweep
	handed *handed       // nil: a refusal
	done   chan struct{} // closed when it is written
}

func (r *record) into(f folder) error {
	if r.handed == nil {
		return f.refusal(r.sweep)
	}
	return f.tables(r.sweep, r.handed)
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
	failed prometheus.Counter

	mu       sync.Mutex
	newest   *record   // tables to write; nil: none
	refusals []*record // to write, the oldest first
	begun    time.Time // of the write under way; zero: none
	err      error     // of the last attempt; nil: it succeeded
	since    time.Time // of the first of the errors in a row
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
		open: func() (folder, error) { return open(dir) }, log: s.Log, failed: s.metrics.unwritten,
		wake: make(chan struct{}, 1), end: make(chan struct{}), ended: make(chan struct{}),
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
// when that is done.
func (w *writer) tables(r *Sweep, h *handed) <-chan struct{} {
	copied, done := *r, make(chan struct{}) // the sweep goes on meanwhile
	w.add(func() { w.newest = &record{&copied, h, done} })
	return done
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
	first <- err // and noted at the next attempt, unless there is none
	pause := retryFirst
	for ending := false; !ending; {
		again := (<-chan time.Time)(nil)
		if err != nil {
			again = time.After(pause)
			pause = min(2*pause, retryMost)
		}
		select {
		case <-w.wake:
		case <-again:
		case <-w.end:
			if ending = true; w.state().StateWaiting == 0 {
				continue
			}
		}
		if f == nil {
			f, err = w.opened()
		}
		if f != nil {
			err = w.write(f)
		}
		w.note(err)
		if err == nil {
			pause = retryFirst
		} else if f != nil { // it may have been taken away, and made again
			f.close()
			f = nil
		}
	}
	if f != nil {
		f.close()
	}
}

// opened opens the folder.
func (w *writer) opened() (f folder, err error) {
	err = w.timed(func() (err error) { f, err = w.open(); return err })
	if err != nil {
		return nil, err
	}
	return f, nil
}

// write writes what waits, tables first, until nothing does or something fails.
func (w *writer) write(f folder) error {
	for {
		w.mu.Lock()
		r := w.newest
		if r == nil && len(w.refusals) > 0 {
			r = w.refusals[0]
		}
		w.mu.Unlock()
		if r == nil {
			return nil
		}
		if err := w.timed(func() error { return r.into(f) }); err != nil {
			return err
		}
		w.mu.Lock()
		switch {
		case w.newest == r: // nothing newer came
			w.newest = nil
			close(r.done)
		case len(w.refusals) > 0 && w.refusals[0] == r:
			w.refusals = w.refusals[1:]
		}
		w.mu.Unlock()
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

var errHangs = fmt.Errorf("daemon: nothing could be written for more than %v: the disk is slow or hangs", slowDisk)

// state is how the folder is.
func (w *writer) state() State {
	if w == nil {
		return State{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s := State{StateWaiting: len(w.refusals), StateDropped: w.dropped}
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
