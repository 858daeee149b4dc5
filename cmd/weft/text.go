package main

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
)

// thousands writes a number with commas.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// seconds writes a duration with the digits that matter.
func seconds(d time.Duration) string {
	if d >= time.Second {
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return fmt.Sprintf("%.1f ms", d.Seconds()*1000)
}

// bytesOf writes a size in MiB.
func bytesOf(n int64) string { return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20)) }

// some counts names and lists the first few.
func some(names []string, what string) string {
	return fmt.Sprintf("%s: %s", plural(len(names), what), firstOf(names))
}

// firstOf lists the first few names and says how many more there are.
func firstOf(names []string) string {
	const most = 3
	if len(names) <= most+1 { // "and 1 more" is no shorter than the name
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %s more", strings.Join(names[:most], ", "), thousands(int64(len(names)-most)))
}

// laneCounts is the lanes of a result. The words are the same everywhere, and so are
// those for programs; 0 is not known.
type laneCounts struct {
	Needed    int `json:"lanes_needed,omitempty"`    // by the proof
	Used      int `json:"lanes_used,omitempty"`      // carry traffic between switches under the contract
	Available int `json:"lanes_available,omitempty"` // to the tables
}

func (l laneCounts) String() string {
	var parts []string
	for _, n := range []struct {
		lanes int
		what  string
	}{{l.Needed, "needed"}, {l.Used, "used"}, {l.Available, "available"}} {
		if n.lanes > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n.lanes, n.what))
		}
	}
	return strings.Join(parts, ", ")
}

// counted is a number and the words for one or for many.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(int64(n)) + " " + many
}

// page collects what fits one screen: a label and lines for each fact.
type page struct {
	b       strings.Builder
	columns int // that lines may take, 0: any number
}

// newPage is a page for standard output.
func (a *app) newPage() *page { return &page{columns: a.columns} }

// labelWidth is what the labels of a page take, with the space behind.
const labelWidth = 11

// fact prints a label and text; further lines are indented alike.
func (p *page) fact(label, format string, args ...any) {
	for line := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n") {
		for _, part := range wrapped(line, p.columns-labelWidth) {
			fmt.Fprintf(&p.b, "%-*s %s\n", labelWidth-1, label, part)
			label = ""
		}
	}
}

// wrapped breaks a line at spaces so that each part has at most so many columns,
// where words allow it. Further parts are indented a little more than the first, or as
// its second column is. A width of 0 or less is any.
func wrapped(line string, width int) []string {
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))] + "  "
	if m := secondColumn.FindString(line); m != "" {
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

// say prints lines for people on standard output.
func (a *app) say(format string, args ...any) error {
	var b strings.Builder
	for line := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n") {
		for _, part := range wrapped(line, a.columns) {
			b.WriteString(part + "\n")
		}
	}
	_, err := io.WriteString(a.stdout, b.String())
	return err
}

func (p *page) String() string { return p.b.String() }
