package console

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jedib0t/go-pretty/v6/table"
	"pgregory.net/rapid"
)

func TestWrapped(t *testing.T) {
	for _, c := range []struct {
		line  string
		width int
		want  []string
	}{
		{"as it is", 0, []string{"as it is"}},
		{"as it is", 8, []string{"as it is"}},
		{"as it is", 7, []string{"as it", "  is"}},
		{"  a longer line", 10, []string{"  a longer", "    line"}},
		{"ftree    refuses to route this", 20, []string{"ftree    refuses to", "         route this"}},
		{"sw-0:MQM9701/U1, port 5 → x", 10, []string{"sw-0:MQM9701/U1,", "  port 5 →", "  x"}},
		{"ä ö ü", 3, []string{"ä ö", "  ü"}},
	} {
		if diff := cmp.Diff(c.want, wrapped(c.line, c.width)); diff != "" {
			t.Errorf("%q at %d: %s", c.line, c.width, diff)
		}
	}
}

// Wrapping loses no word, and no part with several words is too wide.
func TestWrappedKeepsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringMatching(`[ab→ ]{0,80}`).Draw(t, "line")
		width := rapid.IntRange(1, 40).Draw(t, "width")
		parts := wrapped(line, width)
		if diff := cmp.Diff(strings.Fields(line), strings.Fields(strings.Join(parts, " "))); diff != "" {
			t.Error(diff)
		}
		for _, p := range parts {
			if len([]rune(p)) > width && len(strings.Fields(p)) > 1 && !secondColumn.MatchString(line) {
				t.Errorf("%q has more than %d columns", p, width)
			}
		}
	})
}

// A table is no wider than it may be, and has every word.
func TestTableFits(t *testing.T) {
	render := func(columns int) string {
		var b strings.Builder
		g := &Table{out: &b, columns: columns, header: table.Row{"name", "a rather long heading", "third", "fourth"}}
		g.Row("first", "several words that take some room, and more of them", 17, "MF0;A09-P1-IBLEAF-02-01:MQM9701/U1")
		g.Line()
		g.Row("second", "", "", "x")
		g.Footer("", "in all", 17, "")
		g.Render()
		return b.String()
	}
	wide := render(0)
	if !strings.Contains(wide, "several words that take some room, and more of them │") || strings.Count(wide, "first") != 1 {
		t.Errorf("wrapped though there is room:\n%s", wide)
	}
	words := strings.FieldsFunc("first several words that take some room, and more of them 17 second x in all MF0;A09-P1-IBLEAF-02-01:MQM9701/U1", func(r rune) bool { return r == ' ' })
	for _, columns := range []int{120, 100, 80, 60} {
		text := render(columns)
		for _, line := range strings.Split(text, "\n") {
			if n := len([]rune(line)); n > columns {
				t.Errorf("%d columns, %d allowed: %s", n, columns, line)
			}
		}
		for _, w := range words {
			if !strings.Contains(text, w) {
				t.Errorf("at %d columns %q is gone:\n%s", columns, w, text)
			}
		}
	}
	if text := render(60); strings.Count(text, "second") != 2 {
		t.Errorf("not split with the first column repeated:\n%s", text)
	}
}

// $COLUMNS counts wherever the output goes; a file is as wide as it likes.
func TestColumnsOf(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/f")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for set, want := range map[string]int{"": 0, "100": 100, "7": 40, "wide": 0, "-3": 0} {
		t.Setenv("COLUMNS", set)
		if got, terminal := ColumnsOf(file); got != want || terminal {
			t.Errorf("COLUMNS=%q: %d, %v", set, got, terminal)
		}
	}
}
