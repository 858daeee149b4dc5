// Package traffic says who talks to whom.
//
// A Pattern is about ranks, the processes of a job, numbered from zero; a
// Placement says on which endpoint each of them runs. A pattern has one or more
// phases that follow each other, each a list of pairs that talk at the same time.
// How the packets travel is not its business: congestion counts the flows of a
// phase on the channels of a routing, packets sends them.
//
// Parse makes a pattern of a spec such as "bisect", "shift:k=3" or "bisect+ring";
// Kinds lists what there is. ReadPairs takes one from a file. Place and ReadRanks
// make placements. Random patterns draw from the stream of their run, PCG-DXSM of
// math/rand/v2, and from nothing else.
package traffic

import (
	"math/rand/v2"

	"github.com/weft-fabric/weft/fabric"
)

// Pair is one rank that sends to another. Nobody sends to itself over the
// network: a pair whose ranks share an endpoint is no flow.
type Pair struct {
	From, To int32 // [rank]
	Bytes    int64 // zero: as many as every other pair
}

// Pattern is who talks to whom among n ranks.
type Pattern interface {
	// Phases is how many phases the pattern has among n ranks, or the reason why
	// it cannot be had among so many, with the nearest number that can.
	Phases(n int) (int, error)

	// Append appends the pairs of a phase, from zero. n is one that Phases takes.
	// Only a Random pattern draws from r.
	Append(pairs []Pair, n, phase int, r *rand.Rand) []Pair

	// Random says whether each call of Append is another draw, so that figures
	// are means over many runs.
	Random() bool

	// String is the spec that Parse reads.
	String() string
}

// Placement is the endpoint that each rank runs on, [rank]. Several ranks may
// share one.
type Placement []fabric.EndpointID

// Stream is the random stream of one run. Runs draw from streams of their own, so
// that run k is the same whoever computes it and when.
func Stream(seed, run uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, run)) }
