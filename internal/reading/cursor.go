package reading

import (
	"bytes"
	"math"
)

// Cursor is the rest of a line. Its methods cut something off the front; if they do not
// find what they look for, they leave the cursor as it was.
type Cursor []byte

// Space skips blanks.
func (c *Cursor) Space() {
	i := 0
	for i < len(*c) && blank((*c)[i]) {
		i++
	}
	*c = (*c)[i:]
}

func blank(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\v' || b == '\f' }

// Cut skips blanks and then a literal.
func (c *Cursor) Cut(literal string) bool {
	rest := *c
	rest.Space()
	if len(rest) < len(literal) || string(rest[:len(literal)]) != literal {
		return false
	}
	*c = rest[len(literal):]
	return true
}

// CutFold is Cut ignoring the case of ASCII letters; the literal is in lower case.
func (c *Cursor) CutFold(literal string) bool {
	rest := *c
	rest.Space()
	if len(rest) < len(literal) {
		return false
	}
	for i := range len(literal) {
		b := rest[i]
		if b >= 'A' && b <= 'Z' {
			b += 'a' - 'A'
		}
		if b != literal[i] {
			return false
		}
	}
	*c = rest[len(literal):]
	return true
}

// Uint skips blanks and reads a decimal number up to top.
func (c *Cursor) Uint(top uint64) (uint64, bool) {
	rest := *c
	rest.Space()
	var v uint64
	i := 0
	for ; i < len(rest) && rest[i] >= '0' && rest[i] <= '9'; i++ {
		d := uint64(rest[i] - '0')
		if v > (math.MaxUint64-d)/10 {
			return 0, false
		}
		v = v*10 + d
	}
	if i == 0 || v > top {
		return 0, false
	}
	*c = rest[i:]
	return v, true
}

// Hex skips blanks and reads a hexadecimal number up to top, with 0x or without.
func (c *Cursor) Hex(top uint64) (uint64, bool) {
	rest := *c
	rest.Space()
	if len(rest) > 2 && rest[0] == '0' && (rest[1] == 'x' || rest[1] == 'X') && hexDigit(rest[2]) < 16 {
		rest = rest[2:]
	}
	var v uint64
	i := 0
	for ; i < len(rest); i++ {
		d := hexDigit(rest[i])
		if d > 15 {
			break
		}
		if v>>60 != 0 {
			return 0, false
		}
		v = v<<4 | uint64(d)
	}
	if i == 0 || v > top {
		return 0, false
	}
	*c = rest[i:]
	return v, true
}

func hexDigit(b byte) byte {
	switch {
	case b >= '0' && b <= '9':
		return b - '0'
	case b >= 'a' && b <= 'f':
		return b - 'a' + 10
	case b >= 'A' && b <= 'F':
		return b - 'A' + 10
	}
	return 255
}

// Word skips blanks and reads up to the next blank; empty at the end of the line.
func (c *Cursor) Word() []byte {
	c.Space()
	i := 0
	for i < len(*c) && !blank((*c)[i]) {
		i++
	}
	word := (*c)[:i]
	*c = (*c)[i:]
	return word
}

// Quoted skips blanks and reads the text between two double quotes.
func (c *Cursor) Quoted() ([]byte, bool) {
	rest := *c
	if !rest.Cut(`"`) {
		return nil, false
	}
	end := bytes.IndexByte(rest, '"')
	if end < 0 {
		return nil, false
	}
	*c = rest[end+1:]
	return rest[:end], true
}

// QuotedWide is Quoted up to the last double quote of the line, so that the text may
// itself contain quotes.
func (c *Cursor) QuotedWide() ([]byte, bool) {
	rest := *c
	if !rest.Cut(`"`) {
		return nil, false
	}
	end := bytes.LastIndexByte(rest, '"')
	if end < 0 {
		return nil, false
	}
	*c = rest[end+1:]
	return rest[:end], true
}

// Empty reports whether only blanks are left.
func (c Cursor) Empty() bool {
	c.Space()
	return len(c) == 0
}
