// Package conf reads opensm.conf as OpenSM does.
//
// A line is an option and its value, with blanks or tabs between; words after the first
// word of the value belong to the value. Quotes around a value are removed, and (null)
// means that there is none. A line that begins with # is a comment. If an option is set
// twice, the last line counts. OpenSM reads 1,022 bytes at a time, so that it splits a
// longer line; Read splits it at the same place.
//
// A boolean is true if it is TRUE, in capitals; anything else means FALSE, without a
// message.
//
// Options that OpenSM does not know are kept: it prints a line about them and continues
// (Known). Read refuses files beyond the limits of package format, and a file with
// hardly any option that OpenSM knows, which must be another kind of file.
package conf

import (
	"bytes"
	"io"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/internal/reading"
)

// maxRead is how much of a line OpenSM reads at a time.
const maxRead = 1022

// Option is a line that sets something; a later one of the same key counts.
type Option struct {
	Key, Value string
	Line       int // from 1
}

// Conf is an opensm.conf.
type Conf struct {
	File    string
	Options []Option // as they stand in the file
	Cut     []int    // lines that are too long for OpenSM
	last    map[string]int
}

// Read reads an opensm.conf; file is its name for errors.
func Read(r io.Reader, file string) (*Conf, error) {
	c := &Conf{File: file, last: map[string]int{}}
	lines := reading.NewLines(r, file)
	for n := 1; lines.Next(); n++ {
		text := lines.Text()
		if len(text) > maxRead {
			c.Cut = append(c.Cut, n)
		}
		for len(text) > maxRead {
			c.line(text[:maxRead], n)
			text = text[maxRead:]
		}
		c.line(text, n)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if err := c.plausible(); err != nil {
		return nil, err
	}
	return c, nil
}

// line reads a line, or a part of one that is too long; n is its number.
func (c *Conf) line(text []byte, n int) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] == '#' {
		return
	}
	key, value := text, []byte(nil)
	if i := bytes.IndexAny(text, " \t"); i >= 0 {
		key, value = text[:i], bytes.TrimSpace(text[i:])
	}
	if last := len(value) - 1; last > 0 && (value[0] == '"' || value[0] == '\'') && value[last] == value[0] {
		value = value[1:last]
	}
	c.last[string(key)] = len(c.Options)
	c.Options = append(c.Options, Option{Key: string(key), Value: string(value), Line: n})
}

// Get is the value of an option; false if it is not set or set to nothing.
func (c *Conf) Get(key string) (string, bool) {
	i, ok := c.last[key]
	if !ok || c.Options[i].Value == "(null)" || c.Options[i].Value == "" {
		return "", false
	}
	return c.Options[i].Value, true
}

// Line is the line where an option is set; 0 if it is not.
func (c *Conf) Line(key string) int {
	if i, ok := c.last[key]; ok {
		return c.Options[i].Line
	}
	return 0
}

// Bool is a boolean option as OpenSM reads it, or unset if it is not set.
func (c *Conf) Bool(key string, unset bool) bool {
	v, ok := c.Get(key)
	if !ok {
		return unset
	}
	return v == "TRUE"
}

// Int is a number, decimal or 0x; false if there is none.
func (c *Conf) Int(key string) (int, bool) {
	v, ok := c.Get(key)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(v, 0, 32)
	return int(n), err == nil
}

// Engines is the routing engines in the order in which OpenSM tries them, and
// whether no_fallback is among the words.
func (c *Conf) Engines() (names []string, noFallback bool) {
	v, _ := c.Get("routing_engine")
	return ParseEngines(v)
}

// ParseEngines is Engines of a value of routing_engine.
func ParseEngines(value string) (names []string, noFallback bool) {
	for _, name := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(", \t\n", r) }) {
		if name == "no_fallback" {
			noFallback = true
			continue
		}
		names = append(names, name)
	}
	return names, noFallback
}
