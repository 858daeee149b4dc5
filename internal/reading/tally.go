package reading

// Tally counts what a warning is about, and keeps the first.
type Tally struct {
	N    int
	Line int // of the first
	Text string
}

// Note counts a text in a line.
func (t *Tally) Note(line int, text string) {
	if t.N++; t.N == 1 {
		t.Line, t.Text = line, text
	}
}
