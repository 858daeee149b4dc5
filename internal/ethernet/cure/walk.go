package cure

import (
	"cmp"
	"context"
	"maps"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/ethernet"
)

// walker follows packets of all classes over all paths that must be served, turn by turn: first to weigh the turns, then
// for each plan to find the levels at which they are taken.
type walker struct {
	*turns
	plan    *plan // whose levels are looked for
	o       Options
	from    []ethernet.DeviceID // where hosts send
	bounces int                 // of the walk under way
	seen    [][]uint8           // [bounces][LinkID] levels at which packets were there, as bits
	stack   []position
	links   []position      // with something in seen
	entries map[entry]uint8 // levels of packets that came to tunnels, as bits
	order   []entry         // those in entries, always in the same order
}

// entry is where packets are wrapped: the device of a tunnel, which they come to by a link, None for hosts.
type entry struct {
	tunnel ethernet.Tunnel
	in     ethernet.LinkID
}

// position is packets on a link that bounced some times and are at a level. The link is None where they are sent.
type position struct {
	link           ethernet.LinkID
	bounces, level uint8
}

func newWalker(t *turns, o Options) *walker {
	w := &walker{turns: t, o: o}
	at := make([]bool, len(t.n.Names))
	for _, s := range t.n.Senders(ethernet.HostScope) {
		for _, d := range s.At {
			at[d] = true
		}
	}
	for d, yes := range at {
		if yes {
			w.from = append(w.from, ethernet.DeviceID(d))
		}
	}
	for range o.Bounces + 1 {
		w.seen = append(w.seen, make([]uint8, len(t.n.Links)))
	}
	return w
}

// all follows every class, as it is and after failures, and gives every turn to visit, with the
// level of the packets; visit says at which level they go on. Packets in tunnels come last: those that entered by any
// next hops, as they are or after failures, are followed by each set of next hops of the outer header's class.
func (w *walker) all(ctx context.Context, visit func(turn int32, level uint8) uint8) error {
	w.entries = map[entry]uint8{}
	if err := w.everyClass(ctx, func(class int, next ethernet.Row) { w.class(class, next, w.o.Bounces, visit) }); err != nil || len(w.entries) == 0 {
		return err
	}
	w.order = slices.SortedFunc(maps.Keys(w.entries), func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.in, b.in), cmp.Compare(a.tunnel.Device, b.tunnel.Device), cmp.Compare(a.tunnel.Into, b.tunnel.Into), cmp.Compare(a.tunnel.Map, b.tunnel.Map))
	})
	follow := func(class int, next ethernet.Row) {
		if slices.ContainsFunc(w.order, func(e entry) bool { return e.tunnel.Into == class }) {
			w.tunnelled(class, next, visit)
		}
	}
	for class := range w.n.Classes {
		follow(class, w.n.Classes[class].Next)
	}
	return cmp.Or(w.after(follow), ctx.Err())
}

// after visits the next hops after failures, if the options have some.
func (w *walker) after(visit func(class int, next ethernet.Row)) error {
	if w.o.After == nil {
		return nil
	}
	return w.o.After(visit)
}

// class follows the packets of a class by some next hops from where they are sent; at up to so many devices they bounce.
func (w *walker) class(class int, next ethernet.Row, bounces int, visit func(int32, uint8) uint8) {
	w.begin(bounces)
	for _, at := range w.from {
		w.arrive(class, next, position{link: ethernet.None}, at, visit)
	}
	w.run(class, next, visit)
}

// tunnelled follows the packets whose outer header is of a class, from where they are wrapped.
func (w *walker) tunnelled(class int, next ethernet.Row, visit func(int32, uint8) uint8) {
	w.begin(0)
	for _, e := range w.order {
		if e.tunnel.Into != class {
			continue
		}
		for levels := w.entries[e]; levels != 0; levels &= levels - 1 {
			w.arrive(class, next, position{link: e.in, level: uint8(bits.TrailingZeros8(levels))}, e.tunnel.Device, visit)
		}
	}
	w.run(class, next, visit)
}

// begin forgets what was seen of the class before.
func (w *walker) begin(bounces int) {
	w.bounces = bounces
	for _, at := range w.links {
		w.seen[at.bounces][at.link] = 0
	}
	w.links = w.links[:0]
}

// run follows what is on the stack until nothing is new.
func (w *walker) run(class int, next ethernet.Row, visit func(int32, uint8) uint8) {
	for len(w.stack) > 0 {
		p := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		w.arrive(class, next, p, w.n.Links[p.link].To, visit)
	}
}

// arrive sends packets that came to a device in a position on, by every link that they may leave by, and notes them in
// w.entries if the device may wrap them.
func (w *walker) arrive(class int, next ethernet.Row, p position, at ethernet.DeviceID, visit func(int32, uint8) uint8) {
	w.out(class, next, p.link, at, p.bounces, func(out ethernet.LinkID, bounced uint8) {
		level := p.level
		if p.link != ethernet.None {
			level = visit(w.of(p.link, out), level)
		}
		w.enter(position{link: out, bounces: bounced, level: level})
	})
	for _, t := range w.n.Classes[class].Tunnels {
		if t.Device == at {
			w.entries[entry{t, p.link}] |= 1 << p.level
		}
	}
}

// out visits the links by which packets that came by one (None: from hosts) may go on, with how often they have bounced
// then: by next hops, and by any other link except straight back, if they may bounce once more.
func (w *walker) out(class int, next ethernet.Row, in ethernet.LinkID, at ethernet.DeviceID, bounced uint8, visit func(ethernet.LinkID, uint8)) {
	n := w.n
	back := ethernet.LinkID(ethernet.None)
	if in != ethernet.None {
		back = n.Reverse[in]
	}
	n.Each(n.Words(next, at), at, func(out ethernet.LinkID) {
		if out != back || w.bounces == 0 {
			visit(out, bounced)
		}
	})
	if int(bounced) == w.bounces || n.Classes[class].Leaves(at) {
		return
	}
	for out, end := n.LinksFrom(at); out < end; out++ {
		if out != back && !n.Has(next, out) {
			visit(out, bounced+1)
		}
	}
}

// enter puts packets in a position on the stack, unless they were seen in it.
func (w *walker) enter(p position) {
	seen := &w.seen[p.bounces][p.link]
	if *seen>>p.level&1 == 1 {
		return
	}
	if *seen == 0 {
		w.links = append(w.links, p)
	}
	*seen |= 1 << p.level
	w.stack = append(w.stack, p)
}

// collect is the visit of weigh: it counts how often packets take a turn, with all packets at level 0.
func (w *walker) collect(turn int32, _ uint8) uint8 {
	w.weight[turn]++
	return 0
}

// topLevel is the highest level that is told apart, as levels are bits of a uint8; packets that would rise further stay there.
const topLevel = 7

// assign is the visit of levels: it notes at which level packets take a turn, and lets them rise where the plan says so.
func (w *walker) assign(turn int32, level uint8) uint8 {
	p := w.plan
	p.used[turn] |= 1 << level
	if p.raises(turn) && level < topLevel {
		level++
	}
	p.needed = max(p.needed, int(level)+1)
	return level
}
