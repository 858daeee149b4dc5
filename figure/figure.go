// Package figure draws curves and bars as SVG: same input, same bytes.
//
// It is a thin layer over gonum.org/v1/plot, which draws the axes. It fixes what all
// figures of weft have in common: one style, a colour and a mark for each series that
// can also be told apart in black and white, no time stamps, no embedded fonts.
//
// A missing value is NaN: nothing is drawn for it. A series without any value, and
// values that a logarithmic axis cannot show, are errors.
package figure

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The size of every figure.
const (
	width  = 18 * vg.Centimeter
	height = 11 * vg.Centimeter
)

// Series is the values of one engine or one kind of network.
type Series struct {
	Name string
	X    []float64 // of Curves; Bars have places instead
	Y    []float64 // NaN: no value
	Low  []float64 // with High, the ends of a whisker; nil: none
	High []float64
	Of   string // the series whose colour and mark it shares, drawn paler and broken; empty: it has its own
}

// Axes is what Curves and Bars have in common.
type Axes struct {
	Title string
	X, Y  string // what the axes show, with the unit
	LogX  bool   // of Curves
	LogY  bool
}

// Curves are values over a number.
type Curves struct {
	Axes
	Series []Series
}

// Bars are values at places that have no order, a group of bars for each place. On a
// logarithmic axis, where a bar has no base line, they are drawn as marks.
type Bars struct {
	Axes
	Places []string
	Series []Series // Y has a value for each place
}

// palette is the colours of M. Okabe and K. Ito, which people with colour blindness can
// tell apart, without yellow: it is too pale for lines.
var palette = []color.NRGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
	{86, 180, 233, 255}, {230, 159, 0, 255}, {0, 0, 0, 255}, {120, 120, 120, 255},
}

// marks go with the palette. There is one fewer, so that the combinations differ after
// the last colour.
var marks = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.BoxGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{},
	draw.RingGlyph{}, draw.SquareGlyph{}, draw.PyramidGlyph{},
}

// styles is the look of each series. A series drawn like another takes no colour of its
// own.
type styles struct {
	line []draw.LineStyle
	mark []draw.GlyphStyle
}

func newStyles(series []Series) styles {
	number := map[string]int{} // of series with a colour of their own
	for _, s := range series {
		if s.Of == "" {
			number[s.Name] = len(number)
		}
	}
	var all styles
	for _, s := range series {
		name := s.Name
		if s.Of != "" {
			name = s.Of
		}
		n, ok := number[name]
		if !ok {
			n = len(number)
			number[name] = n
		}
		line := draw.LineStyle{Color: palette[n%len(palette)], Width: vg.Points(1.2)}
		if s.Of != "" {
			line.Color = paler(palette[n%len(palette)])
			line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
		}
		all.line = append(all.line, line)
		all.mark = append(all.mark, draw.GlyphStyle{Color: line.Color, Radius: vg.Points(3), Shape: marks[n%len(marks)]})
	}
	return all
}

// paler mixes a colour half with white.
func paler(c color.NRGBA) color.NRGBA {
	half := func(v uint8) uint8 { return uint8((int(v) + 255) / 2) }
	return color.NRGBA{half(c.R), half(c.G), half(c.B), 255}
}

// SVG draws the curves.
func (c *Curves) SVG(w io.Writer) error {
	p, err := c.canvas(c.Series, 0)
	if err != nil {
		return err
	}
	look := newStyles(c.Series)
	for i, s := range c.Series {
		if len(s.X) != len(s.Y) {
			return fmt.Errorf("figure: series %q has %d places and %d values", s.Name, len(s.X), len(s.Y))
		}
		for _, run := range s.runs() {
			line := &plotter.Line{XYs: run, LineStyle: look.line[i]}
			p.Add(line, &plotter.Scatter{XYs: run, GlyphStyle: look.mark[i]})
		}
		s.whiskers(p, look.line[i].Color, func(k int) float64 { return s.X[k] })
		p.Legend.Add(s.Name, &plotter.Line{LineStyle: look.line[i]}, &plotter.Scatter{GlyphStyle: look.mark[i]})
	}
	return c.write(p, w)
}

// SVG draws the bars.
func (b *Bars) SVG(w io.Writer) error {
	p, err := b.canvas(b.Series, len(b.Places))
	if err != nil {
		return err
	}
	p.NominalX(b.Places...)
	if letters := len(strings.Join(b.Places, "")) + 2*len(b.Places); letters > roomForNames {
		// They begin at their place and lead away from the axis, so that a font that is
		// wider than the one they are measured with runs into nothing.
		p.X.Tick.Label.Rotation = -0.4
		p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XLeft, draw.YTop
	}
	look := newStyles(b.Series)
	step := 0.8 / float64(max(1, len(b.Series))) // a group takes 0.8 of the distance between places
	for i, s := range b.Series {
		at := func(k int) float64 { return float64(k) + (float64(i)-float64(len(b.Series)-1)/2)*step }
		for k, y := range s.Y {
			if math.IsNaN(y) {
				continue
			}
			if b.LogY {
				p.Add(&plotter.Scatter{XYs: plotter.XYs{{X: at(k), Y: y}}, GlyphStyle: look.mark[i]})
				continue
			}
			x := at(k)
			p.Add(&plotter.Polygon{
				XYs:   []plotter.XYs{{{X: x - 0.45*step, Y: 0}, {X: x - 0.45*step, Y: y}, {X: x + 0.45*step, Y: y}, {X: x + 0.45*step, Y: 0}}},
				Color: look.line[i].Color,
			})
		}
		s.whiskers(p, color.Gray{60}, at)
		if b.LogY {
			p.Legend.Add(s.Name, &plotter.Scatter{GlyphStyle: look.mark[i]})
		} else {
			p.Legend.Add(s.Name, &plotter.Polygon{Color: look.line[i].Color})
		}
	}
	p.X.Min, p.X.Max = -0.5, float64(len(b.Places))-0.5
	return b.write(p, w)
}

// canvas is an empty plot for the series. places is 0 for curves.
func (a *Axes) canvas(series []Series, places int) (*plot.Plot, error) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = a.X, a.Y
	p.X.Label.Padding, p.Y.Label.Padding = vg.Points(4), vg.Points(4)
	p.Legend.Top, p.Legend.Left, p.Legend.Padding = true, true, vg.Points(2) // words behind the swatches: see fonts
	for _, style := range []*draw.TextStyle{
		&p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle,
	} {
		style.Font.Variant, style.Font.Size = "Sans", vg.Points(9)
	}
	low, high, err := extent(series, places)
	if err != nil {
		return nil, err
	}
	if a.LogY {
		if low <= 0 {
			return nil, fmt.Errorf("figure: %q has the value %g, which its logarithmic axis cannot show", a.Title, low)
		}
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.TickerFunc(logTicks)
		p.Y.Min, p.Y.Max = low/1.5, high*1.5
	} else {
		p.Y.Tick.Marker = plot.TickerFunc(linearTicks)
		p.Y.Min, p.Y.Max = min(0, low), high+(high-min(0, low))*0.05
		if p.Y.Max <= p.Y.Min {
			p.Y.Max = p.Y.Min + 1
		}
	}
	p.X.Tick.Marker = plot.TickerFunc(linearTicks)
	if a.LogX {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.TickerFunc(logTicks)
	}
	grid := plotter.NewGrid()
	pale := color.Gray{225}
	grid.Horizontal.Color, grid.Vertical.Color = pale, pale
	if places > 0 {
		grid.Vertical.Color = nil
	}
	p.Add(grid)
	return p, nil
}

// extent is the lowest and highest of all values and whiskers.
func extent(series []Series, places int) (low, high float64, err error) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, s := range series {
		if places > 0 && len(s.Y) != places {
			return 0, 0, fmt.Errorf("figure: series %q has %d values for %d places", s.Name, len(s.Y), places)
		}
		if s.Low != nil && (len(s.Low) != len(s.Y) || len(s.High) != len(s.Y)) {
			return 0, 0, fmt.Errorf("figure: series %q has %d values and %d whiskers", s.Name, len(s.Y), len(s.Low))
		}
		for _, list := range [][]float64{s.Y, s.Low, s.High} {
			for _, y := range list {
				if math.IsInf(y, 0) {
					return 0, 0, fmt.Errorf("figure: series %q has an infinite value", s.Name)
				}
				if !math.IsNaN(y) {
					low, high = min(low, y), max(high, y)
				}
			}
		}
	}
	if low > high {
		return 0, 0, ErrEmpty
	}
	return low, high, nil
}

// ErrEmpty says that a figure has no value.
var ErrEmpty = errors.New("figure: there is no value to draw")

// runs is the values as lines, interrupted where a value is missing.
func (s *Series) runs() []plotter.XYs {
	var runs []plotter.XYs
	broken := true
	order := make([]int, len(s.X))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case s.X[a] < s.X[b]:
			return -1
		case s.X[a] > s.X[b]:
			return 1
		}
		return 0
	})
	for _, i := range order {
		if math.IsNaN(s.Y[i]) {
			broken = true
			continue
		}
		if broken {
			runs = append(runs, nil)
			broken = false
		}
		runs[len(runs)-1] = append(runs[len(runs)-1], plotter.XY{X: s.X[i], Y: s.Y[i]})
	}
	return runs
}

// whiskers draws a line from Low to High at every place.
func (s *Series) whiskers(p *plot.Plot, c color.Color, at func(int) float64) {
	for k := range s.Low {
		if math.IsNaN(s.Y[k]) || math.IsNaN(s.Low[k]) || math.IsNaN(s.High[k]) || s.Low[k] == s.High[k] {
			continue
		}
		style := draw.LineStyle{Color: c, Width: vg.Points(0.8)}
		p.Add(&plotter.Line{XYs: plotter.XYs{{X: at(k), Y: s.Low[k]}, {X: at(k), Y: s.High[k]}}, LineStyle: style})
	}
}

// write adds the title above and the legend beside the data, and draws.
func (a *Axes) write(p *plot.Plot, w io.Writer) error {
	c := vgsvg.New(width, height)
	dc := draw.New(c)
	dc.SetColor(color.White)
	dc.Fill(dc.Rectangle.Path())
	title := p.X.Label.TextStyle
	title.Font.Size = vg.Points(11)
	title.XAlign, title.YAlign = draw.XCenter, draw.YTop
	dc.FillText(title, vg.Point{X: dc.Center().X, Y: dc.Max.Y - margin}, a.Title)
	// The legend has a column of its own, so that it hides nothing.
	legend := p.Legend
	p.Legend = plot.NewLegend()
	top := title.Font.Size + 2*margin
	room := legend.Rectangle(dc).Size().X * wider
	p.Draw(draw.Crop(dc, margin, -room-3*margin, margin, -top))
	legend.Draw(draw.Crop(dc, dc.Size().X-room-margin, -margin, 0, -top))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	_, err := w.Write(bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans"), []byte("font-family:"+fonts)))
	return err
}

// fonts is those to draw text with. Text is measured with the first, and the second and
// third are as wide; what renderers have in their place may be wider by so much.
const (
	fonts = "Liberation Sans,Arial,Helvetica,sans-serif"
	wider = 1.15
)

// margin is the room around a figure and between its parts.
const margin = vg.Length(6)

// roomForNames is how many letters fit under the axis side by side.
const roomForNames = 75
