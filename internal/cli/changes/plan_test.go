package changes

import (
	"strings"
	"testing"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
)

// Of the lanes only the number needed is another, whatever else tables have: one where one is enough, though packets change
// lanes by the ports that they pass, else all that carry traffic.
func TestWithLanesNeeded(t *testing.T) {
	spare := routed.By(t, "torus:3x3", "updn")
	in := spare.Fabric.Channel(0)
	spare.Lanes.SL2VL = routing.LanePerSL(3).PerPort(spare.Fabric)
	for out := range spare.Fabric.Node(in.To).Ports + 1 {
		spare.Lanes.SL2VL.SetMap(in.To, in.ToPort, uint8(out), [routing.SLs]uint8{1, 2})
	}
	for want, was := range map[int]*routing.Tables{1: spare, 2: routed.By(t, "dragonfly:p=2", "dla")} {
		was.Groups, was.Lanes.Needed = routing.NewGroups(was.Fabric, 1), 5
		v := &deadlock.Verdict{VLs: 2, Certificate: &deadlock.Certificate{}}
		now, err := withLanesNeeded(t.Context(), was, v)
		if err != nil {
			t.Fatal(err)
		}
		if now.Lanes.Needed != want || was.Lanes.Needed != 5 {
			t.Fatalf("%d lanes are needed and %d were; want %d and 5", now.Lanes.Needed, was.Lanes.Needed, want)
		}
		if now.Lanes = was.Lanes; *now != *was {
			t.Errorf("%+v, want all else as in %+v", now, *was)
		}
	}
}

// A plan says that it counts on several service levels, which OpenSM does not give to clients by forwarding tables alone.
func TestLevelsText(t *testing.T) {
	several := &change.Proven{Steps: []change.Step{{Alone: &deadlock.Verdict{SLs: 1}}, {Alone: &deadlock.Verdict{SLs: 3}}}}
	one := &change.Proven{Steps: several.Steps[:1]}
	if got := levelsText(several, routing.Honored); !strings.Contains(got, "the 3 service levels of paths.psl") || !strings.Contains(got, "routing_engine file") {
		t.Errorf("%q", got)
	}
	for _, got := range []string{levelsText(several, routing.Any), levelsText(one, routing.Honored), levelsText(&change.Proven{}, routing.Honored)} {
		if got != "" {
			t.Errorf("%q where all service levels are alike", got)
		}
	}
}

// A step says what its entries are for, and names no kind of which it has none.
func TestMendedText(t *testing.T) {
	for want, s := range map[string]repair.Step{
		"1 entry for traffic":             {Mended: 1},
		"2 entries that no traffic needs": {Follow: 2},
		"2 entries for traffic and 1 that it does not need, 3 taken out for a step": {Mended: 2, Follow: 1, Drops: 3},
		"3 entries taken out for a step":                                            {Drops: 3},
	} {
		if got := mendedText(&change.Step{Step: s}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
