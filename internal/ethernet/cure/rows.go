package cure

import (
	"context"

	"github.com/weft-fabric/weft/ethernet"
)

// rows follows packets of a class from device to device, all links of a device at a time, where a walker goes packet by
// packet. In a large network almost all next hops after failures have the same turns, and none of them takes
// packets to another level: for such rows it is enough to know which turns are in use.
type rows struct {
	*turns
	from    []ethernet.DeviceID // where packets are sent
	first   []int32             // [LinkID that comes in] its first word in used, with one entry more for the end
	used    []uint64            // turns that packets of all rows added take, by link that comes in: the words of the device where it ends
	there   []bool              // [DeviceID] of follow
	devices []ethernet.DeviceID // likewise
	links   []ethernet.LinkID   // that packets of the row followed last take
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

// follow finds the links that packets take by the next hops of a row (r.links), for add and meets.
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

// add notes the turns of the row that was followed as used.
func (r *rows) add(next ethernet.Row) {
	for _, in := range r.links {
		for k, bits := range r.n.Words(next, r.n.Links[in].To) {
			r.used[int(r.first[in])+k] |= bits
		}
	}
}

// meets reports whether packets of the row that was followed take one of some turns, which are as in used.
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

// each visits all turns used.
func (r *rows) each(visit func(turn int32)) {
	for in := range ethernet.LinkID(len(r.n.Links)) {
		r.n.Each(r.used[r.first[in]:r.first[in+1]], r.n.Links[in].To, func(out ethernet.LinkID) { visit(r.of(in, out)) })
	}
}

// weigh sets turns.weight: which turns packets take, and how often, if there are so few that greedy asks.
func (w *walker) weigh(ctx context.Context) error {
	if !w.byRows() {
		return w.all(ctx, w.collect)
	}
	r := newRows(w.turns, w.from)
	err := w.everyClass(ctx, func(_ int, next ethernet.Row) {
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

// levels sets used and needed of w.plan: at which levels packets take each turn.
func (w *walker) levels(ctx context.Context) error {
	if !w.byRows() {
		return w.all(ctx, w.assign)
	}
	r := newRows(w.turns, w.from)
	raising := make([]uint64, len(r.used))
	raises := false // some turn in use does
	for turn, weight := range w.weight {
		if weight > 0 && w.plan.raises(int32(turn)) {
			in, out := w.ends(int32(turn))
			first, _ := w.n.LinksFrom(w.n.Links[in].To)
			raising[int(r.first[in])+int(out-first)/64] |= 1 << ((out - first) % 64)
			raises = true
		}
	}
	if !raises { // all packets stay at the first level
		for turn, weight := range w.weight {
			if weight > 0 {
				w.assign(int32(turn), 0)
			}
		}
		return nil
	}
	err := w.everyClass(ctx, func(class int, next ethernet.Row) {
		if r.follow(next); r.meets(next, raising) {
			w.class(class, next, 0, w.assign)
			return
		}
		r.add(next)
	})
	r.each(func(turn int32) { w.assign(turn, 0) })
	return err
}

// byRows reports whether rows tell all that packets do: they take next hops only, and no tunnel.
func (w *walker) byRows() bool { return w.o.Bounces == 0 && len(w.n.TunnelMaps) == 0 }

// everyClass visits every class that hosts send packets for, with its next hops as they are and with those after
// failures.
func (w *walker) everyClass(ctx context.Context, visit func(class int, next ethernet.Row)) error {
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
