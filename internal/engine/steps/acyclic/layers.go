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
	shrink bool // turns may be taken out: which ones were refused decides what is tried again

	// Graphs of another time, cleared, for the layers by their numbers: to begin in their orders.
	spare []*Graph

	fresh []Turn // scratch: those of some turns that a layer does not hold
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
	for i := len(l.graphs); i < n; i++ {
		switch {
		case i < len(l.spare):
			l.graphs = append(l.graphs, l.spare[i])
		case i == 0:
			l.graphs = append(l.graphs, New(l.f))
		default:
			l.graphs = append(l.graphs, l.graphs[0].another())
		}
	}
}

// BeginAgain takes all turns out and closes all layers. The i-th layer that is opened begins with
// the topological order that the layer before[i] had: so what was in that is added without a search.
func (l *Layers) BeginAgain(before []uint8) {
	l.spare = l.spare[:0]
	for _, layer := range before {
		g := l.graphs[layer]
		clear(g.count)
		clear(g.ahead.words)
		clear(g.behind.words)
		l.spare = append(l.spare, g)
	}
	l.graphs, l.shrink = nil, false
	clear(l.turns)
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
// refuses still, until ResetRefused, which must have been called once before.
func (l *Layers) Remove(layer int, turns []Turn) {
	if !l.shrink {
		panic("acyclic: layers that only grow lose turns")
	}
	g := l.graphs[layer]
	for _, t := range turns {
		if g.Remove(t.In, t.Out); !g.Has(int(t.ID)) {
			l.turns[t.ID].held &^= 1 << layer
		}
	}
}

// ResetRefused forgets what was refused: layers that have lost turns may take others. From then on
// turns may be removed.
func (l *Layers) ResetRefused() {
	l.shrink = true
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
	if !l.shrink {
		return l.grow(layer, turns)
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

// grow is add for layers that only grow, where it does not matter which of several turns that would close
// a cycle is remembered as refused.
func (l *Layers) grow(layer int, turns []Turn) bool {
	bit := uint64(1) << layer
	g := l.graphs[layer]
	l.fresh = l.fresh[:0]
	for _, t := range turns {
		if l.turns[t.ID].held&bit == 0 {
			l.fresh = append(l.fresh, t)
		}
	}
	alone, ok := g.linkAll(l.fresh)
	if alone >= 0 {
		l.turns[l.fresh[alone].ID].refused |= bit
	}
	if !ok {
		return false
	}
	for _, t := range turns {
		l.turns[t.ID].held |= bit
		g.count[t.ID]++
	}
	return true
}
