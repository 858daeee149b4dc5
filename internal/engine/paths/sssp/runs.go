package sssp

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
)

// run is switches that choose in one way, no path of one of which passes another. A weights works
// through the switches run by run.
type run struct {
	kind     kind
	n        int32 // how many trunks each switch may take
	from, to int32 // its switches: places in the order of the graph; singly: places among the singles
	first    int32 // singly: its first way among those of singles
	at       int32 // alike: the trunk that they take, counted from the first of each
	beside   bool  // several, alike: the trunks of each are numbered one after the other
	passed   bool  // paths of other switches with a choice can pass them
}

// kind is how the switches of a run choose.
type kind uint8

const (
	singly  kind = iota // each for itself
	several             // they have trunks to the same switches: what is beyond is added up once for all
	alike               // as several, and their trunks' loads differ by a constant: what one takes, all take
)

// heads is where the trunks lead that d.Order[i] may take.
func heads(d *dag.DAG, i int) []fabric.NodeID { return d.Head[d.First[i]:d.First[i+1]] }

// enter prepares for choosing in graph d, once for all destinations on its root and its
// siblings: it finds the settled switches, what they pass on to the others (base), and the runs of
// the others, the farthest first.
func (w *weights) enter(d *dag.DAG) {
	settled, passed, base, through := w.settled[:0], w.passed, w.base, w.through
	w.runs = w.runs[:0]
	w.empty()
	clear(passed)
	copy(base, w.begin)
	for i := len(d.Order) - 1; i > 0; {
		hops, found := d.Hops[d.Order[i]], w.found[:0]
		for ; i > 0 && d.Hops[d.Order[i]] == hops; i-- {
			u, first, end := d.Order[i], d.First[i], d.First[i+1]
			through[u] = base[u]
			if end == first+1 && !passed[u] {
				settled, w.out[u] = append(settled, u), d.Out[first]
				base[d.Head[first]] += base[u]
				continue
			}
			sort := 2 * (end - first)
			if passed[u] {
				sort++
			}
			found = append(found, single{place: int32(i), sort: sort})
			for _, h := range d.Head[first:end] {
				passed[h] = true
			}
		}
		w.found = found
		w.takeSameHeads(d)
		w.takeSingles(d)
	}
	w.settled, w.charged = settled, 0
}

// takeSameHeads makes runs of switches in w.found, next to each other in the order of d, that have
// trunks to the same others, and leaves the rest in w.found.
func (w *weights) takeSameHeads(d *dag.DAG) {
	known, rest := len(w.runs), 0
	for k := 0; k < len(w.found); {
		to := k + 1
		for to < len(w.found) && sameHeads(d, w.found[to-1], w.found[to]) {
			to++
		}
		if to > k+1 {
			last := w.found[k].place
			w.runs = append(w.runs, run{n: w.found[k].sort / 2, from: w.found[to-1].place, to: last + 1})
		} else {
			w.found[rest] = w.found[k]
			rest++
		}
		k = to
	}
	w.found = w.found[:rest]
	for k := range w.runs[known:] {
		w.compare(d, &w.runs[known+k])
	}
}

// sameHeads reports whether two switches that were found one after the other are so in the
// order, have a choice, and trunks to the same others.
func sameHeads(d *dag.DAG, a, b single) bool {
	n := a.sort / 2
	i, k := d.First[a.place], d.First[b.place]
	// Most differ in their last trunk.
	return n > 1 && n == b.sort/2 && d.Head[i+n-1] == d.Head[i-1] && slices.Equal(d.Head[i:i+n], d.Head[k:i])
}

// moveRoot makes graph d that to another root, a sibling of the one before, and brings runs and loads
// in line with it. The two roots change
// places, and their neighbours have trunks to the one in place of those to the other.
func (w *weights) moveRoot(d *dag.DAG, root fabric.NodeID) {
	before := d.Root
	w.changed = w.changed[:0]
	for k := range w.runs {
		r := &w.runs[k]
		if r.kind == singly || d.Head[d.First[r.from]] != before && !slices.Contains(d.Order[r.from:r.to], root) {
			continue
		}
		if r.kind == alike {
			w.separate(d, r)
		}
		w.changed = append(w.changed, r)
	}
	for k := range w.runs {
		if r := &w.runs[k]; w.changes(d, r) {
			w.putBack(r)
		}
	}
	d.MoveRoot(w.f, root)
	w.through[before], w.passed[before] = w.base[before], false
	for _, r := range w.changed {
		w.compare(d, r)
	}
	for k := range w.runs {
		if r := &w.runs[k]; w.changes(d, r) {
			w.copyIn(d, r)
		}
	}
}

// changes reports whether a run of singles changes with the root: those with a choice take another one
// of the lightest trunks, those without go on as before unless they are neighbours of the root.
func (w *weights) changes(d *dag.DAG, r *run) bool {
	return r.kind == singly && (r.n > 1 || d.Hops[w.member[r.from]] == 1)
}
