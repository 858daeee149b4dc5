package deadlock

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/waits"
)

// wordsPerTurn is the size of the bit matrix, lane by lane, of one turn.
func wordsPerTurn(lanes int) int { return (lanes*lanes + 63) / 64 }

func setBit(turn []uint64, lanes int, from, to uint8) {
	i := int(from)*lanes + int(to)
	turn[i/64] |= 1 << (i % 64)
}

// sameLane is the lanes of each turn on which packets wait for the same lane of the next
// trunk, as bits: a power of two of them for a turn, so that no turn lies in two words. With
// one lane, the turns of 1,620 switches of 36 ports take 190 KB and stay in a cache.
type sameLane struct {
	words []uint64
	shift uint8 // a turn has 1 << shift bits
}

func newSameLane(turns, lanes int) sameLane {
	shift := bits.Len(uint(lanes - 1))
	return sameLane{make([]uint64, (turns<<shift+63)/64), uint8(shift)}
}

// add adds lanes to a turn. Nearly all were added on the way to other destinations; to
// write them again would move twice the memory.
func (s *sameLane) add(turn int, lanes uint16) {
	i := turn << s.shift
	if word, mask := &s.words[i/64], uint64(lanes)<<(i%64); *word&mask != mask {
		*word |= mask
	}
}

func (s *sameLane) has(turn, lane int) bool {
	i := turn<<s.shift + lane
	return s.words[i/64]>>(i%64)&1 != 0
}

// unite adds a set to another, both bits.
func unite[W uint16 | uint64](into, from []W) {
	for i, bits := range from {
		into[i] |= bits
	}
}

// waitsFor is the lanes that a lane waits for in the matrix of one turn, as bits.
func waitsFor(turn []uint64, lane, lanes int) uint64 {
	i := lane * lanes
	row := turn[i/64] >> (i % 64)
	if over := i%64 + lanes - 64; over > 0 {
		row |= turn[i/64+1] << (lanes - over)
	}
	return row & (1<<lanes - 1)
}

// graph is the channel dependency graph. A vertex is a lane of a trunk, numbered
// trunk × lanes + lane; an edge says that a packet on the one may wait for the
// other.
type graph struct {
	f      *fabric.Fabric
	lanes  int
	matrix []uint64 // [turn × words + …] from-lane × lanes + to-lane, as bits
	same   sameLane // instead of matrix where no packet changes lanes
	far    farEdges // edges between trunks that do not meet (wormhole switching); nil: none
}

func (g *graph) count() int {
	n := 0
	for _, w := range g.matrix {
		n += bits.OnesCount64(w)
	}
	for _, w := range g.same.words {
		n += bits.OnesCount64(w)
	}
	return n + len(g.far)
}

// successors calls visit for every vertex that v leads to: first those of turns,
// ascending by trunk and lane, then those of far edges.
func (g *graph) successors(v int32, visit func(int32)) {
	in, lane := fabric.ChannelID(int(v)/g.lanes), int(v)%g.lanes
	first, end := g.f.TrunksFrom(g.f.Heads()[in])
	turn := g.f.FirstTurn(in)
	if g.same.words != nil {
		for out := first; out < end; out++ {
			if g.same.has(turn, lane) {
				visit(int32(int(out)*g.lanes + lane))
			}
			turn++
		}
		g.far.successors(v, visit)
		return
	}
	words := wordsPerTurn(g.lanes)
	for out := first; out < end; out++ {
		m := g.matrix[turn*words:][:words]
		turn++
		for row := waitsFor(m, lane, g.lanes); row != 0; row &= row - 1 {
			visit(int32(int(out)*g.lanes + bits.TrailingZeros64(row)))
		}
	}
	g.far.successors(v, visit)
}

// rank gives every vertex a number that rises along every edge, see waits.Rank.
func (g *graph) rank() (rank []int32, all bool) {
	return waits.Rank(g.f.Trunks()*g.lanes, g.successors)
}

// shortestCycle is a shortest cycle, as lanes of trunks; rank is that of graph.rank.
func (g *graph) shortestCycle(rank []int32) []int32 {
	return waits.ShortestCycle(rank, g.successors)
}
