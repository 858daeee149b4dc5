// Package marks is sets of small numbers, switches or trunks or turns, that are emptied
// again and again at no cost: what a search has seen.
package marks

// Set is a set of numbers below a size. A number is in it if it bears the stamp of the
// time since the set was emptied last.
type Set struct {
	stamp uint32 // not 0
	seen  []uint32
}

// New is an empty set of numbers below size.
func New(size int) *Set { return &Set{stamp: 1, seen: make([]uint32, size)} }

// Empty takes everything out.
func (s *Set) Empty() {
	if s.stamp++; s.stamp == 0 { // wrapped: old stamps could look new
		clear(s.seen)
		s.stamp = 1
	}
}

// Has reports whether a number is in the set.
func (s *Set) Has(i int) bool { return s.seen[i] == s.stamp }

// Add adds a number, and says whether it was not there.
func (s *Set) Add(i int) bool {
	if s.seen[i] == s.stamp {
		return false
	}
	s.seen[i] = s.stamp
	return true
}
