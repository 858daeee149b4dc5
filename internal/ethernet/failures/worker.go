package failures

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/judge"
	"github.com/weft-fabric/weft/internal/ethernet/bgp"
)

// worker tries failures one after the other.
type worker struct {
	*trial
	computer *bgp.Computer
	checker  *judge.Checker
	down     []bool            // [LinkID]
	links    []ethernet.LinkID // those that are down, both directions
	gone     ethernet.DeviceID
	changes  []judge.Change
	rows     []ethernet.Row // to be used again
	left     []uint64
	under    ethernet.Row // next hops of a pin's subnet
}

func (t *trial) worker() *worker {
	w := &worker{trial: t, computer: bgp.NewComputer(t.plan), down: make([]bool, len(t.n.Links))}
	if t.base != nil {
		w.checker = t.base.Checker()
	}
	return w
}

// fail takes a failure's links down, and those of the failure before up.
func (w *worker) fail(f Failure) {
	for _, l := range w.links {
		w.down[l] = false
	}
	w.links, w.gone = w.links[:0], f.Device
	for _, l := range f.Links {
		for _, side := range [...]ethernet.LinkID{l, w.n.Reverse[l]} {
			w.links = append(w.links, side)
			w.down[side] = true
		}
	}
}

// try finds out what a failure leads to.
func (w *worker) try(ctx context.Context, f Failure) (Finding, error) {
	w.fail(f)
	found := Finding{Failure: f, Cut: w.recompute(f)}
	if w.checker != nil && w.checker.Suffices(w.changes) {
		return found, nil
	}
	v, err := judge.Verify(ctx, w.after(), judge.Options{})
	if err != nil {
		return found, err
	}
	found.Loop = !v.Free()
	return found, nil
}

// recompute computes the routes of the classes that a failure concerns, and counts the pairs
// of prefixes that it cuts.
func (w *worker) recompute(f Failure) (cut int64) {
	w.changes = w.changes[:0]
	for i := range w.n.Classes {
		c := &w.n.Classes[i]
		at := c.At
		if f.Device != ethernet.None && slices.Contains(at, f.Device) {
			at = slices.DeleteFunc(slices.Clone(at), func(d ethernet.DeviceID) bool { return d == f.Device })
		} else if !w.concerns(i) {
			continue
		}
		if len(w.changes) == len(w.rows) {
			w.rows = append(w.rows, w.n.NewRow())
		}
		row := w.rows[len(w.changes)]
		w.computer.Class(i, at, w.down, row)
		if len(at) > 0 && c.Hosts {
			cut += w.cut(i, row)
		}
		if w.o.Converging {
			pin := w.plan.Pin(i)
			changed := pin != nil && w.changed(row, c.Next)
			w.mix(row, c.Next)
			if changed { // it is withdrawn somewhere, while the subnet's routes are the old ones or the new
				w.mix(row, w.n.Classes[pin.Under].Next)
				w.computer.Class(pin.Under, at, w.down, w.subnet())
				w.mix(row, w.under)
			}
		}
		w.changes = append(w.changes, judge.Change{Class: i, Next: row})
	}
	return cut
}

func (w *worker) subnet() ethernet.Row {
	if w.under == nil {
		w.under = w.n.NewRow()
	}
	return w.under
}

// changed says whether a row is more than one before without the links that are down.
func (w *worker) changed(row, before ethernet.Row) bool {
	w.left = append(w.left[:0], before...)
	for _, l := range w.links {
		w.n.Remove(w.left, l)
	}
	return !slices.Equal(w.left, row)
}

// unpins says whether a failure takes a next hop from a device that knows a pin.
func (w *worker) unpins(class, under int) bool {
	n := w.n
	for _, l := range w.links {
		d := n.Links[l].From
		if n.Has(n.Classes[class].Next, l) && !slices.Equal(n.Words(n.Classes[class].Next, d), n.Words(n.Classes[under].Next, d)) {
			return true
		}
	}
	return false
}

// concerns says whether a failure changes more of a class than taking some of several next
// hops away from devices that announce the same as before.
func (w *worker) concerns(class int) bool {
	if pin := w.plan.Pin(class); pin != nil {
		return w.concerns(pin.Under) || w.unpins(class, pin.Under)
	}
	n := w.n
	for _, l := range w.links {
		d := n.Links[l].From
		if d == w.gone || !n.Has(n.Classes[class].Next, l) {
			continue
		}
		w.left = append(w.left[:0], n.Words(n.Classes[class].Next, d)...)
		first, end := n.LinksFrom(d)
		for out := first; out < end; out++ {
			if w.down[out] {
				w.left[(out-first)/64] &^= 1 << ((out - first) % 64)
			}
		}
		if w.computer.Without(d, w.left, w.announce[class]) != w.announce[class][d] {
			return true
		}
	}
	return false
}

// cut counts the pairs of a class that have no route any more, among senders that are still there. A
// pair whose packets go by a tunnel that ends nowhere counts as having one.
func (w *worker) cut(class int, row ethernet.Row) (pairs int64) {
	n := w.n
	c := &n.Classes[class]
	for i := range w.senders {
		s := &w.senders[i]
		for _, d := range s.At {
			if d == w.gone || c.Leaves(d) || !empty(n.Words(row, d)) || empty(n.Words(c.Next, d)) {
				continue
			}
			pairs += int64(s.Count) * int64(len(c.Prefixes))
			break
		}
	}
	return pairs
}

func empty(words []uint64) bool {
	for _, w := range words {
		if w != 0 {
			return false
		}
	}
	return true
}

// mix adds the next hops of before, but for links that are down.
func (w *worker) mix(row, before ethernet.Row) {
	for i, bits := range before {
		row[i] |= bits
	}
	for _, l := range w.links {
		w.n.Remove(row, l)
	}
}

// after is the network with all that a failure changed.
func (w *worker) after() *ethernet.Network {
	n := *w.n
	n.Classes = slices.Clone(n.Classes)
	for i := range n.Classes {
		next := slices.Clone(n.Classes[i].Next)
		for _, l := range w.links {
			w.n.Remove(next, l)
		}
		n.Classes[i].Next = next
	}
	for _, c := range w.changes {
		n.Classes[c.Class].Next = slices.Clone(c.Next)
	}
	if w.gone != ethernet.None {
		for i := range n.Classes {
			n.Classes[i].At = slices.DeleteFunc(slices.Clone(n.Classes[i].At), func(d ethernet.DeviceID) bool { return d == w.gone })
		}
	}
	return &n
}
