// Package routed routes a fabric as the flags of engines say, for every command that is about tables,
// and shows, writes and refuses what comes of it.
package routed

import (
	"context"
	"errors"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/adaptive/judge"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/engine/auto"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// Job routes a fabric as the command line says, for any command: New checks the flags, Prepare reads,
// Compute routes (or Adapt, by an adaptive engine), and then Judged has the result. Route does all
// of it for commands with no more to ask.
type Job struct {
	Judged  // once it is routed
	Flags   *flags.Engine
	Wanted  flags.Wanted
	Options engines.Options

	Accept func(*weft.Result) error // of auto: what the tables must be good for; nil: anything
	Made   func()                   // called before tables are judged; nil: nobody asks
}

// New checks the flags of an engine and makes a job of them for the fabric called name, which
// Prepare reads.
func New(a *console.Console, name string, o *flags.Engine) (*Job, error) {
	wanted, err := o.Find()
	if err == nil && o.Classes > 1 && flags.ContractOr(o.Contract, routing.Any) != routing.Any {
		err = exit.Usage("--classes are told apart by service levels, so clients may use any: --contract %s does not go with them", o.Contract)
	}
	return &Job{Judged: Judged{Console: a, Name: name}, Flags: o, Wanted: wanted}, err
}

// Prepare reads the fabric, and in its terms what engines are told.
func (j *Job) Prepare() (err error) {
	read := j.Stage("reading", &j.Spent.Read)
	defer read.Done()
	if j.Fabric, err = input.FabricWithLMC(j.Console, j.Name, j.Flags.LMC); err != nil {
		return err
	}
	j.VLs = j.Flags.LanesOn(j.Fabric)
	j.CountApart(j.Flags.Scope, j.Flags.WithinParts)
	j.Options, err = input.Options(j.Console, j.Fabric, j.Flags)
	return err
}

// Asked is the contract of the command line or, without, the one that the engine is made for; auto
// looks for tables that hold under any.
func (j *Job) Asked() routing.Contract {
	if j.Wanted.Auto || j.Flags.Classes > 1 {
		return flags.ContractOr(j.Flags.Contract, routing.Any)
	}
	return flags.ContractOr(j.Flags.Contract, j.Wanted.Contract)
}

// Budget is the lanes that the engine may use, and for whom. Aggregation nodes shall be
// safe too where that is possible, though the proof is for the endpoints asked for.
func (j *Job) Budget() routing.Budget {
	return routing.Budget{VLs: j.VLs, SLs: j.Flags.SLs, Contract: j.Asked(), Scope: max(j.Flags.Scope, routing.Adapters)}
}

// Request is the job as package weft takes it.
func (j *Job) Request() weft.Request {
	r := weft.Request{
		VLs: j.VLs, SLs: j.Flags.SLs, Classes: j.Flags.Classes, Scope: j.Flags.Scope, Contract: j.Flags.Contract, Options: j.Options,
		Time: j.Flags.TimeBudget, Accept: j.Accept, Stages: j.timed,
	}
	if !j.Wanted.Auto {
		r.Custom = &j.Wanted.Engine
	}
	return r
}

// timed begins a stage of weft.Route, as weft.Request.Stages.
func (j *Job) timed(name string) (routing.Progress, func()) {
	if name == "verify" && j.Made != nil {
		j.Made()
	}
	return j.Judged.Timed(name)
}

// Compute routes the fabric and has the tables judged. A credit loop is a result, no error.
func (j *Job) Compute(ctx context.Context) (err error) {
	j.under = j.Asked()
	j.Result, err = LoopOrResult(weft.Route(ctx, j.Fabric, j.Request()))
	return err
}

// LoopOrResult is what package weft answers: a credit loop is a verdict here, and no
// error.
func LoopOrResult(r *weft.Result, err error) (*weft.Result, error) {
	loop, broken := (*weft.CreditLoop)(nil), (*weft.EngineDefect)(nil)
	switch {
	case errors.As(err, &loop):
		return loop.Result, nil
	case errors.As(err, &broken):
		return nil, exit.Internal("%w", err)
	}
	return r, err
}

// Route routes a fabric for a command that is about tables. Before that it calls check, unless it is nil, with the
// fabric, for what the command is told of it: an error there need not wait for the routes.
func Route(ctx context.Context, a *console.Console, name string, o *flags.Engine, asJSON bool, check func(*fabric.Fabric) error) (*Job, error) {
	j, err := New(a, name, o)
	if err == nil {
		err = j.NeedsTables()
	}
	if err == nil {
		err = j.Prepare()
	}
	if err == nil && check != nil {
		err = check(j.Fabric)
	}
	if err != nil {
		return nil, err
	}
	if err := j.Compute(ctx); err != nil {
		return nil, j.Refusal(ctx, err, asJSON)
	}
	return j, nil
}

// NeedsTables refuses an adaptive engine where a command is about tables.
func (j *Job) NeedsTables() error {
	if j.Wanted.Adaptive != nil {
		return exit.Usage("%w", &engines.NoTables{Name: j.Wanted.Name})
	}
	return nil
}

// OneEngine refuses auto where a command is about one engine.
func (j *Job) OneEngine(command string) error {
	if j.Wanted.Auto {
		return exit.Usage("%s is about one engine, and %s is several: name one (weft engines)", command, auto.Name)
	}
	return nil
}

// Adapt routes by an adaptive engine, and has that judged.
func (j *Job) Adapt(ctx context.Context) (*adaptive.Tables, *judge.Verdict, error) {
	if limit := routing.LimitOf(j.Fabric); limit.Within(j.VLs) < j.VLs {
		return nil, nil, limit.Refuse(j.Fabric, j.VLs)
	}
	s := j.Stage("paths", &j.Spent.Paths)
	t, err := j.Wanted.Adaptive.RouteAdaptive(ctx, j.Fabric, j.Budget(), s.Progress())
	s.Done()
	if err != nil {
		return nil, nil, err
	}
	s = j.Stage("verify", &j.Spent.Verify)
	defer s.Done()
	v, err := judge.Verify(ctx, t, judge.Options{Scope: j.Flags.Scope, Progress: s.Progress()})
	return t, v, err
}
