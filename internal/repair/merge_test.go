package repair_test

import (
	"slices"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// planes is a network in which two groups share one plane of spines, with weave-any's tables; a
// cable between a leaf and such a plane is a failure for which others make way.
const planes = "planes:ports=8,groups=3,leaves=3,on=2,tails=2,trunk=2"

// without is tables as they act without a cable.
func without(t *testing.T, was *routing.Tables, c fabric.ChannelID) *routing.Tables {
	t.Helper()
	live, err := was.Fabric.Without([]fabric.ChannelID{c}, nil)
	if err != nil {
		t.Fatal(err)
	}
	before, err := transition.On(live, was, nil)
	if err != nil {
		t.Fatal(err)
	}
	return before
}

// eachCable calls a function for each cable between two switches, with the tables as they act
// without it.
func eachCable(t *testing.T, was *routing.Tables, do func(cable string, before *routing.Tables)) {
	t.Helper()
	f := was.Fabric
	for c := range fabric.ChannelID(f.Trunks()) {
		if f.Channel(c).Reverse < c {
			continue
		}
		do(f.Label(f.Channel(c).From)+" – "+f.Label(f.Channel(c).To), without(t, was, c))
	}
}

// No two steps of a plan that others make way in could be one, in the judge's opinion.
func TestStepsAreMerged(t *testing.T) {
	testnet.OnlyWhole(t)
	was, contract := route(t, testnet.Build(t, planes), "weave-any")
	rebuilt := 0
	eachCable(t, was, func(cable string, before *routing.Tables) {
		plan, err := repair.Mend(t.Context(), before, was, repair.Options{Contract: contract})
		if err != nil || len(plan.Left) > 0 {
			t.Fatalf("%s: %v, %v left", cable, err, plan.Left)
		}
		if !slices.ContainsFunc(plan.Steps, func(s repair.Step) bool { return s.Rebuilt }) {
			return
		}
		rebuilt++
		for i, s := range plan.Steps[1:] {
			v, err := transition.Verify(t.Context(), before, s.Tables, deadlock.Options{Contract: contract, Scope: routing.All})
			if err != nil {
				t.Fatal(err)
			}
			hosts, err := transition.Verify(t.Context(), before, s.Tables, deadlock.Options{Contract: contract})
			if err != nil {
				t.Fatal(err)
			}
			if hosts.Free() && v.Circles == 0 && hosts.Exposed == 0 {
				t.Errorf("%s: steps %d and %d of %d could be one", cable, i+1, i+2, len(plan.Steps))
			}
			before = plan.Steps[i].Tables
		}
		if len(plan.Steps) > 3 {
			t.Errorf("%s: %d steps", cable, len(plan.Steps))
		}
	})
	if rebuilt < 5 {
		t.Errorf("others make way for %d cables: too few to say anything", rebuilt)
	}
}
