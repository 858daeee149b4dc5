package sssp

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing/internal/dag"
)

// singles is the switches of a graph that choose for themselves, or have no choice but
// may be passed by some who have. Those with the same hops to the root and as many
// trunks to choose from are a run: so the processor foresees when a choice ends.
type singles struct {
	place  []int32            // [single] in the order of the graph
	member []fabric.NodeID    // [single]
	took   []fabric.ChannelID // [single] first trunk of its path
	next   []fabric.NodeID    // [single] where that leads

	// The trunks of one single after the other, from the one on that is first in a tie.
	trunk []fabric.ChannelID
	head  []fabric.NodeID // where each leads
}

func (s *singles) empty() { s.grow(-len(s.place), -len(s.trunk)) }

// grow makes room for further singles and trunks.
func (s *singles) grow(singles, trunks int) {
	n, m := len(s.place)+singles, len(s.trunk)+trunks
	s.place, s.member = slices.Grow(s.place, max(0, singles))[:n], slices.Grow(s.member, max(0, singles))[:n]
	s.took, s.next = slices.Grow(s.took, max(0, singles))[:n], slices.Grow(s.next, max(0, singles))[:n]
	s.trunk, s.head = slices.Grow(s.trunk, max(0, trunks))[:m], slices.Grow(s.head, max(0, trunks))[:m]
}

// single makes runs of the switches d.Order[from:to], but for those that are settled.
func (w *weights) single(d *dag.DAG, from, to int) {
	for from < to {
		end, hops := from+1, d.Hops[d.Order[from]]
		for end < to && d.Hops[d.Order[end]] == hops {
			end++
		}
		w.level(d, from, end)
		from = end
	}
}

// level makes runs of switches with the same hops to the root.
func (w *weights) level(d *dag.DAG, from, to int) {
	var count [oneRoute]int32 // [trunks to choose from] switches; then the place of the next
	most := int32(0)
	for i := from; i < to; i++ {
		if n := d.First[i+1] - d.First[i]; n > 1 || w.passed[d.Order[i]] {
			count[n]++
			most = max(most, n)
		}
	}
	known := len(w.runs)
	for n := int32(1); n <= most; n++ {
		if many := count[n]; many > 0 {
			at := int32(len(w.place))
			w.runs = append(w.runs, run{kind: singly, n: n, from: at, to: at + many, first: int32(len(w.trunk))})
			w.grow(int(many), int(many*n))
			count[n] = at
		}
	}
	for i := from; i < to; i++ {
		if n := d.First[i+1] - d.First[i]; n > 1 || w.passed[d.Order[i]] {
			w.place[count[n]] = int32(i)
			count[n]++
		}
	}
	for k := range w.runs[known:] {
		w.fill(d, &w.runs[known+k])
	}
}

// fill copies what the singles of a run choose from.
func (w *weights) fill(d *dag.DAG, r *run) {
	n, k := int(r.n), int(r.first)
	begin := int(d.Root) % n
	for i := r.from; i < r.to; i++ {
		at := int(w.place[i])
		w.member[i] = d.Order[at]
		out, head := d.Choices(at), heads(d, at)
		w.took[i], w.next[i] = out[begin], head[begin]
		for j := range n {
			from := begin + j
			if from >= n {
				from -= n
			}
			w.trunk[k], w.head[k] = out[from], head[from]
			k++
		}
	}
}

// chooseSingly chooses for the singles of a run.
func (w *weights) chooseSingly(r *run) {
	sum, on, n := w.sum, w.On, int(r.n)
	member, took, next := w.member[r.from:r.to], w.took[r.from:r.to], w.next[r.from:r.to]
	trunk, head := w.trunk[r.first:][:len(member)*n], w.head[r.first:][:len(member)*n]
	if n == 1 {
		for i, u := range member {
			sum[u] = sum[head[i]] + on[trunk[i]]
		}
		return
	}
	for i, u := range member {
		best := ^uint64(0)
		own := trunk[i*n:][:n]
		for j, h := range head[i*n:][:n] {
			best = min(best, sum[h]+on[own[j]]+uint64(j))
		}
		at := i*n + int(best%oneRoute)
		sum[u], took[i], next[i] = best&^(oneRoute-1), trunk[at], head[at]
	}
}

// chargeSingly charges the singles of a run.
func (w *weights) chargeSingly(r *run) {
	on, through, base := w.On, w.through, w.base
	took, next := w.took[r.from:r.to], w.next[r.from:r.to]
	for i, u := range w.member[r.from:r.to] {
		n := through[u]
		through[u] = base[u]
		on[took[i]] += n * oneRoute
		through[next[i]] += n
	}
}
