package reading

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/weft-fabric/weft/format"
)

// The limits of text files, in bytes. MaxSize is for files that describe a network.
// Tables are read into arrays whose size depends on the network, so they may be as
// large as MaxTable.
const (
	MaxLine  = 64 << 10
	MaxSize  = 1 << 30
	MaxTable = 64 << 30
)

// Lines scans a text line by line without allocating. A line ends with LF or
// CR LF. A text in UTF-16 is read as well, and a byte order mark is passed over.
type Lines struct {
	file  string
	raw   io.Reader
	r     *bufio.Reader // of raw, in UTF-8; nil: nothing has been read
	note  string        // Note
	text  []byte        // of the line
	n     int           // the line's number
	size  int64         // bytes read
	limit int64         // bytes at most
	whole bool          // the line had a line end
	err   error

	parts []Part // files that are read one after the other; nil: there is one
	first []int  // [index in parts] number of its first line less one, of those that have begun
	open  io.Closer
}

// Part is a file of several that are read as one text.
type Part struct {
	Name string
	Open func() (io.ReadCloser, error)
}

// NewJoined scans files one after the other, each opened when the one before is read, as one text whose lines are
// numbered through; errors name the file, and the line in it. Each is at most MaxTable bytes, as are all together.
func NewJoined(parts []Part) *Lines {
	l := NewTableLines(nil, "")
	l.parts = parts
	return l
}

// nextPart goes on with the next file; false: there is none, or it cannot be opened.
func (l *Lines) nextPart() bool {
	l.Close()
	if len(l.first) == len(l.parts) {
		return false
	}
	part := l.parts[len(l.first)]
	r, err := part.Open()
	if err != nil {
		l.err = err
		return false
	}
	l.first, l.file, l.raw, l.r, l.open = append(l.first, l.n), part.Name, r, nil, r
	return true
}

// Close closes the file of several that is open, for whoever reads no further; at the end of the text and at an
// error they are closed.
func (l *Lines) Close() {
	if l.open != nil {
		l.open.Close()
		l.open = nil
	}
}

// Begins reports whether the line is the first of its file.
func (l *Lines) Begins() bool {
	_, in := l.Where(l.n)
	return in == 1
}

// Where is the file and the line in it that a line of the text is.
func (l *Lines) Where(line int) (file string, in int) {
	for i := len(l.first) - 1; i >= 0; i-- {
		if l.first[i] < line || i == 0 {
			return l.parts[i].Name, line - l.first[i]
		}
	}
	return l.file, line
}

// Line is "line 7", for messages beside the line that they are about; of several files "line 7 of FILE".
func (l *Lines) Line(line int) string {
	if len(l.parts) < 2 {
		return fmt.Sprintf("line %d", line)
	}
	file, in := l.Where(line)
	return fmt.Sprintf("line %d of %s", in, file)
}

// NewLines scans r, at most MaxSize bytes; file is the name for errors.
func NewLines(r io.Reader, file string) *Lines {
	return &Lines{file: file, raw: r, limit: MaxSize}
}

// NewTableLines is NewLines for at most MaxTable bytes.
func NewTableLines(r io.Reader, file string) *Lines {
	l := NewLines(r, file)
	l.limit = MaxTable
	return l
}

// Next moves to the next line; false at the end of the text or at an error.
func (l *Lines) Next() bool {
	if l.parts != nil && l.first == nil && !l.nextPart() {
		return false
	}
	for !l.next() {
		if l.err != nil || l.parts == nil || !l.nextPart() {
			l.Close()
			return false
		}
	}
	return true
}

// next is Next within a file.
func (l *Lines) next() bool {
	if l.err != nil {
		return false
	}
	if l.r == nil {
		t := textOf(l.raw)
		l.r, l.note = bufio.NewReaderSize(t, MaxLine+2), t.note
	}
	text, err := l.r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		l.err = l.ErrorAt(l.n+1, "line longer than %d bytes: this is not one of the text files weft reads", MaxLine)
		return false
	case errors.Is(err, io.ErrUnexpectedEOF):
		l.err = l.ErrorAt(l.n+1, "%v", cutShort{})
		return false
	case errors.Is(err, errHalf):
		l.err = l.ErrorAt(l.n+1, "%v", err)
		return false
	case err != nil && !errors.Is(err, io.EOF):
		file, n := l.Where(l.n)
		l.err = fmt.Errorf("%s: after line %d: %w", file, n, err)
		return false
	case err != nil && len(text) == 0:
		return false
	}
	l.n++
	if l.size += int64(len(text)); l.size > l.limit {
		l.err = l.ErrorAt(l.n, "%s", tooLarge(l.limit))
		return false
	}
	if bytes.IndexByte(text, 0) >= 0 {
		l.err = l.ErrorAt(l.n, "NUL byte: this is a binary file")
		return false
	}
	l.whole = err == nil
	text = bytes.TrimSuffix(text, []byte("\n"))
	l.text = bytes.TrimSuffix(text, []byte("\r"))
	if len(l.text) > MaxLine {
		l.err = l.ErrorAt(l.n, "line longer than %d bytes: this is not one of the text files weft reads", MaxLine)
		return false
	}
	return true
}

// Each has read called for every line, up to the first error; ErrSkip is none.
func (l *Lines) Each(read func(Cursor) error) error {
	for l.Next() {
		if err := read(l.text); err != nil && !errors.Is(err, ErrSkip) {
			return err
		}
	}
	return l.err
}

// Text is the line without its end. It is overwritten by Next.
func (l *Lines) Text() Cursor { return l.text }

// File is the name of the text, for errors.
func (l *Lines) File() string { return l.file }

// Number is the number of the line, from 1.
func (l *Lines) Number() int { return l.n }

// Note says how the bytes of the text were read, if not as UTF-8; empty: there is nothing to
// tell. It is known when a line has been read.
func (l *Lines) Note() string { return l.note }

// Whole reports whether the line had a line end. Only the last line of a text can lack it;
// it usually does if the text was cut short.
func (l *Lines) Whole() bool { return l.whole }

// Truncated is the *format.ParseError of a text whose last line has no end; nil if it has one, or
// there is no line. It is for files whose lines all end.
func (l *Lines) Truncated() error {
	if l.n == 0 || l.whole {
		return nil
	}
	return l.Errorf("truncated: the last line has no end")
}

// Err is the error that ended the scan early, if any.
func (l *Lines) Err() error { return l.err }

// Errorf is a *format.ParseError at the current line.
func (l *Lines) Errorf(msg string, args ...any) error {
	return l.ErrorAt(max(l.n, 1), msg, args...)
}

// ErrorAt is a *format.ParseError at an earlier line.
func (l *Lines) ErrorAt(line int, msg string, args ...any) error {
	file, in := l.Where(line)
	return format.Errorf(file, in, msg, args...)
}
