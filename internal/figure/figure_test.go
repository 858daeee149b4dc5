package figure_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/figure"
)

var nan = math.NaN()

func curves() *figure.Curves {
	return &figure.Curves{
		Axes: figure.Axes{Title: "Lanes & layers", X: "links", Y: "lanes", LogX: true},
		Series: []figure.Series{
			{Name: "lash", X: []float64{400, 128, 200}, Y: []float64{3, 1, 4}, Low: []float64{3, 1, 3}, High: []float64{4, 1, 5}},
			{Name: "dfsssp <b>", X: []float64{128, 200, 400}, Y: []float64{1, nan, 5}},
		},
	}
}

func bars(log bool) *figure.Bars {
	return &figure.Bars{
		Axes:   figure.Axes{Title: "Λ", Y: "fraction", LogY: log},
		Places: []string{"Deimos", "Odin"},
		Series: []figure.Series{{Name: "minhop", Y: []float64{0.5, 0.25}}, {Name: "ftree", Y: []float64{nan, 0.75}}},
	}
}

type drawer interface{ SVG(io.Writer) error }

func svg(t *testing.T, d drawer) string {
	t.Helper()
	var b bytes.Buffer
	if err := d.SVG(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Whatever is drawn is XML, says what it is about, and is the same twice.
func TestSameInputSameBytes(t *testing.T) {
	for name, d := range map[string]drawer{"curves": curves(), "bars": bars(false), "log bars": bars(true)} {
		text := svg(t, d)
		if text != svg(t, d) {
			t.Errorf("%s: not the same twice", name)
		}
		dec := xml.NewDecoder(strings.NewReader(text))
		var words strings.Builder
		for {
			token, err := dec.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if chars, ok := token.(xml.CharData); ok {
				words.Write(chars)
			}
		}
		for _, want := range map[string][]string{"curves": {"Lanes & layers", "dfsssp <b>", "links"}, "bars": {"Λ", "Deimos", "ftree"}, "log bars": {"Λ", "Odin"}}[name] {
			if !strings.Contains(words.String(), want) {
				t.Errorf("%s: nothing says %q", name, want)
			}
		}
	}
}

// A missing value leaves a gap: one bar fewer, and a curve in two pieces.
func TestMissingValues(t *testing.T) {
	whole := bars(false)
	whole.Series[1].Y[0] = 0.5
	if a, b := strings.Count(svg(t, bars(false)), "fill:#D55E00"), strings.Count(svg(t, whole), "fill:#D55E00"); b != a+1 {
		t.Errorf("%d shapes with a value missing, %d without", a, b)
	}
}

func TestRefusals(t *testing.T) {
	if err := (&figure.Curves{}).SVG(io.Discard); !errors.Is(err, figure.ErrEmpty) {
		t.Errorf("nothing to draw: %v", err)
	}
	zero := bars(true)
	zero.Series[0].Y[0] = 0
	short := bars(false)
	short.Places = short.Places[:1]
	odd := curves()
	odd.Series[0].X = odd.Series[0].X[:1]
	endless := curves()
	endless.Series[1].Y[0] = math.Inf(1)
	whiskers := curves()
	whiskers.Series[0].Low = whiskers.Series[0].Low[:1]
	for want, d := range map[string]drawer{
		"logarithmic": zero, "2 values for 1 places": short, "1 places and 3 values": odd, "infinite": endless, "whiskers": whiskers,
	} {
		if err := d.SVG(io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want something about %q", err, want)
		}
	}
}

// A band is an area without marks; of bars it is a whisker and has no bar of its own.
func TestBands(t *testing.T) {
	c := curves()
	c.Series = append(c.Series, figure.Series{
		Name: "swept", Of: "lash", Band: true, X: []float64{128, 200, 400}, Y: []float64{2, 3, 4}, Low: []float64{1, 2, 3}, High: []float64{3, 4, 5},
	})
	if a, b := strings.Count(svg(t, curves()), "<path"), strings.Count(svg(t, c), "<path"); b != a+2 {
		t.Errorf("%d shapes without a band, %d with one; an area and its swatch were to be added", a, b)
	}
	// A second one in that colour would be taken for the first: it is an edge.
	filled := strings.Count(svg(t, c), "fill-opacity")
	c.Series = append(c.Series,
		figure.Series{Name: "like lash", Of: "lash", X: []float64{128, 400}, Y: []float64{2, 3}},
		figure.Series{Name: "swept too", Of: "like lash", Band: true, X: []float64{128, 200, 400}, Y: []float64{2, 3, 4}, Low: []float64{1, 2, 3}, High: []float64{3, 4, 5}})
	if n := strings.Count(svg(t, c), "fill-opacity"); filled == 0 || n != filled {
		t.Errorf("%d areas that let others show with one band, %d with two of its colour", filled, n)
	}
	b := bars(false)
	plain := strings.Count(svg(t, b), "fill:#0072B2")
	b.Series = append(b.Series, figure.Series{Name: "swept", Of: "minhop", Band: true, Y: []float64{0.5, 0.25}, Low: []float64{0.4, nan}, High: []float64{0.6, nan}})
	text := svg(t, b)
	if n := strings.Count(text, "fill:#0072B2"); n != plain {
		t.Errorf("%d shapes in the colour of minhop, %d without the band", n, plain)
	}
	if strings.Contains(text, "swept") {
		t.Error("a whisker at another's bar is in the legend")
	}
}

// Series beside the others take none of their colours, wherever they stand.
func TestPaleSeries(t *testing.T) {
	b := bars(false)
	b.Series = append([]figure.Series{{Name: "beside", Pale: true, Y: []float64{1, 1}}}, b.Series...)
	text := svg(t, b)
	for _, colour := range []string{"fill:#0072B2", "fill:#D55E00"} {
		if strings.Count(text, colour) != strings.Count(svg(t, bars(false)), colour) {
			t.Errorf("%s: another number of shapes with a series beside", colour)
		}
	}
}

// A figure grows with its bars, up to a limit.
func TestWidth(t *testing.T) {
	wide := bars(false)
	for i := range 30 {
		wide.Places = append(wide.Places, strings.Repeat("x", i+1))
		for k := range wide.Series {
			wide.Series[k].Y = append(wide.Series[k].Y, 1)
		}
	}
	of := func(text string) string {
		_, rest, _ := strings.Cut(text, "<svg")
		return rest[:40]
	}
	if a, b := of(svg(t, bars(false))), of(svg(t, wide)); a == b {
		t.Errorf("two places and 32 are as wide: %s", a)
	}
}

// Sixteen bars, every second one drawn like the one before it, can be told apart: by 30 of 255
// in red, green or blue at the least.
func TestColours(t *testing.T) {
	b := &figure.Bars{Axes: figure.Axes{Y: "lanes"}, Places: []string{"3"}}
	for i := range 8 {
		name := fmt.Sprint(i)
		b.Series = append(b.Series, figure.Series{Name: name, Y: []float64{1}}, figure.Series{Name: name + "'", Of: name, Y: []float64{1}})
	}
	var colours [][3]int
	for _, text := range regexp.MustCompile("fill:#[0-9A-F]{6}").FindAllString(svg(t, b), -1) {
		var c [3]int
		if _, err := fmt.Sscanf(text, "fill:#%02X%02X%02X", &c[0], &c[1], &c[2]); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(colours, c) {
			colours = append(colours, c)
		}
	}
	if len(colours) < 16 {
		t.Errorf("%d colours", len(colours))
	}
	for i, c := range colours {
		for _, d := range colours[:i] {
			apart := 0
			for k := range c {
				apart = max(apart, c[k]-d[k], d[k]-c[k])
			}
			if apart < 30 {
				t.Errorf("%v and %v are alike", c, d)
			}
		}
	}
}
