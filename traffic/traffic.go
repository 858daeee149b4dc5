// Package traffic says which endpoints send to which.
//
// A Pattern is about ranks, the processes of a job, numbered from zero; a Placement
// says on which endpoint each of them runs. A pattern has one or more phases that
// follow each other, each a list of pairs that send at the same time. This package does
// not move packets: congestion counts the flows of a phase on the channels of a
// routing, and packets sends them.
//
// Parse makes a pattern of a spec such as "bisect", "shift:k=3" or "bisect+ring"; Kinds
// lists all patterns. Pairs makes one of pairs. Place makes
// placements. Random patterns draw only from the stream of their run (PCG-DXSM of
// math/rand/v2).
package traffic

import (
	"math/rand/v2"

	"github.com/weft-fabric/weft/fabric"
)

// Pair is a rank that sends to another. A pair whose ranks share an endpoint does not
// use the network and is not counted as a flow.
type Pair struct {
	From, To int32 // [rank]
	Bytes    int64 // 0: the same for all pairs
}

// Pattern says which of n ranks send to which.
type Pattern interface {
	// Phases is the number of phases among n ranks. If the pattern does not exist
	// for n ranks, the error says why and names the nearest number of ranks for
	// which it does.
	Phases(n int) (int, error)

	// Append appends the pairs of a phase, counted from zero. Phases must accept n. Only a
	// Random pattern draws from r.
	Append(pairs []Pair, n, phase int, r *rand.Rand) []Pair

	// Random reports whether each call of Append draws anew, so that figures are means over
	// many runs.
	Random() bool

	// String is the spec that Parse reads; of Pairs, the name.
	String() string
}

// Placement is the endpoint on which each rank runs, [rank]. Several ranks may share
// one.
type Placement []fabric.EndpointID

// Stream is the random stream of one run. Each run has its own, so that run k is the
// same whoever computes it and when.
func Stream(seed, run uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, run)) }
