package bgp

import (
	"github.com/weft-fabric/weft/ethernet"
)

// Computer computes routes by a plan, class by class. It is for one goroutine.
type Computer struct {
	*Plan
	distance []int32             // [DeviceID] hops to where packets leave; -1: no route
	parent   []ethernet.DeviceID // [DeviceID] neighbor whose path is announced; None at the end
	settled  []bool              // [DeviceID] reached by links that lead down only, of UpDown
	queue    []ethernet.DeviceID // devices with a route, in the order in which they got it
	pin      *Pin                // whose communities decide who announces it to whom; nil: everybody to all
	pinned   ethernet.Row        // of Over: next hops of a pin, where it is known
	Announce []uint64            // [DeviceID] stands for the AS path that it announces; 0: none
}

// NewComputer is a Computer with memory for one class at a time; use one on each core.
func NewComputer(p *Plan) *Computer {
	n := len(p.Cabling.Names)
	return &Computer{Plan: p, distance: make([]int32, n), parent: make([]ethernet.DeviceID, n), settled: make([]bool, n), Announce: make([]uint64, n)}
}

// Row computes the next hops of a class whose packets leave at the devices at, without the
// links that are down, [LinkID]. It writes them into row, and what devices announce then into Announce.
func (c *Computer) Row(at []ethernet.DeviceID, down []bool, row ethernet.Row) {
	clear(row)
	for d := range c.distance {
		c.distance[d], c.parent[d], c.settled[d], c.Announce[d] = -1, ethernet.None, false, 0
	}
	c.queue = c.queue[:0]
	for _, d := range at {
		c.distance[d] = 0
		c.Announce[d] = c.path(ethernet.None, d)
		c.queue = append(c.queue, d)
	}
	if c.Protocol == UpDown {
		c.upDown(down, row)
		return
	}
	// Level by level: the devices of a level all have their routes before the next is looked at.
	for first := 0; first < len(c.queue); {
		end := len(c.queue)
		for _, d := range c.queue[first:end] {
			c.offer(d, down, row)
		}
		for _, d := range c.queue[end:] {
			c.Announce[d] = c.path(c.parent[d], d)
		}
		first = end
	}
}

// offer announces the path of a device to its neighbors, of which those take it that have none shorter.
func (c *Computer) offer(d ethernet.DeviceID, down []bool, row ethernet.Row) {
	for l, end := c.Cabling.LinksFrom(d); l < end; l++ {
		to := c.Cabling.Links[l].To
		if down[l] || c.distance[to] >= 0 && c.distance[to] != c.distance[d]+1 {
			continue
		}
		if c.pin != nil && !c.announces(c.pin, d, to) || !c.accepts(to, d) {
			continue
		}
		if c.distance[to] < 0 {
			c.distance[to] = c.distance[d] + 1
			c.parent[to] = d
			c.queue = append(c.queue, to)
		}
		c.parent[to] = min(c.parent[to], d)
		c.Cabling.Add(row, c.Cabling.Reverse[l])
	}
}

// accepts reports whether a device takes the path that another announces: not if its own AS is on it, or too often.
func (c *Computer) accepts(to, from ethernet.DeviceID) bool {
	if c.Protocol != BGP || c.unique {
		return true
	}
	left := c.own(to) // times that its AS may still occur
	for d := from; d != ethernet.None && left >= 0; d = c.parent[d] {
		if c.AS[d] == c.AS[to] {
			left--
		}
	}
	return left >= 0
}

// path is a number for the AS path that a device d announces, which it has from the neighbor before (None: packets leave at d): equal
// for equal paths. With an AS for each device only the length counts, because a device on a path has a shorter one.
func (c *Computer) path(before, d ethernet.DeviceID) uint64 {
	if c.Protocol != BGP || c.unique {
		return uint64(c.distance[d]) + 1
	}
	h := uint64(1)
	if before != ethernet.None {
		h = c.Announce[before]
	}
	h = (h ^ uint64(c.AS[d])) * 0x9E3779B97F4A7C15
	return h ^ h>>29 | 1
}

// Without is the Announce of a device d if next hops are taken away from it: 0 if none is left. next is the words of
// the device that are left, and announce the Announce of all devices before.
func (c *Computer) Without(d ethernet.DeviceID, next []uint64, announce []uint64) uint64 {
	lowest := ethernet.DeviceID(ethernet.None)
	c.Cabling.Each(next, d, func(l ethernet.LinkID) {
		if to := c.Cabling.Links[l].To; lowest == ethernet.None || to < lowest {
			lowest = to
		}
	})
	switch {
	case lowest == ethernet.None:
		return 0
	case c.Protocol != BGP || c.unique:
		return announce[d]
	}
	h := (announce[lowest] ^ uint64(c.AS[d])) * 0x9E3779B97F4A7C15
	return h ^ h>>29 | 1
}

// up reports whether a link leads away from the leaves; of two devices at one level the one
// with the higher number is above.
func (c *Computer) up(l ethernet.LinkID) bool {
	link := c.Cabling.Links[l]
	a, b := c.level[link.From], c.level[link.To]
	return a < b || a == b && link.From < link.To
}

// upDown computes next hops that lead down wherever links that lead down suffice, and up
// elsewhere.
func (c *Computer) upDown(down []bool, row ethernet.Row) {
	for i := 0; i < len(c.queue); i++ { // backwards over links that lead down
		c.settled[c.queue[i]] = true
		c.extend(c.queue[i], down, row, func(back ethernet.LinkID) bool { return !c.up(back) })
	}
	// Then up: a device whose links down do not suffice goes up by the shortest way. The
	// settled ones are at different distances, so all are served in the order of distance.
	buckets := [][]ethernet.DeviceID{}
	place := func(d ethernet.DeviceID) { // into the bucket of its distance
		for int(c.distance[d]) >= len(buckets) {
			buckets = append(buckets, nil)
		}
		buckets[c.distance[d]] = append(buckets[c.distance[d]], d)
	}
	for _, d := range c.queue {
		place(d)
	}
	for i := 0; i < len(buckets); i++ {
		for _, d := range buckets[i] {
			before := len(c.queue)
			c.extend(d, down, row, c.up)
			for _, fresh := range c.queue[before:] {
				place(fresh)
			}
		}
	}
	for d, distance := range c.distance {
		c.Announce[d] = uint64(distance + 1)
	}
}

// extend makes a device the next hop of neighbors that have no shorter way, over those of their links to it that suit, and puts into
// c.queue the neighbors that had no route.
func (c *Computer) extend(d ethernet.DeviceID, down []bool, row ethernet.Row, suits func(ethernet.LinkID) bool) {
	for l, end := c.Cabling.LinksFrom(d); l < end; l++ {
		back := c.Cabling.Reverse[l]
		to := c.Cabling.Links[l].To
		if down[l] || !suits(back) || c.distance[to] >= 0 && (c.distance[to] != c.distance[d]+1 || c.settled[to]) {
			continue
		}
		if c.distance[to] < 0 {
			c.distance[to] = c.distance[d] + 1
			c.queue = append(c.queue, to)
		}
		c.Cabling.Add(row, back)
	}
}
