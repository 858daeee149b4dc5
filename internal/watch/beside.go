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

// beside is what a look depends on beside its files.
type beside struct {
	asked      []string // engines
	noFallback bool
	log        logged
	written    time.Time // when OpenSM dumped the tables that the log was read for; zero: it did not
	against    string    // Look.Against: all of it
}

func (r *running) beside(ctx context.Context) (b beside, err error) {
	if b.asked, b.noFallback, err = r.asked(ctx); err != nil {
		return b, fmt.Errorf("the engine asked for: %w", err)
	}
	engine, behind, lack := "", false, ""
	if r.settings.Log != "" {
		if b.log, err = readLog(r.settings.Log); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return b, fmt.Errorf("OpenSM's log: %w", err)
		}
		r.flaps.seen = b.log.seen
		var files []stamp // commands have none, as in gather
		if len(r.commands) == 0 {
			if files, err = (source{r.settings}).stamps(); err != nil {
				return b, err
			}
		}
		b.written = dumped(files)
		b.log.goesOn(r.said, b.written)
		said := b.log.LogState
		r.said = &said
		if setBack(b.log.At, b.written, r.clock.Now()) {
			r.ahead = b.log.At
		}
		b.log.ahead = !b.written.IsZero() && !r.ahead.IsZero() && r.ahead.Equal(b.log.At) // until it is written to again
		engine, behind = b.log.of(b.written, b.asked, b.noFallback)
		lack = b.log.lacks(b.written)
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

// expected is the folders of tables that may be in force: that of expect and, where it is what weft
// serve handed over last, that of before: OpenSM writes a step when it was handed over.
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

// beingWritten says whether weft serve is writing tables beside those that are expected: links lead to a folder
// once it is whole, and to those of two handings over.
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
