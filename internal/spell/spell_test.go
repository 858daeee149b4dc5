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
		{"tree", []string{"lash", "ftree"}, "ftree"},
		{"mlx5_2", []string{"mlx5_0", "mlx5_1"}, "mlx5_0"}, // the first of equals
		{"hop", []string{"single", "hop-d2"}, "hop-d2"},    // its beginning
		{"minhop-2026", []string{"dor", "minhop"}, "minhop"},
		{"dorset", []string{"do", "dor-x"}, ""}, // a beginning of two bytes, and none
		{"ring", []string{"rings", "ring"}, "ring"},
		{"ring", nil, ""},
		// Nothing like it.
		{"nosuch", []string{"minhop", "lash", "dfsssp", "route", "torus"}, ""},
		{"storage", []string{"host-0", "sw-a"}, ""},
		{"b", []string{"a", "c"}, ""},
		{"", []string{"ring", "oft"}, ""},
		{"best", []string{"nue", "lash", "dor"}, ""},
	} {
		if got := Nearest(c.word, c.among); got != c.want {
			t.Errorf("%q among %q: %q, want %q", c.word, c.among, got, c.want)
		}
	}
}

func TestHint(t *testing.T) {
	if got := Hint("tours", []string{"torus"}); got != `; nearest is "torus"` {
		t.Error(got)
	}
	if got := Hint("nosuch", []string{"torus"}); got != "" {
		t.Error(got)
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
	fewest := min(edits(a[1:], b[1:]), edits(a[1:], b), edits(a, b[1:]))
	if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
		fewest = min(fewest, edits(a[2:], b[2:]))
	}
	return 1 + fewest
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"ab", "ba", 1}, {"xab", "xba", 1}, {"abx", "bax", 1}, {"abc", "ca", 3}, {"abcd", "badc", 2}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("%q, %q: %d edits, want %d", c.a, c.b, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[abc]{0,7}`)
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		if got, want := distance(a, b), edits(a, b); got != want {
			t.Fatalf("%q, %q: %d edits, want %d", a, b, got, want)
		}
	})
}
