package outputs

import (
	"testing"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/internal/bandwidths"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
)

// A share of nothing is no share: tiers by which no flow went have none, nor has a tier that is gone.
func TestTiersWithoutFlows(t *testing.T) {
	t.Parallel()
	measured := func(flows ...congestion.TierFlows) *congestion.Result { return &congestion.Result{Tiers: flows} }
	c := &bandwidths.Changed{
		Before: measured(congestion.TierFlows{Flows: 2, Share: .5}, congestion.TierFlows{}),
		After:  measured(congestion.TierFlows{Flows: 1, Share: 1}),
		Tiers: [2]*congestion.TrunkTiers{
			{Levels: [][2]int{{1, 0}, {0, 1}}, Of: []int32{0, 1, 0, -1}},
			{Levels: [][2]int{{1, 0}}, Of: []int32{0}},
		},
	}
	all := tiersOf(c)
	if len(all) != 2 || all[0].From != 0 || all[0].Before != nil || all[0].After != nil || all[0].ChannelsBefore != 1 || all[0].ChannelsAfter != 0 {
		t.Fatalf("%+v", all)
	}
	if x := all[1]; x.Before == nil || *x.Before != .5 || x.After == nil || *x.After != 1 || x.ChannelsBefore != 2 || x.ChannelsAfter != 1 {
		t.Errorf("%+v", x)
	}
}

// Of fewer than two endpoints, before or after, there is no bandwidth.
func TestBandwidthsText(t *testing.T) {
	t.Parallel()
	b, none := .5, "there are fewer than two endpoints"
	for _, x := range []struct {
		result.Bandwidths
		want string
	}{
		{result.Bandwidths{}, none},
		{result.Bandwidths{Before: &b}, none},
		{result.Bandwidths{After: &b}, none},
		{result.Bandwidths{Before: &b, After: &b}, "0.500 of full before, 0.500 after, random pairs of the endpoints"},
	} {
		if got := BandwidthsText(&x.Bandwidths, "endpoints"); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}

// Switches where nothing changes are not listed.
func TestSwitchEntries(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "ring:n=3")
	if got := SwitchEntries(f, []int{0, 1, 0}); len(got) != 1 || got[0].Entries != 1 || got[0].Switch != Node(f, 1, 0) {
		t.Errorf("%+v", got)
	}
}
