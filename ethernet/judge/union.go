package judge

import (
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/waits"
)

// Union judges one set of priorities and rules under many routes together: if nothing that
// packets do under any of them makes a circle with what they do under others, the rules
// are safe under each of them. It is for one goroutine.
type Union struct {
	n       *ethernet.Network
	sources []ethernet.DeviceID
	d       *dependencies
	w       *walk
	rows    map[int][]ethernet.Row // next hops of the classes of outer headers, besides those that they have

	plain  bool     // packets keep their mark, and are not wrapped: those of all marks go the same ways
	next   []uint64 // as dependencies.next of each mark, where plain
	spread spread   // where plain
}

// NewUnion is a union without routes.
func NewUnion(n *ethernet.Network, scope ethernet.Scope) *Union {
	d := newDependencies(n)
	u := &Union{n: n, sources: sources(n, scope), d: d, w: newWalk(d), rows: map[int][]ethernet.Row{}}
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

// Add adds what packets of a class do under some next hops, inside tunnels too.
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

// AddAstray adds what packets of a class do if up to so many devices send them by a link that is
// not a next hop. From there they go on by next hops, but never straight back. Tunnels are not followed.
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

// Free says whether there is no circle, with the number of dependencies; otherwise it gives the
// links of a shortest circle and their lanes.
func (u *Union) Free() (free bool, dependencies int, cycle []Step) {
	for _, class := range into(u.w.entries) {
		for _, next := range u.rows[class] {
			u.w.tunnelled(class, next, u.w.entries)
		}
	}
	for m := u.n.Priorities.Start; u.plain && m != 0; m &= m - 1 {
		of := u.d.next[bits.TrailingZeros64(m)]
		for i, words := range u.next {
			of[i] |= words
		}
	}
	u.d.order()
	rank, free := waits.Rank(len(u.n.Links)*u.d.lanes, u.d.successors)
	if !free {
		for _, v := range waits.ShortestCycle(rank, u.d.successors) {
			cycle = append(cycle, Step{Link: ethernet.LinkID(int(v) / u.d.lanes), Lane: int(v) % u.d.lanes, Class: ethernet.None, Tunnel: ethernet.None})
		}
	}
	return free, u.d.count(), cycle
}
