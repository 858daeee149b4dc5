// Package list makes lists of lists.
package list

import (
	"cmp"
	"slices"
)

// Of is what f makes of each element. It is never nil, so that JSON has a list.
func Of[T, U any](from []T, f func(T) U) []U {
	to := make([]U, len(from))
	for i, x := range from {
		to[i] = f(x)
	}
	return to
}

// Once is the elements, each once, ascending.
func Once[T cmp.Ordered](all []T) []T {
	once := slices.Clone(all)
	slices.Sort(once)
	return slices.Compact(once)
}
