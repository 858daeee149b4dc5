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
	"github.com/weft-fabric/weft/result"
)

// Limits of what waits to be written, and times.
const (
	waitingRefusals = 16               // the oldest make room for newer ones
	slowDisk        = 5 * time.Second  // after which a write is said to hang
	retryFirst      = time.Second      // after a failed write, and twice as long each time
	retryMost       = 60 * time.Second //
	lookAfter       = 2 * time.Second  // between looks whether the folder is where it was
)

// folder is what the writer writes into.
type folder interface {
	remember(h, inUse *handed) error
	tables(r *result.StatusSweep, h *handed, newer func() bool) error // errNewer: it was not finished
	refusal(*result.StatusSweep) error
	drained([]result.Drained) error
	putAside(*aside) (string, error)
	there() error // it is where its name leads
	close()
}

// record is something to write, the first of these that is set: snapshots that are put aside, the list of drained parts,
// tables (handed), a refusal (sweep alone).
type record struct {
	sweep   *result.StatusSweep // of tables: nil: only a snapshot of them
	aside   *aside
	drained *[]result.Drained
	handed  *handed
	inUse   *handed       // the tables in use by the question that handed is the answer to; nil: not known
	known   chan struct{} // closed when there is a snapshot of handed, or the list is written
}

// writeTo writes a record into the folder.
func (r *record) writeTo(f folder, w *writer) error {
	switch {
	case r.aside != nil:
		dir, err := f.putAside(r.aside)
		if err == nil {
			w.setAside(dir, r.aside.why)
		}
		return err
	case r.drained != nil:
		err := f.drained(*r.drained)
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
		return w.newest != r || len(w.urgent) > 0
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

	mu          sync.Mutex
	urgent      []*record // what is written before newest: things to put aside, drained parts, snapshots to write again; the oldest first
	snapshots   []*handed // of which there are snapshots, the oldest first: they are written again where the folder was taken away
	asideDir    string    // of what was put aside last
	asideWhy    string
	drainedList *[]result.Drained // parts that are to be kept free, as written last or to be; nil: none were
	newest      *record           // tables to write; nil: none
	refusals    []*record         // to write, the oldest first
	begun       time.Time         // of the write under way; zero: none
	err         error             // of the last attempt; nil: it succeeded
	since       time.Time         // of the first of the errors in a row
	dropped     int64
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

// tables has tables written behind the caller's back, in place of older ones that wait, and returns what is closed
// when there is a snapshot of them.
func (w *writer) tables(r *result.StatusSweep, h, inUse *handed) <-chan struct{} {
	copied, known := *r, make(chan struct{}) // the sweep goes on meanwhile
	w.add(func() { w.newest = &record{sweep: &copied, handed: h, inUse: inUse, known: known} })
	return known
}

// putAside has snapshots put aside, before anything else is written. If these are all (a.names is nil, after an
// internal error), tables that wait to be written are dropped as well.
func (w *writer) putAside(a *aside) {
	w.add(func() {
		w.urgent = append(w.urgent, &record{aside: a})
		if a.names == nil {
			w.newest = nil
		}
	})
}

// remember has a snapshot of tables written again, since what is known of them is other than in the last one.
func (w *writer) remember(h *handed) {
	w.add(func() { w.urgent = append(w.urgent, &record{handed: h, known: make(chan struct{})}) })
}

// remembered notes of which tables there are snapshots now; nil ones are passed over.
func (w *writer) remembered(written ...*handed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range written {
		if h != nil {
			w.snapshots = append(slices.DeleteFunc(w.snapshots, func(o *handed) bool { return o.number == h.number }), h)
		}
	}
	w.snapshots = w.snapshots[max(0, len(w.snapshots)-handedKept):]
}

// checkPlace is an error where the folder is not where its name leads any more. It then has snapshots and drained parts
// written again, into the folder that is made in its place.
func (w *writer) checkPlace(f folder) error {
	err := w.timed(f.there)
	if err == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.snapshots {
		w.urgent = append(w.urgent, &record{handed: h, known: make(chan struct{})})
	}
	w.snapshots = nil
	if w.drainedList != nil {
		w.urgent = append(w.urgent, &record{drained: w.drainedList, known: make(chan struct{})})
	}
	return err
}

// writeDrained has the list of parts written that are to be kept free, and returns what is closed when it is.
func (w *writer) writeDrained(list []result.Drained) <-chan struct{} {
	known := make(chan struct{})
	w.add(func() {
		w.urgent = slices.DeleteFunc(w.urgent, func(r *record) bool { return r.drained != nil })
		w.urgent, w.drainedList = append(w.urgent, &record{drained: &list, known: known}), &list
	})
	return known
}

// setAside notes that snapshots were put aside in a folder.
func (w *writer) setAside(dir, why string) {
	w.asides.Inc()
	w.log.Error("state put aside, for a bug report", "folder", dir, "why", words.FirstLine(why))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asideDir, w.asideWhy = dir, words.FirstLine(why)
}

// isFound waits until the folder was opened, and says whether it could be.
func (w *writer) isFound() bool {
	<-w.tried
	return w.found
}

// refusal queues a refusal; on a disk that hangs the oldest are dropped, and counted.
func (w *writer) refusal(r *result.StatusSweep) {
	w.add(func() {
		if len(w.refusals) == waitingRefusals {
			w.refusals = w.refusals[1:]
			w.dropped++
		}
		w.refusals = append(w.refusals, &record{sweep: r})
	})
}

// add changes what waits to be written, by a function that it calls under the lock, and wakes the writer.
func (w *writer) add(change func()) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run writes until the end, and is the only one that does. first is told whether the folder could be opened.
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
			if err = w.checkPlace(f); err == nil {
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

// errFull is the error of a disk on which hardly anything can be written any more.
var errFull = errors.New("the disk is full")

// What is taken to be enough for what is written next: bytes, and files.
const (
	leastRoom  = 256 << 10
	leastFiles = 32
)

// room is an error if there is hardly room for what is written next, before it is needed: that is the network after a
// failure.
func room(f folder) error {
	s, ok := f.(*state)
	if !ok {
		return nil
	}
	left, ok := whole.Left(s.dir)
	switch {
	case ok && left.Bytes < leastRoom:
		return fmt.Errorf("%w: %s can still be written in %s, and at least %s are wanted for what comes next", errFull, words.Size(int64(left.Bytes)), s.dir, words.Size(leastRoom))
	case ok && left.Files < leastFiles:
		return fmt.Errorf("%w: %s can still be made in %s, since the inodes of its disk are nearly used up (df -i), and at least %d are wanted for what comes next",
			errFull, words.Plural(int(left.Files), "file"), s.dir, leastFiles)
	}
	return nil
}

// opened opens the folder, and reports a disk that hangs.
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
		case len(w.urgent) > 0:
			r = w.urgent[0]
		case r == nil && len(w.refusals) > 0:
			r = w.refusals[0]
		}
		w.mu.Unlock()
		if r == nil {
			return nil
		}
		err := w.timed(func() error { return guarded(func() error { return r.writeTo(f, w) }) })
		if errors.Is(err, errNewer) {
			continue
		}
		if err != nil && r.aside == nil && !errors.As(err, new(*internalError)) {
			return err
		}
		w.mu.Lock()
		switch {
		case len(w.urgent) > 0 && w.urgent[0] == r:
			w.urgent = w.urgent[1:]
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

// timed does something with the disk, notes since when, and logs if it hangs.
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

// note remembers what came of an attempt to write, and logs where that is other than before.
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

// hangs reports whether the disk has been at something for longer than a while.
func (w *writer) hangs(while time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.begun.IsZero() && time.Since(w.begun) > while
}

// state is how the folder is.
func (w *writer) state() result.StateFolder {
	if w == nil {
		return result.StateFolder{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s := result.StateFolder{StateWaiting: len(w.refusals) + len(w.urgent), StateDropped: w.dropped, StateAside: w.asideDir, StateWhy: w.asideWhy}
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
