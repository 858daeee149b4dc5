// Package lined reads JSON so that every value knows its line, for messages about files
// that people wrote or dumped.
package lined

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/weft-fabric/weft/format"
)

// Kind is the kind of a value.
type Kind uint8

// The kinds of a value.
const (
	Null Kind = iota
	Bool
	Number
	String
	List
	Object
)

func (k Kind) String() string {
	return [...]string{"null", "true or false", "a number", "a text", "a list", "an object"}[k]
}

// Value is a JSON value with its place.
type Value struct {
	File string
	Line int
	Kind Kind

	Text    string // of a String or Number, "true" or "false" of a Bool
	Items   []Value
	Members []Member // in the order of the file
}

// Member is a name in an Object, with its value.
type Member struct {
	Name  string
	Value Value
}

// maxSize is how large a file may be, in bytes.
const maxSize = 1 << 30

// maxDepth is how deep values may be inside each other.
const maxDepth = 64

// Read reads a file that is one value.
func Read(r io.Reader, file string) (*Value, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(text) > maxSize {
		return nil, fmt.Errorf("%s: larger than %d bytes", file, maxSize)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // editors of some systems write it
	p := &parser{file: file, text: text, line: 1, d: json.NewDecoder(bytes.NewReader(text))}
	p.d.UseNumber()
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := p.d.Token(); !errors.Is(err, io.EOF) {
		p.count(p.d.InputOffset())
		return nil, format.Errorf(file, p.line, "more than one JSON value")
	}
	return &v, nil
}

type parser struct {
	file    string
	text    []byte
	line    int
	counted int64 // bytes in which line ends were counted
	d       *json.Decoder
}

func (p *parser) count(to int64) {
	p.line += bytes.Count(p.text[p.counted:to], []byte{'\n'})
	p.counted = to
}

func (p *parser) token() (json.Token, error) {
	t, err := p.d.Token()
	if err != nil {
		p.count(max(p.counted, min(p.d.InputOffset(), int64(len(p.text)))))
		var syntax *json.SyntaxError
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			p.count(int64(len(p.text)))
			return nil, format.Errorf(p.file, p.line, "the JSON ends in the middle")
		case errors.As(err, &syntax):
			p.count(max(p.counted, min(syntax.Offset, int64(len(p.text)))))
		}
		return nil, format.Errorf(p.file, p.line, "not JSON: %v", err)
	}
	p.count(p.d.InputOffset())
	return t, nil
}

func (p *parser) value(depth int) (Value, error) {
	t, err := p.token()
	if err != nil {
		return Value{}, err
	}
	return p.from(t, depth)
}

func (p *parser) from(t json.Token, depth int) (Value, error) {
	v := Value{File: p.file, Line: p.line}
	if depth > maxDepth {
		return v, v.Errorf("values inside each other more than %d deep", maxDepth)
	}
	switch t := t.(type) {
	case nil:
	case bool:
		v.Kind, v.Text = Bool, strconv.FormatBool(t)
	case json.Number:
		v.Kind, v.Text = Number, t.String()
	case string:
		v.Kind, v.Text = String, t
	case json.Delim:
		if t == '[' {
			v.Kind = List
			return v, p.items(&v, depth)
		}
		v.Kind = Object
		return v, p.members(&v, depth)
	}
	return v, nil
}

func (p *parser) items(v *Value, depth int) error {
	for {
		t, err := p.token()
		if err != nil || t == json.Delim(']') {
			return err
		}
		item, err := p.from(t, depth+1)
		if err != nil {
			return err
		}
		v.Items = append(v.Items, item)
	}
}

func (p *parser) members(v *Value, depth int) error {
	lines := map[string]int{}
	for {
		t, err := p.token()
		if err != nil || t == json.Delim('}') {
			return err
		}
		name, ok := t.(string)
		line := p.line
		if !ok {
			return format.Errorf(p.file, line, "a member without a name")
		}
		if before := lines[name]; before != 0 {
			return format.Errorf(p.file, line, "%q a second time: it is in line %d too", name, before)
		}
		lines[name] = line
		member, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		v.Members = append(v.Members, Member{name, member})
	}
}

// Errorf is an error at the line of the value.
func (v *Value) Errorf(msg string, args ...any) error {
	return format.Errorf(v.File, v.Line, msg, args...)
}

// Want says what is wrong if the value is of another kind.
func (v *Value) Want(k Kind, what string) error {
	if v.Kind != k {
		return v.Errorf("%s is %s, not %s", what, v.Kind, k)
	}
	return nil
}

// Get is a member of an Object; nil if there is none.
func (v *Value) Get(name string) *Value {
	for i := range v.Members {
		if v.Members[i].Name == name {
			return &v.Members[i].Value
		}
	}
	return nil
}

// String is the text of a member; empty if there is none.
func (v *Value) String(name string) (string, error) {
	m := v.Get(name)
	if m == nil {
		return "", nil
	}
	return m.Text, m.Want(String, name)
}

// True says whether a member is there and true.
func (v *Value) True(name string) (bool, error) {
	m := v.Get(name)
	if m == nil {
		return false, nil
	}
	return m.Text == "true", m.Want(Bool, name)
}
