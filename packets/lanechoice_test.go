package packets

import (
	"context"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// On a path open on three lanes the source takes each for a third of the packets; left to
// the switch, which takes the lane with most credits, the first of equals, packets that
// meet no others all go by the first.
func TestLaneChoice(t *testing.T) {
	f := testnet.Build(t, "mesh:2")
	r := adaptive.SourceRoutes(f, 3, func(yield func([]fabric.ChannelID, uint16) bool) {
		for d := range fabric.NodeID(2) { // paths come by destination
			first, end := f.TrunksFrom(1 - d)
			if end-first != 1 {
				t.Fatal("more than a cable between the switches")
			}
			yield([]fabric.ChannelID{first}, 1<<3-1)
		}
	})
	for choice, least := range map[LaneChoice][3]float64{BySource: {0.27, 0.27, 0.27}, BySwitches: {0.85, 0, 0}} {
		c := mustPreset(t, "unit")
		c.LaneChoice = choice
		n, err := NewAdaptive(r, c)
		if err != nil {
			t.Fatal(err)
		}
		got, err := n.Measure(context.Background(), Injection{Offered: 0.1, Placement: routing.HCA.Endpoints(f), Seed: 1}, Window{Length: 200_000})
		if err != nil {
			t.Fatal(err)
		}
		first, _ := f.TrunksFrom(0)
		busy := got.Channels[int(first)*got.Lanes:][:got.Lanes]
		sum := busy[0].Busy + busy[1].Busy + busy[2].Busy
		for l := range busy {
			if share := busy[l].Busy / sum; share < least[l] {
				t.Errorf("choice %d: lane %d has %.2f of the packets, at least %.2f expected", choice, l, share, least[l])
			}
		}
	}
}

// Two hosts of a switch send to two of another, to which there are two ways, an address each. Where the
// sources draw, both often want the same: with queues at the inputs 3/4 of what the ways
// carry arrives, of two by two (M. J. Karol et al., IEEE Trans. Communications 35(12), 1987). Where their switch chooses,
// nothing is lost; and behind it packets keep to the address that goes with the way taken.
func TestFirstSwitch(t *testing.T) {
	f := testnet.Build(t, "ring:4,hosts=2")
	ways := func(yield func([]fabric.ChannelID, uint16) bool) {
		for d := range fabric.NodeID(4) { // paths come by destination
			for s := range fabric.NodeID(4) {
				for c, end := f.TrunksFrom(s); c < end; c++ {
					mid := f.Channel(c).To
					if mid == d {
						yield([]fabric.ChannelID{c}, 1)
					}
					for e, last := f.TrunksFrom(mid); e < last && !slices.Contains(f.Neighbours(s), d); e++ {
						if f.Channel(e).To == d && s != d {
							yield([]fabric.ChannelID{c, e}, 1)
						}
					}
				}
			}
		}
	}
	pairs := traffic.Pairs("two", 8, []traffic.Pair{{From: 0, To: 4}, {From: 1, To: 5}}) // from switch 0 to switch 2, by 1 or 3
	for firstSwitch, want := range map[bool][2]float64{false: {0.7, 0.8}, true: {0.98, 1}} {
		r := adaptive.SourceRoutes(f, 1, ways)
		r.FirstSwitch = firstSwitch
		n, err := NewAdaptive(r, mustPreset(t, "unit"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := n.Measure(t.Context(), Injection{Offered: 1, Pattern: pairs, Placement: routing.HCA.Endpoints(f), Seed: 1}, Window{Length: 100_000, WarmUp: 50_000})
		if err != nil {
			t.Fatal(err)
		}
		if got.Accepted < want[0] || got.Accepted > want[1] {
			t.Errorf("chosen by the first switch %t: %.3f of what is offered arrives, want %v", firstSwitch, got.Accepted, want)
		}
	}
}
