package measures

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Where others than hosts are endpoints too, a loop may be of their routes: only hosts send.
func TestLoopPairsAreHosts(t *testing.T) {
	f := testnet.Build(t, "torus:4x4,hosts=1")
	r, err := weft.Route(t.Context(), f, weft.Request{Engine: "minhop", Scope: routing.All})
	loop := (*weft.CreditLoop)(nil)
	if !errors.As(err, &loop) {
		t.Fatalf("no loop to test with: %v, %v", r, err)
	}
	cycle, others := loop.Result.Verdict.Cycle, 0
	for _, step := range cycle {
		for _, id := range []fabric.EndpointID{step.Src, f.Owner(step.Dst)} {
			if f.Endpoint(id).Class != fabric.HostAdapter {
				others++
			}
		}
	}
	if others == 0 {
		t.Fatal("the loop is of hosts only")
	}
	for _, m := range loopPairs(f, cycle, rand.New(rand.NewPCG(1, 2))) {
		if f.Endpoint(m.From).Class != fabric.HostAdapter || f.Endpoint(m.To).Class != fabric.HostAdapter {
			t.Errorf("%s sends to %s", f.Label(f.Endpoint(m.From).Node), f.Label(f.Endpoint(m.To).Node))
		}
	}
}

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
