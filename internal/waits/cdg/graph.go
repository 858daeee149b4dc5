// Package cdg is the channel dependency graph of a judge: which lanes of trunks packets hold
// while they wait for which others. Trunks that meet at a switch are a turn, turns are
// numbered densely (fabric.FirstTurn), and the edges of one are a matrix of bits, lane by
// lane. Engines do not use it: who judges shares no code with who is judged.
package cdg

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/waits"
)

// WordsPerTurn is the size of the bit matrix, lane by lane, of one turn.
func WordsPerTurn(lanes int) int { return (lanes*lanes + 63) / 64 }

// Add adds to the matrix of a turn that a packet on lane from may wait for lane to.
func Add(turn []uint64, lanes int, from, to uint8) {
	i := int(from)*lanes + int(to)
	turn[i/64] |= 1 << (i % 64)
}

// SameLane is the lanes of each turn on which packets wait for the same lane of the next
// trunk, as bits: a power of two of them for a turn, so that no turn lies in two words. With
// one lane, the turns of 1,620 switches of 36 ports take 190 KB and stay in a cache.
type SameLane struct {
	Words []uint64
	Shift uint8 // a turn has 1 << shift bits
}

// NewSameLane is a set without lanes.
func NewSameLane(turns, lanes int) SameLane {
	shift := bits.Len(uint(lanes - 1))
	return SameLane{Words: make([]uint64, (turns<<shift+63)/64), Shift: uint8(shift)}
}

// Add adds lanes to a turn, and says whether any of them is new. Nearly all were added on the
// way to other destinations; to write them again would move twice the memory.
func (s *SameLane) Add(turn int, lanes uint16) bool {
	i := turn << s.Shift
	word, mask := &s.Words[i/64], uint64(lanes)<<(i%64)
	if *word&mask == mask {
		return false
	}
	*word |= mask
	return true
}

// Put sets the lanes of a turn, and returns those that it had.
func (s *SameLane) Put(turn int, lanes uint16) (had uint16) {
	i := turn << s.Shift
	word, every := &s.Words[i/64], uint64(1)<<(1<<s.Shift)-1
	had = uint16(*word >> (i % 64) & every)
	*word = *word&^(every<<(i%64)) | uint64(lanes)<<(i%64)
	return had
}

// AddTurns adds to n turns, from turn to on, which have no lanes yet, the lanes of n turns of another set
// with as many lanes, from turn from on.
func (s *SameLane) AddTurns(to int, other *SameLane, from, n int) {
	at, i := to<<s.Shift, from<<s.Shift
	for left := n << s.Shift; left > 0; {
		if at%64 == 0 && left >= 64 { // whole words
			words, rest := s.Words[at/64:][:left/64], other.Words[i/64:]
			if shift := i % 64; shift == 0 {
				copy(words, rest)
			} else {
				for k := range words {
					words[k] = rest[k]>>shift | rest[k+1]<<(64-shift)
				}
			}
			at, i, left = at+len(words)*64, i+len(words)*64, left%64
			continue
		}
		most := min(left, 64-at%64, 64-i%64)
		s.Words[at/64] |= other.Words[i/64] >> (i % 64) & (^uint64(0) >> (64 - most)) << (at % 64)
		at, i, left = at+most, i+most, left-most
	}
}

// Spread is a set in which the turns of s, whose one lane stands for some lanes, given as bits, have these instead. Without
// any it is s itself.
func (s SameLane) Spread(some uint16, turns, lanes int) SameLane {
	if some == 0 {
		return s
	}
	all := NewSameLane(turns, lanes)
	for i, word := range s.Words {
		for ; word != 0; word &= word - 1 {
			all.Add(i*64+bits.TrailingZeros64(word), some)
		}
	}
	return all
}

// from appends to a list those of n turns from the first on, by their place among them, that have a
// lane: a word at a time, since few turns of a switch are in use.
func (s *SameLane) from(first, n, lane int, list []int32) []int32 {
	every := everyLane[s.Shift] << lane
	begin, end := first<<s.Shift, (first+n)<<s.Shift
	for i := begin / 64; i*64 < end; i++ {
		word := s.Words[i] & every
		if i*64 < begin {
			word &= ^uint64(0) << (begin % 64)
		}
		if end < i*64+64 {
			word &= 1<<(end%64) - 1
		}
		for ; word != 0; word &= word - 1 {
			list = append(list, int32((i*64+bits.TrailingZeros64(word))>>s.Shift-first))
		}
	}
	return list
}

// everyLane is lane 0 of every turn of a word, [SameLane.Shift].
var everyLane = [...]uint64{^uint64(0), 0x5555555555555555, 0x1111111111111111, 0x0101010101010101, 0x0001000100010001}

// WaitsFor is the lanes that a lane waits for in the matrix of one turn, as bits.
func WaitsFor(turn []uint64, lane, lanes int) uint64 {
	i := lane * lanes
	row := turn[i/64] >> (i % 64)
	if over := i%64 + lanes - 64; over > 0 {
		row |= turn[i/64+1] << (lanes - over)
	}
	return row & (1<<lanes - 1)
}

// Graph is the channel dependency graph. A vertex is a lane of a trunk, numbered
// trunk × lanes + lane; an edge says that a packet on the one may wait for the
// other.
type Graph struct {
	Fabric *fabric.Fabric
	Lanes  int
	Turns  []uint64 // [turn × words + …] from-lane × lanes + to-lane, as bits
	Same   SameLane // instead of Turns where no packet changes lanes
}

// Count is how many edges there are.
func (g *Graph) Count() int {
	n := 0
	for _, w := range g.Turns {
		n += bits.OnesCount64(w)
	}
	for _, w := range g.Same.Words {
		n += bits.OnesCount64(w)
	}
	return n
}

// Successors adds to a list every vertex that v leads to, ascending by trunk and lane.
func (g *Graph) Successors(v int32, list []int32) []int32 {
	in, lane := fabric.ChannelID(int(v)/g.Lanes), int(v)%g.Lanes
	first, end := g.Fabric.TrunksFrom(g.Fabric.Heads()[in])
	turn := g.Fabric.FirstTurn(in)
	if g.Same.Words != nil {
		before := len(list)
		list = g.Same.from(turn, int(end-first), lane, list)
		for i, out := range list[before:] {
			list[before+i] = (int32(first)+out)*int32(g.Lanes) + int32(lane)
		}
		return list
	}
	words := WordsPerTurn(g.Lanes)
	for out := first; out < end; out++ {
		m := g.Turns[turn*words:][:words]
		turn++
		for row := WaitsFor(m, lane, g.Lanes); row != 0; row &= row - 1 {
			list = append(list, int32(int(out)*g.Lanes+bits.TrailingZeros64(row)))
		}
	}
	return list
}

// Before is the lanes of the first trunk of a turn on which packets wait for a lane of the second, as bits.
func (g *Graph) Before(turn, lane int) uint64 {
	if g.Same.Words != nil {
		i := turn<<g.Same.Shift + lane
		return g.Same.Words[i/64] >> (i % 64) & 1 << lane
	}
	m := g.Turns[turn*WordsPerTurn(g.Lanes):]
	lanes := uint64(0)
	for from := range g.Lanes {
		i := from*g.Lanes + lane
		lanes |= m[i/64] >> (i % 64) & 1 << from
	}
	return lanes
}

// Rank gives every vertex a number that rises along every edge, see waits.Rank.
func (g *Graph) Rank() (rank []int32, all bool) {
	return waits.Rank(g.Fabric.Trunks()*g.Lanes, g.Successors)
}

// ShortestCycle is a shortest cycle, as vertices; rank is that of Rank.
func (g *Graph) ShortestCycle(rank []int32) []int32 {
	return waits.ShortestCycle(rank, g.Successors)
}

// Unused is the rank of a lane that carries no traffic.
const Unused = -1

// MarkUnused sets the rank of lanes that carry nothing to Unused; inUse is the lanes of
// each trunk, as bits.
func MarkUnused(rank []int32, inUse []uint16, lanes int) {
	every := uint16(1<<lanes - 1)
	for trunk, used := range inUse {
		for unused := ^used & every; unused != 0; unused &= unused - 1 {
			rank[trunk*lanes+bits.TrailingZeros16(unused)] = Unused
		}
	}
}

// FirstUnranked is a lane in use without a rank, or -1.
func FirstUnranked(rank []int32, inUse []uint16, lanes int) int {
	for trunk, used := range inUse {
		for ; used != 0; used &= used - 1 {
			if v := trunk*lanes + bits.TrailingZeros16(used); rank[v] == Unused {
				return v
			}
		}
	}
	return -1
}
