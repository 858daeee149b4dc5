package reading

import "math"

// EndMark begins the last line of a file that says how many lines it has: "#end 12".
const EndMark = "#end "

// Counted counts lines of some kind, which the last line of a file may say the number of: one that was lost would
// otherwise leave what it is about to a default.
type Counted struct {
	Kind string // "lines about pairs"

	lines uint64
	ended bool // the last line was read
}

// Add counts a line; behind the last one it is an error.
func (c *Counted) Add(l *Lines) error {
	if c.lines++; c.ended {
		return l.Errorf("a line behind the last one, which says how many there are")
	}
	return nil
}

// End takes the last line, behind EndMark, and refuses a number that is not that of the lines added.
func (c *Counted) End(l *Lines, text Cursor) error {
	n, ok := text.Uint(math.MaxUint64)
	if !ok || !text.Empty() {
		return nil // a comment like others
	}
	if c.ended || n != c.lines {
		return l.Errorf("the file has %d %s, its last line says %d: some are lost, or are of another file", c.lines, c.Kind, n)
	}
	c.ended = true
	return nil
}
