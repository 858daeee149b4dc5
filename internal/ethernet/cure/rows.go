package cure

import (
	"context"

	"github.com/weft-fabric/weft/ethernet"
)

// In a large network almost all next hops after failures have the same turns, and none of them takes
// packets to another level. Such rows are followed from device to device, all links of a device
// at a time; only the others packet by packet.

// rows follows packets by whole rows.
type rows struct {
	*turns
	from    []ethernet.DeviceID
	first   []int32  // [LinkID, plus one] the words of the device that it leads to
	used    []uint64 // turns that packets of all rows take: [first of the link that comes in, and on] bits as in a row
	there   []bool   // [DeviceID]
	devices []ethernet.DeviceID
	links   []ethernet.LinkID // that packets of a row take
}

func newRows(t *turns, from []ethernet.DeviceID) *rows {
	r := &rows{turns: t, from: from, first: make([]int32, len(t.n.Links)+1), there: make([]bool, len(t.n.Names))}
	for l := range t.n.Links {
		to := t.n.Links[l].To
		r.first[l+1] = r.first[l] + int32(t.n.FirstWord(to+1)-t.n.FirstWord(to))
	}
	r.used = make([]uint64, r.first[len(t.n.Links)])
	return r
}

// follow finds the links that packets of a row take.
func (r *rows) follow(next ethernet.Row) {
	n := r.n
	r.links = r.links[:0]
	r.devices = append(r.devices[:0], r.from...)
	for _, at := range r.devices {
		r.there[at] = true
	}
	for i := 0; i < len(r.devices); i++ {
		at := r.devices[i]
		n.Each(n.Words(next, at), at, func(out ethernet.LinkID) {
			r.links = append(r.links, out)
			if to := n.Links[out].To; !r.there[to] {
				r.there[to] = true
				r.devices = append(r.devices, to)
			}
		})
	}
	for _, at := range r.devices {
		r.there[at] = false
	}
}

// add notes the turns of the row that was followed.
func (r *rows) add(next ethernet.Row) {
	for _, in := range r.links {
		for k, bits := range r.n.Words(next, r.n.Links[in].To) {
			r.used[int(r.first[in])+k] |= bits
		}
	}
}

// meets says whether packets of the row that was followed take one of some turns.
func (r *rows) meets(next ethernet.Row, turns []uint64) bool {
	for _, in := range r.links {
		for k, bits := range r.n.Words(next, r.n.Links[in].To) {
			if bits&turns[int(r.first[in])+k] != 0 {
				return true
			}
		}
	}
	return false
}

// each visits all turns in use.
func (r *rows) each(visit func(turn int32)) {
	for in := range ethernet.LinkID(len(r.n.Links)) {
		r.n.Each(r.used[r.first[in]:r.first[in+1]], r.n.Links[in].To, func(out ethernet.LinkID) { visit(r.of(in, out)) })
	}
}

// weigh finds the turns in use, and counts how often if there are so few that it matters.
func (w *walker) weigh(ctx context.Context) error {
	if !w.whole() {
		return w.all(ctx, w.collect)
	}
	r := newRows(w.turns, w.from)
	err := w.every(ctx, func(_ int, next ethernet.Row) {
		r.follow(next)
		r.add(next)
	})
	if err != nil {
		return err
	}
	count := 0
	r.each(func(int32) { count++ })
	if count <= maxGreedy {
		return w.all(ctx, w.collect)
	}
	r.each(func(turn int32) { w.weight[turn] = 1 })
	return nil
}

// levels finds at which levels packets take each turn, by the plan.
func (w *walker) levels(ctx context.Context) error {
	if !w.whole() {
		return w.all(ctx, w.assign)
	}
	r := newRows(w.turns, w.from)
	raising := make([]uint64, len(r.used))
	any := false
	for turn, weight := range w.weight {
		if weight > 0 && w.plan.raises(int32(turn)) {
			in, out := w.ends(int32(turn))
			first, _ := w.n.LinksFrom(w.n.Links[in].To)
			raising[int(r.first[in])+int(out-first)/64] |= 1 << ((out - first) % 64)
			any = true
		}
	}
	if !any { // all packets stay at the first level
		for turn, weight := range w.weight {
			if weight > 0 {
				w.assign(int32(turn), 0)
			}
		}
		return nil
	}
	err := w.every(ctx, func(class int, next ethernet.Row) {
		if r.follow(next); r.meets(next, raising) {
			w.class(class, next, 0, w.assign)
			return
		}
		r.add(next)
	})
	r.each(func(turn int32) { w.assign(turn, 0) })
	return err
}

// whole says whether rows tell all that packets do.
func (w *walker) whole() bool { return w.o.Bounces == 0 && len(w.n.TunnelMaps) == 0 }

// every visits the next hops of every class that hosts send packets for, as it is and after failures.
func (w *walker) every(ctx context.Context, visit func(class int, next ethernet.Row)) error {
	for class := range w.n.Classes {
		if w.n.Wanted(class, ethernet.HostScope) {
			visit(class, w.n.Classes[class].Next)
		}
	}
	if err := w.after(visit); err != nil {
		return err
	}
	return ctx.Err()
}
