package change_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
)

// Tables that are free of deadlock when aggregation nodes send are mostly so after a repair
// for hosts, and hosts reach all that they reached. Plans that see to packets of hosts only mostly have loops of others.
func TestRepairsKeepFreeBeyondScope(t *testing.T) {
	plans, loops, narrowLoops := 0, 0, 0
	for _, spec := range []string{"patchwork:8", "patchwork:13", "patchwork:2,pods=2,sharp=100"} {
		f := testnet.Build(t, spec)
		was := routed.Of(t, f, "updn", routing.Budget{VLs: 8, Scope: routing.Adapters})
		if !free(t, was, routing.Adapters) {
			t.Fatalf("%s: the tables have a loop", spec)
		}
		for _, x := range change.Sample(change.Cables(f), 8) {
			live, err := f.Without(x.Channels, x.Nodes)
			if err != nil {
				t.Fatal(err)
			}
			p, err := change.Mend(t.Context(), was, live, change.Options{})
			if err != nil {
				t.Fatal(err)
			}
			plans++
			if !free(t, p.After, routing.Adapters) {
				loops++
			}
			if len(p.Left) > 0 || p.CutAfter > 0 {
				t.Errorf("%s, %v: %d destinations left, %d pairs of hosts cut off", spec, x, len(p.Left), p.CutAfter)
			}
			for i, s := range p.Steps {
				if s.Mended+s.Follow != s.Union.Entries || s.Mended < 0 || s.Follow < 0 {
					t.Errorf("%s, %v, step %d: %d entries change, %d for traffic and %d that follow", spec, x, i+1, s.Union.Entries, s.Mended, s.Follow)
				}
			}
			before, err := transition.On(live, was, nil)
			if err != nil {
				t.Fatal(err)
			}
			narrow, err := repair.Mend(t.Context(), before, was, repair.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if n := len(narrow.Steps); n > 0 && !free(t, narrow.Steps[n-1].Tables, routing.Adapters) {
				narrowLoops++
			}
		}
	}
	if narrowLoops == 0 || 4*loops > narrowLoops {
		t.Errorf("of %d plans %d have loops beyond hosts, of those for hosts alone %d", plans, loops, narrowLoops)
	}
}

func free(t *testing.T, tables *routing.Tables, scope routing.Scope) bool {
	t.Helper()
	v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Scope: scope})
	if err != nil {
		t.Fatal(err)
	}
	return v.Free()
}

// Where no path of an entry that no host needs is free of deadlock, it stays empty, and no destination counts as left.
func TestEntriesOfOthersMayStayEmpty(t *testing.T) {
	f := testnet.Build(t, "patchwork:seed=7,pods=4,sharp=100")
	was := routed.Of(t, f, "updn", routing.Budget{VLs: 8, Scope: routing.Adapters})
	empty := 0
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 3))
		var cables []fabric.ChannelID
		for range f.Trunks() / 20 {
			cables = append(cables, fabric.ChannelID(r.IntN(f.Trunks())))
		}
		live, err := f.Without(cables, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := change.Mend(t.Context(), was, live, change.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Left) > 0 || p.CutAfter > p.Disconnected {
			t.Errorf("seed %d: %d destinations left, %d pairs of hosts cut off", seed, len(p.Left), p.CutAfter)
		}
		n := 0
		for lid := range live.LIDs() {
			n += bytes.Count(p.After.Forwarding.Row(lid)[:live.Switches()], []byte{routing.NoPort})
		}
		if len(live.Parts()) > 1 || n == 0 {
			continue
		}
		if empty++; !free(t, p.After, routing.Adapters) {
			t.Errorf("seed %d: %d entries are empty, and there is a loop beyond hosts", seed, n)
		}
	}
	if empty == 0 {
		t.Error("no entry stays empty: no test")
	}
}
