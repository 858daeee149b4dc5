package console

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// Page collects what fits one screen: a label and lines for each fact. Console.Show prints it.
type Page struct {
	facts   []fact
	columns int    // that lines may take, 0: any number
	brief   bool   // it is an answer: short, without details
	less    bool   // something was left out of it
	marks   []mark // of the text that String made last
}

// fact is a label and its lines, some of which may be colored.
type fact struct {
	label   string
	lines   []string
	meaning meaning // 0: no color
	first   int     // how many lines have the color: those of the first line before it was wrapped
	spare   bool    // it is left out before others are cut
}

// NewPage is a page for standard output.
func (c *Console) NewPage() *Page { return &Page{columns: c.Columns} }

// NewAnswer is a page that, where people get the answer alone, leaves out its details and has
// MostLines at most.
func (c *Console) NewAnswer() *Page { return &Page{columns: c.Columns, brief: c.Brief()} }

// MostLines is how long an answer may be.
const MostLines = 10

// labelWidth is what the labels of a page take, with the space behind.
const labelWidth = 11

// Fact prints a label and text; further lines are indented alike.
func (p *Page) Fact(label, format string, args ...any) {
	p.add(fact{label: label}, format, args...)
}

// Detail is a fact that is left out of an answer.
func (p *Page) Detail(label, format string, args ...any) {
	if p.brief {
		p.less = true
		return
	}
	p.Fact(label, format, args...)
}

// Short is a fact of an answer only, which says in fewer words what a Detail says elsewhere.
func (p *Page) Short(label, format string, args ...any) {
	if p.brief {
		p.Fact(label, format, args...)
	}
}

// Spare is Short for what is first left out where an answer grows too long.
func (p *Page) Spare(label, format string, args ...any) {
	if p.brief {
		p.add(fact{label: label, spare: true}, format, args...)
	}
}

// add adds a fact with its text, broken into lines.
func (p *Page) add(f fact, format string, args ...any) {
	for line := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n") {
		f.lines = append(f.lines, wrapped(line, p.columns-labelWidth)...)
		if f.first == 0 {
			f.first = len(f.lines)
		}
	}
	p.facts = append(p.facts, f)
}

// shorten makes an answer no longer than it may be: without what can be spared, then with fewer
// lines of the longest facts.
func (p *Page) shorten() {
	for p.lines() > MostLines {
		p.less = true
		if i := slices.IndexFunc(p.facts, func(f fact) bool { return f.spare }); i >= 0 {
			p.facts = slices.Delete(p.facts, i, i+1)
			continue
		}
		var longest *fact // the verdict only where others have a line each
		for i := range p.facts {
			f := &p.facts[i]
			if longest == nil || len(longest.lines) == 1 || f.label != "verdict" && len(f.lines) >= len(longest.lines) {
				longest = f
			}
		}
		last := len(longest.lines) - 2
		if last < 0 {
			return // many facts of a line each
		}
		longest.lines = longest.lines[:last+1]
		line, most := strings.TrimSuffix(longest.lines[last], " …"), p.columns-labelWidth-2
		if p.columns > 0 && text.StringWidth(line) > most {
			line = text.Trim(line, most)
		}
		longest.lines[last] = line + " …"
	}
}

// lines is how many lines the page has.
func (p *Page) lines() int {
	n := 0
	for _, f := range p.facts {
		n += len(f.lines)
	}
	if p.less {
		n++
	}
	return n
}

// String is the text of the page, and sets its marks. An answer is shortened for good, and says how
// to see what it leaves out.
func (p *Page) String() string {
	if p.brief {
		p.shorten()
	}
	facts := p.facts
	if p.less {
		facts = append(facts[:len(facts):len(facts)], fact{label: "more", lines: []string{"-v (--verbose) says how it was found, and what is left out here"}})
	}
	var b strings.Builder
	p.marks = nil
	for _, f := range facts {
		label := f.label
		for i, line := range f.lines {
			fmt.Fprintf(&b, "%-*s ", labelWidth-1, label)
			from := b.Len()
			b.WriteString(line)
			if f.meaning != 0 && i < f.first {
				p.marks = append(p.marks, mark{from: from, to: b.Len(), meaning: f.meaning})
			}
			b.WriteByte('\n')
			label = ""
		}
	}
	return b.String()
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

// secondColumn is what stands before the second column of a line: a word and at least two spaces.
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
