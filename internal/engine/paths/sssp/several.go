package sssp

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
)

// compare sets kind, several or alike, beside and passed of a run, and ahead of its switches, by what
// they share besides the heads of their trunks. In
// a tree without damage all that have the same heads stay alike.
func (w *weights) compare(d *dag.DAG, r *run) {
	n := int(r.n)
	out, members := d.Out[d.First[r.from]:d.First[r.to]], d.Order[r.from:r.to]
	r.kind, r.beside, r.passed = alike, true, false
	for i, u := range members {
		own := out[i*n:][:n]
		r.beside = r.beside && int(own[n-1]-own[0]) == n-1
		r.passed = r.passed || w.passed[u]
		if r.kind == alike && !w.keepsAhead(u, members[0], own, out) {
			r.kind = several
		}
	}
}

// keepsAhead reports whether switch u is charged like the first of its run, and the loads on all its
// trunks, own, are ahead of those on the first's by the same number, which it puts into ahead.
func (w *weights) keepsAhead(u, first fabric.NodeID, own, firsts []fabric.ChannelID) bool {
	ahead := w.On[own[0]] - w.On[firsts[0]]
	for j, c := range own {
		if w.On[c]-w.On[firsts[j]] != ahead {
			return false
		}
	}
	w.ahead[u] = ahead
	return w.base[u] == w.base[first]
}

// chooseAlike chooses for all switches of a run by the first: what the others have more
// on their trunks they have on each.
func (w *weights) chooseAlike(d *dag.DAG, r *run) {
	i := int(r.from)
	best, at := lightestFrom(heads(d, i), d.Choices(i), w.sum, w.On, int(d.Root)%int(r.n))
	r.at = int32(at)
	if r.passed {
		for _, u := range d.Order[r.from:r.to] {
			w.sum[u] = best + w.ahead[u]
		}
	}
}

// sameThrough reports whether as many routes come through each switch of a run.
func (w *weights) sameThrough(d *dag.DAG, r *run) bool {
	if !r.passed {
		return true
	}
	n := w.through[d.Order[r.from]]
	for _, u := range d.Order[r.from+1 : r.to] {
		if w.through[u] != n {
			return false
		}
	}
	return true
}

// chargeAlike charges the trunk of the first switch of a run for all: until separate, only the first
// has its loads in On.
func (w *weights) chargeAlike(d *dag.DAG, r *run) {
	i := d.First[r.from] + r.at
	n := w.through[d.Order[r.from]]
	w.On[d.Out[i]] += n
	w.through[d.Head[i]] += n * uint64(r.to-r.from)
	if r.passed {
		for _, u := range d.Order[r.from:r.to] {
			w.through[u] = w.base[u]
		}
	}
}

// separate gives each switch of a run alike the loads that the first had for all, and makes
// the run one of kind several.
func (w *weights) separate(d *dag.DAG, r *run) {
	n := int(r.n)
	out := d.Out[d.First[r.from]:d.First[r.to]]
	for i, u := range d.Order[r.from:r.to] {
		own := out[i*n:][:n]
		w.out[u] = own[r.at]
		for j, c := range own {
			w.On[c] = w.On[out[j]] + w.ahead[u]
		}
	}
	r.kind = several
}

// chooseSeveral chooses for the switches of a run that have trunks to the same others.
func (w *weights) chooseSeveral(d *dag.DAG, r *run) {
	head, n := heads(d, int(r.from)), int(r.n)
	begin := int(d.Root) % n
	w.via = w.via[:0]
	for j, h := range head {
		place := j - begin
		if place < 0 {
			place += n
		}
		w.via = append(w.via, w.sum[h]+uint64(place))
	}
	out := d.Out[d.First[r.from]:d.First[r.to]]
	least := w.least[:r.to-r.from]
	if r.beside {
		lightestSideBySide(least, w.via, out, w.On)
	} else {
		lightest(least, w.via, out, w.On)
	}
	for i, u := range d.Order[r.from:r.to] {
		w.sum[u], w.out[u] = least[i]&^(oneRoute-1), out[i*n+place(least[i], begin, n)]
	}
}

// chargeSeveral charges the switches of a run one by one.
func (w *weights) chargeSeveral(d *dag.DAG, r *run) {
	on, through, base, out, heads := w.On, w.through, w.base, w.out, w.f.Heads()
	for _, u := range d.Order[r.from:r.to] {
		c, n := out[u], through[u]
		through[u] = base[u]
		on[c] += n
		through[heads[c]] += n
	}
}

// place is which of n trunks the lightest is, by the low bits of the least number, in which places are
// counted from trunk begin on, the first in a tie.
func place(best uint64, begin, n int) int {
	at := begin + int(best%oneRoute)
	if at >= n {
		at -= n
	}
	return at
}

// lightestFrom finds the least load of a switch's paths, and its trunk among those to
// choose from: in a tie the first from begin on.
func lightestFrom(head []fabric.NodeID, out []fabric.ChannelID, sum, on []uint64, begin int) (load uint64, at int) {
	best := ^uint64(0)
	after := uint64(len(out) - begin) // place of the first trunk; they begin again after the last
	for j := range begin {
		best = min(best, sum[head[j]]+on[out[j]]+after)
		after++
	}
	for j := begin; j < len(out); j++ {
		best = min(best, sum[head[j]]+on[out[j]]+uint64(j-begin))
	}
	return best &^ (oneRoute - 1), place(best, begin, len(out))
}

// lightest sets least, [switch of a run], to the least of on + via for its trunks; those of all
// switches are in out, one after the other. It uses no
// result as an index: so the compiler makes no branches, which the processor would guess wrong,
// for nothing tells in advance which trunk is lightest.
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
