package layer

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// columns is the forwarding switch by switch: the trees, eight to a word, so that those of
// one destination switch, which mostly agree, are looked at together. Sets of the eight
// are the bits of a byte.
type columns struct {
	width   int      // words of a switch
	ports   []uint64 // [switch × width + word] a byte for the port to each of eight trees, the lowest first
	inner   []uint8  // [switch × width + word] the trees in which others forward to the switch
	held    []uint8  // [switch × width + word] the trees whose path from the switch is in the layer at hand, where each path is a bundle
	carries []uint64 // [trunk × stride + word / 64] the words with trees that the trunk is part of, as bits
	stride  int
}

const eight = 8 // trees in a word, and bits of a byte

// newColumns reads the forwarding of the trees. All paths are in the layer at hand.
func newColumns(p *pathSet, trees []tree) *columns {
	f := p.Fabric
	switches, width := f.Switches(), (len(trees)+eight-1)/eight
	c := &columns{
		width: width, ports: make([]uint64, switches*width),
		inner: make([]uint8, switches*width), held: make([]uint8, switches*width),
		stride: (width + 63) / 64,
	}
	c.carries = make([]uint64, f.Trunks()*c.stride)
	nowhere := make([]uint8, switches)
	for s := range nowhere {
		nowhere[s] = routing.NoPort
	}
	for word := range width {
		var rows [eight][]uint8
		for i := range rows {
			if rows[i] = nowhere; word*eight+i < len(trees) {
				rows[i] = p.Forwarding.Row(trees[word*eight+i].lid)[:switches]
			}
		}
		for s := range switches {
			c.ports[s*width+word] = uint64(rows[0][s]) | uint64(rows[1][s])<<8 | uint64(rows[2][s])<<16 | uint64(rows[3][s])<<24 |
				uint64(rows[4][s])<<32 | uint64(rows[5][s])<<40 | uint64(rows[6][s])<<48 | uint64(rows[7][s])<<56
		}
	}
	for s := range switches {
		for word, ports := range c.ports[s*width:][:width] {
			if p.sources[s] > 0 {
				c.held[s*width+word] = 1<<eight - 1
			}
			for left := uint8(1<<eight - 1); left != 0; {
				port := lowest(ports, left)
				same := equal(ports, port) & left
				left &^= same
				if out := f.Trunk(fabric.NodeID(s), port); out != fabric.None {
					c.carries[int(out)*c.stride+word/64] |= 1 << (word % 64)
					c.inner[int(f.Heads()[out])*width+word] |= same
				}
			}
		}
	}
	return c
}

// lowest is the byte of the lowest of some places of a word.
func lowest(word uint64, places uint8) uint8 {
	return uint8(word >> (eight * bits.TrailingZeros8(places)))
}

// equal is the places of a word, as bits, whose bytes are equal to a given one.
func equal(word uint64, to uint8) uint8 {
	const ones, low = 0x0101010101010101, 0x7f7f7f7f7f7f7f7f
	differ := word ^ ones*uint64(to)
	same := ^(differ&low + low | differ | low) >> 7 // 1 in each byte that is 0
	// Multiplied, the bit of byte i is added to bit 56 + i, and no two to the same.
	const gather = 0x0102040810204080
	return uint8(same * gather >> 56)
}
