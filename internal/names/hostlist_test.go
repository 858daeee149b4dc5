package names_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/internal/names"
)

func TestSplitList(t *testing.T) {
	for text, want := range map[string][]string{
		"":                  {""},
		"a":                 {"a"},
		"a[1-3,7],b02":      {"a[1-3,7]", "b02"},
		"a,b[1],c[2,3]d[4]": {"a", "b[1]", "c[2,3]d[4]"},
		"a],b":              {"a]", "b"},
	} {
		if diff := cmp.Diff(want, names.SplitList(text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestExpand(t *testing.T) {
	for item, want := range map[string][]string{
		"node":         {"node"},
		"node[7]":      {"node7"},
		"node[08-11]":  {"node08", "node09", "node10", "node11"},
		"n[8-10]":      {"n8", "n9", "n10"},
		"n[099-100]x":  {"n099x", "n100x"},
		"a[1-3,7]":     {"a1", "a2", "a3", "a7"},
		"r[1-2]n[0,5]": {"r1n0", "r1n5", "r2n0", "r2n5"},
	} {
		got, err := names.Expand(item)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v %s", item, err, diff)
		}
	}
	for item, want := range map[string]string{
		"a[1-3":                   "has a [ without a ]",
		"a1]":                     "has a ] without a [",
		"a[1[2]]":                 "has a [ without a ]",
		"a[]":                     `"" is no number and no range`,
		"a[1,]":                   `"" is no number and no range`,
		"a[x-3]":                  `"x-3" is no number and no range such as 001-128`,
		"a[1-3/2]":                `"1-3/2" is no number`,
		"a[-3]":                   `"-3" is no number`,
		"a[9-3]":                  "the range 9-3 ends before it begins",
		"a[1]b[9-3]":              "the range 9-3 ends before it begins",
		"a[0-65536]":              "is more than 65536 hosts",
		"a[0-255]b[0-256]":        "is more than 65536 hosts",
		"a[0-40000,0-40000]":      "is more than 65536 hosts",
		"a[0-99999999999999999]":  "is more than 65536 hosts",
		"a[99999999999999999999]": "is no number",
	} {
		if got, err := names.Expand(item); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %.80q, %v, want %s", item, got, err, want)
		}
	}
	if got, err := names.Expand("a[0-255]b[0-255]"); err != nil || len(got) != 65536 {
		t.Errorf("%d names, %v", len(got), err)
	}
}

// Whatever stands between brackets, it ends, and names are as many as numbers.
func TestExpandAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		item := rapid.StringMatching(`[ab]?(\[[0-9,\-]{0,8}\]?[ab]?){0,3}`).Draw(t, "item")
		all, err := names.Expand(item)
		if (err == nil) != (len(all) > 0) {
			t.Fatalf("%q: %d names, %v", item, len(all), err)
		}
	})
}
