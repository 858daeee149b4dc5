package fabric_test

import (
	"testing"

	"github.com/weft-fabric/weft/fabric"
)

func TestParseRate(t *testing.T) {
	for _, c := range []struct {
		text string
		mbps int
		ok   bool
	}{
		{"4xSDR", 8000, true}, {"4xHDR", 200000, true}, {"12xQDR", 96000, true}, {"2xXDR", 400000, true}, {"4xFDR10", 40000, true},
		{"4xWDR", 0, true}, {"", 0, false}, {"4x", 0, false}, {"xHDR", 0, false}, {"0xHDR", 0, false}, {"256xHDR", 0, false}, {"HDR", 0, false},
		{"2xHDR 2xHDR", 0, false}, {"4x\x1b[31m", 0, false}, {"4xABCDEFGHIJKLMNOPQ", 0, false},
	} {
		r, err := fabric.ParseRate(c.text)
		if (err == nil) != c.ok || r.Mbps() != c.mbps || r.Known() != (c.mbps > 0) {
			t.Errorf("ParseRate(%q) = %v, %v; want %d Mbit/s", c.text, r, err, c.mbps)
		}
		if c.ok && r.String() != c.text {
			t.Errorf("%q is written %q", c.text, r)
		}
	}
	if s := (fabric.Rate{}).String(); s != "unknown" {
		t.Errorf("the zero rate is %q", s)
	}
}

// A speed nobody knows is kept, and said once for all its cables.
func TestUnknownSpeed(t *testing.T) {
	var b fabric.Builder
	a := b.Node(fabric.Node{GUID: 1, Ports: 3}, "")
	z := b.Node(fabric.Node{GUID: 2, Ports: 3}, "")
	for p := uint8(1); p <= 2; p++ {
		b.Cable(a, p, z, p, fabric.Rate{Width: 4, Speed: "WDR"})
	}
	b.Cable(a, 3, z, 3, fabric.Rate{})
	f := must(t, &b)
	if w := f.Warnings(); len(w) != 1 || w[0] != "2 cables run at 4xWDR, a speed weft does not know; their rate counts as unknown" {
		t.Errorf("warnings are %q", w)
	}
}
