package changes

import (
	"strings"
	"testing"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/routing"
)

// Only the number of lanes is another, whatever else tables have. Where clients may use any service level, one is enough.
func TestWithLanesNeeded(t *testing.T) {
	was := &routing.Tables{Forwarding: &routing.Forwarding{}, Lanes: &routing.Lanes{Needed: 1}, Groups: &routing.Groups{}, Multicast: &routing.Multicast{}}
	if any := withLanesNeeded(was, &deadlock.Verdict{VLs: 3, Contract: routing.Any}); any.Lanes.Needed != 1 {
		t.Errorf("%d lanes are needed, whatever clients do", any.Lanes.Needed)
	}
	now := *withLanesNeeded(was, &deadlock.Verdict{VLs: 3, Contract: routing.Honored})
	if now.Lanes.Needed != 3 || was.Lanes.Needed != 1 {
		t.Fatalf("%d lanes are needed and %d were; want 3 and 1", now.Lanes.Needed, was.Lanes.Needed)
	}
	if now.Lanes = was.Lanes; now != *was {
		t.Errorf("%+v, want all else as in %+v", now, *was)
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
