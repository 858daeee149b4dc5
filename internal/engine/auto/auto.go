// Package auto has what stands in the table of engines for auto, the engine that tries several: its name, and how it tries
// each. How it chooses is in internal/choose.
package auto

import "time"

// Name is the name of the engine that tries several and takes the best one that is
// proven.
const Name = "auto"

// Row is how auto tries an engine: a column of the table.
type Row struct {
	// Place is its rank among the engines that auto tries, from 1: the most promising
	// first; of equally good results the one with the lower rank is taken. 0: not tried.
	Place int

	// Cost is the routing time for every pair of switch and LID, in nanoseconds on two
	// cores of 2024, rounded up from the figures of BenchmarkRoute under the contract
	// under which it takes longest. It excludes paths that it shares with other engines.
	Cost int

	// Search is the most time that it adds on large networks to look for something better.
	Search time.Duration

	// Quick says that it is quick, and as good as any on trees from which nothing is
	// missing: it is tried before others, which need not be tried where that is so.
	Quick bool

	// Sure says that it routes every network and is quick: as long as nothing is proven
	// it is tried before what takes longer, so that there is a proven result soon.
	Sure bool
}
