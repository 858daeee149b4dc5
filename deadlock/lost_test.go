package deadlock_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// TestLost lists the pairs without a route: some, the first few, or all, and they
// add up to those that are counted.
func TestLost(t *testing.T) {
	f := testnet.Ring(t, 30)
	fw := clockwise(f)
	for lid := range f.LIDs() {
		fw.Row(lid)[3] = routing.NoPort // a switch without a table
	}
	lists := map[int][]deadlock.Lost{}
	for limit, want := range map[int]int{0: 20, 3: 3, -1: 29*30/2 + 29} {
		v, err := deadlock.Verify(context.Background(), &routing.Tables{Fabric: f, Forwarding: fw, Lanes: routing.OneSL(f, routing.LanePerSL(1))}, deadlock.Options{Lost: limit})
		if err != nil {
			t.Fatal(err)
		}
		// All that passes switch 3, comes from it or goes to its host.
		if lists[limit] = v.Lost; len(v.Lost) != want || v.Unreachable != 29*30/2+29 {
			t.Errorf("with limit %d %d of %d pairs are listed, not %d", limit, len(v.Lost), v.Unreachable, want)
		}
	}
	sum := int64(0)
	for _, l := range lists[-1] {
		sum += l.Pairs
	}
	if sum != 29*30/2+29 {
		t.Errorf("the pairs of all that is listed are %d", sum)
	}
	if !reflect.DeepEqual(lists[0], lists[-1][:20]) || !reflect.DeepEqual(lists[3], lists[-1][:3]) {
		t.Error("a short list is not the beginning of a long one")
	}
}
