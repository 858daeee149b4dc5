package traffic

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
)

// onePhase is the phases of a pattern that has one, among any number of ranks.
func onePhase(args, int) (int, error) { return 1, nil }

// onePhaseOfBits is the phases of a pattern that has one, among a power of two of ranks: it computes with the bits of
// their numbers.
func onePhaseOfBits(name string) func(args, int) (int, error) {
	return func(_ args, n int) (int, error) { return 1, powerOfTwo(name, n) }
}

// powerOfTwo refuses other numbers of ranks.
func powerOfTwo(name string, n int) error {
	if n&(n-1) == 0 {
		return nil
	}
	low := 1 << (bits.Len(uint(n)) - 1)
	nearest := low
	if n-low > 2*low-n {
		nearest *= 2
	}
	return fmt.Errorf("%s needs a power of two of ranks, not %d; nearest is %d%s", name, n, nearest, fewer(n, low))
}

// fewer says how to place so many ranks of n, to be added to an error; "" if that would be no remedy.
func fewer(n, ranks int) string {
	if ranks < 2 || ranks >= n {
		return ""
	}
	return fmt.Sprintf("; the placement switch:%d takes %d", ranks, ranks)
}

// log2up is the logarithm of n to base 2, rounded up: the phases in which something that doubles reaches n.
func log2up(n int) int { return bits.Len(uint(n - 1)) }

// appendPair appends a pair, unless the ranks are the same.
func appendPair(pairs []Pair, from, to int) []Pair {
	if from == to {
		return pairs
	}
	return append(pairs, Pair{From: int32(from), To: int32(to)})
}

// shifts is the number of phases of all to all among n ranks, or as many of them as are wanted. a begins with the key of
// phasesKey.
func shifts(a args, n int) int {
	if a[0] == 0 {
		return n - 1
	}
	return min(a[0], n-1)
}

// shift appends that every rank sends to the one k on, the last ones to the first.
func shift(pairs []Pair, n, k int) []Pair {
	to := k % n // (i+k) % n, without dividing each time
	for i := range n {
		pairs = appendPair(pairs, i, to)
		if to++; to == n {
			to = 0
		}
	}
	return pairs
}

// phasesKey is the key of patterns that may leave out phases of all to all.
var phasesKey = []key{{name: "phases", meaning: "only so many, spread evenly; 0: all", normal: 0, least: 0}}

// appendShift is a phase of all to all.
func appendShift(pairs []Pair, a args, n, phase int, _ *rand.Rand) []Pair {
	return shift(pairs, n, spreadShift(a, n, phase))
}

// spreadShift is by how many of n ranks each sends farther in a phase of those that are taken.
func spreadShift(a args, n, phase int) int {
	return 1 + int(int64(phase)*int64(n-1)/int64(shifts(a, n)))
}

// jobShifts is a phase of all to all within each job, whose ranks are those of jobRanks; a job that is one rank
// smaller than others has no part in the last shift. a is the number of jobs, then the key of phasesKey.
func jobShifts(pairs []Pair, a args, n, phase int, _ *rand.Rand) []Pair {
	by := spreadShift(a[1:], largestJob(n, a[0]), phase)
	for j := range a[0] {
		first, end := jobRanks(n, a[0], j)
		for i := first; i < end && by < end-first; i++ {
			pairs = appendPair(pairs, i, first+(i-first+by)%(end-first))
		}
	}
	return pairs
}

// jobRanks is the ranks of job j of several that differ by one rank at most.
func jobRanks(n, jobs, j int) (first, end int) { return n * j / jobs, n * (j + 1) / jobs }

// largestJob is how many ranks the largest of them has.
func largestJob(n, jobs int) int { return (n + jobs - 1) / jobs }

// exchange is ranks that differ in a bit, which send to each other.
func exchange(pairs []Pair, n, bit int) []Pair {
	for i := range n {
		pairs = appendPair(pairs, i, i^1<<bit)
	}
	return pairs
}

// hierarchical is a phase of all to all in groups of a[0] ranks or, after those, between the ranks with the same place in
// their groups.
func hierarchical(pairs []Pair, a args, n, phase int, _ *rand.Rand) []Pair {
	g := a[0]
	k := phase + 1
	if k >= g {
		return shift(pairs, n, (k-g+1)*g)
	}
	for i := range n {
		first := i - i%g
		pairs = appendPair(pairs, i, first+(i%g+k)%g)
	}
	return pairs
}

// neighbours is the pairs up to k apart on a ring, each once.
func neighbours(pairs []Pair, n, k int) []Pair {
	for i := range n {
		for d := 1; d <= k; d++ {
			pairs = appendPair(pairs, i, (i+d)%n)
			if 2*d < n { // else both ways lead to the same rank
				pairs = appendPair(pairs, i, (i+n-d)%n)
			}
		}
	}
	return pairs
}

// bisect draws a random perfect matching and, for each of its pairs, who sends. It has
// the same distribution as a shuffle whose first half sends to the second, because each
// set of n/2 directed pairs has the same probability, but takes half as many random
// numbers. The ranks not yet matched are kept in the space behind the pairs drawn.
// There is no branch on what is drawn, because a processor could not predict it.
func bisect(pairs []Pair, _ args, n, _ int, r *rand.Rand) []Pair {
	first, left := len(pairs), n&^1
	idle := n
	if n%2 == 1 {
		idle = r.IntN(n)
	}
	for i := range n {
		if i != idle {
			pairs = append(pairs, Pair{From: int32(i)})
		}
	}
	ranks := pairs[first:]
	for i := range left / 2 {
		k, flip := below(r, uint32(left-2*i-1))
		next, partner := &ranks[2*i+1], &ranks[2*i+1+int(k)]
		x, y := ranks[2*i].From, partner.From
		partner.From = next.From
		turn := (x ^ y) & -flip // what swaps x and y if the coin is 1; else 0
		ranks[i] = Pair{From: x ^ turn, To: y ^ turn}
	}
	return pairs[:first+left/2]
}

// below draws a number below n (D. Lemire, Fast Random Integer Generation in an
// Interval, 2019) and a coin, 0 or 1, from one draw of 64 bits.
func below(r *rand.Rand, n uint32) (uint32, int32) {
	x := r.Uint64()
	product := (x >> 32) * uint64(n)
	if low := uint32(product); low < n {
		for limit := -n % n; low < limit; low = uint32(product) {
			x = r.Uint64()
			product = (x >> 32) * uint64(n)
		}
	}
	return uint32(product >> 32), int32(x & 1)
}

// permutation draws where each rank sends (Fisher and Yates), and then leaves out the
// ranks that would send to themselves.
func permutation(pairs []Pair, _ args, n, _ int, r *rand.Rand) []Pair {
	first := len(pairs)
	for i := range n {
		pairs = append(pairs, Pair{From: int32(i), To: int32(i)})
	}
	drawn := pairs[first:]
	for i := n - 1; i > 0; i-- {
		j := r.IntN(i + 1)
		drawn[i].To, drawn[j].To = drawn[j].To, drawn[i].To
	}
	kept := first
	for _, p := range drawn {
		if p.From != p.To {
			pairs[kept] = p
			kept++
		}
	}
	return pairs[:kept]
}

// incast draws a rank and those who send to it: it goes through the other ranks and
// takes each with the probability that makes all sets equally likely (Knuth's algorithm
// S).
func incast(pairs []Pair, a args, n, _ int, r *rand.Rand) []Pair {
	to := r.IntN(n)
	need, left := a[0], n-1
	for i := 0; i < n && need > 0; i++ {
		if i == to {
			continue
		}
		if r.IntN(left) < need {
			pairs = appendPair(pairs, i, to)
			need--
		}
		left--
	}
	return pairs
}

// grid is the lengths of the sides of a grid of n ranks in so many dimensions; the others are 1. Sides that are not given,
// or given as 0, are as equal as possible, longest first; fits has checked that the given ones divide n.
func grid(n, dims int, given args) [3]int {
	side := [3]int{1, 1, 1}
	free := dims // sides still to be chosen; n becomes the product they have
	for i, g := range given {
		if g > 0 {
			side[i] = g
			n /= g
			free--
		}
	}
	for i := range dims {
		if i < len(given) && given[i] > 0 {
			continue
		}
		side[i] = longest(n, free)
		n /= side[i]
		free--
	}
	return side
}

// longest is the longest side of the most even grid of n in so many dimensions: the
// smallest divisor of n whose dims-th power is at least n.
func longest(n, dims int) int {
	for d := 1; d < n; d++ {
		power := 1
		for range dims {
			power *= d
		}
		if n%d == 0 && power >= n {
			return d
		}
	}
	return n
}

// fits refuses sides that do not divide the ranks.
func fits(name string, n int, given args) error {
	product := 1
	for _, g := range given {
		product *= max(1, g)
		if product > n {
			break
		}
	}
	if n%product != 0 {
		k := (n + product/2) / product * product
		return fmt.Errorf("%s: %d ranks do not fill a grid with such sides; nearest is %d", name, n, max(k, product))
	}
	return nil
}

// halo is the pairs of neighbours on a torus, each once.
func halo(pairs []Pair, side [3]int) []Pair {
	n := side[0] * side[1] * side[2]
	for i := range n {
		stride := 1
		for _, length := range side {
			at := i / stride % length
			base := i - at*stride
			if length > 1 {
				pairs = appendPair(pairs, i, base+(at+1)%length*stride)
			}
			if length > 2 {
				pairs = appendPair(pairs, i, base+(at+length-1)%length*stride)
			}
			stride *= length
		}
	}
	return pairs
}
