package hops_test

import (
	"math/rand/v2"
	"testing"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/ethernet/hops"
	"github.com/weft-fabric/weft/internal/ethernet/testcables"
)

// least is the distance that a device has by its links: one more than the nearest of those they lead to.
func least(n *ethernet.Network, distance []int32, d ethernet.DeviceID, takes func(l ethernet.LinkID) bool) int32 {
	least := int32(-1)
	for l, end := n.LinksFrom(d); l < end; l++ {
		if near := distance[n.Links[l].To]; near >= 0 && takes(l) && (least < 0 || near < least) {
			least = near
		}
	}
	if least < 0 {
		return least
	}
	return least + 1
}

// Devices are at distance 0, or one link farther than the nearest device to which they have one; those in
// one part reach each other.
func TestDistancesAndParts(t *testing.T) {
	unreached, several := 0, 0
	for seed := range uint64(300) {
		n := testcables.Network(t, rand.New(rand.NewPCG(seed, 1)))
		class := &n.Classes[0]
		begins := map[ethernet.DeviceID]bool{}
		for _, d := range class.At {
			begins[d] = true
		}
		cables, routes := hops.From(n.Cabling, class.At, nil), hops.To(n, class)
		part, count := hops.Parts(n.Cabling, nil)
		if count > 1 {
			several++
		}
		among, _ := hops.Parts(n.Cabling, func(d ethernet.DeviceID) bool { return !begins[d] })
		for d := range ethernet.DeviceID(len(n.Names)) {
			byCables, byRoutes := int32(0), int32(0)
			if !begins[d] {
				byCables = least(n, cables, d, func(ethernet.LinkID) bool { return true })
				byRoutes = least(n, routes, d, func(l ethernet.LinkID) bool { return n.Has(class.Next, l) })
			}
			if cables[d] != byCables || routes[d] != byRoutes {
				t.Errorf("seed %d, device %d: %d hops by cables and %d by routes, its neighbors say %d and %d", seed, d, cables[d], routes[d], byCables, byRoutes)
			}
			if routes[d] < 0 {
				unreached++
			}
			for e, from := range hops.From(n.Cabling, []ethernet.DeviceID{d}, nil) {
				if (part[d] == part[e]) != (from >= 0) || int(part[e]) >= count {
					t.Errorf("seed %d: devices %d and %d, %d hops apart, are in parts %d and %d of %d", seed, d, e, from, part[d], part[e], count)
				}
			}
			if (among[d] < 0) != begins[d] {
				t.Errorf("seed %d: device %d is in part %d without the devices at %v", seed, d, among[d], class.At)
			}
		}
		for _, l := range n.Links {
			if !begins[l.From] && !begins[l.To] && among[l.From] != among[l.To] {
				t.Errorf("seed %d: a link joins parts %d and %d", seed, among[l.From], among[l.To])
			}
		}
	}
	if unreached == 0 || several == 0 {
		t.Errorf("%d devices without a route, %d networks in several parts: the networks test too little", unreached, several)
	}
}
