package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/clock"
	"github.com/weft-fabric/weft/internal/events"
	"github.com/weft-fabric/weft/internal/livepage"
	"github.com/weft-fabric/weft/internal/whole"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// Watcher looks at a fabric again and again: weft watch. Run does so for ever, Once a single time.
type Watcher struct {
	Config Config
	Read   Reader

	ReadEthernet EthernetReader // of lossless Ethernet, in place of Read
	EthernetPage func(ctx context.Context, n *ethernet.Network, when time.Time) ([]byte, error)
	ReadFabric   func(file string) (*fabric.Fabric, error) // reads the network of cabling

	Log     *slog.Logger
	Version string
	Ready   func()                 // called when Run has begun; may be nil
	Load    func() (Config, error) // reads the settings again when Run is told to; nil: they stay

	clock clock.Clock
	proc  string // where processes are; empty: procFolder
}

// pollTime is how long rest sleeps before it looks whether files of a folder changed.
const pollTime = time.Second

// running is a Watcher that has begun.
type running struct {
	*Watcher
	*settings
	store   *Store
	metrics *metrics
	pages   *livepage.Pages

	stamps      []stamp   // of the files of the last look that is kept; nil: they have to be read again
	triedStamps []stamp   // of the files of the last try, also one that failed
	before      *Snapshot // what the last look that is kept saw; nil: there is none, or its files cannot be read
	memory      deadlock.Memory
	events      *events.Log
	cables      cabling

	gone, came  []result.Element  // between the last two looks; nil once they are logged
	last        *result.WatchLook // the last that is kept; nil: there is none
	madeAgain   bool              // the state folder was; the next look is kept in it, also if it saw nothing new
	doubted     *string           // the last try saw other tables than expected: with which files and reference; nil: it did not
	flaps       flaps
	manager     *result.OpenSMProcess // nil: no OpenSM was seen on this host
	managedBy   *manager              // which of managers that is, by the dumps, or by its log until there are any
	logState    *result.OpenSMLog     // what OpenSM's log said; nil: it was not read yet
	logMissing  bool                  // OpenSM's log was not there when it was read last
	notDumped   time.Time             // when OpenSM swept without a dump; zero: it did not
	lastFailure string                // the error of the last look as it was logged; empty: there was none

	aheadAt time.Time // when OpenSM's log was last written to, if the clock was set back since; else zero

	mu     sync.Mutex
	status result.WatchStatus
	begun  time.Time // when the last look, which may go on, began, by the clock that is never set; zero: there was none
}

// Run looks until the context ends, and reads its settings again whenever reload, which may
// be nil, has a signal: wrong ones change nothing. The error is for what makes looking
// impossible, such as a state folder that another watch uses; a look that fails is an alarm.
func (w *Watcher) Run(ctx context.Context, reload <-chan os.Signal) error {
	r, err := w.begin()
	if err != nil {
		return err
	}
	defer r.end()
	stop, err := r.serve()
	if err != nil {
		return err
	}
	defer stop()
	r.events.Add(result.Event{At: time.Now(), What: events.Begin, Text: r.Version})
	if w.Ready != nil {
		w.Ready()
	}
	for {
		if _, err := r.look(ctx); ctx.Err() == nil {
			r.tellFailure(err)
		}
		if r.rest(ctx, reload) != nil {
			return nil
		}
	}
}

// reload takes over new settings, or keeps the old ones and notes why in the status.
func (r *running) reload() {
	c, err := r.Load()
	var now *settings
	if err == nil {
		now, err = c.check()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		if fixed := r.needsRestart(now); fixed != "" {
			err = errors.New(fixed)
		}
	}
	if err != nil {
		r.status.ReloadError = err.Error()
		r.Watcher.Log.Error("reload refused, the old settings stand", "error", err)
		return
	}
	r.settings, r.stamps, r.triedStamps, r.cables.planned = now, nil, nil, nil
	r.status.ReloadError, r.status.Every = "", now.Every.String()
	r.Watcher.Log.Info("reloaded")
}

// Once looks once, and returns the last look that is new, which may be an earlier one. The
// error is for a look that failed.
func (w *Watcher) Once(ctx context.Context) (*result.WatchLook, error) {
	r, err := w.begin()
	if err != nil {
		return nil, err
	}
	defer r.end()
	if _, err := r.look(ctx); err != nil {
		return nil, err
	}
	l := *r.last
	l.Trouble, l.Alarms = r.cables.list, r.status.Alarms
	return &l, nil
}

// begin checks the settings, takes the state folder, and continues from what is in it.
func (w *Watcher) begin() (*running, error) {
	s, err := w.Config.check()
	if err != nil {
		return nil, err
	}
	store, err := takeStore(s.State)
	if err != nil {
		return nil, err
	}
	r := &running{Watcher: w, settings: s, store: store, metrics: newMetrics(), pages: &livepage.Pages{Version: w.Version, Network: w.EthernetPage}, managedBy: logs(s.Log)}
	r.status = result.WatchStatus{Missing: []result.MissingElement{}, Version: w.Version, PID: os.Getpid(), Every: s.Every.String(), Alarms: []result.Alarm{}}
	if root, err := os.OpenRoot(s.State); err == nil {
		r.keepEvents(root)
	}
	r.proc = cmp.Or(w.proc, procFolder)
	was, err := store.Health()
	if err == nil && was != nil {
		r.manager, r.logState, r.status.Alarms = was.OpenSM, was.Log, append(r.status.Alarms, was.Alarms...)
	}
	r.resume()
	r.resumeCables()
	if err == nil && was != nil {
		r.cables.list = was.Trouble // what is in trouble still is no news
	}
	return r, nil
}

// keepEvents opens the log of events in the state folder.
func (r *running) keepEvents(root *os.Root) {
	r.events = events.New("watch")
	r.events.To(root, r.Watcher.Log)
}

// end gives back what the watch has open.
func (r *running) end() {
	r.events.Close(time.Second)
	r.store.close()
}

// resume sets last, before and the status by the last look that is kept, whose files it reads and judges again.
func (r *running) resume() {
	numbers, err := r.store.Numbers()
	if err == nil && len(numbers) == 0 {
		return
	}
	var l *result.WatchLook
	if err == nil {
		l, err = r.store.Look(0)
	}
	if err != nil {
		r.Log.Warn("the last look cannot be read: what comes is not compared with it", "error", err)
		if len(numbers) > 0 {
			r.last = &result.WatchLook{Number: numbers[len(numbers)-1]}
		}
		return
	}
	r.last, r.status.Look, r.status.Missing = l, l.Number, l.Missing
	r.status.Alarms = withBeside(l, r.status.Alarms)
	dir, err := os.MkdirTemp("", "weft-watch")
	if (l.Ethernet != nil) != (r.Ethernet != "") {
		err = errors.New("it was of a network of another kind")
	}
	if err == nil {
		defer os.RemoveAll(dir)
		if err = r.store.Files(l, dir); err == nil && r.Ethernet != "" {
			var now *EthernetSnapshot
			if now, err = r.readEthernet(dir); err == nil {
				now.At = l.At
				r.before = &Snapshot{Ethernet: now}
				r.pages.ShowNetwork(now.Network, l.At)
				return
			}
		} else if err == nil {
			if r.before, err = r.read(dir, dir); err == nil {
				expected, _ := r.readExpected(dir) // those of then may be there no more
				r.before, _, err = withLevels(r.before, expected)
			}
		}
	}
	if err == nil {
		var v *deadlock.Verdict
		if v, err = r.judge(context.Background(), &result.WatchLook{}, r.before, &r.memory); err == nil {
			r.show(l, r.before, v)
		}
	}
	if err != nil {
		r.Log.Warn("the files of the last look cannot be read: what comes is not compared with them", "error", err)
	}
}

// read is Watcher.Read; a panic in it is an error, since it must not end the watch.
func (r *running) read(network, tables string) (s *Snapshot, err error) {
	defer recovered(&err)
	return r.Read(network, tables, r.trees)
}

// recovered, deferred, makes a panic an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("internal error: %v\n%s", p, debug.Stack())
	}
}

// rest waits for the next look: until its time, until files or settings changed, or OpenSM went or came. The error
// is that of ctx.
func (r *running) rest(ctx context.Context, reload <-chan os.Signal) error {
	until := time.Now().Add(r.Every)
	for time.Now().Before(until) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-reload:
			r.reload()
			return nil
		case <-time.After(min(pollTime, time.Until(until))):
		}
		if r.seeManager() {
			return nil
		}
		if len(r.commands) > 0 || r.Collect != "" {
			continue
		}
		if now, err := (source{r.settings}).stamps(); err == nil && len(now) > 0 && !slices.Equal(now, r.triedStamps) {
			return nil
		}
	}
	return nil
}

// look looks once, of tables (see) and of cables, sets the status and the alarms by it, and writes the status into
// the state folder. It returns the look if it is new and kept. nil without an error: nothing changed, and the
// last look stands.
func (r *running) look(ctx context.Context) (*result.WatchLook, error) {
	begin := time.Now()
	r.mu.Lock()
	r.begun = begin
	r.mu.Unlock()
	unmade := r.checkPlace()
	l, err := r.see(ctx, begin)
	if unmade != nil { // whatever came of it could not be kept for that reason
		err = unmade
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if l != nil {
		r.noteGone(l)
	}
	r.checkCables(ctx, begin.UTC())
	r.seeManager()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	st := &r.status
	st.Trouble, st.OpenSM, st.Log = r.cables.list, r.manager, r.logState
	st.At = begin.UTC()
	switch {
	case err != nil:
		st.Failed++
		st.Error = words.FirstLine(err.Error())
		there := slices.DeleteFunc(slices.Clone(st.Alarms), func(a result.Alarm) bool { return a.Kind == Unreadable })
		if l != nil { // judged, and not kept
			there = slices.Clone(l.Alarms)
			r.metrics.show(l)
			l = nil
		}
		there = append(there, result.Alarm{Kind: Unreadable, What: st.Error, Do: r.remedy(err), Since: sinceWhen(st.Alarms, Unreadable, begin.UTC())})
		r.setAlarms(r.withManagerAlarm(r.withCableAlarms(there, begin.UTC())))
	case l == nil:
		st.Same++
		st.Failed, st.Error = 0, ""
		r.setAlarms(r.withManagerAlarm(r.withCableAlarms(r.last.Alarms, begin.UTC())))
	default:
		st.Look, st.Same, st.Failed, st.Error, st.Missing = l.Number, 0, 0, "", l.Missing
		r.setAlarms(r.withManagerAlarm(r.withCableAlarms(l.Alarms, begin.UTC())))
		r.logLook(l)
	}
	r.metrics.note(st, l)
	return l, errors.Join(err, r.store.whole(statusName, whole.JSON(st)))
}

// checkPlace makes the state folder again where it was taken away; the error is why it cannot.
func (r *running) checkPlace() error {
	err := r.store.there()
	if err == nil {
		return nil
	}
	r.store.close() // its lock may be that of the folder that is made again
	store, made := takeStore(r.State)
	if made != nil {
		return &stateError{r.State, made}
	}
	r.Watcher.Log.Error("state folder", "error", err)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.store, r.madeAgain = store, true
	return nil
}

// noteGone adds what went by a look to cables.recent, by which cables flap, and drops from that what is too old.
func (r *running) noteGone(l *result.WatchLook) {
	r.cables.recent = gone(r.cables.recent, l.At)
	if len(r.gone)+len(r.came) > 0 {
		r.flaps.changed = r.clock.Now() // whatever OpenSM logged while files were read
	}
	for i := range r.gone {
		r.cables.recent = append(r.cables.recent, result.Event{At: l.At, From: "watch", What: events.Gone, Part: &r.gone[i]})
	}
}

// stateError is the error of a state folder that cannot be written.
type stateError struct {
	folder string
	err    error
}

func (e *stateError) Error() string { return fmt.Sprintf("state folder %s: %v", e.folder, e.err) }

func (e *stateError) Unwrap() error { return e.err }

// remedy is what to do about a look that failed.
func (r *running) remedy(err error) string {
	var at *fs.PathError
	copying := errors.As(err, &at) && strings.HasPrefix(at.Path, filepath.Join(r.State, gatherName)+string(filepath.Separator))
	if copying || errors.As(err, new(*stateError)) {
		return "see that the state folder can be written and its disk has space: looks are copied into it before they are read"
	}
	return "see that the files are there, whole, and of one network; weft watch --once tells more"
}

// raise makes the alarms of a look those of the status, and its gauges those that are shown, before it is kept: to pack the
// files of a large network takes as long as to judge them.
func (r *running) raise(l *result.WatchLook) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.setAlarms(withBeside(l, r.status.Alarms))
	r.metrics.show(l)
	r.metrics.showAlarms(r.status.Alarms, r.cables.list)
}

// setAlarms makes these the alarms of the status, and logs which are new and which are over.
func (r *running) setAlarms(alarms []result.Alarm) {
	for _, a := range alarms {
		if !hasKind(r.status.Alarms, a.Kind) {
			r.events.Add(result.Event{At: time.Now(), What: events.Alarm, Text: a.Kind + ": " + a.What})
			r.Log.Error("alarm", "kind", a.Kind, "what", a.What, "do", a.Do)
		}
	}
	for _, a := range r.status.Alarms {
		if !hasKind(alarms, a.Kind) {
			r.events.Add(result.Event{At: time.Now(), What: events.AlarmOver, Text: a.Kind, Seconds: time.Since(a.Since).Seconds()})
			r.Log.Info("alarm over", "kind", a.Kind, "since", a.Since)
		}
	}
	r.status.Alarms = append([]result.Alarm{}, alarms...)
}

// see gathers the files of a look, reads, judges and compares them, and keeps the look. nil without an error:
// nothing is new. A look with an error was judged, and could not be kept. Of InfiniBand it tries again, as
// seeFabric says, while a step of a plan is written.
func (r *running) see(ctx context.Context, begin time.Time) (*result.WatchLook, error) {
	if r.Ethernet != "" {
		l := r.newLook(begin)
		dir, err := r.store.gatherFolder()
		if err != nil {
			return nil, &stateError{r.State, err}
		}
		defer os.RemoveAll(dir)
		return r.seeEthernet(ctx, begin, l, dir)
	}
	var waited time.Duration
	for n := 1; ; n++ {
		l, err := r.seeFabric(ctx, begin, waited, n == tries)
		if !errors.Is(err, errMoving) {
			return l, err
		}
		r.stamps = nil
		if err := wait(ctx, r.Settle); err != nil {
			return nil, err
		}
		waited += r.Settle
	}
}

// newLook is an empty look with the next number.
func (r *running) newLook(begin time.Time) *result.WatchLook {
	l := &result.WatchLook{Number: 1, At: begin.UTC()}
	if r.last != nil {
		l.Number = r.last.Number + 1
	}
	return l
}

// errMoving is returned where tables are others than expected, and a step may be being written: seeing again may tell.
var errMoving = errors.New("a step is written just now")

// seeFabric is one try of see, of InfiniBand. The files, what is expected and OpenSM's log are read one after the
// other, and weft serve writes the tables of a step into its folder while OpenSM writes them into switches: either
// may be ahead. So other tables than those expected are an alarm only if two tries in a row, with a time in
// which files rest between, saw the same files and the same reference, or at the last try; otherwise the error is
// errMoving. waited is how long tries before have waited.
func (r *running) seeFabric(ctx context.Context, begin time.Time, waited time.Duration, last bool) (*result.WatchLook, error) {
	l, lap := r.newLook(begin), laps(time.Now())
	dir, err := r.store.gatherFolder()
	if err != nil {
		return nil, &stateError{r.State, err}
	}
	defer os.RemoveAll(dir)
	ref, err := r.readReference(ctx)
	if err != nil {
		return nil, err
	}
	same := r.before != nil && ref.against == r.last.Against && !r.madeAgain
	known := r.stamps
	if !same {
		known = nil
	}
	doubted := r.doubted
	r.doubted = nil
	g, err := source{r.settings}.gather(ctx, known, dir)
	r.stamps, r.triedStamps = nil, g.stamps // stamps: until the files are read
	if err != nil {
		return nil, err
	}
	files := g.files
	l.Seconds.Gather = lap() - g.waited.Seconds()
	if files == nil || same && slices.Equal(files, r.last.Files) {
		r.stamps = g.stamps
		return nil, nil
	}
	written := dumped(g.stamps)
	if r.settings.Log != "" && !written.Equal(ref.written) { // the log was read before these tables were there, and may have gone on
		if ref, err = r.readReference(ctx); err != nil {
			return nil, err
		}
	}
	l.Files, l.Against, l.Asked = files, ref.against, strings.Join(ref.asked, ",")
	now, should, err := r.readGathered(l, dir, ref.log.sinceDump(written))
	if err != nil {
		return nil, err
	}
	l.Seconds.Read = lap()
	v, err := r.judge(ctx, l, now, &r.memory)
	if err != nil {
		return nil, err
	}
	l.Seconds.Judge = lap()
	if err := r.assess(ctx, l, now, should, ref, written); err != nil {
		return nil, err
	}
	if !last && hasKind(l.Alarms, OtherTables) && !hasKind(r.status.Alarms, OtherTables) {
		seen := fmt.Sprintf("%v, %s", files, ref.against)
		again, err := r.readReference(ctx)
		if err != nil {
			return nil, err
		}
		if again.against != ref.against || doubted == nil || *doubted != seen || r.beingWritten() {
			r.doubted = &seen
			return nil, errMoving
		}
	}
	l.Seconds.Compare = lap()
	l.Seconds.Total = time.Since(begin).Seconds() - (g.waited + waited).Seconds()
	r.raise(l)
	if err := r.store.put(l, dir, r.Keep); err != nil {
		return l, &stateError{r.State, err}
	}
	r.before, r.last, r.stamps, r.madeAgain = now, l, g.stamps, false
	r.show(l, now, v)
	return l, nil
}

// readGathered reads the network and the tables that a look gathered in dir, and those that should be in force. With
// sinceDump OpenSM has been handed tables since it dumped those: then the tables are those of Expect, and l.HandedOver is
// set. Sentences of the snapshot name the files that were copied, not the copies.
func (r *running) readGathered(l *result.WatchLook, dir string, sinceDump bool) (now *Snapshot, should []*routing.Tables, err error) {
	named := func(text string) string { return strings.ReplaceAll(text, dir, cmp.Or(r.Folder, "output of commands")) }
	if now, err = r.read(dir, dir); err != nil {
		return nil, nil, errors.New(named(err.Error()))
	}
	expected, err := r.readExpected(dir)
	if err != nil {
		return nil, nil, err
	}
	if len(expected) > 0 && sinceDump {
		now, l.HandedOver = expected[0], true
	}
	if now, should, err = withLevels(now, expected); err != nil {
		return nil, nil, err
	}
	now.NoMap = named(now.NoMap)
	for _, sentences := range [][]string{now.Stale, now.Doubts} {
		for i, text := range sentences {
			sentences[i] = named(text)
		}
	}
	return now, should, nil
}

// show puts a look on the page, in place of the one before.
func (r *running) show(l *result.WatchLook, now *Snapshot, v *deadlock.Verdict) {
	engine := "tables in force"
	if l.Made != nil {
		engine = l.Made.Engine
	}
	r.pages.Show(livepage.Shown{Tables: now.Tables, Verdict: v, Engine: engine, When: l.At})
}

// assess fills in what a judged look says beside the verdict: what changed since the one before, which engine made
// the tables, and its alarms. It sets gone and came. should is the tables that should be in force, of which, while a
// step of a plan is written, those before it and those after it are; written is when OpenSM dumped its tables, zero
// if it did not.
func (r *running) assess(ctx context.Context, l *result.WatchLook, now *Snapshot, should []*routing.Tables, ref reference, written time.Time) (err error) {
	if r.last != nil {
		l.Missing = r.last.Missing
	}
	l.Missing = events.Miss(l.Missing, nil, nil, l.At)
	if r.before != nil {
		if l.Changed, err = compare(r.before, now); err != nil {
			return err
		}
		r.gone, r.came = events.Between(r.before.Tables.Fabric, now.Tables.Fabric)
		l.Missing = events.Miss(l.Missing, r.gone, r.came, l.At)
	}
	var engine string
	engine, l.LogStale = ref.log.engineOf(written, ref.asked, ref.noFallback)
	l.Lack = ref.log.lackAt(written)
	if l.Made, err = madeBy(ctx, now, ref.asked, engine); err != nil {
		return err
	}
	l.Alarms = append([]result.Alarm{}, alarms(l, r.last, now, differing(now, should))...)
	carrySince(l, r.last, r.status.Alarms)
	return nil
}

// readExpected reads the tables that are expected, for the network in dir.
func (r *running) readExpected(dir string) (all []*Snapshot, err error) {
	for i, folder := range r.expected() {
		s, err := r.read(dir, folder)
		switch {
		case err == nil:
			all = append(all, s)
		case i == 0:
			return nil, fmt.Errorf("the tables that are expected: %w", err)
		}
	}
	return all, nil
}

// acting is expected tables as they act in the network of a look.
func acting(now *Snapshot, expected []*Snapshot) (all []*routing.Tables, err error) {
	for _, s := range expected {
		t, err := transition.On(now.Tables.Fabric, s.Tables, now.Tables)
		if err != nil {
			return nil, fmt.Errorf("the tables that are expected: %w", err)
		}
		all = append(all, t)
	}
	return all, nil
}

// within reports whether tables have entries of some others only; they may lack some.
func within(t *routing.Tables, others []*routing.Tables) bool {
	for lid := range t.Fabric.LIDs() {
		for s, port := range t.Forwarding.Row(lid) {
			if port != routing.NoPort && !slices.ContainsFunc(others, func(o *routing.Tables) bool { return o.Forwarding.Row(lid)[s] == port }) {
				return false
			}
		}
	}
	return true
}

// withLevels is what a look saw with the service levels of expected tables, if these are in force, as far as they lead
// anywhere: OpenSM dumps no service levels, and path records are answered with those of its tables. Between two
// steps of a plan each entry may be of either; then those of the first count. all is the expected tables as they act in the
// network.
func withLevels(now *Snapshot, expected []*Snapshot) (with *Snapshot, all []*routing.Tables, err error) {
	if all, err = acting(now, expected); err != nil {
		return nil, nil, err
	}
	if now.SLs {
		return now, all, nil
	}
	levels := slices.IndexFunc(all, func(t *routing.Tables) bool { return within(now.Tables, []*routing.Tables{t}) })
	if levels < 0 && len(all) > 1 && within(now.Tables, all) {
		levels = 0
	}
	if levels < 0 || !expected[levels].SLs {
		return now, all, nil
	}
	w, tables, lanes := *now, *now.Tables, *all[levels].Lanes
	lanes.SL2VL = now.Tables.Lanes.SL2VL
	tables.Lanes = &lanes
	w.Tables, w.SLs = &tables, true
	return &w, all, nil
}

// tellFailure logs why a look failed, unless the one before did for the same reason, and that looks work again.
func (r *running) tellFailure(err error) {
	switch was := r.lastFailure; {
	case err == nil && was != "":
		r.lastFailure = ""
		r.Log.Info("looks work again")
	case err != nil && was != err.Error():
		r.lastFailure = err.Error()
		r.Log.Error("look", "error", err)
	}
}

// logLook logs a look that is new, with what went and came as events, and clears gone and came.
func (r *running) logLook(l *result.WatchLook) {
	args := []any{
		"look", l.Number, "verdict", l.Verdict, "contract", l.Contract, "switches", l.Switches, "hosts", l.Hosts, "cables", l.Cables,
		"lanes", l.Lanes, "pairs_cut", l.CutOff, "alarms", len(l.Alarms), "seconds", l.Seconds.Total,
	}
	if l.Made != nil {
		args = append(args, "engine", l.Made.Engine)
	}
	if l.LogStale {
		args = append(args, "log_stale", true)
	}
	if c := l.Changed; c != nil {
		args = append(args, "entries_changed", c.Entries, "blocks_changed", c.Blocks, "sls_changed", c.SLs,
			"switches_gone", len(c.Gone.Switches), "switches_new", len(c.New.Switches), "adapters_gone", len(c.Gone.Adapters), "adapters_new", len(c.New.Adapters),
			"cables_gone", len(c.Gone.Cables), "cables_new", len(c.New.Cables))
	}
	if e := l.Ethernet; e != nil {
		args = []any{"look", l.Number, "verdict", l.Verdict, "devices", l.Switches, "cables", l.Cables, "prefixes", e.Prefixes, "pairs_cut", l.CutOff, "alarms", len(l.Alarms), "seconds", l.Seconds.Total}
	}
	r.Log.Info("look", args...)
	for what, parts := range map[string][]result.Element{events.Gone: r.gone, events.Came: r.came} {
		for i := range parts {
			r.events.Add(result.Event{At: l.At, What: what, Part: &parts[i]})
			if parts[i].With == "" {
				r.Log.Info(what, "kind", parts[i].Kind, "name", parts[i].Name)
			}
		}
	}
	if e := l.Ethernet; e != nil && e.Changed != nil && e.Changed.Entries > 0 {
		r.events.Add(result.Event{At: l.At, What: events.Changed, Entries: e.Changed.Entries, Cut: l.CutOff, Text: "next hops are others than at the look before"})
	}
	if c := l.Changed; c != nil && c.Entries > 0 {
		by, text := changedBy(l)
		r.events.Add(result.Event{At: l.At, What: events.Changed, By: by, Entries: c.Entries, Cut: l.CutOff, Text: text})
	}
	r.gone, r.came = nil, nil
}

// changedBy is who changed the tables since the look before, as far as OpenSM's log and the tables say, and the text of
// the event about it.
func changedBy(l *result.WatchLook) (by, text string) {
	switch {
	case l.Lack != "":
		return "OpenSM", "it took entries out that lead nowhere, and has no tables for the network as it is"
	case l.HandedOver || l.Made != nil && strings.EqualFold(l.Made.Engine, "weft"):
		return events.ByServe, "other forwarding tables than at the look before"
	case l.Made != nil:
		return "OpenSM", "other forwarding tables than at the look before, by its engine " + l.Made.Engine
	}
	return "", "other forwarding tables than at the look before; by whom is not known"
}

// laps is a function that returns the seconds since begin, and at each further call those since the call before.
func laps(begin time.Time) func() float64 {
	return func() float64 {
		now := time.Now()
		d := now.Sub(begin)
		begin = now
		return d.Seconds()
	}
}
