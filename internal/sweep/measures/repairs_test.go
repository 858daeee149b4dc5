package measures

import (
	"context"
	"testing"
	"time"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
)

// The figures are those of each failure repaired by itself; measures of one run repair once.
func TestRepairs(t *testing.T) {
	f := testnet.Build(t, "mesh:3x4,hosts=2")
	r := routed(t, f, "weave-any")
	clock, again := time.Duration(0), 0
	in := &Input{
		Fabric: f, Result: r, Seed: 1,
		Route: func(ctx context.Context, f *fabric.Fabric) (*weft.Result, error) {
			again++
			return weft.Route(ctx, f, weft.Request{Engine: "weave-any"})
		},
		Processors: func() time.Duration { clock += time.Second; return clock },
	}
	of := func(name string) Value {
		k, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		m := k.With(map[string]string{"failures": "1000"})
		v, err := in.Take(t.Context(), &m)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return v
	}
	whole, oneStep, changed, due := 0, 0, 0, 0
	failures := change.Cables(f)
	for _, x := range failures {
		live, err := f.Without(x.Channels, x.Nodes)
		if err != nil {
			t.Fatal(err)
		}
		p, err := change.Mend(t.Context(), r.Tables, live, change.Options{Contract: r.Contract})
		if err != nil {
			t.Fatal(err)
		}
		whole += one(len(p.Left) == 0)
		oneStep += one(len(p.Left) == 0 && len(p.Steps) == 1)
		for _, s := range p.Steps {
			changed, due = changed+s.Union.Entries, due+s.Union.Due
		}
	}
	if got, want := of("repaired").Mean, float64(whole)/float64(len(failures)); got != want || want == 0 {
		t.Errorf("repaired %g, one by one %g", got, want)
	}
	if got, want := of("repaired-at-once").Mean, float64(oneStep)/float64(len(failures)); got < want {
		t.Errorf("at once %g, one by one %g", got, want)
	}
	if got, want := of("repair-entries").Mean, float64(changed)/float64(due); got != want {
		t.Errorf("%g entries for each that is due, one by one %g", got, want)
	}
	if got := of("repair-back").Mean; got <= 0.5 || got > 1 {
		t.Errorf("back exactly: %g", got)
	}
	if len(in.repaired) != 1 {
		t.Errorf("%d runs for measures of one", len(in.repaired))
	}
	if v := of("repair-time"); v.Mean != 1 || len(v.Runs) != len(failures) {
		t.Errorf("time by a clock that goes on a second a look: %+v", v)
	}
	if v := of("repair-bandwidth"); v.Mean < 0.8 || v.Mean > 1.2 || len(v.Runs) != whole || again != whole {
		t.Errorf("bandwidth %g of that anew, of %d failures; %d routed anew", v.Mean, len(v.Runs), again)
	}
}
