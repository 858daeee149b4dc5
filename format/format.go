// Package format is what the readers of text files have in common: errors that
// point at a line, opening (standard input, gzip), a line scanner with limits,
// a cursor over a line, and a look at the first bytes that tells the kinds of
// text apart. The formats themselves are the packages below this one.
//
// Limits. A line is at most MaxLine bytes, a file at most MaxSize bytes (tables:
// MaxTable) after decompression, and neither holds a NUL byte: what breaks a limit is refused
// with its file and line, so that no input can exhaust memory or stand for
// something it is not.
package format

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
)

// ParseError says what is wrong with a file, and where.
type ParseError struct {
	File string
	Line int // from 1
	Msg  string
}

func (e *ParseError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg) }

// Errorf makes a *ParseError.
func Errorf(file string, line int, msg string, args ...any) error {
	return &ParseError{File: file, Line: line, Msg: fmt.Sprintf(msg, args...)}
}

// Misfits is how a file about ports or paths does not fit the fabric, for readers
// that may be lenient: with the lines about what the fabric lacks left out, and
// something assumed for what the file lacks.
type Misfits struct {
	Skipped, Missing           int64 // lines left out; things of the fabric that the file does not speak of
	FirstSkipped, FirstMissing error // *ParseError; nil: none
}

// ErrSkip is what Skip returns for a line that is to be left out.
var ErrSkip = errors.New("format: a line about what the fabric lacks")

// Skip notes a line that the fabric has nothing for; why is asked for the first.
func (m *Misfits) Skip(why func() error) error {
	if m.Skipped++; m.FirstSkipped == nil {
		m.FirstSkipped = why()
	}
	return ErrSkip
}

// Miss notes something that the file lacks; why is asked for the first.
func (m *Misfits) Miss(why func() error) {
	if m.Missing++; m.FirstMissing == nil {
		m.FirstMissing = why()
	}
}

// Open opens a file for one of the readers; "-" is stdin. Contents compressed
// with gzip are decompressed, whatever the name.
func Open(name string, stdin io.Reader) (io.ReadCloser, error) {
	raw := stdin
	var closer io.Closer = io.NopCloser(nil)
	if name == "-" {
		if stdin == nil {
			return nil, errors.New("format: there is no standard input to read")
		}
	} else {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("format: %w", err)
		}
		if info, err := f.Stat(); err == nil && info.IsDir() {
			f.Close()
			return nil, fmt.Errorf("format: %s is a directory", name)
		}
		raw, closer = f, f
	}
	buffered := bufio.NewReaderSize(raw, 1<<16)
	magic, err := buffered.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		closer.Close()
		return nil, fmt.Errorf("format: %s: %w", name, err)
	}
	if len(magic) < 2 || magic[0] != 0x1f || magic[1] != 0x8b {
		return opened{buffered, closer}, nil
	}
	unzipped, err := gzip.NewReader(buffered)
	if err != nil {
		closer.Close()
		return nil, fmt.Errorf("format: %s: %w", name, err)
	}
	return opened{unzipped, closer}, nil
}

// opened reads through what decompresses and closes what is below.
type opened struct {
	io.Reader
	io.Closer
}

// Printable is a name as the writers print it, and as ibnetdiscover and OpenSM
// do: every control character is a blank. Other bytes stay, valid UTF-8 or not.
func Printable(name string) string {
	clean := []byte(name)
	for i, b := range clean {
		if b < ' ' || b == 0x7f {
			clean[i] = ' '
		}
	}
	return string(clean)
}
