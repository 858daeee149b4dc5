package marks

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// A set holds what was added since it was emptied, also when stamps begin anew.
func TestSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const size = 5
		s, want := New(size), map[int]bool{}
		s.stamp = rapid.SampledFrom([]uint32{1, math.MaxUint32 - 1, math.MaxUint32}).Draw(t, "stamp")
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			if rapid.IntRange(0, 3).Draw(t, "step") == 0 {
				s.Empty()
				clear(want)
			} else if i := rapid.IntRange(0, size-1).Draw(t, "number"); s.Add(i) == want[i] {
				t.Fatalf("adding %d says it was there: %v", i, !want[i])
			} else {
				want[i] = true
			}
			for i := range size {
				if s.Has(i) != want[i] {
					t.Fatalf("%d in the set: %v", i, !want[i])
				}
			}
		}
	})
}
