package weave

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// carriers is the service levels, as bits, that carry the path from switch s, where
// mask is those of the switch it forwards to.
func (l *Loom) carriers(tree *routing.Tree, heads []fabric.NodeID, s fabric.NodeID, mask []uint16) uint16 {
	a := tree.Out[s]
	if a == fabric.None {
		return 1<<l.used - 1
	}
	b := tree.Out[heads[a]]
	if b == fabric.None {
		return 1<<l.used - 1
	}
	turn, next := int32(l.f.Turn(a, b)), int32(none)
	if c := tree.Out[heads[b]]; c != fabric.None {
		next = int32(l.f.Turn(b, c))
	}
	carriers := uint16(0)
	for m := mask[heads[a]]; m != 0; m &= m - 1 {
		sl := bits.TrailingZeros16(m)
		lane := l.at(turn, sl)
		if l.passes(turn, 0, lane) && (next == none || l.passes(next, lane, l.at(next, sl))) {
			carriers |= 1 << sl
		}
	}
	return carriers
}

// lowest is the lowest service level of a mask; 0 where none is.
func lowest(mask uint16) uint8 { return uint8(bits.TrailingZeros16(mask)) & 15 }
