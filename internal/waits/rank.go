// Package waits orders what waits for what, or finds a shortest circle of it. It is the
// last step of every judge here, of InfiniBand's tables and of Ethernet's, after each has
// derived who waits for whom by itself.
package waits

// Successors adds to a list every vertex that v waits for.
type Successors func(v int32, list []int32) []int32

// Rank gives each of n vertices a number that rises along every edge, the length of
// the longest way to it. Vertices on cycles, and those that cycles lead to, get none: -1. It
// says whether all got one.
func Rank(n int, successors Successors) (rank []int32, all bool) {
	waiting := make([]int32, n) // [vertex] edges to it from vertices that have no rank yet
	var after []int32
	for v := range int32(n) {
		after = successors(v, after[:0])
		for _, u := range after {
			waiting[u]++
		}
	}
	rank = make([]int32, n)
	queue := make([]int32, 0, n)
	for v := range int32(n) {
		if waiting[v] == 0 {
			queue = append(queue, v)
		}
	}
	for i := 0; i < len(queue); i++ {
		v := queue[i]
		after = successors(v, after[:0])
		next := rank[v] + 1
		for _, u := range after {
			rank[u] = max(rank[u], next)
			if waiting[u]--; waiting[u] == 0 {
				queue = append(queue, u)
			}
		}
	}
	for v := range rank {
		if waiting[v] > 0 {
			rank[v] = -1
		}
	}
	return rank, len(queue) == n
}
