package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// routeAdaptive is weft route for an engine whose switches choose among ports.
// There are no InfiniBand tables to write, only a verdict.
func (j *routeJob) routeAdaptive(ctx context.Context, o *routeFlags) error {
	if o.out != "" {
		return exit.Usage("%s is adaptive: InfiniBand tables cannot express it, so there is nothing to write with --out", j.wanted.Name)
	}
	t, v, err := j.adapt(ctx)
	if routing.Refused(err) {
		return exit.Finding("%s refuses: %w", j.wanted.Name, err)
	}
	if err != nil {
		return err
	}
	sum := j.adaptiveSummary(t, v)
	return j.Answer(o.json, sum, func() error { return j.Show(j.adaptiveScreen(sum)) }, !v.Free())
}

func (j *routeJob) adapt(ctx context.Context) (*routing.Adaptive, *deadlock.AdaptiveVerdict, error) {
	if limit := routing.LimitOf(j.fabric); limit.Within(j.vls) < j.vls {
		return nil, nil, limit.Refuse(j.fabric, j.vls)
	}
	s := j.Stage("paths", &j.spent.Paths)
	t, err := j.wanted.Adaptive.RouteAdaptive(ctx, j.fabric, j.budget(), s.Progress())
	s.Done()
	if err != nil {
		return nil, nil, err
	}
	s = j.Stage("verify", &j.spent.Verify)
	defer s.Done()
	v, err := deadlock.VerifyAdaptive(ctx, t, deadlock.AdaptiveOptions{Scope: j.o.Scope, Progress: s.Progress()})
	return t, v, err
}

func (j *routeJob) adaptiveSummary(t *routing.Adaptive, v *deadlock.AdaptiveVerdict) *result.Adaptive {
	s := &result.Adaptive{
		Fabric: result.FabricOf(j.name, j.fabric),
		Engine: j.wanted.Name, Adaptive: true, VLs: t.Needed, VLsUsed: v.VLs, LaneCounts: result.LaneCounts{Needed: t.Needed, Used: v.VLs, Available: j.vls, Limit: result.LimitOf(j.fabric, j.vls)}, Verdict: result.WordOf(v), Endpoints: j.o.Scope.String(),
		Minimal: v.Minimal, MaxHops: v.Hops, Pairs: v.Pairs, Unreachable: v.Unreachable, Dependencies: v.Dependencies, Notes: t.Notes,
		Seconds: j.spent,
		PeakRSS: console.PeakMemory(),
	}
	for _, step := range v.Cycle {
		c := j.fabric.Channel(step.Trunk)
		s.Cycle = append(s.Cycle, result.AdaptiveStep{
			From: j.fabric.PortLabel(c.From, c.FromPort),
			To:   j.fabric.PortLabel(c.To, c.ToPort),
			VL:   step.Lane, Kind: step.Kind.String(), Src: j.fabric.Label(step.Source),
			ChannelNodes: result.EndsOf(j.fabric, step.Trunk), SrcNode: result.NodeOf(j.fabric, step.Source, 0),
		})
	}
	return s
}

func (j *routeJob) adaptiveScreen(s *result.Adaptive) *console.Page {
	p := j.NewPage()
	p.Fact("fabric", "%s", report.Network(j.name, j.fabric))
	p.Fact("engine", "%s (%s), adaptive: %s", s.Engine, j.wanted.Adaptive.Paper, engines.AdaptiveTrust)
	for _, note := range s.Notes {
		p.Fact("", "%s", note)
	}
	if s.Verdict == result.DeadlockFree {
		p.Fact("verdict", "%s (endpoints %s): %s dependencies of the extended graph, a rank that rises along each", s.Verdict, s.Endpoints, words.Thousands(s.Dependencies))
	} else {
		steps := list.Of(s.Cycle, func(c result.AdaptiveStep) string {
			return fmt.Sprintf("  %s → %s, VL %d    (%s, from %s)", c.From, c.To, c.VL, c.Kind, c.Src)
		})
		p.Fact("verdict", "%s (endpoints %s), a shortest one of %d steps:\n%s", s.Verdict, s.Endpoints, len(s.Cycle), strings.Join(steps, "\n"))
	}
	p.Fact("lanes", "%s%s", s.LaneCounts, s.LimitText(j.fabric))
	minimal := "all paths minimal"
	if !s.Minimal {
		minimal = "with detours"
	}
	p.Fact("hops", "at most %d, %s", s.MaxHops, minimal)
	p.Fact("routes", "%s pairs of switches with endpoints, %s without a sure way", words.Thousands(s.Pairs), words.Thousands(s.Unreachable))
	p.Fact("time", "read %s, paths %s, verify %s; %s at the peak", words.Seconds(j.spent.Read), words.Seconds(j.spent.Paths), words.Seconds(j.spent.Verify), words.Bytes(s.PeakRSS))
	p.Fact("next", "switches with forwarding tables cannot do this: it is for simulation and for comparing")
	return p
}
