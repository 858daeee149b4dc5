// Package events is what happened to a fabric, in the order of time: a document in JSON on a line for
// each, in a file of the state folder of weft serve or weft watch that is rotated, for weft events.
package events

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/result"
)

// What happens.
const (
	Gone      = "gone" // a part of the network
	Came      = "came"
	Flapped   = "flapped" // it went and came back before it was looked again
	Repair    = "repair"  // tables were handed over in place of others, to mend them
	Return    = "return"  // to what they were before
	Drained   = "drained" // away from a part that is to be pulled
	Full      = "routed"  // anew
	Changed   = "changed" // tables are others than they were, as weft watch sees them
	Refused   = "refused" // OpenSM got no tables
	Drain     = "drain"   // was ordered
	Undrain   = "undrain"
	Forgotten = "forgotten" // by a restart: a drain that stood, and could not be kept
	Alarm     = "alarm"
	AlarmOver = "alarm-over"

	InTrouble    = "in-trouble" // a cable
	OutOfTrouble = "out-of-trouble"

	Begin = "begin" // of the daemon
	End   = "end"
)

// ByServe is who changed tables that weft serve handed over.
const ByServe = "weft serve"

// Kinds is the kinds of parts.
var Kinds = []string{"cable", "switch", "host"}

// CableName is what people call a cable.
func CableName(f *fabric.Fabric, ch *fabric.Channel) string {
	return fmt.Sprintf("%s:%d – %s:%d", f.Label(ch.From), ch.FromPort, f.Label(ch.To), ch.ToPort)
}

// Between is what went and what came from one fabric to the next; of hosts, one for each adapter.
func Between(old, now *fabric.Fabric) (gone, came []result.Element) {
	p := transition.PartsOf(old, now)
	return partsOf(old, &p.Gone), partsOf(now, &p.New)
}

func partsOf(f *fabric.Fabric, p *transition.Part) (all []result.Element) {
	part := func(n fabric.NodeID, kind string) result.Element {
		return result.Element{Kind: kind, Name: f.Label(n), GUID: f.Node(n).GUID.String()}
	}
	for _, n := range p.Switches {
		all = append(all, part(n, "switch"))
	}
	for _, n := range p.Others {
		host := part(n, "host")
		for port := range f.Node(n).Ports {
			if c := f.Out(n, uint8(port+1)); c != fabric.None && slices.Contains(p.Switches, f.Channel(c).To) {
				host.With = f.Label(f.Channel(c).To)
			}
		}
		all = append(all, host)
	}
	for _, c := range p.Cables {
		all = append(all, *Cable(f, c))
	}
	return all
}

// CableEnd is a cable, by either of its directions, from the one of its ends that stands for it, whichever was named.
func CableEnd(f *fabric.Fabric, c fabric.ChannelID) *fabric.Channel {
	ch := f.Channel(c)
	if r := f.Channel(ch.Reverse); f.Node(r.From).GUID < f.Node(ch.From).GUID || r.From == ch.From && r.FromPort < ch.FromPort {
		return r
	}
	return ch
}

// Cable is a cable by either of its directions.
func Cable(f *fabric.Fabric, c fabric.ChannelID) *result.Element {
	ch := CableEnd(f, c)
	return &result.Element{Kind: "cable", Name: CableName(f, ch), GUID: f.Node(ch.From).GUID.String(), Port: ch.FromPort}
}

// Limits of what is remembered of missing parts.
const (
	forgetAfter = 7 * 24 * time.Hour // whoever took a host away for good is reminded no longer
	mostMissing = 1000
)

// Miss is what is missing after parts went and came; the list is in the order of time.
func Miss(list []result.MissingElement, gone, came []result.Element, at time.Time) []result.MissingElement {
	is := func(a result.Element) func(result.MissingElement) bool {
		return func(m result.MissingElement) bool { return samePart(&a, &m.Element) }
	}
	left := slices.DeleteFunc(slices.Clone(list), func(m result.MissingElement) bool { return at.Sub(m.Since) > forgetAfter })
	for _, p := range came {
		left = slices.DeleteFunc(left, is(p))
	}
	for _, p := range gone {
		left = append(slices.DeleteFunc(left, is(p)), result.MissingElement{Element: p, Since: at})
	}
	return left[max(0, len(left)-mostMissing):]
}

// Shown is the parts of a list that metrics and pages name: switches and cables first, then hosts whose
// switches are there, at most so many.
func Shown(list []result.MissingElement, most int) []result.MissingElement {
	rank := func(m result.MissingElement) int { return slices.Index([]string{"switch", "cable", "host"}, m.Kind) }
	shown := slices.DeleteFunc(slices.Clone(list), func(m result.MissingElement) bool { return m.With != "" })
	slices.SortStableFunc(shown, func(a, b result.MissingElement) int { return cmp.Compare(rank(a), rank(b)) })
	return shown[:min(most, len(shown))]
}

// The files of a log: the newest events are in Name, older ones in events.1.jsonl and so on.
const (
	Name      = "events.jsonl"
	mostBytes = 1 << 20
	oldFiles  = 4
	waiting   = 1024 // events that wait for the disk
	tryAgain  = time.Second
)

func oldName(i int) string { return fmt.Sprintf("events.%d.jsonl", i) }

// Log writes events, behind whoever adds them: a disk that hangs delays nobody. Events that a full disk does not take wait
// until it does, as many as fit into the queue. A nil Log writes nothing.
type Log struct {
	from   string
	add    chan result.Event
	ending chan struct{} // closed when nothing follows
	done   chan struct{}

	mu   sync.Mutex
	err  error // of the last attempt to write; nil: it succeeded
	lost int64
}

// New is the log of a daemon, whose events wait until it is told where to write them.
func New(from string) *Log {
	return &Log{from: from, add: make(chan result.Event, waiting), ending: make(chan struct{}), done: make(chan struct{})}
}

// To writes the events into a folder, through its handle, which is closed in the end. Once they cannot be written that is
// logged, and when they can be again.
func (l *Log) To(root *os.Root, log *slog.Logger) { go l.run(root, log) }

// Add adds events.
func (l *Log) Add(list ...result.Event) {
	if l == nil {
		return
	}
	for _, e := range list {
		e.From = l.from
		e.At = e.At.UTC()
		select {
		case l.add <- e:
		default:
			l.mu.Lock()
			l.lost++
			l.mu.Unlock()
		}
	}
}

// Failed is why events cannot be written; nil: they can, or none was.
func (l *Log) Failed() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost > 0 {
		return errors.Join(l.err, fmt.Errorf("%d were lost", l.lost))
	}
	return l.err
}

// Close writes what waits, for as long as patience lasts.
func (l *Log) Close(patience time.Duration) {
	if l == nil {
		return
	}
	close(l.ending)
	close(l.add)
	select {
	case <-l.done:
	case <-time.After(patience):
	}
}

func (l *Log) run(root *os.Root, log *slog.Logger) {
	defer close(l.done)
	defer func() { root.Close() }()
	for e := range l.add {
		for kept := false; !kept; {
			root = madeAgain(root)
			err := write(root, e)
			l.note(err, log)
			if kept = err == nil; kept {
				break
			}
			select {
			case <-time.After(tryAgain):
				continue
			case <-l.ending:
			}
			l.mu.Lock()
			l.lost++
			l.mu.Unlock()
			break
		}
	}
}

// madeAgain is the folder that lies under the name of a handle, if the one of the handle was taken away and another made.
func madeAgain(root *os.Root) *os.Root {
	held, err := root.Stat(".")
	if now, statErr := os.Stat(root.Name()); err != nil || statErr != nil || os.SameFile(held, now) {
		return root
	}
	other, err := os.OpenRoot(root.Name())
	if err != nil {
		return root
	}
	root.Close()
	return other
}

// note remembers what came of an attempt to write, and logs where that is other than before.
func (l *Log) note(err error, log *slog.Logger) {
	l.mu.Lock()
	defer l.mu.Unlock()
	had := l.err
	l.err = err
	switch {
	case err != nil && (had == nil || had.Error() != err.Error()):
		log.Error("events cannot be kept, and wait", "error", err)
	case err == nil && had != nil:
		log.Info("events are kept again", "error_before", had, "lost", l.lost)
	}
}

// write appends an event. What a killed run left without an end is a line of its own.
func write(root *os.Root, e result.Event) (err error) {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	f, err := root.OpenFile(Name, os.O_CREATE|os.O_RDWR, 0o640)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no file", Name)
	}
	end := info.Size()
	if end > mostBytes {
		if err := rotate(root); err != nil {
			return err
		}
		return write(root, e)
	}
	line := slices.Concat(text, []byte{'\n'})
	if last := []byte{'\n'}; end > 0 {
		if _, err := f.ReadAt(last, end-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			line = append([]byte{'\n'}, line...)
		}
	}
	if _, err = f.WriteAt(line, end); err != nil { // of what is left of it nothing could be read
		err = errors.Join(err, f.Truncate(end))
	}
	return err
}

func rotate(root *os.Root) error {
	for i := oldFiles - 1; i >= 1; i-- {
		if err := root.Rename(oldName(i), oldName(i+1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return root.Rename(Name, oldName(1))
}

// mostRead limits a file that is read.
const mostRead = 2 * mostBytes

// Read reads the events in a state folder, the oldest first. Lines that are none, which a killed run
// may have left, are counted.
func Read(dir string) (all []result.Event, damaged int, err error) {
	found := false
	for i := oldFiles; i >= 0; i-- {
		name := oldName(i)
		if i == 0 {
			name = Name
		}
		f, err := reading.OpenPlain(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		found = true
		text, err := reading.ReadAll(f, name, mostRead)
		f.Close()
		if err != nil {
			return nil, 0, err
		}
		for _, line := range bytes.Split(text, []byte("\n")) {
			var e result.Event
			switch {
			case len(line) == 0:
			case json.Unmarshal(line, &e) != nil || e.What == "":
				damaged++
			default:
				all = append(all, e)
			}
		}
	}
	if !found {
		return nil, 0, fmt.Errorf("%s: no events are in it", dir)
	}
	return all, damaged, nil
}
