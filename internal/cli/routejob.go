package cli

import (
	"context"
	"errors"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/engine/adaptive/minimal"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// routeJob routes a fabric as the command line says, for any command.
type routeJob struct {
	judged  // once it is routed
	o       *flags.Engine
	wanted  flags.Wanted
	options engines.Options

	accept func(*weft.Result) error // of auto: what the tables must be good for; nil: anything
	made   func()                   // called before tables are judged; nil: nobody asks
}

func newRouteJob(a *console.Console, name string, o *flags.Engine) (*routeJob, error) {
	wanted, err := o.Find()
	if err == nil && o.Classes > 1 && flags.ContractOr(o.Contract, routing.Any) != routing.Any {
		err = exit.Usage("--classes are told apart by service levels, so clients may use any: --contract %s does not go with them", o.Contract)
	}
	return &routeJob{judged: judged{Console: a, name: name}, o: o, wanted: wanted}, err
}

// prepare reads the fabric, and in its terms what engines are told.
func (j *routeJob) prepare() (err error) {
	read := j.Stage("reading", &j.spent.Read)
	defer read.Done()
	if j.fabric, err = input.FabricWithLMC(j.Console, j.name, j.o.LMC); err != nil {
		return err
	}
	j.vls = j.o.LanesOn(j.fabric)
	j.countApart(j.o.Scope, j.o.WithinParts)
	j.options, err = input.Options(j.Console, j.fabric, j.o)
	return err
}

// contract is the one of the command line or, without, the one that the engine is made for; auto
// looks for tables that hold under any.
func (j *routeJob) contract() routing.Contract {
	if j.wanted.Auto || j.o.Classes > 1 {
		return flags.ContractOr(j.o.Contract, routing.Any)
	}
	return flags.ContractOr(j.o.Contract, j.wanted.Contract)
}

// budget is the lanes that the engine may use, and for whom. Aggregation nodes shall be
// safe too where that is possible, though the proof is for the endpoints asked for.
func (j *routeJob) budget() routing.Budget {
	return routing.Budget{VLs: j.vls, SLs: j.o.SLs, Contract: j.contract(), Scope: max(j.o.Scope, routing.Adapters)}
}

func (j *routeJob) request() weft.Request {
	r := weft.Request{
		VLs: j.vls, SLs: j.o.SLs, Classes: j.o.Classes, Scope: j.o.Scope, Contract: j.o.Contract, Options: j.options,
		Time: j.o.TimeBudget, Accept: j.accept, Stages: j.timed,
	}
	if !j.wanted.Auto {
		r.Custom = &j.wanted.Engine
	}
	return r
}

func (j *routeJob) timed(name string) (routing.Progress, func()) {
	if name == "verify" && j.made != nil {
		j.made()
	}
	return j.judged.timed(name)
}

func (j *routeJob) compute(ctx context.Context) (err error) {
	j.under = j.contract()
	j.Result, err = loopOrResult(weft.Route(ctx, j.fabric, j.request()))
	return err
}

// What --adaptive may be.
const (
	noGroups      = "none"
	minimalGroups = "minimal"
)

// widen gives the entries of the tables groups of ports to choose from, and has the
// tables judged again, over every choice.
func (j *routeJob) widen(ctx context.Context) (err error) {
	scope := j.Scope
	if j.Wider != nil && j.Wider.Free() {
		scope = j.Wider.Scope
	}
	s := j.Stage("groups", &j.spent.Paths)
	wide := *j.Tables
	wide.Groups, err = minimal.Groups(ctx, j.Tables, j.Contract, scope, s.Progress())
	s.Done()
	if err != nil {
		return err
	}
	judge := j.Stage("verify", &j.spent.Verify)
	defer judge.Done()
	o := deadlock.Options{Contract: j.Contract, Scope: j.Scope, Progress: judge.Progress()}
	if j.Verdict, err = deadlock.Verify(ctx, &wide, o); err != nil {
		return err
	}
	if j.Wider != nil {
		o.Scope = j.Wider.Scope
		if j.Wider, err = deadlock.Verify(ctx, &wide, o); err != nil {
			return err
		}
	}
	if !j.Verdict.Free() || j.Verdict.Loops > 0 {
		return exit.Internal("the groups of ports are not free of credit loops and circles")
	}
	j.Tables = &wide
	return nil
}

// loopOrResult is what package weft answers: a credit loop is a verdict here, and no
// error.
func loopOrResult(r *weft.Result, err error) (*weft.Result, error) {
	loop, broken := (*weft.CreditLoop)(nil), (*weft.EngineDefect)(nil)
	switch {
	case errors.As(err, &loop):
		return loop.Result, nil
	case errors.As(err, &broken):
		return nil, exit.Internal("%w", err)
	}
	return r, err
}

// routeTables routes a fabric for a command that is about tables.
func routeTables(ctx context.Context, a *console.Console, name string, o *flags.Engine, asJSON bool) (*routeJob, error) {
	j, err := newRouteJob(a, name, o)
	if err == nil {
		err = j.needsTables()
	}
	if err == nil {
		err = j.prepare()
	}
	if err != nil {
		return nil, err
	}
	if err := j.compute(ctx); err != nil {
		return nil, j.refusal(ctx, err, asJSON)
	}
	return j, nil
}

// needsTables refuses an adaptive engine where a command is about tables.
func (j *routeJob) needsTables() error {
	if j.wanted.Adaptive != nil {
		return exit.Usage("%w", &engines.NoTables{Name: j.wanted.Name})
	}
	return nil
}

// mustBeOne refuses auto where a command is about one engine.
func (j *routeJob) mustBeOne(command string) error {
	if j.wanted.Auto {
		return exit.Usage("%s is about one engine, and %s is several: name one (weft engines)", command, engines.AutoName)
	}
	return nil
}
