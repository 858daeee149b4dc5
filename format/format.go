// Package format has what the results of all readers have in common: errors that point at a
// line, and what of a file does not fit a fabric. The formats are the packages below it;
// package files reads whatever of them a text is.
package format

import "fmt"

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
