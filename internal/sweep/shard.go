package sweep

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Shard is one of several parts of a campaign: the I-th of N, from 1.
type Shard struct{ I, N int }

// ParseShard reads i/n.
func ParseShard(text string) (Shard, error) {
	i, n, ok := strings.Cut(text, "/")
	var s Shard
	var err1, err2 error
	s.I, err1 = strconv.Atoi(i)
	s.N, err2 = strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil || s.I < 1 || s.N < s.I || s.N > MostPoints {
		return Shard{}, fmt.Errorf("%q is no part of a whole; it is i/n, as in 3/16, with i from 1 to n", text)
	}
	return s, nil
}

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.I, s.N) }

// Deal deals points out to n shards of about the same cost, the most costly first, each to
// the shard with the least so far (R. L. Graham: Bounds on Multiprocessing Timing
// Anomalies, SIAM J. Appl. Math. 17, 1969: at most 4/3 of the best). It returns the shard
// of every point, from 0; costs is in seconds, by point. It depends on points and costs
// only, so that every task of a cluster finds its part by itself.
func Deal(points []Point, costs []float64, n int) []int {
	order := make([]int, len(points))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(costs[b], costs[a]), cmp.Compare(points[a].ID, points[b].ID))
	})
	parts := make(leastFirst, n)
	for i := range parts {
		parts[i].number = i
	}
	shard := make([]int, len(points))
	for _, i := range order {
		shard[i] = parts[0].number
		parts[0].cost += costs[i]
		heap.Fix(&parts, 0)
	}
	return shard
}

// leastFirst is shards as a heap, the one with the least cost on top.
type leastFirst []struct {
	cost   float64
	number int
}

func (l leastFirst) Len() int { return len(l) }
func (l leastFirst) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(l[i].cost, l[j].cost), l[i].number-l[j].number) < 0
}
func (l leastFirst) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (leastFirst) Push(any)        {}
func (leastFirst) Pop() any        { return nil }
