package ethernet

import (
	"strings"
	"testing"
)

// The pins of weft route --pin are read with their ways, and what is none is refused with its line.
func FuzzReadWays(f *testing.F) {
	f.Add("name,prefix,leaf,up,up2\nn,10.1.0.11/32,leaf1,spine1,\n")
	f.Add("n,10.1.0.11,leaf1,spine1\n")
	f.Add("n\n")
	f.Fuzz(func(t *testing.T, text string) {
		pins, err := readWays(strings.NewReader(text), "pins.csv")
		if err != nil && !strings.HasPrefix(err.Error(), "pins.csv") {
			t.Errorf("%v does not say where", err)
		}
		for _, p := range pins {
			if !p.Prefix.IsValid() || len(p.Way) > 3 {
				t.Errorf("%+v", p)
			}
		}
	})
}
