package spell

import (
	"testing"

	"pgregory.net/rapid"
)

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		word  string
		among []string
		want  string
	}{
		{"tours", []string{"mesh", "torus", "ring"}, "torus"},
		{"lahs", []string{"dfsssp", "lash"}, "lash"},
		{"b", []string{"a", "c"}, "a"}, // the first of equals
		{"", []string{"ring", "oft"}, "oft"},
		{"ring", []string{"rings", "ring"}, "ring"},
		{"ring", nil, ""},
	} {
		if got := Nearest(c.word, c.among); got != c.want {
			t.Errorf("%q among %q: %q, want %q", c.word, c.among, got, c.want)
		}
	}
}

// edits is the definition, one byte after the other.
func edits(a, b string) int {
	switch {
	case a == "" || b == "":
		return len(a) + len(b)
	case a[0] == b[0]:
		return edits(a[1:], b[1:])
	}
	return 1 + min(edits(a[1:], b[1:]), edits(a[1:], b), edits(a, b[1:]))
}

func TestDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[abc]{0,7}`)
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		if got, want := distance(a, b), edits(a, b); got != want {
			t.Fatalf("%d edits, want %d", got, want)
		}
	})
}
