package reading

import (
	"bufio"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// text is a text in UTF-8 without a byte order mark, whatever the bytes are that it was
// made from.
type text struct {
	io.Reader
	note string // what was done to the bytes; empty: nothing
}

// examined is how many bytes decide whether a text without a byte order mark is UTF-16.
const examined = 512

// InUTF8 is a text in UTF-8, whatever the bytes of r are, and what was done to them for it, to be
// told; empty: nothing.
func InUTF8(r io.Reader) (io.Reader, string) {
	t := textOf(r)
	return t, t.note
}

// textOf is the text of bytes in UTF-8 or UTF-16, into which a Windows PowerShell redirects; r itself if it is a text already.
func textOf(r io.Reader) *text {
	if t, ok := r.(*text); ok {
		return t
	}
	b := bufio.NewReader(r)
	head, _ := b.Peek(examined) // an error comes again when it is read
	cutMark := func(mark string) bool {
		if len(head) < len(mark) || string(head[:len(mark)]) != mark {
			return false
		}
		b.Discard(len(mark)) //nolint:errcheck // they have been peeked
		return true
	}
	switch {
	case cutMark("\xEF\xBB\xBF"):
		return &text{b, "the text begins with a byte order mark, which is passed over"}
	case cutMark("\xFF\xFE"):
		return &text{&utf16Reader{r: b}, "the text is in UTF-16, as PowerShell writes it, and is read as such"}
	case cutMark("\xFE\xFF"):
		return &text{&utf16Reader{r: b, high: 1}, "the text is in UTF-16, high bytes first, and is read as such"}
	}
	for zero := range 2 {
		if isUTF16(head, zero) {
			return &text{&utf16Reader{r: b, high: 1 - zero}, "every other byte is zero: the text is taken to be in UTF-16"}
		}
	}
	return &text{b, ""}
}

// isUTF16 reports whether bytes are characters of ASCII with a zero at each place that is even
// (0) or odd (1).
func isUTF16(head []byte, zero int) bool {
	for i, b := range head {
		if (b == 0) != (i%2 == zero) {
			return false
		}
	}
	return len(head) >= 8
}

// utf16Reader reads UTF-16 as UTF-8.
type utf16Reader struct {
	r    *bufio.Reader
	high int    // 0: low bytes first, 1: high bytes first
	out  []byte // not read yet
	err  error
}

// errHalf ends a text that ends within a character.
var errHalf = errors.New("the text ends within a character of UTF-16; it was cut short")

// unit reads 16 bits.
func (u *utf16Reader) unit() (rune, error) {
	var b [2]byte
	n, err := io.ReadFull(u.r, b[:])
	if n == 1 && errors.Is(err, io.ErrUnexpectedEOF) {
		err = errHalf
	}
	return rune(b[u.high]) | rune(b[1-u.high])<<8, err
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.out) < len(p) && len(u.out) < 1<<12 && u.err == nil {
		c, err := u.unit()
		if err == nil && utf16.IsSurrogate(c) {
			var low rune
			if low, err = u.unit(); errors.Is(err, io.EOF) {
				err = errHalf
			}
			c = utf16.DecodeRune(c, low)
		}
		if u.err = err; err == nil {
			u.out = utf8.AppendRune(u.out, c)
		}
	}
	n := copy(p, u.out)
	u.out = append(u.out[:0], u.out[n:]...)
	if n > 0 || len(p) == 0 {
		return n, nil
	}
	return 0, u.err
}
