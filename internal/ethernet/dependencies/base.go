package dependencies

import (
	"context"
	"errors"
	"slices"

	"github.com/weft-fabric/weft/ethernet"
)

// Base is a network whose dependencies are kept, so that changes to a few of its classes, such as those that a
// failure makes, are judged quickly. Priorities must be the same on all links, without rules and tunnels.
type Base struct {
	n       *ethernet.Network // with one mark only
	sources []ethernet.DeviceID
	d       *Graph
	free    bool
}

// ErrWhole says that a network cannot be a base, because devices change marks or wrap packets, or
// because its links have different priorities: every change of it is judged as a network of its own.
var ErrWhole = errors.New("changes of this network are judged one by one")

// NewBase judges a network as a base.
func NewBase(ctx context.Context, n *ethernet.Network, scope ethernet.Scope) (*Base, error) {
	if n.Priorities.Rules != nil || len(n.TunnelMaps) > 0 {
		return nil, ErrWhole
	}
	for m := range n.Priorities.Marks {
		for l := range n.Links {
			if n.Priorities.Of(uint8(m), ethernet.LinkID(l)) != n.Priorities.Of(uint8(m), 0) {
				return nil, ErrWhole
			}
		}
	}
	single := *n // every lossless priority has the same dependencies, so one of them tells
	single.Priorities = ethernet.Uniform(n.Cabling, []uint8{0})
	d, err := Of(ctx, &single, scope)
	if err != nil {
		return nil, err
	}
	b := &Base{n: &single, sources: Sources(n, scope), d: d}
	b.free = b.Checker().acyclic()
	return b, nil
}

// Free reports whether the network is free of deadlock as it is.
func (b *Base) Free() bool { return b.free }

// Change is the next hops of a class in place of those that it had.
type Change struct {
	Class int
	Next  ethernet.Row
}

// Checker judges changes of a base, one after the other. It is for one goroutine.
type Checker struct {
	b       *Base
	next    []uint64 // as Graph.next of the only mark, with what the last changes added
	touched []int32  // words of next that differ from the base
	spread  spread

	done, open ethernet.Row      // of acyclic: links from which no circle can be reached, and those on the stack
	stack      []ethernet.LinkID // links that wait for each other, each for the one after it
}

// Checker makes a Checker with memory of its own, so that several work on one base at a time.
func (b *Base) Checker() *Checker {
	return &Checker{
		b: b, next: slices.Clone(b.d.next[0]), spread: newSpread(b.n, b.sources),
		done: b.n.NewRow(), open: b.n.NewRow(),
	}
}

// Suffices reports whether the base with changes added is free of deadlock. If classes that are not
// among the changes lost next hops, they count with those that they had; so true is a proof and
// false calls for a full verdict.
func (c *Checker) Suffices(changes []Change) bool {
	for _, w := range c.touched {
		c.next[w] = c.b.d.next[0][w]
	}
	c.touched = c.touched[:0]
	for i := range changes {
		if Within(changes[i].Next, c.b.n.Classes[changes[i].Class].Next) {
			continue // it adds nothing
		}
		c.follow(changes[i].Next)
	}
	if len(c.touched) == 0 {
		return c.b.free
	}
	return c.acyclic()
}

// Within reports whether all links of a row, or of the words of one device in it, are in another.
func Within(r, of ethernet.Row) bool {
	for i, word := range r {
		if word&^of[i] != 0 {
			return false
		}
	}
	return true
}

// follow adds to c.next the dependencies of packets that go by the next hops of a row from all senders.
func (c *Checker) follow(row ethernet.Row) {
	n, d := c.b.n, c.b.d
	c.spread.links(row, func(link ethernet.LinkID, to ethernet.DeviceID) {
		for k, bits := range n.Words(row, to) {
			w := d.first[link] + int32(k)
			if bits&^c.next[w] != 0 {
				c.next[w] |= bits
				c.touched = append(c.touched, w)
			}
		}
	})
}

// acyclic reports whether the dependencies of c.next have no circle: a depth-first search that looks at the
// links of a device 64 at a time.
func (c *Checker) acyclic() bool {
	n, first := c.b.n, c.b.d.first
	clear(c.done)
	clear(c.open)
	for root := range ethernet.LinkID(len(n.Links)) {
		if n.Has(c.done, root) {
			continue
		}
		c.stack = append(c.stack[:0], root)
		n.Add(c.open, root)
		for len(c.stack) > 0 {
			l := c.stack[len(c.stack)-1]
			to := n.Links[l].To
			out := c.next[first[l]:first[l+1]]
			done, open := n.Words(c.done, to), n.Words(c.open, to)
			deeper := ethernet.LinkID(ethernet.None)
			for k, w := range out {
				if w&open[k] != 0 {
					return false
				}
				if fresh := w &^ done[k]; fresh != 0 {
					deeper = n.FirstOf(to, k, fresh)
					break
				}
			}
			if deeper == ethernet.None {
				c.stack = c.stack[:len(c.stack)-1]
				n.Remove(c.open, l)
				n.Add(c.done, l)
				continue
			}
			c.stack = append(c.stack, deeper)
			n.Add(c.open, deeper)
		}
	}
	return true
}
