package minhop_test

import (
	"context"
	"errors"
	"testing"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/paths/minhop"
)

// Each leaf of a fat tree sends as many hosts up by one port as by another, and
// the routes are spread evenly over all trunks.
func TestBalancesEachSwitch(t *testing.T) {
	for _, spec := range []string{"karytree:k=4,n=2", "karytree:k=3,n=3"} {
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
		if l := congestion.Count(f, fw, routing.HCA); float64(l.Max) > 2*float64(l.Hops)/float64(f.Trunks()) {
			t.Errorf("%s: a trunk carries %d routes, the mean is %d", spec, l.Max, l.Hops/int64(f.Trunks()))
		}
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
