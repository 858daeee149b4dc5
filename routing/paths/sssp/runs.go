package sssp

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing/internal/dag"
)

// run is switches that choose in one way, none of which comes through another.
type run struct {
	kind     kind
	n        int32 // trunks that each may take
	from, to int32 // in the order of the graph; singly: among the singles
	first    int32 // singly: its first trunk among those of singles
	at       int32 // alike: the trunk that they take, counted from the first of each
	beside   bool  // several, alike: the trunks of each are numbered one after the other
	passed   bool  // several, alike: somebody with a choice can come through them
}

// kind is how the switches of a run choose.
type kind uint8

const (
	singly  kind = iota // each for itself
	several             // they have trunks to the same switches: what is beyond is added up once for all
	alike               // and on these, loads that differ by a constant: what one takes, all take
)

// heads is where the trunks lead that d.Order[i] may take.
func heads(d *dag.DAG, i int) []fabric.NodeID { return d.Head[d.First[i]:d.First[i+1]] }

// enter prepares for choosing in graph d, once for all destinations on its root and its
// siblings.
func (w *weights) enter(d *dag.DAG) {
	w.divide(d)
	w.runs = w.runs[:0]
	w.singles.empty()
	end := 1 // of the last run
	for i := 1; i < len(d.Order); {
		if d.First[i+1]-d.First[i] == 1 {
			i++
			continue
		}
		head, k := heads(d, i), i+1
		for k < len(d.Order) && slices.Equal(heads(d, k), head) {
			k++
		}
		if k > i+1 {
			w.single(d, end, i)
			w.runs = append(w.runs, run{n: int32(len(head)), from: int32(i), to: int32(k)})
			w.compare(d, &w.runs[len(w.runs)-1])
			end = k
		}
		i = k
	}
	w.single(d, end, len(d.Order))
}

// divide finds the settled switches of graph d, and what they pass on to the others.
func (w *weights) divide(d *dag.DAG) {
	settled, passed, base, through := w.settled[:0], w.passed, w.base, w.through
	clear(passed)
	copy(base, w.begin)
	for i := len(d.Order) - 1; i > 0; i-- {
		u, first, end := d.Order[i], d.First[i], d.First[i+1]
		through[u] = base[u]
		if end == first+1 && !passed[u] {
			settled, w.out[u] = append(settled, u), d.Out[first]
			base[d.Head[first]] += base[u]
			continue
		}
		for _, h := range d.Head[first:end] {
			passed[h] = true
		}
	}
	w.settled, w.charged = settled, 0
}

// turn makes graph d that to another root, a sibling of the one before. The two change
// places, and their neighbours have trunks to the one in place of those to the other.
func (w *weights) turn(d *dag.DAG, root fabric.NodeID) {
	before := d.Root
	w.turned = w.turned[:0]
	for k := range w.runs {
		r := &w.runs[k]
		if r.kind == singly || d.Head[d.First[r.from]] != before && !slices.Contains(d.Order[r.from:r.to], root) {
			continue
		}
		if r.kind == alike {
			w.part(d, r)
		}
		w.turned = append(w.turned, r)
	}
	d.Turn(w.f, root)
	w.through[before], w.passed[before] = w.base[before], false
	for _, r := range w.turned {
		w.compare(d, r)
	}
	for k := range w.runs {
		if r := &w.runs[k]; r.kind == singly {
			w.fill(d, r)
		}
	}
}
