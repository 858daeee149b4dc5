package figure_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/figure"
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
