package sssp

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/intree"
)

// weights is the loads so far and the tree at hand. Loads, sums and numbers of routes are
// shifted: the low bits stay free for the place of a trunk among those to choose from, and
// for its port, so that the least of the numbers says all.
type weights struct {
	*intree.Loads // ω of the papers, less the initial weight

	f   *fabric.Fabric
	sum []uint64           // [switch] load on its path to the destination
	out []fabric.ChannelID // [switch] first trunk of its path, if it is settled or of a run of several

	// Of the graph at hand. A switch is settled if it has no choice and no path of a switch with one
	// can pass it: to all destinations on the root the same routes take its trunk.
	runs    []run // of the others, without the root; the farthest first
	settled []fabric.NodeID
	begin   []uint64 // [switch] routes that begin there
	base    []uint64 // [switch] routes that begin there, or come from settled switches
	through []uint64 // [switch] base, and while a tree is charged what else comes through it
	passed  []bool   // [switch] a path of a switch with a choice can pass it
	charged uint64   // how many trees were charged

	singles          // switches that choose for themselves
	ahead   []uint64 // [switch of a run alike] its load on every trunk, less that of the first of the run
	changed []*run   // scratch of turn
	via     []uint64 // scratch: [trunk to choose from] load beyond it, and its place
	least   []uint64 // scratch: [switch of a run] load of its lightest path, and the place of its first trunk
	lids    []fabric.LID
	free    []fabric.LID // of the root at hand, to be routed next, all alike: none of them counts, except perhaps the last
}

const (
	placeBits = 16 // two numbers of one byte each: a switch has at most 255 ports
	oneRoute  = 1 << placeBits
)

func newWeights(f *fabric.Fabric) *weights {
	n := f.Switches()
	w := &weights{
		Loads: intree.NewLoads(f), f: f, sum: make([]uint64, n), out: make([]fabric.ChannelID, n), least: make([]uint64, n), begin: make([]uint64, n),
		base: make([]uint64, n), through: make([]uint64, n), passed: make([]bool, n), ahead: make([]uint64, n),
		singles: singles{next: make([]int32, 2*fabric.MaxPorts+2)},
	}
	for s, routes := range w.Sources {
		w.begin[s] = uint64(routes) * oneRoute
	}
	return w
}

// choose finds the lightest of the shortest paths from every switch to d.Root. Of
// several it takes the first from a trunk on that differs from root to root. What singles
// take it writes into a row, and charges those that no path passes, if asked to; what other runs take
// is in out or run.at, for writeRuns and charge.
func (w *weights) choose(d *dag.DAG, row []uint8, charge bool) {
	w.sum[d.Root] = 0
	for k := len(w.runs) - 1; k >= 0; k-- {
		switch r := &w.runs[k]; {
		case r.kind == several:
			w.chooseSeveral(d, r)
		case r.kind == alike:
			w.chooseAlike(d, r)
		case r.passed:
			w.chooseFirst(r, row)
		default:
			w.chooseLast(r, row, charge)
		}
	}
}

// chooseOnce is choose without enter, for a graph in which only one choice is made. It sets out to the
// first trunk of every path.
func (w *weights) chooseOnce(d *dag.DAG) {
	w.sum[d.Root] = 0
	for i, u := range d.Order {
		out, head := d.Choices(i), heads(d, i)
		switch len(out) {
		case 0: // the root
		case 1:
			w.sum[u], w.out[u] = w.sum[head[0]]+w.On[out[0]], out[0]
		default:
			best, at := lightestFrom(head, out, w.sum, w.On, int(d.Root)%len(out))
			w.sum[u], w.out[u] = best, out[at]
		}
	}
}

// charge adds the routes of the tree that choose found to the loads, except those of singles that
// choose has charged, and of settled switches, which leave adds.
func (w *weights) charge(d *dag.DAG) {
	for k := range w.runs {
		r := &w.runs[k]
		if r.kind == alike && !w.sameThrough(d, r) {
			w.separate(d, r)
		}
		switch {
		case r.kind == several:
			w.chargeSeveral(d, r)
		case r.kind == alike:
			w.chargeAlike(d, r)
		case r.passed:
			w.chargeFirst(r)
		}
	}
	w.charged++
}

// leave ends what enter began: it adds the routes of settled switches, in all trees to the root and its
// siblings, and puts all loads that were kept elsewhere back into On.
func (w *weights) leave(d *dag.DAG) {
	if w.charged == 0 {
		return
	}
	for _, u := range w.settled {
		w.On[w.out[u]] += w.base[u] * w.charged
	}
	for k := range w.runs {
		switch r := &w.runs[k]; r.kind {
		case singly:
			w.putBack(r)
		case alike:
			w.separate(d, r)
		}
	}
}

// writeFixed writes what the rows of all destinations on d.Root and its siblings share:
// where the switches without a choice go.
func (w *weights) writeFixed(row []uint8) {
	ports := w.f.TailPorts()
	for _, u := range w.settled {
		row[u] = ports[w.out[u]]
	}
	for k := range w.runs {
		if r := &w.runs[k]; r.kind == singly && r.n == 1 {
			ways := w.ways[r.first:]
			for i, u := range w.member[r.from:r.to] {
				row[u] = uint8(ways[i].on)
			}
		}
	}
}

// writeRuns writes where the switches of runs go that are not singles.
func (w *weights) writeRuns(d *dag.DAG, row []uint8) {
	ports := w.f.TailPorts()
	for k := range w.runs {
		switch r := &w.runs[k]; r.kind {
		case several:
			for _, u := range d.Order[r.from:r.to] {
				row[u] = ports[w.out[u]]
			}
		case alike:
			c := int(d.First[r.from] + r.at)
			for _, u := range d.Order[r.from:r.to] {
				row[u] = ports[d.Out[c]]
				c += int(r.n)
			}
		}
	}
}
