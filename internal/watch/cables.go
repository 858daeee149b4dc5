package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/counters"
	"github.com/weft-fabric/weft/internal/counters/explain"
	"github.com/weft-fabric/weft/internal/events"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/trouble"
	"github.com/weft-fabric/weft/internal/whole"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// counterFiles is the files of an output folder of ibdiagnet that have counters: what ports count, everything as
// tables, and error rates. The second, which every run writes, is read only where one of the others is missing.
var counterFiles = [...]string{"ibdiagnet2.pm", ibdiagnetNet, "ibdiagnet2.net_dump_ext"}

// Two of counterFiles.
const everything, rates = 1, 2

// countersName is the file in the state folder with what ports had counted, from which errors are an hour.
const countersName = "counters.json"

// inWindow is how many readings of the counters are kept within the time over which errors count.
const inWindow = 12

// cabling is what a watch knows of cables beside the tables.
type cabling struct {
	readings []counting      // the oldest first; of errors they have the sums of tally
	tally    counters.Tally  // adds up errors over resets of the counters
	recent   []result.Event  // cables that went within trouble.Flapping
	planned  *fabric.Fabric  // nil: not read
	list     *result.Trouble // by the last look; nil: there was none
	failed   []string        // why counters or the plan could not be read at the last look; empty: they could, or there are none

	// What trouble was found by when counters could be read last, for looks that cannot read them.
	counted     *counters.Counters // what was counted in countedTime; nil: they were never read
	countedOf   *fabric.Fabric     // the network then
	countedTime time.Duration      // 0: not known
	countedAt   time.Time
}

// counting is counters as they were at a time.
type counting struct {
	at time.Time
	f  *fabric.Fabric
	c  *counters.Counters
}

// checkCables reads what ports have counted, and sets cables.list to the cables in trouble. Each look calls it, also
// one that saw nothing new; at is the look's time.
func (r *running) checkCables(ctx context.Context, at time.Time) {
	if r.before == nil || r.before.Tables == nil { // of Ethernet a look itself counts pauses
		return
	}
	f := r.before.Tables.Fabric
	k := &r.cables
	k.failed = nil
	r.noteFlaps(r.flaps.byLog(f, at))
	e := trouble.Evidence{Fabric: f, Limits: r.limits, Events: k.recent, Now: at}
	if r.Cabling != "" {
		if k.planned == nil {
			err := waitsForNobody(r.Cabling)
			if err == nil {
				k.planned, err = r.ReadFabric(r.Cabling)
			}
			if err != nil {
				k.failed = append(k.failed, "cabling: "+words.FirstLine(err.Error()))
			}
		}
		e.Planned = k.planned
	}
	now, unfit, err := r.readCounters(ctx, f)
	switch {
	case err != nil:
		k.failed = append(k.failed, "counters: "+words.FirstLine(err.Error()))
		if k.counted != nil { // or the cables would be out of trouble, and in it once more at the next look
			e.Counted, e.Time = k.counted.On(k.countedOf, f), k.countedTime
			if e.Time > 0 {
				e.Waiting = r.unexplained(&e)
			}
		}
	case now != nil:
		now, changed := k.tally.Add(now, f)
		r.noteFlaps(r.flaps.byCounters(now, f, at))
		e.Events = k.recent
		if before, ok := k.since(at, r.Over); ok {
			e.Time = at.Sub(before.at)
			e.Counted = now.Since(before.c.On(before.f, f))
			e.Waiting = r.unexplained(&e)
		} else {
			e.Counted = now.Rates()
		}
		e.Counted.Stopped = now.Stopped
		reading := counting{at: at, f: f, c: now}
		if k.keep(reading, r.Over) || changed {
			r.keepCounters(reading)
		}
		k.counted, k.countedOf, k.countedTime, k.countedAt = e.Counted, f, e.Time, at
	}
	was := k.list
	k.list = trouble.Find(e)
	k.list.Notes = append(k.list.Notes, unfit...)
	if err != nil && k.counted != nil {
		k.list.Notes = append(k.list.Notes, fmt.Sprintf("errors are old, those of %s: counters cannot be read now", k.countedAt.UTC().Format(time.RFC3339)))
	}
	r.tellCables(was, at)
}

// unexplained is the waiting that routes do not explain, by what was counted.
func (r *running) unexplained(e *trouble.Evidence) []explain.Finding {
	if e.Counted.Ports == 0 || r.before.loads == nil {
		return nil
	}
	counted := explain.Counted{Bytes: e.Counted.Bytes, Wait: e.Counted.Wait, Known: e.Counted.Known}
	if r.Tick > 0 {
		counted.Seconds, counted.Tick = e.Time.Seconds(), r.Tick.Seconds()
	}
	return explain.Trunks(r.before.Tables, r.before.loads, counted).Findings
}

// readCounters reads the counters of all files and commands that are set, or else of ibdiagnet's files in the folder;
// nil: there are none. unfit is a sentence for each of which ports were left out.
func (r *running) readCounters(ctx context.Context, f *fabric.Fabric) (all *counters.Counters, unfit []string, err error) {
	add := func(name string, optional bool) error {
		in, err := reading.OpenFound(ctx, name) // a pipe would keep the watch waiting
		if err != nil {
			return err
		}
		defer in.Close()
		c, err := counters.Read(in, name, f)
		switch {
		case err != nil && optional && errors.Is(err, counters.ErrNone):
			return nil // an ibdiagnet2.db_csv without PM_INFO
		case err != nil:
			return err
		case all == nil:
			all = c
		default:
			all.Add(c)
		}
		if note := c.Fit.String(); note != "" {
			unfit = append(unfit, "counters: "+note)
		}
		return nil
	}
	for _, name := range r.Counters {
		if err := add(name, false); err != nil {
			return nil, nil, err
		}
	}
	if len(r.counterCommands) > 0 {
		dir, err := os.MkdirTemp("", "weft-watch")
		if err != nil {
			return nil, nil, err
		}
		defer os.RemoveAll(dir)
		for _, c := range r.counterCommands {
			if _, err := c.run(ctx, r.Timeout, dir); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", c.args[0], err)
			}
			if err := add(filepath.Join(dir, c.file), false); err != nil {
				return nil, nil, err
			}
		}
	}
	if all == nil && r.Folder != "" {
		var files [len(counterFiles)][]string
		files, unfit = r.filesOfLastRun(ctx)
		for i, paths := range files {
			if i == everything && all != nil && len(files[rates]) > 0 {
				continue // it says no more than the other two
			}
			for _, path := range paths {
				if err := add(path, true); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return nil, nil, err
				}
			}
		}
	}
	return all, unfit, nil
}

// waitsForNobody refuses a pipe or a device in place of a file or folder, which would keep the watch waiting.
func waitsForNobody(name string) error {
	info, err := os.Stat(name)
	if err != nil || info.IsDir() || info.Mode().IsRegular() { // who reads it says what is wrong
		return nil //nolint:nilerr // see above
	}
	return fmt.Errorf("%s is not a plain file but %s: remove it, or put a file in its place", name, reading.KindOf(info.Mode()))
}

// filesOfLastRun is which of counterFiles the folder has, packed or not. ibdiagnet leaves files of an earlier run in it that
// the last one, with fewer options, did not write: counters of then say nothing of now. stale is a sentence for each of these.
func (r *running) filesOfLastRun(ctx context.Context) (files [len(counterFiles)][]string, stale []string) {
	runs := map[string]string{}
	for i, name := range counterFiles {
		for _, end := range reading.Endings {
			path := filepath.Join(r.Folder, name+end)
			in, err := reading.OpenFound(ctx, path)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if files[i] = append(files[i], path); err != nil {
				continue // reading it as a whole will say so
			}
			runs[path] = reading.RunOf(in)
			in.Close()
		}
	}
	var last, lastRun string
	for _, path := range files[everything] {
		if lastRun == "" {
			last, lastRun = path, runs[path]
		}
	}
	for i := range files {
		files[i] = slices.DeleteFunc(files[i], func(path string) bool {
			other := runs[path] != "" && lastRun != "" && runs[path] != lastRun
			if other {
				stale = append(stale, fmt.Sprintf("counters: %s is left out, of another run of ibdiagnet (%s) than %s (%s)", path, runs[path], last, lastRun))
			}
			return other
		})
	}
	return files, stale
}

// since is the reading from which errors are counted at a time: the last one that is as old as the time over which they
// count, or the oldest. False: there is none. If the clock was set back, all readings are dropped.
func (k *cabling) since(at time.Time, over time.Duration) (counting, bool) {
	if len(k.readings) == 0 || !at.After(k.readings[0].at) {
		k.readings = nil // if there are any, the clock was set back
		return counting{}, false
	}
	before := k.readings[0]
	for _, r := range k.readings {
		if at.Sub(r.at) >= over {
			before = r
		}
	}
	return before, true
}

// keep adds a reading to those that are kept if the last of them is old enough, drops those that since will not need
// any more, and says whether it added it.
func (k *cabling) keep(now counting, over time.Duration) bool {
	if n := len(k.readings); n > 0 && now.at.Sub(k.readings[n-1].at) < over/inWindow {
		return false
	}
	k.readings = append(k.readings, now)
	for len(k.readings) > 1 && now.at.Sub(k.readings[1].at) >= over {
		k.readings = k.readings[1:]
	}
	return true
}

// keptCounters is a reading in the file countersName.
type keptCounters struct {
	At       time.Time       `json:"at"`
	Counters json.RawMessage `json:"counters"`
	Last     json.RawMessage `json:"last,omitempty"` // of the last reading: without sums of errors
}

// keepCounters writes the oldest reading that is kept and the one of now into the state folder, for the time after a
// restart.
func (r *running) keepCounters(now counting) {
	var all []keptCounters
	if oldest := r.cables.readings[0]; oldest.at != now.at {
		text, err := oldest.c.Keep(oldest.f)
		if err != nil {
			return
		}
		all = append(all, keptCounters{At: oldest.at, Counters: text})
	}
	text, err := now.c.Keep(now.f)
	if err != nil {
		return
	}
	last, err := r.cables.tally.Last(now.f).Keep(now.f)
	if err != nil {
		return
	}
	all = append(all, keptCounters{At: now.at, Counters: text, Last: last})
	if err := r.store.whole(countersName, whole.JSON(all)); err != nil {
		r.cables.failed = append(r.cables.failed, "counters: "+words.FirstLine(err.Error()))
	}
}

// resumeCables reads back what was known of cables before a restart: events and readings. resume has to come first.
func (r *running) resumeCables() {
	list, _, err := events.Read(r.State)
	if err == nil {
		r.cables.recent = gone(list, time.Now())
	}
	text, err := readOwn(filepath.Join(r.State, countersName))
	var all []keptCounters
	if err != nil || json.Unmarshal(text, &all) != nil || r.before == nil || r.before.Tables == nil {
		return
	}
	f := r.before.Tables.Fabric
	for _, k := range all {
		c, err := counters.Kept(k.Counters, f)
		if err != nil || time.Since(k.At) >= 2*r.Over {
			continue
		}
		r.cables.readings = append(r.cables.readings, counting{at: k.At, f: f, c: c})
		r.flaps.sums, r.flaps.sumsOf = c, f
		last, err := counters.Kept(k.Last, f)
		if err != nil { // not the last, or there were no sums yet
			last = c
		}
		r.cables.tally.Resume(last, c, f)
	}
}

// gone is the events of a list about what went within trouble.Flapping, also between two looks.
func gone(list []result.Event, now time.Time) []result.Event {
	return slices.DeleteFunc(slices.Clone(list), func(e result.Event) bool {
		return e.What != events.Gone && (e.What != events.Flapped || e.Part == nil) || now.Sub(e.At) > trouble.Flapping
	})
}

// tellCables logs which cables came into trouble since the list was, the one of the look before, and which are out of
// it.
func (r *running) tellCables(was *result.Trouble, at time.Time) {
	named := func(l *result.Trouble) map[string]*result.CableInTrouble {
		all := map[string]*result.CableInTrouble{}
		if l != nil {
			for i := range l.Cables {
				all[l.Cables[i].Name] = &l.Cables[i]
			}
		}
		return all
	}
	before, now := named(was), named(r.cables.list)
	for i := range r.cables.list.Cables {
		if c := &r.cables.list.Cables[i]; before[c.Name] == nil {
			r.events.Add(result.Event{At: at, What: events.InTrouble, Part: trouble.Element(c), Text: c.Signs[0].Text})
			r.Watcher.Log.Warn("cable in trouble", "name", c.Name, "kind", c.Signs[0].Kind, "what", c.Signs[0].Text, "do", c.Do, "command", c.Command)
		}
	}
	if was == nil {
		return
	}
	for i := range was.Cables {
		if c := &was.Cables[i]; now[c.Name] == nil {
			r.events.Add(result.Event{At: at, What: events.OutOfTrouble, Part: trouble.Element(c)})
			r.Watcher.Log.Info("cable out of trouble", "name", c.Name)
		}
	}
}

// withCableAlarms is alarms with those about cables and counters of the last look in place of earlier ones. Cables that
// are only slow are none of these: DegradedLink is about them.
func (r *running) withCableAlarms(all []result.Alarm, at time.Time) []result.Alarm {
	all = slices.DeleteFunc(slices.Clone(all), func(a result.Alarm) bool { return a.Kind == CableTrouble })
	if failed := strings.Join(r.cables.failed, "; "); failed != "" && !slices.ContainsFunc(all, func(a result.Alarm) bool { return a.Kind == Unreadable }) {
		all = append(all, result.Alarm{
			Kind: Unreadable, What: failed, Do: "see that the files with counters are there, whole and of this network; weft watch --check-config tells more",
			Since: sinceWhen(r.status.Alarms, Unreadable, at),
		})
	}
	l := r.cables.list
	if l == nil {
		return all
	}
	var bad []*result.CableInTrouble
	for i := range l.Cables {
		if c := &l.Cables[i]; c.Level == trouble.Bad && slices.ContainsFunc(c.Signs, func(s result.TroubleSign) bool { return s.Level == trouble.Bad && !trouble.AboutRate(s.Kind) }) {
			bad = append(bad, c)
		}
	}
	if len(bad) > 0 {
		do := bad[0].Advice
		if bad[0].Command != "" {
			do += ": " + bad[0].Command
		}
		all = append(all, result.Alarm{
			Kind: CableTrouble, What: fmt.Sprintf("%s in trouble, the first: %s: %s", words.Counted(len(bad), "cable is", "cables are"), bad[0].Name, bad[0].Signs[0].Text), Do: do,
			Since: sinceWhen(r.status.Alarms, CableTrouble, at),
		})
	}
	return all
}
