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

// The size of a figure. Many bars, and long legends, make it larger.
const (
	width  = 18 * vg.Centimeter
	widest = 30 * vg.Centimeter
	height = 11 * vg.Centimeter

	perBar  = 0.2 * vg.Centimeter  // at the least
	perName = 0.42 * vg.Centimeter // of a legend
	beside  = 6 * vg.Centimeter    // of axis and legend, about
)

// Series is the values of one engine or one kind of network.
type Series struct {
	Name string
	X    []float64 // of Curves; Bars have places instead
	Y    []float64 // NaN: no value
	Low  []float64 // with High, the ends of a whisker; nil: none
	High []float64
	Of   string // the series whose colour and mark it shares, drawn paler and broken; empty: it has its own
	Band bool   // only Low and High count: of Curves a band between them (its edge alone where Of has another's colour), of Bars a thick whisker at the bar of Of
	Pale bool   // it stands beside what the figure is about: a colour of its own, but a paler one
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
// tell apart, without yellow: it is too pale for lines. The last is none of theirs, and no
// grey, which is black made paler.
var palette = []color.NRGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
	{86, 180, 233, 255}, {230, 159, 0, 255}, {0, 0, 0, 255}, {90, 45, 15, 255},
}

// palePalette is the colours of series beside the others: none is a palette's colour mixed
// with white, which is another line of the same.
var palePalette = []color.NRGBA{
	{170, 130, 100, 255}, {160, 160, 70, 255}, {150, 140, 200, 255}, {200, 150, 150, 255}, {130, 175, 170, 255},
}

// marks go with the palettes. There is one fewer, so that the combinations differ after
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

// drawnLike is which series each is drawn like, by name.
func drawnLike(series []Series) map[string]string {
	of := map[string]string{}
	for _, s := range series {
		of[s.Name] = s.Of
	}
	return of
}

func newStyles(series []Series) styles {
	of := drawnLike(series)
	// A series may be drawn like one that is drawn like another.
	leader := func(name string) string {
		for range series {
			if of[name] == "" {
				break
			}
			name = of[name]
		}
		return name
	}
	colours := map[string]color.NRGBA{}
	shapes := map[string]int{}
	strong, pale := 0, 0
	for pass := range 2 { // leaders first, so that who follows them takes no number of its own
		for _, s := range series {
			name := leader(s.Name)
			if _, ok := colours[name]; ok || pass == 0 && s.Of != "" {
				continue
			}
			shapes[name] = len(shapes)
			if s.Pale {
				colours[name] = palePalette[pale%len(palePalette)]
				pale++
			} else {
				colours[name] = palette[strong%len(palette)]
				strong++
			}
		}
	}
	var all styles
	for _, s := range series {
		name := leader(s.Name)
		line := draw.LineStyle{Color: colours[name], Width: vg.Points(1.2)}
		switch {
		case s.Of != "":
			line.Color = paler(colours[name])
			line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
		case s.Pale:
			line.Width, line.Dashes = vg.Points(0.9), []vg.Length{vg.Points(1.5), vg.Points(2)}
		}
		all.line = append(all.line, line)
		all.mark = append(all.mark, draw.GlyphStyle{Color: line.Color, Radius: vg.Points(3), Shape: marks[shapes[name]%len(marks)]})
	}
	return all
}

// paler mixes a colour half with white.
func paler(c color.NRGBA) color.NRGBA {
	half := func(v uint8) uint8 { return uint8((int(v) + 255) / 2) }
	return color.NRGBA{half(c.R), half(c.G), half(c.B), 255}
}

// band is the colour of a band: much of what is behind it shows.
func band(c color.Color) color.Color {
	r, g, b, _ := c.RGBA()
	return color.NRGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 90}
}

// SVG draws the curves.
func (c *Curves) SVG(w io.Writer) error {
	p, err := c.canvas(c.Series, 0)
	if err != nil {
		return err
	}
	look, of := newStyles(c.Series), drawnLike(c.Series)
	for i, s := range c.Series {
		if len(s.X) != len(s.Y) {
			return fmt.Errorf("series %q has %d places and %d values", s.Name, len(s.X), len(s.Y))
		}
		if s.Band {
			area := &plotter.Polygon{XYs: s.area(), Color: band(look.line[i].Color)}
			if of[s.Of] != "" { // it would have the colour of another band, that of the series both are drawn like
				area.Color, area.LineStyle = nil, look.line[i]
			}
			p.Add(area)
			p.Legend.Add(s.Name, area)
		}
	}
	for i, s := range c.Series {
		if s.Band {
			continue
		}
		for _, run := range s.runs() {
			line := &plotter.Line{XYs: run, LineStyle: look.line[i]}
			p.Add(line, &plotter.Scatter{XYs: run, GlyphStyle: look.mark[i]})
		}
		s.whiskers(p, thin(look.line[i].Color), func(k int) float64 { return s.X[k] }, 0)
		p.Legend.Add(s.Name, &plotter.Line{LineStyle: look.line[i]}, &plotter.Scatter{GlyphStyle: look.mark[i]})
	}
	return c.write(p, w, 0, len(c.Series))
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
	slots, n := b.slots()
	step := 0.8 / float64(max(1, n)) // a group takes 0.8 of the distance between places
	for i, s := range b.Series {
		at := func(k int) float64 { return float64(k) + (float64(slots[i])-float64(n-1)/2)*step }
		if s.Band {
			s.whiskers(p, draw.LineStyle{Color: color.Black, Width: vg.Points(2)}, at, 0.4*step)
			continue
		}
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
		s.whiskers(p, thin(color.Gray{60}), at, 0.3*step)
		if b.LogY {
			p.Legend.Add(s.Name, &plotter.Scatter{GlyphStyle: look.mark[i]})
		} else {
			p.Legend.Add(s.Name, &plotter.Polygon{Color: look.line[i].Color})
		}
	}
	p.X.Min, p.X.Max = -0.5, float64(len(b.Places))-0.5
	return b.write(p, w, n*len(b.Places), len(b.Series))
}

// slots is which bar of a group each series is, and how many there are: a band has none of
// its own.
func (b *Bars) slots() (slot []int, n int) {
	of := map[string]int{}
	for _, s := range b.Series {
		if !s.Band {
			of[s.Name] = n
			n++
		}
	}
	for _, s := range b.Series {
		name := s.Name
		if s.Band {
			name = s.Of
		}
		slot = append(slot, of[name])
	}
	return slot, n
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
			return nil, fmt.Errorf("%q has the value %g, which its logarithmic axis cannot show", a.Title, low)
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
			return 0, 0, fmt.Errorf("series %q has %d values for %d places", s.Name, len(s.Y), places)
		}
		if s.Low != nil && (len(s.Low) != len(s.Y) || len(s.High) != len(s.Y)) {
			return 0, 0, fmt.Errorf("series %q has %d values and %d whiskers", s.Name, len(s.Y), len(s.Low))
		}
		for _, list := range [][]float64{s.Y, s.Low, s.High} {
			for _, y := range list {
				if math.IsInf(y, 0) {
					return 0, 0, fmt.Errorf("series %q has an infinite value", s.Name)
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
var ErrEmpty = errors.New("there is no value to draw")

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

func thin(c color.Color) draw.LineStyle { return draw.LineStyle{Color: c, Width: vg.Points(0.8)} }

// area is the outline of a band: along Low, and back along High.
func (s *Series) area() []plotter.XYs {
	var low, high plotter.XYs
	for k, x := range s.X {
		if !math.IsNaN(s.Low[k]) && !math.IsNaN(s.High[k]) {
			low, high = append(low, plotter.XY{X: x, Y: s.Low[k]}), append(high, plotter.XY{X: x, Y: s.High[k]})
		}
	}
	slices.Reverse(high)
	return []plotter.XYs{append(low, high...)}
}

// whiskers draws a line from Low to High at every place, with caps that reach so far to
// either side.
func (s *Series) whiskers(p *plot.Plot, style draw.LineStyle, at func(int) float64, reach float64) {
	for k := range s.Low {
		if math.IsNaN(s.Y[k]) || math.IsNaN(s.Low[k]) || math.IsNaN(s.High[k]) || s.Low[k] == s.High[k] {
			continue
		}
		p.Add(&plotter.Line{XYs: plotter.XYs{{X: at(k), Y: s.Low[k]}, {X: at(k), Y: s.High[k]}}, LineStyle: style})
		if reach > 0 {
			for _, y := range []float64{s.Low[k], s.High[k]} {
				p.Add(&plotter.Line{XYs: plotter.XYs{{X: at(k) - reach, Y: y}, {X: at(k) + reach, Y: y}}, LineStyle: style})
			}
		}
	}
}

// write adds the title above and the legend beside the data, and draws.
func (a *Axes) write(p *plot.Plot, w io.Writer, bars, names int) error {
	wide := min(widest, max(width, vg.Length(bars)*perBar+beside))
	c := vgsvg.New(wide, max(height, vg.Length(names)*perName+beside/3))
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
