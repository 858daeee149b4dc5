// Package disjoint keeps sets of numbers that have none in common: union and find, with paths
// halved.
package disjoint

import "github.com/weft-fabric/weft/fabric"

// Sets is sets of the numbers from 0 on.
type Sets struct{ parent []int32 }

// New is n numbers, each in a set of its own.
func New(n int) *Sets { return &Sets{fabric.All[int32](n)} }

// Find is the lowest number in the set of i.
func (s *Sets) Find(i int32) int32 {
	for s.parent[i] != i {
		s.parent[i] = s.parent[s.parent[i]]
		i = s.parent[i]
	}
	return i
}

// Join makes the sets of i and j one.
func (s *Sets) Join(i, j int32) {
	i, j = s.Find(i), s.Find(j)
	s.parent[max(i, j)] = min(i, j)
}

// Numbered numbers the sets from 0 in the order of their lowest numbers: set is the set of every
// number, [number], and size how many numbers are in each set, [set].
func (s *Sets) Numbered() (set, size []int32) {
	set = make([]int32, len(s.parent))
	for i := range set {
		if r := s.Find(int32(i)); r == int32(i) {
			set[i] = int32(len(size))
			size = append(size, 1)
		} else {
			set[i] = set[r]
			size[set[r]]++
		}
	}
	return set, size
}
