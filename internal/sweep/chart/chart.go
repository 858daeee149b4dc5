// Package chart draws results of campaigns: any column, parameter or measure against any
// other, a line or a group of bars for each value of further ones.
package chart

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/internal/figure"
	"github.com/weft-fabric/weft/internal/spell"
	"github.com/weft-fabric/weft/internal/sweep/results"
)

// Chart says what to draw. X, Y and By are
//
//   - a column that all rows of a point share, such as switches, seed or engine;
//   - a parameter of the networks, such as links;
//   - a measure, which stands for its value; or one of its columns: bandwidth.seconds;
//   - a setting of measures, such as the load of accepted; where something else is called so too,
//     with the measure before it: accepted.load.
type Chart struct {
	Title      string
	X, Y       string
	By         []string // a line for each combination of their values
	Where      []Filter // rows that count
	LogX, LogY bool
}

// Filter is a column, parameter or setting of a measure, and the values with which a row
// counts.
type Filter struct {
	Name   string
	Values []string
}

// ParseFilter reads NAME=VALUE, several values with commas between.
func ParseFilter(text string) (Filter, error) {
	name, values, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return Filter{}, fmt.Errorf("%q is no filter; it is NAME=VALUE, as in engine=lash,dfsssp", text)
	}
	return Filter{name, strings.Split(values, ",")}, nil
}

// ofMeasures is the columns that differ between the measures of a point.
var ofMeasures = []string{"measure", "settings", "value", "error", "low", "high", "count", "unit", "status", "reason", "seconds"}

// SVG draws the chart. Points of one line at the same place are one value, their mean, with
// the least and the most as whiskers. Where X is no number, places stand in the order in which
// they come.
func (c *Chart) SVG(w io.Writer, rows []results.Row) error {
	settings := c.settings(rows)
	parts, err := c.parts(rows, settings)
	if err != nil {
		return err
	}
	if err := c.check(rows, settings); err != nil {
		return err
	}
	g := grid{at: map[[2]string]int{}}
	for i := range parts {
		p := &parts[i]
		x, okX, err := p.value(c.X, settings)
		if err != nil {
			return err
		}
		y, okY, err := p.value(c.Y, settings)
		if err != nil {
			return err
		}
		if !okX || !okY {
			continue // refused: there is nothing to show
		}
		v, err := strconv.ParseFloat(y, 64)
		if err != nil {
			return fmt.Errorf("%s is no number: %q", c.Y, y)
		}
		line, err := c.lineOf(p, settings)
		if err != nil {
			return err
		}
		g.add(line, x, v)
	}
	if len(g.cells) == 0 {
		return errors.New("no point has both values: all refused, or left out")
	}
	axes := figure.Axes{Title: c.Title, X: axisTitle(c.X, parts), Y: axisTitle(c.Y, parts), LogX: c.LogX, LogY: c.LogY}
	if x, ok := g.numbers(); ok {
		f := figure.Curves{Axes: axes, Series: g.curves(x)}
		return f.SVG(w)
	}
	f := figure.Bars{Axes: axes, Places: g.places, Series: g.bars()}
	return f.SVG(w)
}

// parts gathers the rows that count, by point and by the values of settings, in their order. Each
// part is one value of the chart, or none.
func (c *Chart) parts(rows []results.Row, settings []string) (parts []part, err error) {
	for _, f := range c.Where {
		if !known(f.Name, rows) && !hasSetting(f.Name, rows) {
			return nil, noColumn(f.Name, rows)
		}
	}
	at := map[string]int{}
	var points [][]*results.Row
	for i := range rows {
		r := &rows[i]
		if !c.counts(r) {
			continue
		}
		n, ok := at[r.Point]
		if !ok {
			n = len(points)
			at[r.Point], points = n, append(points, nil)
		}
		points[n] = append(points[n], r)
	}
	for _, p := range points {
		parts = append(parts, split(p, settings)...)
	}
	return parts, nil
}

// counts reports whether a row passes all filters; a filter whose name the row does not have
// lets it pass.
func (c *Chart) counts(r *results.Row) bool {
	for _, f := range c.Where {
		text, ok := columnOf(r, f.Name)
		if !ok {
			text, ok = r.Setting(f.Name)
		}
		if ok && !slices.Contains(f.Values, text) {
			return false
		}
	}
	return true
}

// columnOf is a column of a row, or a parameter of its network.
func columnOf(r *results.Row, name string) (string, bool) {
	if slices.ContainsFunc(results.Columns(), func(c results.Column) bool { return c.Name == name }) {
		return r.Text(name), true
	}
	return r.Parameter(name)
}

// value is what a name, such as X, stands for in a part; not ok where nothing came of it. settings
// is what Chart.settings found.
func (p *part) value(name string, settings []string) (text string, ok bool, err error) {
	if i := slices.Index(settings, name); i >= 0 {
		return p.at[i], true, nil
	}
	measure, column, dotted := strings.Cut(name, ".")
	if !dotted {
		column = "value"
	}
	var found *results.Row
	for _, r := range p.rows {
		if r.Measure != measure {
			continue
		}
		if found != nil {
			return "", false, fmt.Errorf("%s was measured with several settings (%s; %s): choose by --where SETTING=VALUE, or take the setting as an axis", measure, found.Settings, r.Settings)
		}
		found = r
	}
	if found == nil {
		text, ok = columnOf(p.rows[0], name)
		return text, ok && !slices.Contains(ofMeasures, name), nil
	}
	text = found.Text(column)
	return text, text != "", nil
}

// check refuses names that no row knows.
func (c *Chart) check(rows []results.Row, settings []string) error {
	for _, name := range append([]string{c.X, c.Y}, c.By...) {
		measure, column, dotted := strings.Cut(name, ".")
		switch measured := isMeasure(measure, rows); {
		case slices.Contains(settings, name):
		case measured && dotted && !slices.Contains(ofMeasures, column):
			return fmt.Errorf("a measure has no column or setting %q%s (there are %s)", column, spell.Hint(column, ofMeasures), strings.Join(ofMeasures, ", "))
		case measured:
		case slices.Contains(ofMeasures, name):
			return fmt.Errorf("%s differs from measure to measure of a point: say of which, as in bandwidth.%s", name, name)
		case !known(name, rows):
			return noColumn(name, rows)
		}
	}
	return nil
}

// known reports whether a name is a column, or a parameter of a network of some row.
func known(name string, rows []results.Row) bool {
	return slices.ContainsFunc(rows, func(r results.Row) bool { _, ok := columnOf(&r, name); return ok })
}

// noColumn is the error for a name that is nothing in the rows, with all names that there are.
func noColumn(name string, rows []results.Row) error {
	var names []string
	for _, c := range results.Columns() {
		names = append(names, c.Name)
	}
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i := range rows {
		add(rows[i].Measure)
		for _, pairs := range []string{rows[i].Parameters, rows[i].Settings} {
			for pair := range strings.SplitSeq(pairs, ",") {
				key, _, _ := strings.Cut(pair, "=")
				add(key)
			}
		}
	}
	return fmt.Errorf("no column, parameter, measure or setting is called %q%s (there are %s)", name, spell.Hint(name, names), strings.Join(names, ", "))
}

// lineOf is the name of the line that a part belongs to: its values of By.
func (c *Chart) lineOf(p *part, settings []string) (string, error) {
	var parts []string
	for _, by := range c.By {
		text, ok, err := p.value(by, settings)
		if err != nil {
			return "", err
		}
		if ok && text != "" {
			parts = append(parts, text)
		}
	}
	if parts == nil {
		return "all", nil
	}
	return strings.Join(parts, " "), nil
}

// axisTitle is the title of the axis that shows a name, with its unit.
func axisTitle(name string, parts []part) string {
	measure, of, dotted := strings.Cut(name, ".")
	if !dotted {
		of = name
	}
	unit := ""
	for _, column := range results.Columns() {
		if column.Name == of {
			unit = column.Unit
		}
	}
	if !dotted || unit == results.UnitOfMeasure {
		for i := range parts {
			for _, r := range parts[i].rows {
				if r.Measure == measure {
					unit = r.Unit
				}
			}
		}
	}
	if unit == "" || unit == name {
		return name
	}
	return name + ", " + unit
}

// grid is the values of a chart by line and place. A place is a value of X.
type grid struct {
	lines, places []string          // names, in the order in which they came
	at            map[[2]string]int // index in cells, by line and place
	cells         []cell
}

// cell is the values of a line at a place.
type cell struct {
	line, place int // indices in grid.lines and grid.places
	values      []float64
}

// add adds a value to a line at a place; either may be new.
func (g *grid) add(line, place string, v float64) {
	n, ok := g.at[[2]string{line, place}]
	if !ok {
		n = len(g.cells)
		g.at[[2]string{line, place}] = n
		g.cells = append(g.cells, cell{line: indexIn(&g.lines, line), place: indexIn(&g.places, place)})
	}
	g.cells[n].values = append(g.cells[n].values, v)
}

// indexIn is the index of a word in a list, to which it is added if it is not there.
func indexIn(list *[]string, word string) int {
	i := slices.Index(*list, word)
	if i < 0 {
		i = len(*list)
		*list = append(*list, word)
	}
	return i
}

// numbers is the places as numbers, if they all are.
func (g *grid) numbers() ([]float64, bool) {
	x := make([]float64, len(g.places))
	for i, place := range g.places {
		v, err := strconv.ParseFloat(strings.TrimSuffix(place, "%"), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, false
		}
		x[i] = v
	}
	return x, true
}

// writeTo sets the value and the whiskers of a series at an index.
func (c *cell) writeTo(s *figure.Series, at int) {
	sum := 0.0
	for _, v := range c.values {
		sum += v
	}
	s.Y[at], s.Low[at], s.High[at] = sum/float64(len(c.values)), slices.Min(c.values), slices.Max(c.values)
}

// curves is the lines over places that are numbers, each by ascending x; x is by place.
func (g *grid) curves(x []float64) []figure.Series {
	all := make([]figure.Series, len(g.lines))
	for i, name := range g.lines {
		var mine []*cell
		for k := range g.cells {
			if g.cells[k].line == i {
				mine = append(mine, &g.cells[k])
			}
		}
		slices.SortFunc(mine, func(a, b *cell) int {
			if x[a.place] < x[b.place] {
				return -1
			}
			return 1
		})
		s := figure.Series{Name: name, X: make([]float64, len(mine)), Y: make([]float64, len(mine)), Low: make([]float64, len(mine)), High: make([]float64, len(mine))}
		for k, c := range mine {
			s.X[k] = x[c.place]
			c.writeTo(&s, k)
		}
		all[i] = s
	}
	return all
}

// bars is the lines over places that are no numbers.
func (g *grid) bars() []figure.Series {
	all := make([]figure.Series, len(g.lines))
	for i, name := range g.lines {
		n := len(g.places)
		s := figure.Series{Name: name, Y: make([]float64, n), Low: make([]float64, n), High: make([]float64, n)}
		for k := range n {
			s.Y[k], s.Low[k], s.High[k] = math.NaN(), math.NaN(), math.NaN()
		}
		all[i] = s
	}
	for k := range g.cells {
		g.cells[k].writeTo(&all[g.cells[k].line], g.cells[k].place)
	}
	return all
}
