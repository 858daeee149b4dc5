// Package list makes lists of lists.
package list

// Of is what f makes of each element. It is never nil, so that JSON has a list.
func Of[T, U any](from []T, f func(T) U) []U {
	to := make([]U, len(from))
	for i, x := range from {
		to[i] = f(x)
	}
	return to
}
