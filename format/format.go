// Package format has what the readers of text files have in common: errors that point
// at a line, opening (standard input, gzip), a line scanner with limits, a cursor over
// a line, and recognition of the kind of a text by its beginning. The formats
// themselves are the packages below this one.
//
// Limits. A line has at most MaxLine bytes, a file at most MaxSize bytes (tables:
// MaxTable) after decompression, and neither contains a NUL byte. A file beyond a limit
// is refused with file and line, so that no input can exhaust memory or be mistaken for
// another format.
package format

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
)

// ParseError says what is wrong with a file, and in which line.
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

// Mismatches is what of a file about ports or paths does not fit the fabric. Lenient
// readers leave out lines about parts that the fabric does not have, and assume something
// for parts that the file does not mention.
type Mismatches struct {
	Lenient bool // what does not fit is counted, not refused

	Skipped, Missing           int64 // lines left out; parts of the fabric that the file does not mention
	FirstSkipped, FirstMissing error // *ParseError; nil: none
}

// ErrSkip is what Skip returns for a line to be left out.
var ErrSkip = errors.New("format: a line about what the fabric lacks")

// Skip refuses a line about a part that the fabric does not have or, lenient, counts it
// and returns ErrSkip; why is called for the first one.
func (m *Mismatches) Skip(why func() error) error {
	if !m.Lenient {
		return why()
	}
	if m.Skipped++; m.FirstSkipped == nil {
		m.FirstSkipped = why()
	}
	return ErrSkip
}

// Miss refuses a file that does not mention a part or, lenient, counts the part; why is
// called for the first one.
func (m *Mismatches) Miss(why func() error) error {
	if !m.Lenient {
		return why()
	}
	if m.Missing++; m.FirstMissing == nil {
		m.FirstMissing = why()
	}
	return nil
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

// opened reads from the decompressor and closes the file.
type opened struct {
	io.Reader
	io.Closer
}

// Printable is a name as the writers, ibnetdiscover and OpenSM print it: control
// characters become blanks. Other bytes stay, valid UTF-8 or not.
func Printable(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(name, "?"))
}
