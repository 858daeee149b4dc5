package route

import (
	"context"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/cli/internal/routed"
	"github.com/weft-fabric/weft/internal/engine/auto"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// readInForce reads tables in force, has them judged, and measures them as auto measured what it tried:
// into j.inForce, for the summary and the screen. It also finds the bound of any routing. Without auto
// there is nothing to compare with.
func (j *routeRun) readInForce(ctx context.Context, tables []flags.Named) error {
	if j.Choice == nil || len(j.Choice.Meter.Endpoints) < 2 {
		return nil
	}
	var err error
	if j.bound, err = routed.BoundOf(ctx, j.Fabric, &j.Choice.Meter, false); err != nil {
		return err
	}
	for _, d := range tables {
		s := j.Stage("reading "+d.Name, new(float64))
		v, err := input.TablesOf(j.Console, j.Name, j.Fabric, &d.Tables)
		s.Done()
		if err != nil {
			return err
		}
		o := deadlock.Options{Scope: j.Scope, Contract: flags.ContractOr(j.o.Contract, routing.Honored), NoCycle: true}
		verdict, err := deadlock.Verify(ctx, v.Tables, o)
		if err != nil {
			return err
		}
		x, err := j.Choice.Meter.Measure(ctx, v.Tables)
		if err != nil {
			return err
		}
		loads, err := congestion.CountTables(ctx, v.Tables, j.Scope)
		if err != nil {
			return err
		}
		j.inForce = append(j.inForce, result.InForce{
			Name: d.Name, Verdict: outputs.WordOf(verdict), Used: verdict.VLs, Unreachable: verdict.Unreachable, Fit: v.Fit(), Lambda: x.Lambda, Shifts: routed.ShiftsOf(x.Shifts),
			MaxLoad: loads.Max, Traffic: x.Traffic, Mean: x.TrafficMean, AbsentLanes: outputs.AbsentLanes(j.Fabric, verdict.Absent),
		})
	}
	return nil
}

// tablesBeside is the tables to put beside what auto tries; of a folder with tables those in it,
// where none are named.
func (j *routeRun) tablesBeside(name string, args []string) ([]flags.Named, error) {
	switch {
	case j.Wanted.Auto && len(args) == 0 && flags.HasTables(name):
		args = []string{name}
	case !j.Wanted.Auto && len(args) > 0:
		return nil, exit.Usage("--tables are for %s, which puts them beside what it tries; for one engine take weft compare", auto.Name)
	}
	return flags.NamedTables(args, map[string]bool{})
}
