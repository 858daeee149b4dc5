package hop_test

import (
	"context"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/internal/engine/lanes/hop"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/engine/paths/symmetric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Both ways between two switches have one service level, to all LIDs; as many lanes as
// the longest path has hops, and a few service levels more than directed.
func TestBothWaysShareALevel(t *testing.T) {
	for _, c := range testnet.First([]struct {
		spec       string
		finder     routing.PathFinder
		lanes, sls int
	}{
		{"dragonfly:p=3", sssp.Finder{}, 3, 4}, {"dragonfly:p=3", symmetric.Finder{}, 3, 3},
		{"deimos", sssp.Finder{}, 4, 5}, {"torus:4x4x4,hosts=2", sssp.Finder{}, 6, 7},
		{"random:switches=64,links=128,hosts=16,seed=1", sssp.Finder{}, 6, 4},
		{"torus:6x5x5,hosts=7", symmetric.Finder{}, 7, 7},
	}, 3) {
		f := testnet.Build(t, c.spec)
		fw := paths(t, f, c.finder)
		v, l, err := judge(f, fw, hop.DN{}, routing.Honored, routing.Budget{VLs: routing.DefaultVLs, Scope: routing.Adapters})
		if err != nil {
			t.Errorf("%s: %v", c.spec, err)
			continue
		}
		if v.VLs != c.lanes || v.SLs > c.sls || !v.Complete() {
			t.Errorf("%s: %d lanes and %d service levels, want %d and at most %d", c.spec, v.VLs, v.SLs, c.lanes, c.sls)
		}
		for _, from := range routing.Adapters.Endpoints(f) {
			for _, to := range routing.Adapters.Endpoints(f) {
				if there, back := l.SL(from, f.Endpoint(to).LID), l.SL(to, f.Endpoint(from).LID); there != back {
					t.Fatalf("%s: SL %d from endpoint %d to %d, SL %d back", c.spec, there, from, to, back)
				}
			}
		}
	}
}

// Directed tables have a loop when answers ride the level of the request.
func TestDirectedLevelsHaveALoopOnTheWayBack(t *testing.T) {
	f := testnet.Build(t, "dragonfly:p=3")
	fw := paths(t, f, sssp.Finder{})
	_, l, err := judge(f, fw, hop.DN{}, routing.Directed, routing.Budget{VLs: routing.DefaultVLs})
	if err != nil {
		t.Fatal(err)
	}
	v, err := deadlock.Verify(context.Background(), &routing.Tables{Fabric: f, Forwarding: fw, Lanes: l}, deadlock.Options{})
	if err != nil || v.Free() {
		t.Errorf("%v, free %v", err, v.Free())
	}
}
