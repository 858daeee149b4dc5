package change_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// everyStep counts what TestEveryStep saw.
type everyStep struct{ failures, steps, rejected, rebuilt, left, back, dropping, backDropping int }

// Every cable and every switch of networks, there and back, under several engines: both
// judges accept every step (change says so or fails), service levels and maps stay, and
// when the part is back so are the first tables, entry for entry: after nine in ten failures
// without dropping a packet, after all if packets may be dropped for a step. Nor is any failure left
// unmended then. Thoroughly, it is each failure of the
// networks of test/bench/change.md but the largest, and many small networks, since what goes wrong
// goes wrong on small ones too: over 100,000 steps. That takes hours; after each network it says how
// far it has come, so that a run that is cut off can be quoted, and it begins with networks of every kind.
func TestEveryStep(t *testing.T) {
	var all everyStep
	if os.Getenv("WEFT_THOROUGH") == "" {
		all.networks(t, 1, []string{"torus:4x4,hosts=1", "random:switches=16,links=32,hosts=1,seed=%d"}, "weave-any", "dfsssp")
	} else {
		large := []string{
			"slimfly:q=5,hosts=1", "random:switches=128,links=256,hosts=1,seed=%d", "torus:6x5x5,hosts=1", "random:switches=128,links=512,hosts=1,seed=%d",
			"xgft:m=8x12,w=8x8,hosts=1", "xgft:m=36,w=18,hosts=2", "dragonfly:p=4",
		}
		for seed := uint64(1); seed <= 40; seed++ {
			if seed <= 3 {
				all.networks(t, seed, []string{
					"torus:4x4,hosts=1", "torus:3x3x3,hosts=1", "mesh:4x5,hosts=1", "hypercube:4", "ring:9,hosts=1", "dragonfly:p=2", "slimfly:q=3,hosts=1", "kautz:b=3,n=2,hosts=1",
					"karytree:k=3,n=3", "xgft:m=4x4,w=4x4,hosts=1", "xgft:m=4x4,w=2x4,hosts=2",
				}, "weave-any", "updn", "dfsssp", "lash", "nue", "weave", "ftree")
			}
			all.networks(t, seed, []string{
				"random:switches=12,links=18,hosts=1,seed=%d", "random:switches=16,links=32,hosts=1,seed=%d", "random:switches=20,links=60,hosts=1,seed=%d",
				"random:switches=24,links=40,hosts=1,seed=%d", "random:switches=10,links=30,hosts=2,seed=%d",
			}, "weave-any", "updn", "dfsssp", "lash", "nue", "weave", "df-dn")
			if seed <= uint64(len(large)) {
				all.networks(t, 1, large[seed-1:seed], "weave-any")
			}
		}
	}
	t.Log(&all)
	if all.failures < 100 || all.steps < all.failures {
		t.Errorf("%d failures, %d steps: too few to say anything", all.failures, all.steps)
	}
	if all.back*10 < all.failures*9 {
		t.Errorf("without drops the tables come back exactly after %d of %d failures; nine in ten are demanded", all.back, all.failures)
	}
}

func (n *everyStep) String() string {
	return fmt.Sprintf("%d failures, %d steps proven, %d rejected; others make way for %d; mended without drops %d, with them %d more; back exactly without drops after %d, with them after %d more",
		n.failures, n.steps, n.rejected, n.rebuilt, n.failures-n.left, n.dropping, n.back, n.backDropping)
}

// networks goes through all failures of some networks, with the tables of a seed.
func (n *everyStep) networks(t *testing.T, seed uint64, specs []string, names ...string) {
	for _, spec := range specs {
		if strings.Contains(spec, "%d") {
			spec = fmt.Sprintf(spec, seed)
		}
		for _, name := range names {
			t.Run(fmt.Sprintf("%s/%s/%d", spec, name, seed), func(t *testing.T) {
				defer func() { t.Logf("so far: %v", n) }()
				n.network(t, spec, name, seed)
			})
		}
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
	dropping := change.Options{Contract: r.Contract, AllowDrops: true}
	for _, x := range append(change.Cables(f), change.Switches(f)...) {
		live, err := f.Without(x.Channels, x.Nodes)
		if err != nil {
			t.Fatal(err)
		}
		there, err := change.Mend(t.Context(), r.Tables, live, o)
		n.accepted(t, err)
		n.failures++
		if len(there.Left) > 0 {
			n.left++
			there, err = change.Mend(t.Context(), r.Tables, live, dropping)
			n.accepted(t, err)
			if len(there.Left) > 0 {
				t.Fatalf("%v are left even if packets may be dropped", there.Left)
			}
			n.dropping++
		}
		n.steps += stay(t, there)
		if slices.ContainsFunc(there.Steps, func(s change.Step) bool { return s.Rebuilt }) {
			n.rebuilt++
		}
		back, err := change.Return(t.Context(), there.After, r.Tables, o)
		n.accepted(t, err)
		n.steps += stay(t, back)
		if transition.CostOf(back.After, r.Tables).Entries == 0 {
			n.back++
			continue
		}
		if len(back.Left) == 0 {
			t.Fatal("nothing is left, and the tables are not those from before")
		}
		back, err = change.Return(t.Context(), there.After, r.Tables, dropping)
		n.accepted(t, err)
		if transition.CostOf(back.After, r.Tables).Entries > 0 {
			t.Fatal("the tables are not those from before, even if packets may be dropped")
		}
		n.steps += stay(t, back)
		n.backDropping++
	}
}

// accepted demands that both judges accepted every step.
func (n *everyStep) accepted(t *testing.T, err error) {
	t.Helper()
	var rejected *change.Rejected
	if errors.As(err, &rejected) {
		n.rejected++
	}
	if err != nil {
		t.Fatal(err)
	}
}

// stay demands that a plan changes no service levels and maps, and counts its steps.
func stay(t *testing.T, p *change.Proven) int {
	t.Helper()
	for _, s := range p.Steps {
		if s.Union.SLs != 0 || s.Union.Maps != 0 {
			t.Fatal("service levels or maps change")
		}
	}
	return len(p.Steps)
}
