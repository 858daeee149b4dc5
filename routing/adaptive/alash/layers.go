package alash

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/acyclic"
)

// maxLayers is how many layers are tried before the search for enough of them is
// given up.
const maxLayers = 64

// turn is a dependency between two trunks, with its number in the fabric.
type turn struct {
	id      int32
	in, out fabric.ChannelID
}

// layers is the dependencies in every layer, none of which has a circle.
type layers struct {
	f      *fabric.Fabric
	graphs []*acyclic.Graph // [layer]

	// [turn] layers, as bits: those that hold it, and those in which it would
	// close a circle. A layer only grows, so both are for good.
	held, refused []uint64

	added []turn // scratch
}

func newLayers(f *fabric.Fabric) *layers {
	return &layers{f: f, held: make([]uint64, f.Turns()), refused: make([]uint64, f.Turns())}
}

// atLeast opens layers until there are n.
func (l *layers) atLeast(n int) {
	for len(l.graphs) < n {
		l.graphs = append(l.graphs, acyclic.New(l.f))
	}
}

// first adds turns, all or none, to the first layer below limit that takes them,
// a new one if need be.
func (l *layers) first(turns []turn, limit int) (layer int, ok bool) {
	held, refused := l.opinion(turns)
	for open := ^refused; open != 0; open &= open - 1 {
		layer = bits.TrailingZeros64(open)
		if layer >= limit {
			return 0, false
		}
		l.atLeast(layer + 1)
		if held>>layer&1 == 1 || l.add(layer, turns) {
			return layer, true
		}
	}
	return 0, false
}

// every adds turns to every layer that takes them all, out of n that there are,
// and returns those, as bits.
func (l *layers) every(turns []turn, n int) uint64 {
	held, refused := l.opinion(turns)
	took := held & (1<<n - 1)
	for open := ^(held | refused) & (1<<n - 1); open != 0; open &= open - 1 {
		if layer := bits.TrailingZeros64(open); l.add(layer, turns) {
			took |= 1 << layer
		}
	}
	return took
}

// opinion is the layers that hold all of some turns, and those that refused one.
func (l *layers) opinion(turns []turn) (held, refused uint64) {
	held = 1<<len(l.graphs) - 1
	for _, t := range turns {
		held &= l.held[t.id]
		refused |= l.refused[t.id]
	}
	return held, refused
}

// add adds turns, all or none, to a layer.
func (l *layers) add(layer int, turns []turn) bool {
	g, bit := l.graphs[layer], uint64(1)<<layer
	l.added = l.added[:0]
	for _, t := range turns {
		if l.held[t.id]&bit != 0 {
			continue
		}
		if g.Add(t.in, t.out) {
			l.added = append(l.added, t)
			continue
		}
		for _, u := range l.added {
			g.Remove(u.in, u.out)
		}
		// Refused for good only if it is refused by itself, without the
		// turns of this group before it.
		if len(l.added) > 0 && g.Add(t.in, t.out) {
			g.Remove(t.in, t.out)
		} else {
			l.refused[t.id] |= bit
		}
		return false
	}
	for _, t := range l.added {
		l.held[t.id] |= bit
	}
	return true
}
