package change_test

import (
	"os"
	"testing"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/transition"
)

// Every cable and every switch of networks, there and back, under several engines: both
// judges accept every step (change says so or fails), service levels and maps stay, and
// when the part is back so are the first tables.
func TestEveryStep(t *testing.T) {
	specs, names, seeds := []string{"torus:4x4,hosts=1", "random:switches=16,links=32,hosts=1,seed=1"}, []string{"weave-any", "dfsssp"}, uint64(1)
	if os.Getenv("WEFT_THOROUGH") != "" {
		specs = []string{
			"torus:6x5x5,hosts=1", "slimfly:q=5,hosts=1", "dragonfly:p=4", "random:switches=128,links=512,hosts=1,seed=1", "random:switches=128,links=256,hosts=1,seed=1",
			"xgft:m=36,w=18,hosts=2", "xgft:m=8x12,w=8x8,hosts=1", "mesh:6x6,hosts=1", "hypercube:6", "random:switches=64,links=160,hosts=1,seed=2", "random:switches=48,links=192,hosts=1,seed=3",
		}
		names, seeds = []string{"weave-any", "updn", "dfsssp", "lash", "nue"}, 4
	}
	var all struct{ failures, steps, rebuilt, left, back int }
	for seed := uint64(1); seed <= seeds; seed++ {
		for _, spec := range specs {
			for _, name := range names {
				f := testnet.Build(t, spec)
				r, err := weft.Route(t.Context(), f, weft.Request{Engine: name, Options: engines.Options{Seed: seed}})
				if err != nil && routing.Refused(err) {
					continue
				} else if err != nil {
					t.Fatal(err)
				}
				o := change.Options{Contract: r.Contract}
				was := all
				for _, x := range append(change.Cables(f), change.Switches(f)...) {
					live, err := f.Without(x.Channels, x.Nodes)
					if err != nil {
						t.Fatal(err)
					}
					there, err := change.Mend(t.Context(), r.Tables, live, o)
					if err != nil {
						t.Fatalf("%s, %s: %v", spec, name, err)
					}
					back, err := change.Return(t.Context(), there.After, r.Tables, o)
					if err != nil {
						t.Fatalf("%s, %s: %v", spec, name, err)
					}
					rebuilt := false
					for _, s := range append(there.Steps, back.Steps...) {
						rebuilt = rebuilt || s.Rebuilt
						if s.Union.SLs != 0 || s.Union.Maps != 0 {
							t.Fatalf("%s, %s: service levels or maps change", spec, name)
						}
					}
					all.failures++
					all.steps += len(there.Steps) + len(back.Steps)
					switch {
					case len(there.Left) > 0:
						all.left++
					case rebuilt:
						all.rebuilt++
					}
					if transition.CostOf(back.After, r.Tables).Entries == 0 {
						all.back++
					} else if len(back.Left) == 0 {
						t.Fatalf("%s, %s: nothing is left, and the tables are not those from before", spec, name)
					}
				}
				t.Logf("%s, %s, seed %d: %d failures, %d steps proven, others make way for %d, %d not mended, back exactly after %d",
					spec, name, seed, all.failures-was.failures, all.steps-was.steps, all.rebuilt-was.rebuilt, all.left-was.left, all.back-was.back)
			}
		}
	}
	t.Logf("%d failures, %d steps proven, none rejected; others make way for %d, %d not mended without drops, back exactly after %d", all.failures, all.steps, all.rebuilt, all.left, all.back)
	if all.failures < 100 || all.steps < all.failures {
		t.Errorf("%d failures, %d steps: too few to say anything", all.failures, all.steps)
	}
}
