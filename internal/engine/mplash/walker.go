package mplash

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
)

// sends reports whether a switch has paths to the root of d that count.
func (a *Analysis) sends(d *dag.DAG, s fabric.NodeID) bool {
	return a.ends[s] && s != d.Root && d.Hops[s] != dag.NoPath
}

// walker visits the shortest paths to one switch after another.
type walker struct {
	f  *fabric.Fabric
	d  dag.DAG
	at []int32 // [switch] its place in the order of d

	number []int // scratch of numbers
	path   []fabric.ChannelID
	turns  []acyclic.Turn
}

func newWalker(f *fabric.Fabric) *walker {
	return &walker{f: f, at: make([]int32, f.Switches()), number: make([]int, f.Switches())}
}

// to makes a switch the destination of the paths that from will visit.
func (w *walker) to(root fabric.NodeID) {
	dag.Shortest(&w.d, w.f, root)
	for i, s := range w.d.Order {
		w.at[s] = int32(i)
	}
}

// numbers is how many shortest paths every switch has, [switch], up to a limit; valid until the next
// call.
func (w *walker) numbers(limit int) []int {
	clear(w.number)
	w.number[w.d.Root] = 1
	for i, s := range w.d.Order[1:] {
		for _, c := range w.d.Choices(i + 1) {
			w.number[s] = min(limit, w.number[s]+w.number[w.f.Heads()[c]])
		}
	}
	return w.number
}

// from visits the shortest paths of a switch, by ports, until visit returns false. It
// returns whether it visited all. path and turns are what it has come through, empty for the caller.
func (w *walker) from(s fabric.NodeID, visit func(path []fabric.ChannelID, turns []acyclic.Turn) bool) bool {
	if s == w.d.Root {
		return visit(w.path, w.turns)
	}
	for _, c := range w.d.Choices(int(w.at[s])) {
		hops, turns := len(w.path), len(w.turns)
		if hops > 0 {
			in := w.path[hops-1]
			w.turns = append(w.turns, acyclic.Turn{ID: int32(w.f.Turn(in, c)), In: in, Out: c})
		}
		w.path = append(w.path, c)
		more := w.from(w.f.Heads()[c], visit)
		w.path, w.turns = w.path[:hops], w.turns[:turns]
		if !more {
			return false
		}
	}
	return true
}
