package words

import "testing"

// Numbers in names count by value, and names of one number are in the order of their text.
func TestNatural(t *testing.T) {
	order := []string{"", "a", "host-2", "host-9", "host-09x", "host-10", "host-0010x", "host-99999999999999999999", "host-100000000000000000000", "host-a", "leaf1", "leaf1-sp2", "leaf1-sp10", "leaf2"}
	for i, a := range order {
		for j, b := range order {
			if got := Natural(a, b); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%q before %q: %d", a, b, got)
			}
		}
	}
	if Natural("host-01", "host-1") == 0 {
		t.Error("two names are one")
	}
}
