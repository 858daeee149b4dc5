package failures

import (
	"context"
	mathbits "math/bits"
	"slices"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/judge"
	"github.com/weft-fabric/weft/internal/ethernet/bgp"
	"github.com/weft-fabric/weft/internal/ethernet/dependencies"
)

// worker tries failures one after the other: fail takes the links down, recompute finds the routes then, and try judges them. It is for
// one goroutine.
type worker struct {
	*trial
	computer *bgp.Computer
	checker  *dependencies.Checker
	down     []bool                // [LinkID]
	links    []ethernet.LinkID     // those that are down, both directions
	gone     ethernet.DeviceID     // that failed; None: only links
	changes  []dependencies.Change // classes with other next hops after the failure at hand
	place    []int32               // [class] its place in changes plus one; 0: it is not there
	cuts     []int64               // [class] pairs that the failure at hand cuts
	todo     []uint64              // classes that recompute still has to look at, as bits

	pinLoss, subnetLoss *bgp.Withdrawal      // what is withdrawn of the pin, and of the subnet, that was tried last
	subnets             map[int]ethernet.Row // [class] next hops of pins' subnets after the failure at hand

	rows, spare []ethernet.Row // memory of changes, and for more of subnets
	buffer      []uint64
}

func (t *trial) worker() *worker {
	w := &worker{trial: t, computer: bgp.NewComputer(t.plan), down: make([]bool, len(t.n.Links)),
		todo: make([]uint64, (len(t.n.Classes)+63)/64), pinLoss: bgp.NewWithdrawal(t.plan), subnetLoss: bgp.NewWithdrawal(t.plan),
		place: make([]int32, len(t.n.Classes)), cuts: make([]int64, len(t.n.Classes)), subnets: map[int]ethernet.Row{}}
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

// try finds out what a failure leads to: how many pairs it cuts, and whether there is a loop.
func (w *worker) try(ctx context.Context, f Failure) (Finding, error) {
	w.fail(f)
	found := Finding{Failure: f, Cut: w.recompute(f, w.checker == nil)}
	if w.checker != nil {
		if w.checker.Suffices(w.changes) {
			return found, nil
		}
		w.recompute(f, true)
	}
	v, err := judge.Verify(ctx, w.after(), judge.Options{})
	if err != nil {
		return found, err
	}
	found.Loop = !v.Free()
	return found, nil
}

// recompute puts the classes whose next hops a failure changes into w.changes, and counts the pairs of prefixes that it cuts. fail was
// called with the failure before. Classes that only lose next hops are left out, and unless all is set also pins that lead no packet
// where their subnet leads none.
func (w *worker) recompute(f Failure, all bool) (cut int64) {
	for _, c := range w.changes {
		w.place[c.Class] = 0
	}
	w.changes = w.changes[:0]
	for _, row := range w.subnets {
		w.spare = append(w.spare, row)
	}
	clear(w.subnets)
	for _, l := range w.links {
		for k, bits := range w.using[l] {
			w.todo[k] |= bits
		}
	}
	if f.Device != ethernet.None {
		for i := range w.n.Classes {
			if slices.Contains(w.n.Classes[i].At, f.Device) {
				w.todo[i/64] |= 1 << (i % 64)
			}
		}
	}
	for k := range w.todo {
		for w.todo[k] != 0 { // pins that a subnet brings in come behind it
			i := k*64 + mathbits.TrailingZeros64(w.todo[k])
			w.todo[k] &= w.todo[k] - 1
			w.class(i, all)
			cut += w.cuts[i]
		}
	}
	return cut
}

// class looks at one class for recompute: it adds the class to w.changes if it belongs there, and the pins of a subnet to w.todo.
func (w *worker) class(i int, all bool) {
	c := &w.n.Classes[i]
	at, moved := c.At, false // where packets leave after the failure; that is another set
	if w.gone != ethernet.None && slices.Contains(at, w.gone) {
		at = slices.DeleteFunc(slices.Clone(at), func(d ethernet.DeviceID) bool { return d == w.gone })
		moved = true
	}
	w.cuts[i] = 0
	pin := w.pins[i]
	simple := false // nothing but withdrawals
	if pin != nil {
		simple = !moved && w.pinLoss.Try(i, c.Next, w.known[i], w.links, w.down)
		if simple && !all && w.withinSubnet(i) {
			return
		}
	} else {
		if !moved && !w.changesMore(i) {
			return
		}
		for _, pinned := range w.under[i] {
			w.todo[pinned/64] |= 1 << (pinned % 64)
		}
	}
	if len(w.changes) == len(w.rows) {
		w.rows = append(w.rows, w.n.NewRow())
	}
	row := w.rows[len(w.changes)]
	switch {
	case pin == nil:
		w.compute(i, at, row)
	case simple:
		copy(row, w.subnet(pin.Under, at))
		w.pinLoss.Over(row)
	default:
		copy(row, w.subnet(pin.Under, at))
		w.computer.Over(i, at, w.down, row)
	}
	if len(at) > 0 && c.Hosts {
		w.cuts[i] = w.cut(i, row)
	}
	if w.o.Converging {
		changed := pin != nil && w.newHops(row, c.Next)
		w.mix(row, c.Next)
		if changed { // it is withdrawn somewhere, while the subnet's routes are the old ones or the new
			w.mix(row, w.n.Classes[pin.Under].Next)
			w.mix(row, w.subnet(pin.Under, at))
		}
	}
	w.changes = append(w.changes, dependencies.Change{Class: i, Next: row})
	w.place[i] = int32(len(w.changes))
}

// compute writes the next hops of a class that is no pin, after the failure at hand, into row; its packets leave at the devices at.
func (w *worker) compute(class int, at []ethernet.DeviceID, row ethernet.Row) {
	if c := &w.n.Classes[class]; len(at) == len(c.At) && w.subnetLoss.Try(class, c.Next, nil, w.links, w.down) {
		copy(row, c.Next)
		w.subnetLoss.Over(row)
		return
	}
	w.computer.Class(class, at, w.down, row)
}

// subnet is the next hops of a pin's subnet after the failure at hand, computed at the first call. at is where the pin's packets leave.
func (w *worker) subnet(class int, at []ethernet.DeviceID) ethernet.Row {
	row := w.subnets[class]
	if row == nil {
		if k := len(w.spare); k > 0 {
			row, w.spare = w.spare[k-1], w.spare[:k-1]
		} else {
			row = w.n.NewRow()
		}
		w.compute(class, at, row)
		w.subnets[class] = row
	}
	return row
}

// newHops reports whether a row is anything other than the one before without the links that are down.
func (w *worker) newHops(row, before ethernet.Row) bool {
	w.buffer = append(w.buffer[:0], before...)
	for _, l := range w.links {
		w.n.Remove(w.buffer, l)
	}
	return !slices.Equal(w.buffer, row)
}

// withinSubnet reports whether a failure, of which a pin only loses some next hops (w.pinLoss), leads no packet to the pin where none to its
// subnet goes, before it or after it. Then no pair is cut either if none of the subnet's is. class has looked at the subnet before.
func (w *worker) withinSubnet(class int) bool {
	under := w.pins[class].Under
	if w.place[under] == 0 {
		return w.inside[class]
	}
	if w.cuts[under] > 0 {
		return false
	}
	if w.o.Converging && (w.inside[class] || w.pinLoss.Some()) {
		return w.inside[class]
	}
	subnet := w.changes[w.place[under]-1].Next
	for i, bits := range w.known[class] {
		for ; bits != 0; bits &= bits - 1 {
			d := ethernet.DeviceID(i*64 + mathbits.TrailingZeros64(bits))
			if !dependencies.Within(w.pinLoss.Left(d), w.n.Words(subnet, d)) {
				return false
			}
		}
	}
	return true
}

// changesMore reports whether a failure changes more of a class, which is no pin, than taking some of several next
// hops away from devices that announce the same as before: then its routes have to be computed.
func (w *worker) changesMore(class int) bool {
	n := w.n
	for _, l := range w.links {
		d := n.Links[l].From
		if d == w.gone || !n.Has(n.Classes[class].Next, l) {
			continue
		}
		w.buffer = append(w.buffer[:0], n.Words(n.Classes[class].Next, d)...)
		left := w.buffer
		first, end := n.LinksFrom(d)
		for out := first; out < end; out++ {
			if w.down[out] {
				left[(out-first)/64] &^= 1 << ((out - first) % 64)
			}
		}
		if w.computer.Without(d, left, w.announce[class]) != w.announce[class][d] {
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

// mix adds the next hops of before to row, except links that are down.
func (w *worker) mix(row, before ethernet.Row) {
	for i, bits := range before {
		row[i] |= bits
	}
	for _, l := range w.links {
		w.n.Remove(row, l)
	}
}

// after is the network with all that the failure at hand changed: w.changes, and no next hops by links that are down.
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
