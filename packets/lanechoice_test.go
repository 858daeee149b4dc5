package packets

import (
	"context"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
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
