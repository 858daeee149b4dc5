package route

import (
	"context"
	"strings"

	"github.com/spf13/pflag"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/cli/internal/routed"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// tableDir is tables in force, by the name that the user gives them.
type tableDir struct {
	name  string
	files flags.Tables
}

// addTableDirs declares --lfts-dir.
func addTableDirs(f *pflag.FlagSet, to *[]string) {
	f.StringArrayVar(to, "lfts-dir", nil, "NAME=DIR: tables that exist, in a folder, to put beside; may be given several times")
}

// tableDirs reads the values of --lfts-dir; seen is names that are taken.
func tableDirs(args []string, strict bool, seen map[string]bool) (dirs []tableDir, err error) {
	for _, arg := range args {
		name, dir, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return nil, exit.Usage("--lfts-dir %s: give the tables a name, as in current=%s", arg, strings.TrimPrefix(arg, "="))
		}
		if seen[name] {
			return nil, exit.Usage("%s is named twice", name)
		}
		seen[name] = true
		files, err := flags.TablesIn(dir)
		if err != nil {
			return nil, err
		}
		files.Strict = strict
		dirs = append(dirs, tableDir{name, files})
	}
	return dirs, nil
}

// readInForce measures tables in force as auto measured what it tried.
func (j *routeRun) readInForce(ctx context.Context, dirs []tableDir) error {
	if j.Choice == nil || len(j.Choice.Meter.Endpoints) < 2 {
		return nil
	}
	for _, d := range dirs {
		s := j.Stage("reading "+d.name, new(float64))
		v, err := input.TablesOf(j.Console, j.Name, j.Fabric, &d.files)
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
			Name: d.name, Verdict: result.WordOf(verdict), Used: verdict.VLs, Unreachable: verdict.Unreachable, Fit: v.Fit(), Lambda: x.Lambda, Shifts: routed.ShiftsOf(x.Shifts),
			MaxLoad: loads.Max, Traffic: x.Traffic, Mean: x.TrafficMean, AbsentLanes: result.AbsentLanes(j.Fabric, verdict.Absent),
		})
	}
	return nil
}

// inForceDirs is the tables to put beside what auto tries; of a folder of ibdiagnet those
// in it, where none are named.
func (j *routeRun) inForceDirs(name string, args []string) ([]tableDir, error) {
	switch {
	case j.Wanted.Auto && len(args) == 0 && flags.HasTables(name):
		args = []string{"installed=" + name}
	case !j.Wanted.Auto && len(args) > 0:
		return nil, exit.Usage("--lfts-dir is for %s, which puts them beside what it tries; for one engine take weft compare", engines.AutoName)
	}
	return tableDirs(args, false, map[string]bool{})
}
