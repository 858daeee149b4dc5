package minhop_test

import (
	"context"
	"errors"
	"testing"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/dumped"
	"github.com/weft-fabric/weft/internal/engine/paths/minhop"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// Each leaf of a fat tree sends as many hosts up by one port as by another. In a tree of
// two levels the routes are then spread evenly over all trunks; in one of three levels
// they are not, as OpenSM's are not.
func TestBalancesEachSwitch(t *testing.T) {
	for spec, most := range map[string]uint32{"karytree:k=4,n=2": 12, "karytree:k=3,n=3": 54} {
		f := testnet.Build(t, spec)
		fw, err := minhop.Finder{}.Paths(context.Background(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		for s := range fabric.NodeID(f.Switches()) {
			if len(f.Attached(s)) == 1 {
				continue
			}
			count := map[uint8]int{}
			first, end := f.TrunksFrom(s)
			for lid, e := range f.LIDs() {
				if ep := f.Endpoint(e); ep.Class == fabric.HostAdapter && ep.Switch != s {
					count[fw.Port(s, lid)]++
				}
			}
			most, least := 0, 1<<20
			for c := first; c < end; c++ {
				n := count[f.Channel(c).FromPort]
				most, least = max(most, n), min(least, n)
			}
			if most-least > 1 {
				t.Errorf("%s: %s sends %d hosts by one trunk, %d by another", spec, f.Label(s), most, least)
			}
		}
		if l := congestion.Count(f, fw, routing.HCA); l.Max != most {
			t.Errorf("%s: a trunk carries %d routes, not %d; the mean is %d", spec, l.Max, most, l.Hops/int64(f.Trunks()))
		}
	}
}

// A tree of two levels has the bandwidth that OpenSM's tables have on it, .819 ± .0004; the
// tables are the same (package e2e). By LIDs alone, without balance, it would be .69.
func TestBandwidthOfTwoLevels(t *testing.T) {
	f := testnet.Build(t, "xgft:m=24,w=12,hosts=12")
	fw, err := minhop.Finder{}.Paths(t.Context(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	bisect, err := traffic.Parse("bisect")
	if err != nil {
		t.Fatal(err)
	}
	tables := &routing.Tables{Fabric: f, Forwarding: fw, Lanes: routing.OneSL(f, routing.LanePerSL(1))}
	r, err := congestion.Simulate(t.Context(), tables, congestion.Options{
		Pattern: bisect, Placement: routing.HCA.Endpoints(f), UniformRates: true, Seed: 1, Runs: 1000,
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Lambda < .817 || r.Lambda > .821 {
		t.Errorf("bandwidth %.4f ± %.4f, OpenSM's tables have .819 ± .0004", r.Lambda, r.StdErr)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f, err := new(fabric.Builder).Build()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (minhop.Finder{}).Paths(ctx, f, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled, and the error is %v", err)
	}
}

// Real tables of OpenSM are these, entry by entry.
func TestIsOpenSMs(t *testing.T) {
	for table, name := range map[string]string{"dgx-minhop": "topograph-ndr-dgx-2025", "stage-minhop": "kalcher-stage-2014", "x5-minhop": "psmn-x5-2020"} {
		f := testnet.Dump(t, name)
		theirs := dumped.Tables(t, testnet.Corpus(t), table, f).Forwarding
		ours, err := minhop.Finder{}.Paths(context.Background(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		entries, differ := 0, 0
		for lid := range f.LIDs() {
			for s := range fabric.NodeID(f.Switches()) {
				entries++
				if ours.Port(s, lid) != theirs.Port(s, lid) {
					differ++
				}
			}
		}
		if differ > 0 {
			t.Errorf("%s: %d of %d entries differ", name, differ, entries)
		}
	}
}
