package traffic

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
)

// mostPairs limits the pairs of a phase: more would not fit in memory.
const mostPairs = 1 << 22

// kinds is the table of patterns. Their names are the literature's: W. Dally, B.
// Towles, Principles and Practices of Interconnection Networks (2004), table 3.1,
// for permutations; T. Hoefler, T. Schneider, A. Lumsdaine, Multistage Switches
// are not Crossbars (Cluster 2008) for bisect. The collective operations are named for
// their algorithms: phases of all to all and recursive doubling, R. Thakur, R.
// Rabenseifner, W. Gropp, Optimization of Collective Communication Operations in MPICH
// (IJHPCA 2005), as is allreduce by halving and doubling; the ring of 2(n-1) steps, P. Patarasuk, X. Yuan, Bandwidth Optimal
// All-reduce Algorithms for Clusters of Workstations (JPDC 2009). Those by rail are what
// collective libraries do on hosts with several adapters (NCCL: channels that stay on one
// rail); the two-level exchange is that of J. Träff, A. Rougier, MPI Collectives and
// Datatypes for Hierarchical All-to-all Communication (EuroMPI 2014).
//
// Every phase counts alike: halving and doubling move less in some than in others.
var kinds = []kind{
	{
		name: "bisect", summary: "a random half sends to the other, one to one; of an odd number 1 idles",
		example: "bisect", random: true, phases: onePhase, append: bisect,
	},
	{
		name: "bisect-both", summary: "a random perfect matching whose partners send to each other",
		example: "bisect-both", random: true, phases: onePhase,
		append: func(pairs []Pair, a args, n, phase int, r *rand.Rand) []Pair {
			first := len(pairs)
			pairs = bisect(pairs, a, n, phase, r)
			for _, p := range pairs[first:] {
				pairs = append(pairs, Pair{From: p.To, To: p.From})
			}
			return pairs
		},
	},
	{
		name: "permutation", summary: "every rank sends to that of a random permutation, itself among them",
		example: "permutation", random: true, phases: onePhase, append: permutation,
	},
	{
		name: "uniform", summary: "every rank sends to another at random",
		example: "uniform", random: true, phases: onePhase,
		append: func(pairs []Pair, _ args, n, _ int, r *rand.Rand) []Pair {
			for i := range n {
				to := r.IntN(n - 1)
				if to >= i {
					to++
				}
				pairs = appendPair(pairs, i, to)
			}
			return pairs
		},
	},
	{
		name: "alltoall", summary: "every rank sends to every other, all at once",
		example: "alltoall",
		phases: func(_ args, n int) (int, error) {
			if n*(n-1) > mostPairs { // so from 2049 ranks on
				return 0, fmt.Errorf("alltoall among %d ranks is %d pairs at once; at most 2048 ranks, or take alltoall-phased, the same in phases", n, n*(n-1))
			}
			return 1, nil
		},
		append: func(pairs []Pair, _ args, n, _ int, _ *rand.Rand) []Pair {
			for i := range n {
				for j := range n {
					if i != j {
						pairs = appendPair(pairs, i, j)
					}
				}
			}
			return pairs
		},
	},
	{
		name: "alltoall-phased", summary: "in phase k, from 1, rank i sends to i+k; phases: take only so many",
		example: "alltoall-phased:phases=100", keys: phasesKey,
		phases: func(a args, n int) (int, error) { return shifts(a, n), nil }, append: appendShift,
	},
	{
		name: "shifts", summary: "the same, by its older name",
		example: "shifts:phases=100", keys: phasesKey,
		phases: func(a args, n int) (int, error) { return shifts(a, n), nil }, append: appendShift,
	},
	{
		name: "job-shifts", summary: "the same within each of so many jobs, whose ranks follow each other",
		example: "job-shifts:jobs=8", keys: append([]key{{name: "jobs", meaning: "jobs, of as many ranks each", normal: 0, least: 1}}, phasesKey...),
		phases: func(a args, n int) (int, error) {
			if a[0] > n/2 {
				return 0, fmt.Errorf("job-shifts:jobs=%d among %d ranks: a job has two ranks at least; at most %d jobs", a[0], n, n/2)
			}
			return shifts(a[1:], largestJob(n, a[0])), nil
		},
		append: jobShifts,
	},
	{
		name: "rail-shifts", summary: "the same within each rail: every mlx5_0 with every other, and so on",
		example: "rail-shifts:phases=100", keys: phasesKey, byRail: true,
		phases: func(a args, n int) (int, error) { return shifts(a, n), nil }, append: appendShift,
	},
	{
		name: "rail-ring", summary: "within each rail, rank i sends to i+1, the last to the first",
		example: "rail-ring", byRail: true, phases: onePhase,
		append: func(pairs []Pair, _ args, n, _ int, _ *rand.Rand) []Pair { return shift(pairs, n, 1) },
	},
	{
		name: "allreduce-ring", summary: "2(n-1) phases, in each rank i sends to i+1: sums go round, then results",
		example: "allreduce-ring",
		phases:  func(_ args, n int) (int, error) { return 2 * (n - 1), nil },
		append:  func(pairs []Pair, _ args, n, _ int, _ *rand.Rand) []Pair { return shift(pairs, n, 1) },
	},
	{
		name: "allreduce-doubling", summary: "ranks n/2 apart send to each other, then n/4 … 1, then 1 … n/2",
		example: "allreduce-doubling",
		phases:  func(_ args, n int) (int, error) { return 2 * log2up(n), powerOfTwo("allreduce-doubling", n) },
		append: func(pairs []Pair, _ args, n, phase int, _ *rand.Rand) []Pair {
			bit := phase - log2up(n) // in the second half 0, 1, …
			if bit < 0 {
				bit = -bit - 1 // in the first half down to 0
			}
			return exchange(pairs, n, bit)
		},
	},
	{
		name: "hierarchical", summary: "phases within groups of g ranks, then between equals of the groups",
		example: "hierarchical:g=8", keys: []key{{name: "g", meaning: "ranks of a group", normal: 0, least: 2}},
		phases: func(a args, n int) (int, error) {
			if n%a[0] != 0 {
				return 0, fmt.Errorf("hierarchical:g=%d needs a multiple of %d ranks, not %d; nearest is %d%s", a[0], a[0], n, max(1, (n+a[0]/2)/a[0])*a[0], fewer(n, n/a[0]*a[0]))
			}
			return a[0] - 1 + n/a[0] - 1, nil
		},
		append: hierarchical,
	},
	{
		name: "ring", summary: "rank i sends to i+1 and i-1, the last and the first to each other",
		example: "ring", phases: onePhase,
		append: func(pairs []Pair, _ args, n, _ int, _ *rand.Rand) []Pair { return neighbours(pairs, n, 1) },
	},
	{
		name: "neighbours", summary: "rank i sends to i±1 … i±k on a ring",
		example: "neighbours:k=2", keys: []key{{name: "k", meaning: "how far", normal: 1, least: 1}},
		phases: func(a args, n int) (int, error) {
			if a[0] > n/2 {
				return 0, fmt.Errorf("neighbours:k=%d among %d ranks: k is at most %d", a[0], n, n/2)
			}
			return 1, nil
		},
		append: func(pairs []Pair, a args, n, _ int, _ *rand.Rand) []Pair { return neighbours(pairs, n, a[0]) },
	},
	{
		name: "neighbour2d", summary: "rows of x ranks in a grid, each to its 4 neighbours, round the edges",
		example: "neighbour2d:x=8", keys: []key{{name: "x", meaning: "ranks in a row; 0: as square as can be", normal: 0, least: 0}},
		phases: func(a args, n int) (int, error) { return 1, fits("neighbour2d", n, a) },
		append: func(pairs []Pair, a args, n, _ int, _ *rand.Rand) []Pair { return halo(pairs, grid(n, 2, a)) },
	},
	{
		name: "neighbour3d", summary: "the same in three dimensions, y rows in a layer, 6 neighbours",
		example: "neighbour3d:x=4,y=4",
		keys:    []key{{name: "x", meaning: "ranks in a row; 0: as cubic as can be", normal: 0, least: 0}, {name: "y", meaning: "rows in a layer; 0: likewise", normal: 0, least: 0}},
		phases:  func(a args, n int) (int, error) { return 1, fits("neighbour3d", n, a) },
		append:  func(pairs []Pair, a args, n, _ int, _ *rand.Rand) []Pair { return halo(pairs, grid(n, 3, a)) },
	},
	{
		name: "shift", summary: "rank i sends to i+k",
		example: "shift:k=3", keys: []key{{name: "k", meaning: "how far", normal: 0, least: 1}},
		phases: func(a args, n int) (int, error) {
			if a[0]%n == 0 {
				return 0, fmt.Errorf("shift:k=%d among %d ranks sends everything back to its source; k=%d does not", a[0], n, a[0]+1)
			}
			return 1, nil
		},
		append: func(pairs []Pair, a args, n, _ int, _ *rand.Rand) []Pair { return shift(pairs, n, a[0]) },
	},
	{
		name: "tornado", summary: "rank i sends almost half way round: to i+⌈n/2⌉-1",
		example: "tornado",
		phases: func(_ args, n int) (int, error) {
			if n < 3 {
				return 0, fmt.Errorf("tornado among %d ranks goes nowhere; it needs 3", n)
			}
			return 1, nil
		},
		append: func(pairs []Pair, _ args, n, _ int, _ *rand.Rand) []Pair { return shift(pairs, n, (n+1)/2-1) },
	},
	{
		name: "transpose", summary: "ranks row by row in a square: row i, column j sends to row j, column i",
		example: "transpose",
		phases: func(_ args, n int) (int, error) {
			k := 1
			for (k+1)*(k+1) <= n {
				k++
			}
			if k*k == n {
				return 1, nil
			}
			if k < 2 || n-k*k > (k+1)*(k+1)-n {
				k++
			}
			return 0, fmt.Errorf("transpose needs a square number of ranks, not %d; nearest is %d", n, k*k)
		},
		append: func(pairs []Pair, _ args, n, _ int, _ *rand.Rand) []Pair {
			k := 1
			for k*k < n {
				k++
			}
			for i := range n {
				pairs = appendPair(pairs, i, i%k*k+i/k)
			}
			return pairs
		},
	},
	{
		name: "complement", summary: "rank i sends to the rank whose bits are all different",
		example: "complement", phases: onePhaseOfBits("complement"),
		append: func(pairs []Pair, _ args, n, _ int, _ *rand.Rand) []Pair {
			for i := range n {
				pairs = appendPair(pairs, i, n-1-i)
			}
			return pairs
		},
	},
	{
		name: "reverse", summary: "rank i sends to the rank whose bits are in reverse",
		example: "reverse", phases: onePhaseOfBits("reverse"),
		append: func(pairs []Pair, _ args, n, _ int, _ *rand.Rand) []Pair {
			for i := range n {
				pairs = appendPair(pairs, i, int(bits.Reverse32(uint32(i))>>(33-bits.Len(uint(n)))))
			}
			return pairs
		},
	},
	{
		name: "tree", summary: "broadcast: in phase k each of the first 2^k ranks sends to i+2^k",
		example: "tree", phases: func(_ args, n int) (int, error) { return log2up(n), nil },
		append: func(pairs []Pair, _ args, n, phase int, _ *rand.Rand) []Pair {
			for i := 0; i < 1<<phase && i+1<<phase < n; i++ {
				pairs = appendPair(pairs, i, i+1<<phase)
			}
			return pairs
		},
	},
	{
		name: "dissemination", summary: "Bruck's: in phase k rank i sends to i+2^k",
		example: "dissemination", phases: func(_ args, n int) (int, error) { return log2up(n), nil },
		append: func(pairs []Pair, _ args, n, phase int, _ *rand.Rand) []Pair { return shift(pairs, n, 1<<phase) },
	},
	{
		name: "doubling", summary: "in phase k the ranks that differ in bit k send to each other",
		example: "doubling",
		phases:  func(_ args, n int) (int, error) { return log2up(n), powerOfTwo("doubling", n) },
		append: func(pairs []Pair, _ args, n, phase int, _ *rand.Rand) []Pair {
			return exchange(pairs, n, phase)
		},
	},
	{
		name: "gather", summary: "every rank sends to rank 0",
		example: "gather", phases: onePhase,
		append: func(pairs []Pair, _ args, n, _ int, _ *rand.Rand) []Pair {
			for i := 1; i < n; i++ {
				pairs = appendPair(pairs, i, 0)
			}
			return pairs
		},
	},
	{
		name: "scatter", summary: "rank 0 sends to every other",
		example: "scatter", phases: onePhase,
		append: func(pairs []Pair, _ args, n, _ int, _ *rand.Rand) []Pair {
			for i := 1; i < n; i++ {
				pairs = appendPair(pairs, 0, i)
			}
			return pairs
		},
	},
	{
		name: "incast", summary: "n random ranks send to another",
		example: "incast:n=8", keys: []key{{name: "n", meaning: "how many send", normal: 0, least: 1}}, random: true,
		phases: func(a args, n int) (int, error) {
			if a[0] >= n {
				return 0, fmt.Errorf("incast:n=%d needs %d ranks; there are %d", a[0], a[0]+1, n)
			}
			return 1, nil
		},
		append: incast,
	},
}
