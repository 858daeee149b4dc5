package results

import (
	"cmp"
	"fmt"
	"slices"
)

// Merge is the rows of several sets, each point and measure once, sorted. Of two rows of the same
// point and measure the later set's counts, unless it is broken. They should be alike, times
// aside; where they are not, both come back as well.
func Merge(sets ...[]Row) (rows []Row, differ []Difference) {
	at := map[[2]string]int{}
	for _, set := range sets {
		for _, r := range set {
			key := [2]string{r.Point, r.Key()}
			i, again := at[key]
			switch {
			case !again:
				at[key] = len(rows)
				rows = append(rows, r)
				continue
			case r.Status == Broken:
				continue
			case rows[i].Status != Broken && !alike(&rows[i], &r):
				differ = append(differ, Difference{rows[i], r})
			}
			rows[i] = r
		}
	}
	Sort(rows)
	return rows, differ
}

// Difference is two rows of the same point and measure that should be alike.
type Difference struct{ First, Second Row }

// Outcome is the value of a row, or its status where it has none.
func (r *Row) Outcome() string {
	if r.Value == nil {
		return string(r.Status)
	}
	return fmt.Sprint(*r.Value)
}

// alike reports whether two rows of the same point and measure say the same.
func alike(a, b *Row) bool {
	if slices.Contains(Timed, a.Measure) {
		return true
	}
	return a.Status == b.Status && a.Verdict == b.Verdict && same(a.Value, b.Value) && same(a.Error, b.Error)
}

func same(a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// Sort puts rows in the order of files: by what they are about, whoever took them, in
// whatever order.
func Sort(rows []Row) {
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Or(
			natural(a.Network, b.Network), cmp.Compare(a.MissingSwitches, b.MissingSwitches), cmp.Compare(a.MissingCables, b.MissingCables),
			cmp.Compare(a.Seed, b.Seed), cmp.Compare(a.Engine, b.Engine), natural(a.Options, b.Options), cmp.Compare(a.Point, b.Point),
			cmp.Compare(a.Measure, b.Measure), natural(a.Settings, b.Settings),
		)
	})
}

// natural compares texts with the numbers in them by value: links=9 before links=10.
func natural(a, b string) int {
	for a != "" && b != "" {
		i, j := digits(a), digits(b)
		if i > 0 && j > 0 {
			if c := cmp.Or(cmp.Compare(i, j), cmp.Compare(a[:i], b[:j])); c != 0 {
				return c
			}
			a, b = a[i:], b[j:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

// digits is how many digits a text begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}
