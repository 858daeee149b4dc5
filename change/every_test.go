package change_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/transition"
)

// everyStep counts what TestEveryStep saw.
type everyStep struct{ failures, steps, rebuilt, left, back int }

// Every cable and every switch of networks, there and back, under several engines: both
// judges accept every step (change says so or fails), service levels and maps stay, and
// when the part is back so are the first tables. Thoroughly, it is each failure of the
// networks of bench/change.md but the largest, and many small networks, since what goes wrong
// goes wrong on small ones too: over 100,000 steps.
func TestEveryStep(t *testing.T) {
	var all everyStep
	if os.Getenv("WEFT_THOROUGH") == "" {
		all.networks(t, 1, []string{"torus:4x4,hosts=1", "random:switches=16,links=32,hosts=1,seed=%d"}, "weave-any", "dfsssp")
	} else {
		all.networks(t, 40, []string{
			"random:switches=12,links=18,hosts=1,seed=%d", "random:switches=16,links=32,hosts=1,seed=%d", "random:switches=20,links=60,hosts=1,seed=%d",
			"random:switches=24,links=40,hosts=1,seed=%d", "random:switches=10,links=30,hosts=2,seed=%d",
		}, "weave-any", "updn", "dfsssp", "lash", "nue", "weave", "df-dn")
		all.networks(t, 3, []string{
			"torus:4x4,hosts=1", "torus:3x3x3,hosts=1", "mesh:4x5,hosts=1", "hypercube:4", "ring:9,hosts=1", "dragonfly:p=2", "slimfly:q=3,hosts=1", "kautz:b=3,n=2,hosts=1",
			"karytree:k=3,n=3", "xgft:m=4x4,w=4x4,hosts=1", "xgft:m=4x4,w=2x4,hosts=2",
		}, "weave-any", "updn", "dfsssp", "lash", "nue", "weave", "ftree")
		all.networks(t, 1, []string{
			"xgft:m=36,w=18,hosts=2", "xgft:m=8x12,w=8x8,hosts=1", "torus:6x5x5,hosts=1", "slimfly:q=5,hosts=1", "dragonfly:p=4",
			"random:switches=128,links=512,hosts=1,seed=%d", "random:switches=128,links=256,hosts=1,seed=%d",
		}, "weave-any")
	}
	t.Logf("%d failures, %d steps proven, none rejected; others make way for %d, %d not mended without drops, back exactly after %d", all.failures, all.steps, all.rebuilt, all.left, all.back)
	if all.failures < 100 || all.steps < all.failures {
		t.Errorf("%d failures, %d steps: too few to say anything", all.failures, all.steps)
	}
}

// networks goes through all failures of some networks, with tables of several seeds.
func (n *everyStep) networks(t *testing.T, seeds uint64, specs []string, names ...string) {
	for _, spec := range specs {
		t.Run(spec, func(t *testing.T) {
			was := *n
			for seed := uint64(1); seed <= seeds; seed++ {
				one := spec
				if strings.Contains(spec, "%d") {
					one = fmt.Sprintf(spec, seed)
				}
				for _, name := range names {
					n.network(t, one, name, seed)
				}
			}
			t.Logf("%v, %d seeds: %d failures, %d steps proven, others make way for %d, %d not mended, back exactly after %d; %d steps so far",
				names, seeds, n.failures-was.failures, n.steps-was.steps, n.rebuilt-was.rebuilt, n.left-was.left, n.back-was.back, n.steps)
		})
	}
}

// network goes through all failures of a network that an engine routes; it may refuse.
func (n *everyStep) network(t *testing.T, spec, name string, seed uint64) {
	t.Helper()
	f := testnet.Build(t, spec)
	r, err := weft.Route(t.Context(), f, weft.Request{Engine: name, Options: engines.Options{Seed: seed}})
	if err != nil && routing.Refused(err) {
		return
	} else if err != nil {
		t.Fatal(err)
	}
	o := change.Options{Contract: r.Contract}
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
		n.failures++
		n.steps += len(there.Steps) + len(back.Steps)
		switch {
		case len(there.Left) > 0:
			n.left++
		case rebuilt:
			n.rebuilt++
		}
		if transition.CostOf(back.After, r.Tables).Entries == 0 {
			n.back++
		} else if len(back.Left) == 0 {
			t.Fatalf("%s, %s: nothing is left, and the tables are not those from before", spec, name)
		}
	}
}
