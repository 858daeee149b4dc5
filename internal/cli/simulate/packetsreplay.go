package simulate

import (
	"context"
	"fmt"
	"strings"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/cli/internal/routed"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// replayCycle is --replay-cycle: it finds the credit loop of the tables, has it replayed, and prints
// whether the network stopped.
func (j *packetsJob) replayCycle(ctx context.Context) error {
	if j.tables == nil {
		return exit.Usage("--replay-cycle is for tables; %s is adaptive and proven", j.engine)
	}
	v, err := deadlock.Verify(ctx, j.tables, deadlock.Options{Contract: flags.ContractOr(j.o.route.Contract, routing.Honored), Scope: j.scope})
	if err != nil {
		return err
	}
	s := &result.Replay{Verdict: outputs.WordOf(v), Cycle: outputs.Loop(j.fabric, v.Cycle)}
	if !v.Free() {
		if err := j.replay(ctx, v, s); err != nil {
			return err
		}
	}
	return j.Answer(j.o.json, s, func() error { return j.replayScreen(s, v) }, s.Run != nil && s.Run.Deadlock != nil)
}

// replay sends along the routes of the loop, and if the network stops, the same traffic under j.others.
// What came of it is in s.
func (j *packetsJob) replay(ctx context.Context, v *deadlock.Verdict, s *result.Replay) error {
	steps := list.Of(v.Cycle, func(s deadlock.LoopStep) packets.LoopStep {
		return packets.LoopStep{Trunk: s.Trunk, VL: s.VL, SL: s.SL, Src: s.Src, Dst: s.Dst}
	})
	r, err := j.network.Replay(ctx, steps, j.load.Seed)
	if err != nil {
		return err
	}
	run := j.runSummary(r.Result)
	s.Packets, s.Attempt, s.Run = len(r.Messages), r.Attempt, &run
	if r.Result.Deadlock == nil {
		return nil
	}
	s.Matches = r.Result.Deadlock.Matches(steps)
	for _, e := range j.others {
		if !j.chosen && e.Name == j.engine {
			continue
		}
		p, err := j.replayUnder(ctx, e, r)
		if err != nil {
			return err
		}
		p.Engine = e.Name
		s.Proven = append(s.Proven, p)
	}
	return nil
}

// takeEngines splits --engine: the first makes the tables, unless these are finished, and the
// others are for --replay-cycle.
func (j *packetsJob) takeEngines() error {
	o := j.o
	names := strings.Split(o.route.Name, ",")
	switch {
	case !o.replay && o.tables.LFTs != "" && o.route.Chosen():
		return exit.Usage("--tables are finished, and --engine makes others: give one of them (with --replay-cycle, --engine says under which engines the same is sent)")
	case !o.replay && len(names) > 1:
		return exit.Usage("--engine %s: several are for --replay-cycle", o.route.Name)
	case !o.replay:
		return nil
	case o.tables.LFTs == "":
		o.route.Name, names = names[0], names[1:]
	case !o.route.Chosen():
		names = nil
	}
	if j.chosen = len(names) > 0; !j.chosen {
		names = routed.Advised()
	}
	for _, name := range names {
		e, err := engines.Named(name)
		if err != nil {
			return exit.Usage("--engine: %w", err)
		}
		j.others = append(j.others, e)
	}
	return nil
}

// replayUnder sends the messages of a replay under another engine, if that routes the fabric.
func (j *packetsJob) replayUnder(ctx context.Context, e engines.Engine, r *packets.Replay) (result.ProvenReplay, error) {
	p := result.ProvenReplay{}
	o, err := routed.LoopOrResult(weft.Route(ctx, j.fabric, weft.Request{
		Custom: &e, Contract: &e.Contract, Scope: max(j.scope, routing.Adapters), VLs: j.o.route.LanesOn(j.fabric), Options: engines.Options{Seed: j.load.Seed},
	}))
	if ctx.Err() != nil {
		return p, ctx.Err()
	}
	if routing.Refused(err) {
		p.Status, p.Refused = "refused", err.Error()
		return p, nil
	}
	if err != nil {
		return p, err
	}
	p.Verdict = outputs.WordOf(o.Verdict)
	n, err := packets.New(o.Tables, j.config)
	if err != nil {
		return p, asUsage(err)
	}
	run, err := r.On(ctx, n)
	if err != nil {
		return p, err
	}
	if run.Deadlock != nil && o.Verdict.Free() {
		return p, exit.Internal("%s is proven, and the simulator stops: %s", e.Name, run.Deadlock)
	}
	p.Status, p.Makespan = string(run.Status), nanoseconds(run.Makespan)
	return p, nil
}

// ended says how a replay ended, and when.
func (j *packetsJob) ended(r *result.ProvenReplay) string {
	if r.Makespan == 0 { // it never ended
		return r.Status
	}
	return fmt.Sprintf("%s after %s", r.Status, j.when(r.Makespan))
}

// replayScreen prints a replay for people.
func (j *packetsJob) replayScreen(s *result.Replay, v *deadlock.Verdict) error {
	p := j.NewPage()
	p.Fact("fabric", "%s", report.Network(j.name, j.fabric))
	if s.Run == nil {
		p.Judged(true, "%s (contract %s, endpoints %s): there is no credit loop to replay", s.Verdict, v.Contract, v.Scope)
		return j.Show(p)
	}
	p.Judged(false, "%s", report.VerdictText(j.Console, j.fabric, v))
	if s.Run.Deadlock == nil {
		p.Fact("replay", "%s: %s arrived in each of %s. The loop is possible; this traffic does not close it", s.Run.Status, words.Plural(s.Packets, "packet"), words.Plural(s.Attempt, "attempt"))
	} else {
		where := "in the buffers that the judge names"
		if !s.Matches {
			where = "in other buffers than the judge's shortest loop"
		}
		p.Fact("replay", "deadlocked, %s; attempt %d, %s offered\n%s", where, s.Attempt, words.Plural(s.Packets, "packet"), j.stopText(s.Run.Deadlock))
	}
	for _, r := range s.Proven {
		switch {
		case r.Refused != "":
			p.Fact(r.Engine, "refuses: %s", r.Refused)
		default:
			loop := ""
			if r.Verdict == result.CreditLoop {
				loop = "has a credit loop here too; "
			}
			p.Fact(r.Engine, "%sthe same traffic is %s", loop, j.ended(&r))
		}
	}
	return j.Show(p)
}
