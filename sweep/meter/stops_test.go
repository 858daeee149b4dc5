package meter

import (
	"math/rand/v2"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
)

// Every host sends once and receives once, never to itself, and routes of the loop
// come first.
func TestLoopPairs(t *testing.T) {
	f := testnet.Build(t, "slimfly:q=3,hosts=2")
	v := routed(t, f, "sssp").Verdict
	if v.Free() {
		t.Fatal("no loop to test with")
	}
	list := loopPairs(f, v.Cycle, rand.New(rand.NewPCG(1, 2)))
	if len(list) < 35 || list[0].From != v.Cycle[0].Src || list[0].To != f.Owner(v.Cycle[0].Dst) {
		t.Errorf("%d messages of 36 hosts, the first %+v", len(list), list[0])
	}
	sends, receives := map[fabric.EndpointID]bool{}, map[fabric.EndpointID]bool{}
	for _, m := range list {
		if sends[m.From] || receives[m.To] || m.From == m.To {
			t.Errorf("%+v", m)
		}
		sends[m.From], receives[m.To] = true, true
	}
}
