package repair_test

import (
	"testing"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/internal/testnet"
)

// On a tree of three levels few entries follow that no traffic needs: where all neighbours of
// a switch forward to it, one of them changes and the switch follows, not all of them.
func TestFewFollow(t *testing.T) {
	f := testnet.Build(t, "xgft:m=4x6,w=4x4,hosts=4")
	was, contract := route(t, f, "weave-any")
	changed, due := 0, 0
	for _, x := range change.Sample(change.Cables(f), 12) {
		live, err := f.Without(x.Channels, x.Nodes)
		if err != nil {
			t.Fatal(err)
		}
		o, err := mended(was, live, contract, t)
		if err != nil {
			t.Fatal(err)
		}
		changed, due = changed+o.changed, due+o.due
	}
	if changed > due*3/2 {
		t.Errorf("%d entries change, %d had to", changed, due)
	}
	t.Logf("%d entries change, %d had to", changed, due)
}
