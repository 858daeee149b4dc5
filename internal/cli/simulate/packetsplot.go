package simulate

import (
	"errors"
	"fmt"
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/weft-fabric/weft/result"
)

// plotRuns draws what was accepted and the latency against what was offered, one
// above the other.
func plotRuns(w io.Writer, s *result.Packets) error {
	accepted, latency := plot.New(), plot.New()
	name := s.Engine
	if s.Tables != "" {
		name = s.Tables
	}
	accepted.Title.Text = fmt.Sprintf("%s, %s, %s", s.Fabric.Name, name, s.Traffic)
	accepted.Y.Label.Text = "accepted load"
	latency.Y.Label.Text = "latency in ns, mean and 99 %"
	var load, mean, high, lost plotter.XYs
	for _, r := range s.Runs {
		load = append(load, plotter.XY{X: r.Offered, Y: r.Accepted})
		if r.Status == "steady" || r.Status == "unstable" {
			mean = append(mean, plotter.XY{X: r.Offered, Y: r.Latency.Mean})
			high = append(high, plotter.XY{X: r.Offered, Y: r.Latency.P99})
		} else {
			lost = append(lost, plotter.XY{X: r.Offered, Y: r.Accepted})
		}
	}
	blue, red := color.RGBA{B: 160, A: 255}, color.RGBA{R: 200, A: 255}
	if err := errors.Join(
		addLine(accepted, load, blue), addPoints(accepted, lost, red),
		addLine(latency, mean, blue), addLine(latency, high, color.RGBA{R: 110, G: 110, B: 110, A: 255}),
	); err != nil {
		return err
	}
	for _, p := range []*plot.Plot{accepted, latency} {
		p.X.Label.Text = "offered load"
		p.X.Min, p.X.Max, p.Y.Min = 0, 1, 0
		p.Add(plotter.NewGrid())
	}
	accepted.Y.Max = 1
	const width, height = 14 * vg.Centimeter, 16 * vg.Centimeter
	canvas := vgsvg.New(width, height)
	tiles := draw.Tiles{Rows: 2, Cols: 1, PadY: vg.Centimeter / 2}
	plots := [][]*plot.Plot{{accepted}, {latency}}
	for i, row := range plot.Align(plots, tiles, draw.New(canvas)) {
		plots[i][0].Draw(row[0])
	}
	_, err := canvas.WriteTo(w)
	return err
}

// addLine draws points joined by a line, if there are any.
func addLine(p *plot.Plot, xy plotter.XYs, c color.Color) error {
	if len(xy) == 0 {
		return nil
	}
	line, points, err := plotter.NewLinePoints(xy)
	if err != nil {
		return err
	}
	line.Color, points.Color, points.Shape = c, c, draw.CircleGlyph{}
	p.Add(line, points)
	return nil
}

// addPoints draws crosses, if there are any.
func addPoints(p *plot.Plot, xy plotter.XYs, c color.Color) error {
	if len(xy) == 0 {
		return nil
	}
	points, err := plotter.NewScatter(xy)
	if err != nil {
		return err
	}
	points.Color, points.Shape = c, draw.CrossGlyph{}
	p.Add(points)
	return nil
}
