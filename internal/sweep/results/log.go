package results

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/journal"
	"github.com/weft-fabric/weft/internal/reading"
)

// LogFile is the name of the log in its folder: a JSON document a line, the first of
// them the header, then one for each time that measures of a point were finished.
const LogFile = "points.jsonl"

// logFormat is what the header says the file is.
const logFormat = "weft/sweep-log/1"

// header is the first line of a log.
type header struct {
	Schema string `json:"schema"`
}

// record is a line of the log: rows of one point that were finished together.
type record struct {
	Rows []Row `json:"rows"`
}

// Log is the finished points of a folder, open for more. One process at a time has it.
type Log struct {
	Rows []Row // those that were there when it was opened

	journal *journal.Journal
}

// Busy is the error for a folder that another process is at.
type Busy struct{ Dir string }

func (b *Busy) Error() string {
	return fmt.Sprintf("another process takes points into %s: wait for it, or end it", b.Dir)
}

// Open opens the log of a folder, which is made if it is not there, and reads what it
// holds. A last line without an end, which a killed process or a full disk left, is cut off.
func Open(dir string) (*Log, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	l := &Log{}
	name := filepath.Join(dir, LogFile)
	var err error
	l.journal, err = journal.Open(name, l.lineReader(name))
	if errors.Is(err, journal.ErrHeld) {
		return nil, &Busy{dir}
	}
	if err == nil && l.journal.Empty() {
		if err = l.journal.Append(header{logFormat}); err != nil {
			err = errors.Join(err, l.journal.Close())
		}
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// OpenWithin is Open, but waits so long for another process that is at the folder.
func OpenWithin(ctx context.Context, dir string, wait time.Duration) (*Log, error) {
	begun := time.Now()
	for {
		l, err := Open(dir)
		if busy := (*Busy)(nil); !errors.As(err, &busy) || time.Since(begun) >= wait {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// lineReader is a function that takes the lines of a log, one after another, into l.Rows.
func (l *Log) lineReader(name string) func(n int, text []byte) error {
	return func(n int, text []byte) error {
		var h header
		var rec record
		switch {
		case n == 1:
			if json.Unmarshal(text, &h) != nil || h.Schema != logFormat {
				if earlierReproduce(text) {
					return format.Errorf(name, n, "an earlier weft reproduce kept its points here, in a form that is no longer read: take another folder, or remove %s", name)
				}
				return format.Errorf(name, n, "this is no log of weft sweep: the first line is not %q", logFormat)
			}
		case json.Unmarshal(text, &rec) != nil || len(rec.Rows) == 0:
			return format.Errorf(name, n, "this line is damaged; without it and what follows the sweep would go on from there")
		}
		for i := range rec.Rows {
			if why := rec.Rows[i].lacks(); why != "" {
				return format.Errorf(name, n, "row %d, %s of point %s: %s", i+1, rec.Rows[i].Measure, rec.Rows[i].Point, why)
			}
		}
		l.Rows = append(l.Rows, rec.Rows...)
		return nil
	}
}

// earlierReproduce reports whether a first line is of weft reproduce as it was before its points
// became those of campaigns: which weft, on which machine.
func earlierReproduce(first []byte) bool {
	var of struct {
		Weft    string `json:"weft"`
		Machine string `json:"machine"`
	}
	return json.Unmarshal(first, &of) == nil && of.Weft != "" && of.Machine != ""
}

// Append keeps rows of one point, all of them or none.
func (l *Log) Append(rows []Row) error { return l.journal.Append(record{rows}) }

// Close makes sure that everything is on the disk.
func (l *Log) Close() error { return l.journal.Close() }

// Of is the rows of a folder, from its log, or of a Parquet file.
func Of(ctx context.Context, name string) ([]Row, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return ReadParquet(ctx, name)
	}
	f, err := reading.OpenPlain(filepath.Join(name, LogFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s holds no results of weft sweep: there is no %s in it", name, LogFile)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var l Log
	_, err = journal.Read(reading.Interruptible(ctx, f), l.lineReader(f.Name()))
	return l.Rows, err
}
