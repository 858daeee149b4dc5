package scramble

import (
	"slices"
	"strings"
	"testing"
)

// The same texts give the same damage, most of it keeps most of the text, and every field is
// met.
func TestOf(t *testing.T) {
	text := strings.Repeat("switch 7 \"a,b\" 0x10\n", 20)
	all := Of(text, "")
	if !slices.Equal(all, Of(text, "")) {
		t.Error("not the same twice")
	}
	kept, differ := 0, 0
	for _, damaged := range all[2:] {
		if len(damaged) > len(text)/2 {
			kept++
		}
		if damaged != text {
			differ++
		}
	}
	if kept < len(all)/4 || differ < len(all)/3 {
		t.Errorf("of %d, %d keep half the text and %d differ", len(all), kept, differ)
	}
	if fields, at := fields("a  b,\nc"); strings.Join(fields, "|") != "a|  |b|,\n|c" || !slices.Equal(at, []int{0, 2, 4}) {
		t.Errorf("%q %v", fields, at)
	}
}
