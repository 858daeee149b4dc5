package route

import (
	"context"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/sturdy"
)

// survivals is the kinds of failure that --survive knows, each with all failures of a fabric.
var survivals = map[string]func(*fabric.Fabric) []change.Failure{"links": change.Cables, "switches": change.Switches}

// planRepairs plans the repair of every single failure of the kinds of --survive, into j.survival.
func (j *routeRun) planRepairs(ctx context.Context, kinds []string, drain bool) error {
	s := j.Stage("repairs", &j.Spent.Repairs)
	defer s.Done()
	for _, kind := range kinds {
		failures := survivals[kind](j.Fabric)
		r, err := change.Survive(ctx, j.Tables, failures, change.Options{Contract: j.Contract, Scope: j.Scope, AllowDrops: drain})
		if err != nil {
			return err
		}
		j.survival = append(j.survival, outputs.Survival(j.Fabric, kind, r))
	}
	return nil
}

// takeSturdiest puts other tables, about as good, in place of those of j where a sample of failures
// leaves fewer exceptions with them; what was compared is in j.compared.
func (j *routeRun) takeSturdiest(ctx context.Context, kinds []string, o change.Options) error {
	if len(kinds) == 0 {
		return nil
	}
	s := j.Stage("candidates", &j.Spent.Repairs)
	defer s.Done()
	var failures []change.Failure
	for _, kind := range kinds {
		failures = append(failures, change.Sample(survivals[kind](j.Fabric), sturdy.Sample)...)
	}
	first := j.Engine.Name
	best, compared, err := sturdy.Best(ctx, j.Result, j.Request(), j.o.Set.Changed("seed"), failures, o)
	if err != nil {
		return err
	}
	if j.Result, j.compared = best, compared; j.Engine.Name != first {
		j.best = first
	}
	return nil
}
