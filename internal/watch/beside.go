package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// reference is what the tables of a look are held against beside those of the look before: what OpenSM was asked for,
// what its log says, and the age of the tables that are expected.
type reference struct {
	asked      []string // engines, in order
	noFallback bool     // OpenSM keeps its tables where all of these fail
	log        logged
	written    time.Time // when OpenSM dumped the tables that the log was read for; zero: it did not
	against    string    // all of it in words, for Look.Against
}

// readReference reads what the next look is held against. It also notes in r what the log says: logState, aheadAt and
// the lines that flaps are found by.
func (r *running) readReference(ctx context.Context) (b reference, err error) {
	if b.asked, b.noFallback, err = r.asked(ctx); err != nil {
		return b, fmt.Errorf("the engine asked for: %w", err)
	}
	engine, behind, lack := "", false, ""
	r.notDumped = time.Time{}
	if r.settings.Log != "" {
		b.log, err = readLog(r.settings.Log)
		missing := errors.Is(err, fs.ErrNotExist)
		if err != nil && !missing {
			return b, fmt.Errorf("OpenSM's log: %w", err)
		}
		if missing && !r.logMissing {
			r.Watcher.Log.Warn("OpenSM's log is not there: what only it says raises no alarm", "log", r.settings.Log)
		}
		r.logMissing = missing
		r.flaps.lines = b.log.notices
		var files []stamp // commands have none, as in gather
		if len(r.commands) == 0 {
			if files, err = (source{r.settings}).stamps(); err != nil {
				return b, err
			}
		}
		b.written = dumped(files)
		b.log.takeOver(r.logState, b.written)
		b.log.leaveStandby(b.written)
		said := b.log.OpenSMLog
		r.logState = &said
		if setBack(b.log.At, b.written, r.clock.Now()) {
			r.aheadAt = b.log.At
		}
		b.log.ahead = !b.written.IsZero() && !r.aheadAt.IsZero() && r.aheadAt.Equal(b.log.At) // until it is written to again
		r.notDumped = b.log.sweptSince(b.written)
		engine, behind = b.log.engineOf(b.written, b.asked, b.noFallback)
		lack = b.log.lackAt(b.written)
	}
	b.against = fmt.Sprintf("asked for %q, by the log %q, contract %q, endpoints %s, multicast on SL %s", b.asked, engine, r.Contract, r.Endpoints, r.Multicast)
	if behind {
		b.against += ", the log is behind"
	}
	if !b.log.Given.IsZero() {
		b.against += ", tables used at " + b.log.Given.UTC().Format(time.RFC3339Nano)
	}
	if lack != "" {
		b.against += ", the log says " + lack
	}
	for _, folder := range r.expected() {
		expected := source{&settings{Config: Config{Folder: folder}}}
		stamps, err := expected.stamps()
		if err != nil {
			return b, fmt.Errorf("the tables that are expected: %w", err)
		}
		for _, at := range stamps {
			b.against += fmt.Sprintf(", expected %s of %s, %d bytes", at.path, at.mtime.UTC().Format(time.RFC3339Nano), at.size)
		}
	}
	return b, nil
}

// expected is the folders of tables that should be in force: Expect and, if that is what weft serve handed over last,
// what it handed over before: OpenSM may still be writing the last into switches.
func (r *running) expected() []string {
	if r.Expect == "" {
		return nil
	}
	all := []string{r.Expect}
	if before := filepath.Join(filepath.Dir(r.Expect), "before"); filepath.Base(r.Expect) == "last-good" {
		if info, err := os.Stat(before); err == nil && info.IsDir() {
			all = append(all, before)
		}
	}
	return all
}

// beingWritten reports whether weft serve is writing a folder of tables beside Expect: there is one to which neither of its
// two links, last-good and before, leads yet.
func (r *running) beingWritten() bool {
	dir := filepath.Dir(r.Expect)
	entries, err := os.ReadDir(dir)
	if err != nil || filepath.Base(r.Expect) != "last-good" {
		return false
	}
	linked := map[string]bool{}
	for _, name := range []string{"last-good", "before"} {
		to, _ := os.Readlink(filepath.Join(dir, name)) // it need not be there
		linked[to] = true
	}
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return e.IsDir() && strings.HasPrefix(e.Name(), "tables-") && !linked[e.Name()]
	})
}
