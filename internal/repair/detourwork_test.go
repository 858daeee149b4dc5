package repair

import (
	"testing"

	"github.com/weft-fabric/weft/internal/engine/paths/minhop"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Detours end when their work is done, also where none of the entries that are drawn can be
// had: on a line there are no others.
func TestDetourWork(t *testing.T) {
	f := testnet.Build(t, "mesh:40,hosts=6")
	fw, err := minhop.Finder{}.Paths(t.Context(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	// Service levels whose packets take different lanes are 16 times the work.
	tables := &routing.Tables{Fabric: f, Forwarding: fw, Lanes: routing.OneSL(f, routing.LanePerSL(2).PerPort(f))}
	target := &routing.Tables{Fabric: f, Forwarding: routing.NewForwarding(f), Lanes: tables.Lanes} // which no packet would reach
	for lid := range f.TopLID() + 1 {
		copy(target.Forwarding.Row(lid), fw.Row(lid))
	}
	lid := f.TopLID()
	home := f.Endpoint(f.Owner(lid)).Switch
	away := (int(home) + f.Switches()/2) % f.Switches()
	target.Forwarding.Row(lid)[away] = routing.NoPort
	in := newProblem(tables, nil, Options{Contract: routing.Any})
	plan := &Plan{Left: []Left{{LID: lid}}}
	if err := plan.detour(t.Context(), in, tables, target, migrateSteps); err != nil || len(plan.Left) == 0 || len(plan.Steps) > 0 {
		t.Fatalf("%d steps, left %v, %v", len(plan.Steps), plan.Left, err)
	}
	most := detourWork / (in.entries * len(in.sources.SLs))
	if in.attempts <= most || in.attempts > most+3+migrateSteps || most >= 2*detours {
		t.Errorf("%d steps begun, at most %d and those of one try", in.attempts, most)
	}
}
