// Package hops says how far apart the devices of a lossless Ethernet network are, and which are joined
// at all.
package hops

import (
	"slices"

	"github.com/weft-fabric/weft/ethernet"
)

// From is how many links each device is from the nearest of some, [DeviceID]; -1: no way leads there.
// along says which links are taken, as they lead away from these; nil: all are.
func From(c *ethernet.Cabling, some []ethernet.DeviceID, along func(l ethernet.LinkID) bool) []int32 {
	distance := slices.Repeat([]int32{-1}, len(c.Names))
	for _, d := range some {
		distance[d] = 0
	}
	queue := slices.Clone(some)
	for i := 0; i < len(queue); i++ {
		for l, end := c.LinksFrom(queue[i]); l < end; l++ {
			if to := c.Links[l].To; distance[to] < 0 && (along == nil || along(l)) {
				distance[to] = distance[queue[i]] + 1
				queue = append(queue, to)
			}
		}
	}
	return distance
}

// To is how many links packets of a class take at least from each device, by its next hops,
// [DeviceID]; -1: they do not arrive.
func To(n *ethernet.Network, c *ethernet.Class) []int32 {
	return From(n.Cabling, c.At, func(l ethernet.LinkID) bool { return n.Has(c.Next, n.Reverse[l]) })
}

// Parts numbers the parts that links join, [DeviceID], among devices that within admits; nil: all.
// -1: it is not among them.
func Parts(c *ethernet.Cabling, within func(d ethernet.DeviceID) bool) (part []int32, count int) {
	part = slices.Repeat([]int32{-1}, len(c.Names))
	for d := range ethernet.DeviceID(len(part)) {
		if part[d] >= 0 || within != nil && !within(d) {
			continue
		}
		part[d] = int32(count)
		for queue := []ethernet.DeviceID{d}; len(queue) > 0; queue = queue[1:] {
			for l, end := c.LinksFrom(queue[0]); l < end; l++ {
				if to := c.Links[l].To; part[to] < 0 && (within == nil || within(to)) {
					part[to] = int32(count)
					queue = append(queue, to)
				}
			}
		}
		count++
	}
	return part, count
}
