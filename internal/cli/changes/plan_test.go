package changes

import (
	"strings"
	"testing"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Only the number of lanes is another, whatever else tables have.
func TestWithLanesNeeded(t *testing.T) {
	was := &routing.Tables{Forwarding: &routing.Forwarding{}, Lanes: &routing.Lanes{Needed: 1}, Groups: &routing.Groups{}, Multicast: &routing.Multicast{}}
	now := *withLanesNeeded(was, &deadlock.Verdict{VLs: 3, Contract: routing.Honored})
	if now.Lanes.Needed != 3 || was.Lanes.Needed != 1 {
		t.Fatalf("%d lanes are needed and %d were; want 3 and 1", now.Lanes.Needed, was.Lanes.Needed)
	}
	if now.Lanes = was.Lanes; now != *was {
		t.Errorf("%+v, want all else as in %+v", now, *was)
	}
}

// Where clients may use any service level, one lane is enough, unless packets change lanes on their way, by the ports
// that they pass or the lanes on which they come, or have other paths on other service levels.
func TestLanesNeededOfAny(t *testing.T) {
	whole := testnet.Build(t, "torus:3x3")
	gone := whole.Channel(0)
	f, err := whole.Without([]fabric.ChannelID{0}, nil)
	if err != nil {
		t.Fatal(err)
	}
	in := f.Channel(0)
	tables := func(change func(*routing.SL2VL)) *routing.Tables {
		m := routing.LanePerSL(3).PerPort(f)
		change(m)
		return &routing.Tables{Fabric: f, Lanes: routing.OneSL(f, m)}
	}
	turns := tables(func(m *routing.SL2VL) {
		for out := range f.Node(in.To).Ports + 1 {
			m.SetMap(in.To, in.ToPort, uint8(out), [routing.SLs]uint8{1, 2})
		}
	})
	nobody := tables(func(m *routing.SL2VL) {
		for out := range f.Node(gone.To).Ports + 1 {
			m.SetMap(gone.To, gone.ToPort, uint8(out), [routing.SLs]uint8{1, 2})
		}
	})
	spread := &routing.Tables{Fabric: f, Lanes: routing.OneSL(f, routing.LanePerSL(3))}
	byLane := tables(func(m *routing.SL2VL) { m.SetByLane(in.To, 1) })
	v := &deadlock.Verdict{VLs: 3, Contract: routing.Any}
	for i, x := range []struct {
		tables *routing.Tables
		want   int
	}{{spread, 1}, {tables(func(*routing.SL2VL) {}), 1}, {nobody, 1}, {turns, 3}, {byLane, 3}} {
		if got := withLanesNeeded(x.tables, v).Lanes.Needed; got != x.want {
			t.Errorf("case %d: %d lanes are needed, want %d", i, got, x.want)
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
