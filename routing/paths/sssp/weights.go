package sssp

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing/internal/dag"
	"github.com/weft-fabric/weft/routing/internal/intree"
)

// weights is the loads so far and the tree at hand. Loads and sums are shifted: the low
// bits of a number stay free for the place of a trunk among those to choose from, so that
// the least of the numbers says both.
type weights struct {
	*intree.Loads                    // ω of the papers, less the initial weight
	sum           []uint64           // [switch] load on its path to the destination
	out           []fabric.ChannelID // [switch] first trunk of its path

	// Of the graph at hand. A switch is settled if it has no choice and nobody who has one
	// can come through it: to all destinations on the root the same routes take its trunk.
	runs    []run           // of the others
	open    []fabric.NodeID // the others, in the order of the graph, without the root
	settled []fabric.NodeID
	base    []uint64 // [switch] routes that begin there, or come from settled switches
	passed  []bool   // [switch] somebody with a choice can come through it
	charged uint64   // trees, in units of On

	via   []uint64 // scratch: [trunk to choose from] load beyond it, and its place
	least []uint64 // scratch: [switch of a run] load of its lightest path, and the place of its first trunk
}

const (
	placeBits = 8 // a switch has at most 255 ports
	oneRoute  = 1 << placeBits
)

// run is switches that follow each other in the order of a graph, and have trunks to the
// same switches: those of a leaf group in a tree, and spines with the same tops. What is
// beyond these is added up once for all.
type run struct {
	from, to   int32 // in the order
	sideBySide bool  // the trunks of each are numbered one after the other
}

func newWeights(f *fabric.Fabric) *weights {
	n := f.Switches()
	return &weights{
		Loads: intree.NewLoads(f), sum: make([]uint64, n), out: make([]fabric.ChannelID, n), least: make([]uint64, n),
		base: make([]uint64, n), passed: make([]bool, n),
	}
}

// enter prepares for choosing in graph d, once for all destinations on its root.
func (w *weights) enter(d *dag.DAG) {
	w.divide(d)
	w.runs, w.open = w.runs[:0], w.open[:0]
	for i, u := range d.Order {
		out := d.Choices(i)
		if i == 0 || len(out) == 1 && !w.passed[u] {
			continue
		}
		w.open = append(w.open, u)
		side := int(out[len(out)-1]-out[0]) == len(out)-1
		if k := len(w.runs) - 1; k >= 0 {
			last := &w.runs[k]
			if int(last.to) == i && side == last.sideBySide && slices.Equal(heads(d, i), heads(d, i-1)) {
				last.to++
				continue
			}
		}
		w.runs = append(w.runs, run{int32(i), int32(i) + 1, side})
	}
}

// divide finds the settled switches of graph d, and what they pass on to the others.
func (w *weights) divide(d *dag.DAG) {
	w.settled, w.charged = w.settled[:0], 0
	for _, u := range d.Order {
		w.passed[u], w.base[u] = false, uint64(w.Sources[u])
	}
	for i := len(d.Order) - 1; i > 0; i-- {
		u, heads := d.Order[i], heads(d, i)
		if len(heads) > 1 || w.passed[u] {
			for _, h := range heads {
				w.passed[h] = true
			}
			continue
		}
		w.settled, w.out[u] = append(w.settled, u), d.Out[d.First[i]]
		w.base[heads[0]] += w.base[u]
	}
}

// charge adds the routes of the tree at hand where somebody may still choose by them.
func (w *weights) charge(heads []fabric.NodeID) {
	on, through, out := w.On, w.Through, w.out
	for _, u := range w.open {
		through[u] = w.base[u]
	}
	for i := len(w.open) - 1; i >= 0; i-- {
		u := w.open[i]
		c, n := out[u], through[u]
		on[c] += n * oneRoute
		through[heads[c]] += n
	}
	w.charged += oneRoute
}

// rewrite makes the row of one destination on a switch that of another.
func (w *weights) rewrite(f *fabric.Fabric, row []uint8, lid fabric.LID, root fabric.NodeID) {
	row[root] = f.LastPort(f.Endpoint(f.Owner(lid)))
	ports := f.TailPorts()
	for _, u := range w.open {
		row[u] = ports[w.out[u]]
	}
}

// leave adds the routes of settled switches, in all trees to the root.
func (w *weights) leave() {
	for _, u := range w.settled {
		w.On[w.out[u]] += w.base[u] * w.charged
	}
}

// heads is where the trunks lead that d.Order[i] may take.
func heads(d *dag.DAG, i int) []fabric.NodeID { return d.Head[d.First[i]:d.First[i+1]] }

// choose finds the lightest of the shortest paths from every switch to d.Root. Of
// several it takes the first from a trunk on that differs from root to root.
func (w *weights) choose(d *dag.DAG) {
	w.sum[d.Root] = 0
	for _, r := range w.runs {
		head := heads(d, int(r.from))
		n := len(head)
		out := d.Out[d.First[r.from]:d.First[r.to]]
		if n == 1 {
			beyond := w.sum[head[0]]
			for i, u := range d.Order[r.from:r.to] {
				w.sum[u], w.out[u] = beyond+w.On[out[i]], out[i]
			}
			continue
		}
		begin := int(d.Root) % n
		if r.to == r.from+1 {
			best := lightestAlone(head, out, w.sum, w.On, begin)
			at := begin + int(best%oneRoute)
			if at >= n {
				at -= n
			}
			u := d.Order[r.from]
			w.sum[u], w.out[u] = best&^(oneRoute-1), out[at]
			continue
		}
		w.via = w.via[:0]
		for j, h := range head {
			place := j - begin
			if place < 0 {
				place += n
			}
			w.via = append(w.via, w.sum[h]+uint64(place))
		}
		least := w.least[:r.to-r.from]
		if r.sideBySide {
			lightestSideBySide(least, w.via, out, w.On)
		} else {
			lightest(least, w.via, out, w.On)
		}
		for i, u := range d.Order[r.from:r.to] {
			at := begin + int(least[i]%oneRoute)
			if at >= n {
				at -= n
			}
			w.sum[u], w.out[u] = least[i]&^(oneRoute-1), out[i*n+at]
		}
	}
}

// lightestAlone is lightest for a switch that shares its heads with none beside it.
func lightestAlone(head []fabric.NodeID, out []fabric.ChannelID, sum, on []uint64, begin int) uint64 {
	best := ^uint64(0)
	place := uint64(len(out) - begin) // of the first trunk; they begin again after the last
	for j := range begin {
		best = min(best, sum[head[j]]+on[out[j]]+place)
		place++
	}
	for j := begin; j < len(out); j++ {
		best = min(best, sum[head[j]]+on[out[j]]+uint64(j-begin))
	}
	return best
}

// lightest finds the least of on + via for the trunks of each switch of a run. It uses no
// result as an index: so the compiler makes no branches, which would be guessed wrong,
// for nobody can foresee which trunk is lightest.
//
//go:noinline
func lightest(least, via []uint64, out []fabric.ChannelID, on []uint64) {
	for i := range least {
		own := out[i*len(via):][:len(via)]
		best := ^uint64(0)
		for j, beyond := range via {
			best = min(best, beyond+on[own[j]])
		}
		least[i] = best
	}
}

// lightestSideBySide is lightest for trunks that are numbered one after the other.
//
//go:noinline
func lightestSideBySide(least, via []uint64, out []fabric.ChannelID, on []uint64) {
	for i := range least {
		own := on[out[i*len(via)]:][:len(via)]
		best := ^uint64(0)
		for j, beyond := range via {
			best = min(best, beyond+own[j])
		}
		least[i] = best
	}
}
