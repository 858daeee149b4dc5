package change_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// events is so many random events: a cable fails, or one that failed is back. At most
// most are gone at once. It yields the cables that are gone after each event, then nothing.
func events(f *fabric.Fabric, n, most int, seed uint64, yield func(gone []fabric.ChannelID, back bool)) {
	rng := rand.New(rand.NewPCG(seed, 13))
	var gone []fabric.ChannelID
	for range n {
		back := len(gone) == most || len(gone) > 0 && rng.IntN(3) == 0
		if back {
			i := rng.IntN(len(gone))
			gone = slices.Delete(gone, i, i+1)
		} else {
			c := fabric.ChannelID(rng.IntN(f.Trunks()))
			if slices.Contains(gone, c) || slices.Contains(gone, f.Channel(c).Reverse) {
				continue
			}
			gone = append(gone, c)
		}
		yield(slices.Clone(gone), back)
	}
	yield(nil, true)
}

// Cables fail one after another, up to several at once, and come back: no event needs a
// route from scratch, every step is proven (change says so or fails), and when all are
// back so are the first tables, entry for entry.
func TestSeries(t *testing.T) {
	specs, n, most := []string{"torus:4x4,hosts=2", "xgft:m=4x4,w=4x4,hosts=2"}, 12, 3
	if os.Getenv("WEFT_THOROUGH") != "" {
		specs, n, most = []string{"torus:6x5x5", "xgft:m=8x12,w=8x8,hosts=8", "slimfly:q=5,hosts=7", "dragonfly:p=4"}, 50, 6
	}
	o := change.Options{Contract: routing.Any, AllowDrops: true}
	for i, spec := range specs {
		f := testnet.Build(t, spec)
		first := route(t, f, "weave-any")
		now, steps, drops := first, 0, 0
		take := func(p *change.Proven, err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", spec, err)
			}
			if len(p.Left) > 0 || p.CutAfter != p.Disconnected {
				t.Fatalf("%s: %d destinations are left, %d pairs cut", spec, len(p.Left), p.CutAfter)
			}
			for _, s := range p.Steps {
				if s.Union.SLs != 0 || s.Union.Maps != 0 {
					t.Fatalf("%s: service levels or maps change", spec)
				}
				drops += s.Drops
			}
			now, steps = p.After, steps+len(p.Steps)
		}
		events(f, n, most, uint64(i), func(gone []fabric.ChannelID, back bool) {
			live, err := f.Without(gone, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !back {
				take(change.Mend(t.Context(), now, live, o))
				return
			}
			target := first
			if gone != nil {
				mended, err := change.Mend(t.Context(), first, live, o)
				if err != nil {
					t.Fatal(err)
				}
				target = mended.After
			}
			take(change.Return(t.Context(), now, target, o))
		})
		if cost := transition.CostOf(now, first); cost.Entries != 0 {
			t.Errorf("%s: all cables are back, and %d entries differ", spec, cost.Entries)
		}
		t.Logf("%s: %d events, %d steps, %d entries dropped for a step", spec, n, steps, drops)
	}
}

// Any three cables at once, drawn at random: all are mended, if packets may be dropped for
// a step, and every step is proven.
func TestTriples(t *testing.T) {
	specs, n := []string{"torus:4x4,hosts=2", "slimfly:q=3,hosts=2", "xgft:m=4x4,w=4x4,hosts=2"}, 20
	if os.Getenv("WEFT_THOROUGH") != "" {
		specs, n = []string{"torus:6x5x5", "slimfly:q=5,hosts=7", "dragonfly:p=4", "random:switches=128,links=512,hosts=4,seed=1"}, 200
	}
	for i, spec := range specs {
		f := testnet.Build(t, spec)
		was := route(t, f, "weave-any")
		rng := rand.New(rand.NewPCG(uint64(i), 3))
		steps, left := 0, 0
		for range n {
			live, err := f.Without([]fabric.ChannelID{fabric.ChannelID(rng.IntN(f.Trunks())), fabric.ChannelID(rng.IntN(f.Trunks())), fabric.ChannelID(rng.IntN(f.Trunks()))}, nil)
			if err != nil {
				t.Fatal(err)
			}
			p, err := change.Mend(t.Context(), was, live, change.Options{Contract: routing.Any})
			if err != nil {
				t.Fatalf("%s: %v", spec, err)
			}
			steps += len(p.Steps)
			if len(p.Left) > 0 {
				left++
				if p, err = change.Mend(t.Context(), was, live, change.Options{Contract: routing.Any, AllowDrops: true}); err != nil || len(p.Left) > 0 {
					t.Errorf("%s: %d destinations are left even if packets may be dropped, %v", spec, len(p.Left), err)
				}
			}
		}
		t.Logf("%s: %d failures of three cables, %d steps, %d not without dropping packets for a step", spec, n, steps, left)
	}
}
