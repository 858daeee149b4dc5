package acyclic

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
)

// MaxLayers is how many layers there may be: they are the bits of a word.
const MaxLayers = 64

// Layers is the dependencies in every layer, none of which has a cycle.
type Layers struct {
	f      *fabric.Fabric
	graphs []*Graph // [layer]
	turns  []inLayers
}

// inLayers is the layers, as bits, that hold a turn, and those in which it would close
// a cycle: for good, as long as layers only grow.
type inLayers struct{ held, refused uint64 }

// NewLayers is no layer yet.
func NewLayers(f *fabric.Fabric) *Layers {
	return &Layers{f: f, turns: make([]inLayers, f.Turns())}
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
// a new one if need be; 0 and false if none does.
func (l *Layers) First(turns []Turn, limit int) (layer int, ok bool) {
	in := l.all(turns)
	for open := ^in.refused; open != 0; open &= open - 1 {
		layer = bits.TrailingZeros64(open)
		if layer >= limit {
			return 0, false
		}
		l.AtLeast(layer + 1)
		if l.add(layer, turns, in.held) {
			return layer, true
		}
	}
	return 0, false
}

// Into adds turns, all or none, to a layer that there is.
func (l *Layers) Into(layer int, turns []Turn) bool {
	in := l.all(turns)
	return in.refused>>layer&1 == 0 && l.add(layer, turns, in.held)
}

// Every adds turns to every layer that takes them all, out of n that there are,
// and returns those, as bits.
func (l *Layers) Every(turns []Turn, n int) (took uint64) {
	in := l.all(turns)
	for open := ^in.refused & (^uint64(0) >> (MaxLayers - n)); open != 0; open &= open - 1 {
		if layer := bits.TrailingZeros64(open); l.add(layer, turns, in.held) {
			took |= 1 << layer
		}
	}
	return took
}

// Remove takes turns out of a layer, each as often as it is named. What the layer refused before it
// refuses still, until ResetRefused.
func (l *Layers) Remove(layer int, turns []Turn) {
	g := l.graphs[layer]
	for _, t := range turns {
		if g.Remove(t.In, t.Out); !g.Has(int(t.ID)) {
			l.turns[t.ID].held &^= 1 << layer
		}
	}
}

// ResetRefused forgets what was refused: layers that have lost turns may take others.
func (l *Layers) ResetRefused() {
	for i := range l.turns {
		l.turns[i].refused = 0
	}
}

// all is the layers that hold all of some turns, and those that refused at least one of them.
func (l *Layers) all(turns []Turn) inLayers {
	in := inLayers{held: 1<<len(l.graphs) - 1}
	for _, t := range turns {
		in.held &= l.turns[t.ID].held
		in.refused |= l.turns[t.ID].refused
	}
	return in
}

// add adds turns, all or none, to a layer, and reports which; held is the layers, as bits, that hold
// all of them already.
func (l *Layers) add(layer int, turns []Turn, held uint64) bool {
	bit := uint64(1) << layer
	if held&bit != 0 {
		for _, t := range turns {
			l.graphs[layer].Again(int(t.ID))
		}
		return true
	}
	culprit, alone, ok := l.graphs[layer].AddAll(turns)
	if alone {
		l.turns[turns[culprit].ID].refused |= bit
	}
	if ok {
		for _, t := range turns {
			l.turns[t.ID].held |= bit
		}
	}
	return ok
}
