package look

import (
	"testing"

	"github.com/weft-fabric/weft/internal/inspect"
)

// A ratio of all switches together that is outside of the range of the single ones has its reason beside it.
func TestOverText(t *testing.T) {
	for _, tc := range []struct {
		level inspect.Level
		want  string
	}{
		{inspect.Level{NoUp: 12, Over: inspect.Ratio{Below: 72}}, ""},
		{inspect.Level{Over: inspect.Ratio{Below: 8, Above: 4}, Least: inspect.Ratio{Below: 4, Above: 2}, Most: inspect.Ratio{Below: 4, Above: 2}}, "2.00"},
		{inspect.Level{Over: inspect.Ratio{Below: 9, Above: 4}, Least: inspect.Ratio{Below: 4, Above: 2}, Most: inspect.Ratio{Below: 5, Above: 2}}, "2.25, 2.00 to 2.50"},
		{inspect.Level{NoUp: 1, Over: inspect.Ratio{Below: 12, Above: 4}, Least: inspect.Ratio{Below: 4, Above: 2}, Most: inspect.Ratio{Below: 4, Above: 2}}, "3.00, 2.00 but for 1 switch without a cable up"},
		{inspect.Level{NoUp: 2, Over: inspect.Ratio{Below: 17, Above: 4}, Least: inspect.Ratio{Below: 4, Above: 2}, Most: inspect.Ratio{Below: 5, Above: 2}}, "4.25, 2.00 to 2.50 but for 2 switches without a cable up"},
	} {
		if got := overText(&tc.level); got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.level, got, tc.want)
		}
	}
}
