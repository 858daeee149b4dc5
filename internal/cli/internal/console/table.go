package console

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// ColumnsOf is how wide lines on a writer may be, and whether it is a terminal: what $COLUMNS says,
// else the width of the terminal; 0 is any width, as for files and pipes.
func ColumnsOf(w io.Writer) (columns int, terminal bool) {
	f, ok := w.(*os.File)
	terminal = ok && term.IsTerminal(int(f.Fd()))
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return max(n, 40), terminal
	}
	if terminal {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return max(n, 40), terminal
		}
	}
	return 0, terminal
}

// AtMost is how many of all things people see: most where they get the answer alone, else all.
func (c *Console) AtMost(most, all int) int {
	if c.Brief() && all > most+1 { // where one is left, it takes the line that says so
		return most
	}
	return all
}

// First is the first of some lines, as many as AtMost says, and if n are left out, the line that
// rest makes of that number.
func (c *Console) First(most int, lines []string, rest func(n int) string) string {
	if n := c.AtMost(most, len(lines)); n < len(lines) {
		lines = append(lines[:n:n], rest(len(lines)-n))
	}
	return strings.Join(lines, "\n")
}

// Table is a table in the style of this command. Where it is too wide, text is
// wrapped; where that does not do, the columns go into several tables, each of which
// begins with the first. Nothing is cut.
type Table struct {
	out     io.Writer
	columns int
	header  table.Row
	rows    []table.Row // a nil row: a line between
	footer  table.Row
	most    map[int]int  // how wide a column may be at most
	right   map[int]bool // columns that are aligned to the right
}

// NewTable is a table on standard output.
func (c *Console) NewTable(header ...any) *Table {
	return &Table{out: c.Stdout, columns: c.Columns, header: header, most: map[int]int{}, right: map[int]bool{}}
}

// Row adds a row.
func (g *Table) Row(cells ...any) { g.rows = append(g.rows, cells) }

// Line adds a line between rows.
func (g *Table) Line() { g.rows = append(g.rows, nil) }

// Footer adds the last row.
func (g *Table) Footer(cells ...any) { g.footer = cells }

// AtMost says how wide a column may be, from 0.
func (g *Table) AtMost(column, width int) { g.most[column] = width }

// Right aligns columns to the right, the last one included.
func (g *Table) Right(first, last int) {
	for i := first; i <= last; i++ {
		g.right[i] = true
	}
}

// RenderMarkdown prints the table in Markdown.
func (g *Table) RenderMarkdown() {
	g.part(g.all(), nil).RenderMarkdown()
}

// Render prints the table, as wide as it may be.
func (g *Table) Render() {
	width, least := g.widths()
	for _, columns := range g.split(width, least) {
		g.part(columns, g.fit(columns, width, least)).Render()
	}
}

// all is the indices of all columns.
func (g *Table) all() []int {
	columns := make([]int, len(g.header))
	for i := range columns {
		columns[i] = i
	}
	return columns
}

// widths is how wide each column would be, and how wide it has to be: as its
// longest word, and wide enough to read.
func (g *Table) widths() (width, least []int) {
	width, least = make([]int, len(g.header)), make([]int, len(g.header))
	for _, row := range append([]table.Row{g.header, g.footer}, g.rows...) {
		for i, cell := range row {
			value := fmt.Sprint(cell)
			for line := range strings.Lines(value) {
				width[i] = max(width[i], text.StringWidth(strings.TrimRight(line, "\n")))
			}
			for _, word := range strings.Fields(value) {
				least[i] = max(least[i], text.StringWidth(word))
			}
		}
	}
	for i := range width {
		if most := g.most[i]; most > 0 {
			width[i] = min(width[i], most)
		}
		least[i] = min(width[i], max(least[i], legible))
	}
	return width, least
}

// frame is what the lines around so many columns take.
func frame(columns int) int { return 3*columns + 1 }

// split puts the columns into as few tables as fit: a list of columns for each, all of which begin
// with the first column.
func (g *Table) split(width, least []int) [][]int {
	total := frame(len(width))
	for _, w := range width {
		total += w
	}
	if g.columns == 0 || total <= g.columns || len(width) < 2 {
		return [][]int{g.all()}
	}
	var tables [][]int
	columns, used := []int{0}, least[0]
	for i := 1; i < len(width); i++ {
		if len(columns) > 1 && used+least[i]+frame(len(columns)+1) > g.columns {
			tables = append(tables, columns)
			columns, used = []int{0}, least[0]
		}
		columns, used = append(columns, i), used+least[i]
	}
	return append(tables, columns)
}

// legible is the least width that words are broken for.
const legible = 12

// fit is the width of each of some columns with which their table fits: as in width, and less for
// the widest ones, down to least (which breaks between words), then down to legible (within words).
func (g *Table) fit(columns, width, least []int) []int {
	fitted := make([]int, len(width))
	total := frame(len(columns))
	for _, i := range columns {
		fitted[i] = width[i]
		total += width[i]
	}
	shrink := func(to func(i int) int) {
		for g.columns > 0 && total > g.columns {
			widest := -1
			for _, i := range columns {
				if fitted[i] > to(i) && (widest < 0 || fitted[i] > fitted[widest]) {
					widest = i
				}
			}
			if widest < 0 {
				return
			}
			fitted[widest]--
			total--
		}
	}
	shrink(func(i int) int { return least[i] })
	shrink(func(int) int { return legible })
	return fitted
}

// wrapCell breaks the lines of a cell at spaces, and words that are still too wide.
func wrapCell(cell string, width int) string {
	var lines []string
	for line := range strings.SplitSeq(cell, "\n") {
		for _, part := range wrap(line, width, "") {
			for text.StringWidth(part) > width {
				head := []rune(part)[:width]
				lines, part = append(lines, string(head)), string([]rune(part)[width:])
			}
			lines = append(lines, part)
		}
	}
	return strings.Join(lines, "\n")
}

// part makes the table of some columns; width is by column of the whole table, nil: any.
func (g *Table) part(columns, width []int) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(g.out)
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.Style().Format.Footer = text.FormatDefault
	take := func(row table.Row) table.Row {
		var some table.Row
		for _, i := range columns {
			if i < len(row) {
				some = append(some, row[i])
			}
		}
		return some
	}
	t.AppendHeader(take(g.header))
	for _, row := range g.rows {
		if row == nil {
			t.AppendSeparator()
		} else {
			t.AppendRow(take(row))
		}
	}
	if g.footer != nil {
		t.AppendFooter(take(g.footer))
	}
	var configs []table.ColumnConfig
	for k, i := range columns {
		c := table.ColumnConfig{Number: k + 1}
		if g.right[i] {
			c.Align, c.AlignHeader = text.AlignRight, text.AlignRight
		}
		if width != nil {
			c.WidthMax, c.WidthMaxEnforcer = width[i], wrapCell
		}
		configs = append(configs, c)
	}
	t.SetColumnConfigs(configs)
	return t
}
