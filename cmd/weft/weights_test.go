package main

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A star is any text, and nothing else is special: the same as a regular
// expression with all but the stars quoted.
func TestFitsPattern(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[ab/\[]{0,6}`).Draw(t, "name")
		pattern := rapid.StringMatching(`[ab/\[*]{0,6}`).Draw(t, "pattern")
		twin := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$")
		if got, want := fitsPattern(name, pattern), twin.MatchString(name); got != want {
			t.Errorf("%q fits %q: %v, want %v", name, pattern, got, want)
		}
	})
}
