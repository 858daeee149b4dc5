package dag

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// search is what Shortest keeps from one graph to the next. Most trunks of most networks
// are those of the switches farthest from the root, and in some, such as Dragonflies, few
// of these bring a packet nearer. There the switches one hop nearer, which are fewer, are
// asked for the same trunks: they come past them anyway when they find the farthest.
type search struct {
	ask  int32              // hops of the farthest switches of the graph before, if those one hop nearer are to be asked; else 0
	seen []fabric.ChannelID // trunks of those asked that lead one hop farther
	next []int32            // [switch] scratch of sort
}

// pays is how many trunks of the farthest switches take as long as one that was seen.
const pays = 6

// Shortest fills d with all shortest paths to root.
func Shortest(d *DAG, f *fabric.Fabric, root fabric.NodeID) {
	d.Reset(f, root)
	for from, hops := 0, int32(0); from < len(d.Order); hops++ {
		to, nearer := len(d.Order), len(d.Out)
		if hops+1 == d.ask {
			if d.asked(f, from, hops); len(d.Order) == f.Switches() {
				d.sort(f, to)
				return
			}
		} else if d.level(f, from, to); len(d.Order) == to {
			d.ask = 0
			if d.trunks(f, from) > pays*(len(d.Out)-nearer) {
				d.ask = hops
			}
		}
		from = to
	}
}

// level finds the trunks from the switches d.Order[from:to], which have as many hops, to
// nearer ones, and the switches that are one hop farther.
func (d *DAG) level(f *fabric.Fabric, from, to int) {
	heads := f.Heads()
	for i := from; i < to; i++ {
		u := d.Order[i]
		nearer := d.Hops[u] - 1 // NoPath at the root, where that case comes first
		for c, end := f.TrunksFrom(u); c < end; c++ {
			v := heads[c]
			switch h := d.Hops[v]; h {
			case NoPath:
				d.Hops[v] = nearer + 2
				d.Order = append(d.Order, v)
			case nearer:
				d.Out = append(d.Out, c)
				d.Head = append(d.Head, v)
			}
		}
		d.First = append(d.First, int32(len(d.Out)))
	}
}

// trunks counts the trunks of the switches d.Order[from:].
func (d *DAG) trunks(f *fabric.Fabric, from int) (n int) {
	for _, u := range d.Order[from:] {
		n += len(f.Neighbours(u))
	}
	return n
}

// asked is level for d.Order[from:], switches of so many hops, and notes in seen each trunk that leads
// to a switch one hop farther.
func (d *DAG) asked(f *fabric.Fabric, from int, hops int32) {
	heads, away, nearer := f.Heads(), d.Hops, hops-1
	most := f.Trunks() / 2 // a trunk and its other direction do not both lead away
	n, seen := 0, slices.Grow(d.seen[:0], most)[:most]
	for _, u := range d.Order[from:] {
		for c, end := f.TrunksFrom(u); c < end; c++ {
			v := heads[c]
			h := away[v]
			switch h {
			case NoPath:
				h = hops + 1
				away[v] = h
				d.Order = append(d.Order, v)
			case nearer:
				d.Out, d.Head = append(d.Out, c), append(d.Head, v)
			}
			// Written first and counted after: the processor has nothing to guess.
			seen[n] = c
			if h == hops+1 {
				n++
			}
		}
		d.First = append(d.First, int32(len(d.Out)))
	}
	d.seen = seen[:n]
}

// sort completes the graph: the trunks of the farthest switches, d.Order[from:], to nearer ones are the
// other directions of those in seen.
func (d *DAG) sort(f *fabric.Fabric, from int) {
	heads, reverse := f.Heads(), f.Reverses()
	d.next = slices.Grow(d.next[:0], f.Switches())[:f.Switches()]
	next := d.next // [switch] its trunks; then where the next of them belongs
	clear(next)
	for _, c := range d.seen {
		next[heads[c]]++
	}
	end := int32(len(d.Out))
	d.First = slices.Grow(d.First, len(d.Order)-from)[:len(d.Order)+1]
	first := d.First[from+1:]
	for i, u := range d.Order[from:] {
		n := next[u]
		next[u] = end
		end += n
		first[i] = end
	}
	d.Out, d.Head = slices.Grow(d.Out, len(d.seen))[:end], slices.Grow(d.Head, len(d.seen))[:end]
	out, head := d.Out, d.Head
	for _, c := range d.seen {
		u := heads[c]
		out[next[u]] = reverse[c]
		next[u]++
	}
	at := d.First[from]
	for _, end := range first {
		for k := at; k < end; k++ { // most are in order already
			c := out[k]
			to := k
			for ; to > at && out[to-1] > c; to-- {
				out[to] = out[to-1]
			}
			out[to] = c
		}
		at = end
	}
	for k := d.First[from]; k < end; k++ {
		head[k] = heads[out[k]]
	}
}
