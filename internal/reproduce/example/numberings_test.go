package example

import (
	"slices"
	"testing"
)

// HOTI 2009, sections III.A and III.B: "the edge forwarding index of our example network X is
// π(X, R) = 2" by P-SSSP, and P²-SSSP "has a lower forwarding index π(X, R) = 1". Which of two
// ways that weigh the same is taken the paper does not say, and P²-SSSP has 1 only where that
// goes well: counted over all numberings of the switches. In the order of the hosts that is so
// (package p2sssp follows the rounds).
func TestIndexesOfX(t *testing.T) {
	for engine, want := range map[string][]int{"sssp": {0, 120}, "p2sssp": {84, 36}} {
		got, err := Indexes(t.Context(), engine)
		if err != nil {
			t.Fatal(err)
		}
		count := []int{0, 0}
		for _, index := range got {
			count[int(index)-1]++
		}
		if !slices.Equal(count, want) {
			t.Errorf("%s: an index of 1 and of 2 in %v numberings, want %v", engine, count, want)
		}
	}
	all := orders("ABCDE")
	if at := slices.Index(all, "AECBD"); len(all) != 120 || len(slices.Compact(slices.Sorted(slices.Values(all)))) != 120 || at < 0 {
		t.Fatalf("%d orders", len(all))
	}
	got, err := Indexes(t.Context(), "p2sssp")
	if err != nil || got[slices.Index(all, "AECBD")] != 1 {
		t.Errorf("in the order of the hosts: %v, %v", got, err)
	}
}
