package acyclic

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
)

// Free reports whether a set of turns, as bits by number, has no cycle.
//
// Complexity: O(C + T/64 + n) for C trunks, T turns there are and n in the set.
func Free(f *fabric.Fabric, turns []uint64) bool {
	heads, trunks := f.Heads(), f.Trunks()
	each := func(in fabric.ChannelID, visit func(out fabric.ChannelID)) {
		first, end := f.TrunksFrom(heads[in])
		begin := f.FirstTurn(in)
		for at, last := begin, begin+int(end-first); at < last; {
			word := turns[at/64] >> (at % 64)
			if word == 0 {
				at += 64 - at%64
				continue
			}
			if at += bits.TrailingZeros64(word); at < last {
				visit(first + fabric.ChannelID(at-begin))
			}
			at++
		}
	}
	waiting := make([]int32, trunks) // [trunk] turns that lead to it from trunks not taken out yet
	for in := range fabric.ChannelID(trunks) {
		each(in, func(out fabric.ChannelID) { waiting[out]++ })
	}
	takenOut := make([]fabric.ChannelID, 0, trunks) // trunks to which none leads any more
	for c, n := range waiting {
		if n == 0 {
			takenOut = append(takenOut, fabric.ChannelID(c))
		}
	}
	for i := 0; i < len(takenOut); i++ {
		each(takenOut[i], func(out fabric.ChannelID) {
			if waiting[out]--; waiting[out] == 0 {
				takenOut = append(takenOut, out)
			}
		})
	}
	return len(takenOut) == trunks
}
