package dependencies

import (
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/waits"
)

// Union judges one set of priorities and rules under many routes together, such as those of all failures for which
// weft priorities makes rules: if the dependencies of all of them have no circle, the rules are safe under each.
// Callers Add the routes and ask once whether the union is Free. It is for one goroutine.
type Union struct {
	n       *ethernet.Network
	sources []ethernet.DeviceID
	d       *Graph
	w       *walk
	rows    map[int][]ethernet.Row // by class of outer headers: the next hops that it has, and those that Add was given

	plain  bool     // packets keep their mark, and are not wrapped: those of all marks go the same ways
	next   []uint64 // as Graph.next of each mark, where plain
	spread spread   // where plain
}

// NewUnion is a union without routes.
func NewUnion(n *ethernet.Network, scope ethernet.Scope) *Union {
	d := newGraph(n)
	u := &Union{n: n, sources: Sources(n, scope), d: d, w: newWalk(d), rows: map[int][]ethernet.Row{}}
	for i := range n.Classes {
		for _, t := range n.Classes[i].Tunnels {
			u.rows[t.Into] = []ethernet.Row{n.Classes[t.Into].Next}
		}
	}
	u.plain = len(u.rows) == 0
	for at := range ethernet.DeviceID(len(n.Names)) {
		u.plain = u.plain && !n.Priorities.Rules.Changes(at)
	}
	if u.plain {
		u.next, u.spread = make([]uint64, d.first[len(n.Links)]), newSpread(n, u.sources)
	}
	return u
}

// Add adds the dependencies of packets of a class by some next hops, inside tunnels too.
func (u *Union) Add(class int, next ethernet.Row) {
	if u.plain {
		u.follow(next)
		return
	}
	u.w.class(class, next, u.sources)
	if rows := u.rows[class]; rows != nil {
		u.rows[class] = append(rows, slices.Clone(next))
	}
}

// follow is Add where packets keep their mark.
func (u *Union) follow(next ethernet.Row) {
	u.spread.links(next, func(link ethernet.LinkID, to ethernet.DeviceID) {
		u.d.carry[link] |= u.n.Priorities.Start
		for k, bits := range u.n.Words(next, to) {
			u.next[int(u.d.first[link])+k] |= bits
		}
	})
}

// AddAstray adds the dependencies of packets of a class that up to so many devices on their way (bounces) send by a
// link that is not a next hop. From there they go on by next hops, and never straight back. Tunnels are not followed.
func (u *Union) AddAstray(class int, bounces int) {
	type place struct {
		link    ethernet.LinkID
		mark    uint8
		bounced int
	}
	n := u.n
	c := &n.Classes[class]
	seen := map[place]bool{}
	var queue []place
	reach := func(p place) {
		if !seen[p] {
			seen[p] = true
			queue = append(queue, p)
		}
	}
	// ways visits the links that a device may send packets by, with how often they have bounced then; back is the
	// link straight back, None for hosts.
	ways := func(at ethernet.DeviceID, back ethernet.LinkID, bounced int, visit func(out ethernet.LinkID, bounced int)) {
		for out, end := n.LinksFrom(at); out < end; out++ {
			switch {
			case out == back:
			case n.Has(c.Next, out):
				visit(out, bounced)
			case bounced < bounces && !c.Leaves(at):
				visit(out, bounced+1)
			}
		}
	}
	for _, at := range u.sources {
		ways(at, ethernet.None, 0, func(out ethernet.LinkID, bounced int) {
			for m := n.Priorities.Start; m != 0; m &= m - 1 {
				reach(place{out, n.Priorities.Rules.Becomes(ethernet.None, out, uint8(bits.TrailingZeros64(m))), bounced})
			}
		})
	}
	for ; len(queue) > 0; queue = queue[1:] {
		p := queue[0]
		u.d.carry[p.link] |= 1 << p.mark
		at := n.Links[p.link].To
		first, _ := n.LinksFrom(at)
		ways(at, n.Reverse[p.link], p.bounced, func(out ethernet.LinkID, bounced int) {
			i := int(out - first)
			u.d.next[p.mark][int(u.d.first[p.link])+i/64] |= 1 << (i % 64)
			reach(place{out, n.Priorities.Rules.Becomes(p.link, out, p.mark), bounced})
		})
	}
}

// Free reports whether what was added has no circle, and how many dependencies it has. It comes after the last Add: only now
// are packets followed in tunnels.
func (u *Union) Free() (free bool, dependencies int) {
	for _, class := range outerClasses(u.w.entries) {
		for _, next := range u.rows[class] {
			u.w.tunnelled(class, next, u.w.entries)
		}
	}
	for m := u.n.Priorities.Start; u.plain && m != 0; m &= m - 1 {
		ofMark := u.d.next[bits.TrailingZeros64(m)]
		for i, word := range u.next {
			ofMark[i] |= word
		}
	}
	u.d.order()
	_, free = waits.Rank(len(u.n.Links)*u.d.Lanes, u.d.Successors)
	return free, u.d.Count()
}
