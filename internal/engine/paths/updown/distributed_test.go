package updown

import (
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// The twin of Distributed is MultiRoot, which is told of everything: every switch comes
// to the same roots and the same tables by itself, in whatever order messages arrive.
func TestSwitchesAgreeWithWhoeverKnowsAll(t *testing.T) {
	for _, spec := range []string{
		"ring:5", "mesh:3x4,hosts=2", "torus:3x3", "random:switches=16,links=32,hosts=1,seed=1", "random:switches=24,links=30,hosts=2,seed=2",
		"kautz:b=2,n=3", "karytree:k=2,n=3", "mesh:1x1,hosts=3",
	} {
		for lmc := range uint8(3) {
			f, err := testnet.Build(t, spec).WithLMC(lmc)
			if err != nil {
				t.Fatal(err)
			}
			want, err := MultiRoot{}.Paths(t.Context(), f, nil)
			if err != nil {
				t.Fatal(err)
			}
			roots := farApart(f, f.Addresses())
			for seed := range uint64(4) {
				got, err := Distributed{seed}.Settle(t.Context(), f)
				if err != nil {
					t.Fatal(err)
				}
				for s := range got.Roots {
					if !slices.Equal(got.Roots[s], roots) {
						t.Fatalf("%s, LMC %d, seed %d: %s chooses roots %v, not %v", spec, lmc, seed, f.Label(fabric.NodeID(s)), got.Roots[s], roots)
					}
				}
				for lid := range f.LIDs() {
					if !slices.Equal(got.Forwarding.Row(lid), want.Row(lid)) {
						t.Fatalf("%s, LMC %d, seed %d, LID %d: ports %v, want %v", spec, lmc, seed, lid, got.Forwarding.Row(lid), want.Row(lid))
					}
				}
			}
		}
	}
}

// Where every message takes a round, the last switch has the whole network after as many as
// the diameter, and every record has crossed every cable, in one direction at least.
func TestRoundsAreTheDiameter(t *testing.T) {
	for _, spec := range []string{"ring:7", "mesh:3x5", "random:switches=20,links=40,hosts=1,seed=3", "karytree:k=3,n=2"} {
		f := testnet.Build(t, spec)
		diameter := int32(0)
		for s := range fabric.NodeID(f.Switches()) {
			diameter = max(diameter, slices.Max(f.Hops(s)))
		}
		got, err := Distributed{}.Settle(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		cables, switches := f.Trunks()/2, f.Switches()
		if got.Rounds != int(diameter) || got.Messages < switches*cables || got.Messages > switches*(2*cables-(switches-1)) {
			t.Errorf("%s: %d rounds for a diameter of %d, %d messages over %d cables", spec, got.Rounds, diameter, got.Messages, cables)
		}
	}
}

// A switch hears of its own part only, so a network in parts is refused.
func TestDistributedInParts(t *testing.T) {
	f := testnet.Build(t, "ring:4")
	var cables []fabric.ChannelID
	for c, end := f.TrunksFrom(0); c < end; c++ {
		cables = append(cables, c)
	}
	apart, err := f.Without(cables, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (Distributed{}).Settle(t.Context(), apart); !routing.Refused(err) {
		t.Errorf("in parts: %v, want a refusal", err)
	}
}
