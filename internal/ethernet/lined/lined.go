// Package lined reads JSON so that every value knows its line, for messages about files
// that people wrote or dumped.
package lined

import (
	"bufio"
	"bytes"
	"cmp"
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

// maxText is how far the decoder may read ahead, in bytes: it does so to the end of a text, and
// as far again.
const maxText = 8 << 20

// maxValues is how many values a file may have: each takes more memory than its text may.
const maxValues = 4 << 20

// maxDepth is how deep values may be inside each other.
const maxDepth = 64

// Read reads a file that is one value.
func Read(r io.Reader, file string) (*Value, error) {
	all, err := ReadAll(r, file)
	if err != nil {
		return nil, err
	}
	if len(all) > 1 {
		return nil, all[1].Errorf("more than one JSON value")
	}
	return &all[0], nil
}

// ReadAll reads a file of one value or more, one after the other.
func ReadAll(r io.Reader, file string) (all []Value, err error) {
	return read(r, file, maxValues)
}

// read reads a file with at most so many values.
func read(r io.Reader, file string, most int) (all []Value, err error) {
	in := bufio.NewReader(r)
	if mark, err := in.Peek(3); err == nil && string(mark) == "\ufeff" { // editors of some systems write it
		if _, err := in.Discard(3); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	text := &counted{r: &ahead{r: in, file: file, most: most}}
	p := &parser{file: file, most: most, text: text, line: 1, d: json.NewDecoder(text)}
	p.d.UseNumber()
	for {
		t, err := p.d.Token()
		if errors.Is(err, io.EOF) && text.err == nil && len(all) > 0 {
			return all, nil
		}
		if err != nil {
			return nil, p.explained(err)
		}
		p.count(p.d.InputOffset())
		v, err := p.from(t, 0)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
}

// parser makes Values of the tokens of a decoder.
type parser struct {
	file   string
	text   *counted // that d reads
	line   int      // of the token read last
	most   int      // values
	values int      // so far
	d      *json.Decoder
}

// count moves p.line on to a byte of the text, or to its end as far as it was read.
func (p *parser) count(to int64) { p.line += p.text.lines(to) }

// counted is a text that knows its lines: the decoder reads it ahead, and lines counts up to where the decoder is.
type counted struct {
	r     io.Reader
	ahead []byte // read, and not counted yet
	from  int64  // where ahead begins
	err   error  // of reading, which the decoder says in words of its own
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.ahead = append(c.ahead, p[:n]...)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	if len(c.ahead) > maxText {
		c.err = fmt.Errorf("a text or number of more than %d bytes: this is not one of the files weft reads", maxText/2)
	}
	if c.from+int64(len(c.ahead)) > maxSize {
		c.err = fmt.Errorf("more than %d bytes of JSON: give the file that was meant, or parts of it", maxSize)
	}
	return n, cmp.Or(c.err, err)
}

// lines is how many lines end between the byte of the last call and another, and forgets the text up to there.
func (c *counted) lines(to int64) int {
	n := min(max(to-c.from, 0), int64(len(c.ahead)))
	ended := bytes.Count(c.ahead[:n], []byte{'\n'})
	c.ahead, c.from = c.ahead[n:], c.from+n
	return ended
}

// token is the next token, at p.line.
func (p *parser) token() (json.Token, error) {
	t, err := p.d.Token()
	if err != nil {
		return nil, p.explained(err)
	}
	p.count(p.d.InputOffset())
	return t, nil
}

// explained is an error of the decoder with its line.
func (p *parser) explained(err error) error {
	p.count(p.d.InputOffset())
	var syntax *json.SyntaxError
	var at *format.ParseError
	switch {
	case errors.As(p.text.err, &at):
		return at
	case errors.Is(p.text.err, io.ErrUnexpectedEOF):
		p.count(maxSize)
		return format.Errorf(p.file, p.line, "the compressed file was cut short")
	case p.text.err != nil:
		return fmt.Errorf("%s:%d: %w", p.file, p.line, p.text.err)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		p.count(maxSize)
		return format.Errorf(p.file, p.line, "the JSON ends in the middle")
	case errors.As(err, &syntax):
		p.count(syntax.Offset)
	}
	return format.Errorf(p.file, p.line, "not JSON: %v", err)
}

// value reads the next value, inside so many others.
func (p *parser) value(depth int) (Value, error) {
	t, err := p.token()
	if err != nil {
		return Value{}, err
	}
	return p.from(t, depth)
}

// from is the value that begins with a token; lists and objects are read to their end.
func (p *parser) from(t json.Token, depth int) (Value, error) {
	v := Value{File: p.file, Line: p.line}
	if p.values++; p.values > p.most {
		return v, v.Errorf("more than %d values: give the file that was meant, or parts of it", p.most)
	}
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

// True reports whether a member is there and true.
func (v *Value) True(name string) (bool, error) {
	m := v.Get(name)
	if m == nil {
		return false, nil
	}
	return m.Text == "true", m.Want(Bool, name)
}
