// Package format has what the readers of text files have in common: errors that point
// at a line, opening (standard input, pipes, gzip), a line scanner with limits, a cursor over
// a line, and recognition of the kind of a text by its beginning. The formats
// themselves are the packages below this one.
//
// Opening. The program opens what it reads here and nowhere else: Open for a name that the
// user gave, OpenFound for one that weft
// found in a folder, OpenPlain and OpenIn for files of its own. Reading ends with
// the context, whatever the file is.
//
// Limits. A line has at most MaxLine bytes, a file at most MaxSize bytes (tables:
// MaxTable) after decompression, and neither contains a NUL byte. A file beyond a limit
// is refused with file and line, so that no input can exhaust memory or be mistaken for
// another format. What reads lines takes Lines; comma-separated values, CSV; a text that
// another parser wants whole (JSON, YAML, XML), ReadAll.
package format

import (
	"errors"
	"fmt"
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

// Printable is a name with a blank in place of what cannot be printed, as fabric.Node has it.
func Printable(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(name, "?"))
}
