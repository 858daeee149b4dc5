package console

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// Page collects what fits one screen: a label and lines for each fact.
type Page struct {
	b       strings.Builder
	columns int // that lines may take, 0: any number
	marks   []mark
}

// NewPage is a page for standard output.
func (c *Console) NewPage() *Page { return &Page{columns: c.Columns} }

// labelWidth is what the labels of a page take, with the space behind.
const labelWidth = 11

// Fact prints a label and text; further lines are indented alike.
func (p *Page) Fact(label, format string, args ...any) { p.fact(0, label, format, args...) }

// fact is Fact with what the first line means; 0 is nothing in particular.
func (p *Page) fact(m meaning, label, format string, args ...any) {
	for line := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n") {
		for _, part := range wrapped(line, p.columns-labelWidth) {
			fmt.Fprintf(&p.b, "%-*s ", labelWidth-1, label)
			from := p.b.Len()
			p.b.WriteString(part)
			if m != 0 {
				p.marks = append(p.marks, mark{from, p.b.Len(), m})
			}
			p.b.WriteByte('\n')
			label = ""
		}
		m = 0
	}
}

// wrapped breaks a line at spaces so that each part has at most so many columns,
// where words allow it. Further parts are indented a little more than the first, or as
// its second column is. A width of 0 or less is any.
func wrapped(line string, width int) []string {
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))] + "  "
	if m := cmp.Or(secondColumn.FindString(line), itemNumber.FindString(line)); m != "" {
		indent = strings.Repeat(" ", text.StringWidth(m))
	}
	return wrap(line, width, indent)
}

// wrap is wrapped with the indent of further parts given.
func wrap(line string, width int, indent string) []string {
	if width <= 0 || text.StringWidth(line) <= width {
		return []string{line}
	}
	words := strings.TrimLeft(line, " ")
	part := line[:len(line)-len(words)]
	var parts []string
	begun := false
	for word := range strings.SplitSeq(words, " ") {
		if begun && text.StringWidth(part)+1+text.StringWidth(word) > width {
			parts = append(parts, strings.TrimRight(part, " "))
			part, begun = indent, false
			if word == "" {
				continue
			}
		}
		if begun {
			part += " "
		}
		part, begun = part+word, true
	}
	return append(parts, part)
}

// secondColumn is what stands before it: a word and at least two spaces.
var secondColumn = regexp.MustCompile(`^ *[^ ]{1,16}  +`)

// itemNumber is what an item of a numbered list begins with.
var itemNumber = regexp.MustCompile(`^\d+\. `)

// Say prints lines for people on standard output.
func (c *Console) Say(format string, args ...any) error {
	var b strings.Builder
	for line := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n") {
		for _, part := range wrapped(line, c.Columns) {
			b.WriteString(part + "\n")
		}
	}
	_, err := io.WriteString(c.Stdout, b.String())
	return err
}

func (p *Page) String() string { return p.b.String() }
