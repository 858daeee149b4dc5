// Package objects reads JSON that is mostly arrays of objects, one by one and with their lines.
package objects

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/reading"
)

// Reader reads a text of JSON from its beginning.
type Reader struct {
	file string
	text []byte
	d    *json.Decoder

	line    int   // of the byte at counted
	counted int64 // bytes whose lines are counted
}

// New reads the whole text, without a byte order mark.
func New(r io.Reader, file string) (*Reader, error) {
	text, err := reading.ReadAll(r, file, reading.MaxSize)
	if err != nil {
		return nil, err
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return &Reader{file: file, text: text, d: d, line: 1}, nil
}

// Opens reports whether the next value begins with a bracket, and reads nothing.
func (d *Reader) Opens(bracket byte) bool {
	at := d.next()
	return at < int64(len(d.text)) && d.text[at] == bracket
}

// Members reads an object: of each member its key, and then by the function its value.
func (d *Reader) Members(value func(key string) error) error {
	if err := d.want('{', "an object"); err != nil {
		return err
	}
	for d.d.More() {
		key, err := d.d.Token()
		if err != nil {
			return d.syntax(err)
		}
		name, _ := key.(string) // a decoder returns no other keys
		if err := value(name); err != nil {
			return err
		}
	}
	return d.want('}', "the end of the object")
}

// Each reads an array of objects, and calls one for each with the line that it begins in.
func (d *Reader) Each(one func(line int, values map[string]any) error) error {
	if err := d.want('[', "an array of objects"); err != nil {
		return err
	}
	for d.d.More() {
		line := d.Line()
		values := map[string]any{}
		if err := d.decode(&values); err != nil {
			return err
		}
		if err := one(line, values); err != nil {
			return err
		}
	}
	return d.want(']', "the end of the array")
}

// Text is a value as text; empty for null.
func Text(value any) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// Value reads a value of any kind. Numbers are json.Number.
func (d *Reader) Value() (value any, err error) {
	return value, d.decode(&value)
}

// decode has what is no JSON told with its line.
func (d *Reader) decode(to any) error {
	if err := d.d.Decode(to); err != nil {
		return d.syntax(err)
	}
	return nil
}

// End refuses text behind what was read.
func (d *Reader) End() error {
	if _, err := d.d.Token(); !errors.Is(err, io.EOF) {
		return d.Errorf("more text after the end")
	}
	return nil
}

// want reads a bracket, which is what should be there.
func (d *Reader) want(bracket json.Delim, what string) error {
	token, err := d.d.Token()
	if err != nil {
		return d.syntax(err)
	}
	if token != bracket {
		return d.Errorf("%v where %s should be", token, what)
	}
	return nil
}

// next is the place of what comes next.
func (d *Reader) next() int64 {
	at := min(d.d.InputOffset(), int64(len(d.text)))
	for at < int64(len(d.text)) && bytes.IndexByte([]byte(" \t\r\n,:"), d.text[at]) >= 0 {
		at++
	}
	return at
}

// Line is the number of the line of what comes next.
func (d *Reader) Line() int {
	at := d.next()
	d.line += bytes.Count(d.text[d.counted:at], []byte("\n"))
	d.counted = at
	return d.line
}

// Errorf is a *format.ParseError at what comes next.
func (d *Reader) Errorf(msg string, args ...any) error {
	return format.Errorf(d.file, d.Line(), msg, args...)
}

// syntax is an error of the JSON itself.
func (d *Reader) syntax(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return d.Errorf("the text ends too early")
	}
	return d.Errorf("no valid JSON: %v", err)
}
