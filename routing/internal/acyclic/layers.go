package acyclic

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
)

// MaxLayers is how many layers there may be: they are the bits of a word.
const MaxLayers = 64

// Layers is the dependencies in every layer, none of which has a cycle. What is
// in a layer stays there.
type Layers struct {
	f      *fabric.Fabric
	graphs []*Graph // [layer]

	// [turn] layers, as bits: those that hold it, and those in which it would
	// close a cycle. A layer only grows, so both are for good.
	held, refused []uint64
}

// NewLayers is no layer yet.
func NewLayers(f *fabric.Fabric) *Layers {
	return &Layers{f: f, held: make([]uint64, f.Turns()), refused: make([]uint64, f.Turns())}
}

// Len counts the layers.
func (l *Layers) Len() int { return len(l.graphs) }

// AtLeast opens layers until there are n, at most MaxLayers.
func (l *Layers) AtLeast(n int) {
	for len(l.graphs) < n {
		l.graphs = append(l.graphs, New(l.f))
	}
}

// First adds turns, all or none, to the first layer below limit that takes them,
// a new one if need be.
func (l *Layers) First(turns []Turn, limit int) (layer int, ok bool) {
	held, refused := l.opinion(turns)
	for open := ^refused; open != 0; open &= open - 1 {
		layer = bits.TrailingZeros64(open)
		if layer >= limit {
			return 0, false
		}
		l.AtLeast(layer + 1)
		if held>>layer&1 == 1 || l.add(layer, turns) {
			return layer, true
		}
	}
	return 0, false
}

// Into adds turns, all or none, to a layer that there is.
func (l *Layers) Into(layer int, turns []Turn) bool {
	held, refused := l.opinion(turns)
	return held>>layer&1 == 1 || refused>>layer&1 == 0 && l.add(layer, turns)
}

// Every adds turns to every layer that takes them all, out of n that there are,
// and returns those, as bits.
func (l *Layers) Every(turns []Turn, n int) uint64 {
	held, refused := l.opinion(turns)
	all := ^uint64(0) >> (MaxLayers - n)
	took := held & all
	for open := ^(held | refused) & all; open != 0; open &= open - 1 {
		if layer := bits.TrailingZeros64(open); l.add(layer, turns) {
			took |= 1 << layer
		}
	}
	return took
}

// opinion is the layers that hold all of some turns, and those that refused one.
func (l *Layers) opinion(turns []Turn) (held, refused uint64) {
	held = 1<<len(l.graphs) - 1
	for _, t := range turns {
		held &= l.held[t.ID]
		refused |= l.refused[t.ID]
	}
	return held, refused
}

// add adds turns, all or none, to a layer.
func (l *Layers) add(layer int, turns []Turn) bool {
	bit := uint64(1) << layer
	culprit, alone, ok := l.graphs[layer].AddAll(turns)
	if alone {
		l.refused[turns[culprit].ID] |= bit
	}
	if ok {
		for _, t := range turns {
			l.held[t.ID] |= bit
		}
	}
	return ok
}
