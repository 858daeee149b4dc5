package lined

import (
	"bytes"
	"io"

	"github.com/weft-fabric/weft/format"
)

// window is how much text is read before the decoder sees it, in bytes.
const window = 64 << 20

// ahead is the text that the decoder reads. It counts the values in it before the decoder makes them, which takes a hundred times as
// long and much memory: a file with too many is refused by the window that they are in.
type ahead struct {
	r    io.Reader
	file string
	most int          // values
	text bytes.Buffer // read, and not decoded yet
	err  error        // that comes after text
	tally
}

func (a *ahead) Read(p []byte) (int, error) {
	if a.text.Len() == 0 {
		a.text.Reset()
		for a.err == nil && a.text.Len() < window {
			begun := a.text.Len()
			_, a.err = io.CopyN(&a.text, a.r, window/64)
			if !a.add(a.text.Bytes()[begun:], a.most) {
				a.text.Reset()
				a.err = format.Errorf(a.file, a.line+1, "more than %d values: give the file that was meant, or parts of it", a.most)
			}
		}
	}
	if a.text.Len() == 0 {
		return 0, a.err
	}
	return a.text.Read(p)
}

// tally counts the values inside lists and objects: one for each list and object that is not empty, and one for each comma. In a text
// that is no JSON the number means nothing; the decoder refuses it.
type tally struct {
	values, line   int
	quoted, escape bool // within a text; behind a backslash there
	opened         bool // a list or an object of which nothing has been seen yet
}

// add counts on in the next piece of text, and says whether there are fewer than most, since the value around them is one more.
func (c *tally) add(text []byte, most int) bool {
	for _, b := range text {
		switch {
		case c.escape:
			c.escape = false
		case c.quoted:
			c.quoted, c.escape = b != '"', b == '\\'
		case b == '\n':
			c.line++
		case b == ' ' || b == '\t' || b == '\r':
		default:
			if c.opened && b != ']' && b != '}' || b == ',' {
				c.values++
			}
			c.opened, c.quoted = b == '[' || b == '{', b == '"'
			if c.values >= most {
				return false
			}
		}
	}
	return true
}
