package results

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/weft-fabric/weft/format"
)

// LogFile is the name of the log in its folder: a JSON document a line, the first of
// them the header, then one for each time that measures of a point were finished.
const LogFile = "points.jsonl"

// logFormat is what the header says the file is.
const logFormat = "weft/sweep-log/1"

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

	file   *os.File
	name   string
	synced time.Time
}

// errHeld says that another process has a file.
var errHeld = errors.New("results: another process has it")

// Busy is the error for a folder that another process is at.
type Busy struct{ Dir string }

func (b *Busy) Error() string {
	return fmt.Sprintf("results: another process takes points into %s: wait for it, or end it", b.Dir)
}

// Open opens the log of a folder, which is made if it is not there, and reads what it
// holds. A last line without an end, which a killed process or a full disk left, is cut off.
func Open(dir string) (*Log, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	l := &Log{name: filepath.Join(dir, LogFile)}
	var err error
	if l.file, err = os.OpenFile(l.name, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	if err := l.begin(dir); err != nil {
		return nil, errors.Join(err, l.file.Close())
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

// Hold takes a file, which is made if it is not there, for this process alone, until it is
// closed or the process ends.
func Hold(name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (l *Log) begin(dir string) error {
	if err := lock(l.file); err != nil {
		if errors.Is(err, errHeld) {
			return &Busy{dir}
		}
		return err
	}
	rows, kept, err := read(l.file, l.name)
	if err != nil {
		return err
	}
	l.Rows = rows
	if err := l.file.Truncate(kept); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	if _, err := l.file.Seek(kept, io.SeekStart); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	if kept == 0 {
		return l.line(header{logFormat})
	}
	return nil
}

// read reads the whole lines of a log, and says how many bytes they are.
func read(r io.Reader, name string) (rows []Row, kept int64, err error) {
	in := bufio.NewReaderSize(r, 1<<20)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) { // the rest, if any, is no whole line
			return rows, kept, nil
		}
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", name, err)
		}
		var h header
		var rec record
		switch {
		case n == 1:
			if json.Unmarshal(line, &h) != nil || h.Schema != logFormat {
				return nil, 0, format.Errorf(name, n, "this is no log of weft sweep: the first line is not %q", logFormat)
			}
		case json.Unmarshal(line, &rec) != nil || len(rec.Rows) == 0:
			return nil, 0, format.Errorf(name, n, "this line is damaged; without it and what follows the sweep would go on from there")
		}
		rows = append(rows, rec.Rows...)
		kept += int64(len(line))
	}
}

// Append keeps rows of one point, all of them or none.
func (l *Log) Append(rows []Row) error {
	if err := l.line(record{rows}); err != nil {
		return err
	}
	if time.Since(l.synced) < time.Second {
		return nil
	}
	l.synced = time.Now()
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	return nil
}

// line appends a document in one write, so that a killed process leaves whole lines.
func (l *Log) line(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	if _, err := l.file.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	return nil
}

// Close makes sure that everything is on the disk.
func (l *Log) Close() error {
	if err := errors.Join(l.file.Sync(), l.file.Close()); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	return nil
}

// Of is the rows of a folder, from its log, or of a Parquet file.
func Of(name string) ([]Row, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return ReadParquet(name)
	}
	f, err := os.Open(filepath.Join(name, LogFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s holds no results of weft sweep: there is no %s in it", name, LogFile)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, _, err := read(f, f.Name())
	return rows, err
}
