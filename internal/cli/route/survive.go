package route

import (
	"context"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/outputs"
)

// survivals is the kinds of failure that --survive knows.
var survivals = map[string]func(*fabric.Fabric) []change.Failure{"links": change.Cables, "switches": change.Switches}

func (j *routeRun) survive(ctx context.Context, kinds []string, drain bool) error {
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
