package console

import (
	"fmt"
	"io"
)

// meaning is what a color stands for; the number is that of ANSI's set of foreground colors.
type meaning int

const (
	loop    meaning = 31 // red
	proven  meaning = 32 // green
	finding meaning = 33 // yellow
)

// mark is a part of a page's text that gets a color.
type mark struct {
	from, to int // bytes
	meaning  meaning
}

// Judged prints a verdict as a fact, which is free of deadlock or is not.
func (p *Page) Judged(free bool, format string, args ...any) {
	m := loop
	if free {
		m = proven
	}
	p.add(fact{label: "verdict", meaning: m}, format, args...)
}

// Finding prints a fact that somebody should look into.
func (p *Page) Finding(label, format string, args ...any) {
	p.add(fact{label: label, meaning: finding}, format, args...)
}

// Show prints a text or a page, on a terminal that has colors with verdicts and findings in theirs.
// Control characters of the text itself are made visible on the way to Stdout; only those of colors
// go past that, to Colors.
func (c *Console) Show(text fmt.Stringer) error {
	s := text.String()
	p, ok := text.(*Page)
	if !ok || c.Colors == nil || c.NoColor {
		_, err := io.WriteString(c.Stdout, s)
		return err
	}
	at := 0
	write := func(to int) error {
		_, err := io.WriteString(c.Stdout, s[at:to])
		at = to
		return err
	}
	for _, m := range p.marks {
		if err := write(m.from); err != nil {
			return err
		}
		fmt.Fprintf(c.Colors, "\x1b[%dm", m.meaning)
		err := write(m.to)
		fmt.Fprint(c.Colors, "\x1b[0m")
		if err != nil {
			return err
		}
	}
	return write(len(s))
}
