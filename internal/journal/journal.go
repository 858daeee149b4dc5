// Package journal keeps what a run has finished, so that it may be killed and go on: JSON
// documents, one a line, each appended in one write. A last line without an end, which a
// killed process or a full disk left, is cut off when the journal is opened again.
package journal

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// Journal is an open journal. One process at a time has it; calls may not overlap.
type Journal struct {
	file   *os.File
	synced time.Time
	empty  bool
}

// ErrHeld says that another process has a file.
var ErrHeld = errors.New("another process has it")

// Hold takes a file, which is made if it is not there, for this process alone, until it is
// closed or the process ends.
func Hold(name string) (io.Closer, error) { return hold(name) }

func hold(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|noFollow, 0o644)
	if errors.Is(err, syscall.ELOOP) { // what is no whole line is cut off, in whatever file it led to
		return nil, fmt.Errorf("%s is a symbolic link, and a journal is none: remove it", name)
	}
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("%s is not a plain file", name), err, f.Close())
	}
	if err := lock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Open opens a journal, made if it is not there, and hands its lines to a function, with
// their numbers from 1. An error of the function, or ErrHeld, leaves the file as it is.
func Open(name string, line func(n int, text []byte) error) (*Journal, error) {
	f, err := hold(name)
	if err != nil {
		return nil, err
	}
	j := &Journal{file: f}
	kept, err := Read(f, line)
	if err == nil {
		err = j.cut(kept)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return j, nil
}

// cut cuts off what is behind so many bytes.
func (j *Journal) cut(kept int64) error {
	err := j.file.Truncate(kept)
	if err == nil {
		_, err = j.file.Seek(kept, io.SeekStart)
	}
	if err != nil {
		return err
	}
	j.empty = kept == 0
	return nil
}

// Empty reports whether the journal has no line.
func (j *Journal) Empty() bool { return j.empty }

// Read hands the whole lines of a journal to a function, and says how many bytes they are.
func Read(r io.Reader, line func(n int, text []byte) error) (kept int64, err error) {
	in := bufio.NewReaderSize(r, 1<<20)
	for n := 1; ; n++ {
		text, err := readLine(in)
		if errors.Is(err, io.EOF) { // the rest, if any, is no whole line
			return kept, nil
		}
		if err != nil {
			return 0, err
		}
		if err := line(n, text); err != nil {
			return 0, err
		}
		kept += int64(len(text))
	}
}

// maxLine is how many bytes a line may have.
const maxLine = 64 << 20

// readLine reads a line with its end.
func readLine(in *bufio.Reader) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if line = append(line, part...); !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > maxLine {
			return nil, fmt.Errorf("a line has more than %d bytes: it is not one that weft wrote", maxLine)
		}
	}
}

// Append appends a document, all of it or nothing. It goes to the disk once a second, and
// when the journal is closed.
func (j *Journal) Append(document any) error {
	text, err := json.Marshal(document)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(text, '\n')); err != nil {
		return err
	}
	j.empty = false
	if time.Since(j.synced) < time.Second {
		return nil
	}
	j.synced = time.Now()
	if err := j.file.Sync(); err != nil {
		return err
	}
	return nil
}

// Close makes sure that everything is on the disk.
func (j *Journal) Close() error {
	if err := errors.Join(j.file.Sync(), j.file.Close()); err != nil {
		return err
	}
	return nil
}
