package route

import (
	"context"
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/adaptive/judge"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/cli/internal/routed"
	"github.com/weft-fabric/weft/internal/engine/adaptive/choosing"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// routeAdaptive is weft route for an engine whose switches choose among ports.
// There are no InfiniBand tables to write, only a verdict.
func routeAdaptive(ctx context.Context, j *routed.Job, o *routeFlags) error {
	if o.out != "" {
		return exit.Usage("%s is adaptive: InfiniBand tables cannot express it, so there is nothing to write with --out", j.Wanted.Name)
	}
	t, v, err := j.Adapt(ctx)
	if routing.Refused(err) {
		return exit.Finding("%s refuses: %w", j.Wanted.Name, err)
	}
	if err != nil {
		return err
	}
	sum := adaptiveSummary(j, t, v)
	return j.Answer(o.json, sum, func() error { return j.Show(adaptiveScreen(j, sum)) }, !v.Free())
}

// adaptiveSummary is the result for programs.
func adaptiveSummary(j *routed.Job, t *adaptive.Tables, v *judge.Verdict) *result.Adaptive {
	s := &result.Adaptive{
		Fabric: outputs.Fabric(j.Name, j.Fabric),
		Engine: j.Wanted.Name, Adaptive: true, VLs: t.Needed, VLsUsed: v.VLs, LaneCounts: result.LaneCounts{Needed: t.Needed, Used: v.VLs, Available: j.VLs, Limit: outputs.LaneLimit(j.Fabric, j.VLs)}, Verdict: outputs.WordOf(v), Endpoints: j.Flags.Scope.String(),
		Minimal: v.Minimal, MaxHops: v.Hops, Pairs: v.Pairs, Unreachable: v.Unreachable, Dependencies: v.Dependencies, Notes: t.Notes,
		Seconds: j.Spent,
		PeakRSS: console.PeakMemory(),
	}
	for _, step := range v.Cycle {
		c := j.Fabric.Channel(step.Trunk)
		s.Cycle = append(s.Cycle, result.AdaptiveStep{
			From: j.Fabric.PortLabel(c.From, c.FromPort),
			To:   j.Fabric.PortLabel(c.To, c.ToPort),
			VL:   step.Lane, Kind: step.Kind.String(), Src: j.Fabric.Label(step.Source),
			ChannelNodes: outputs.Ends(j.Fabric, step.Trunk), SrcNode: outputs.Node(j.Fabric, step.Source, 0),
		})
	}
	return s
}

// adaptiveScreen is the result for people.
func adaptiveScreen(j *routed.Job, s *result.Adaptive) *console.Page {
	p := j.NewPage()
	p.Fact("fabric", "%s", report.Network(j.Name, j.Fabric))
	p.Fact("engine", "%s (%s), adaptive: %s", s.Engine, j.Wanted.Adaptive.Paper, choosing.Trust)
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
	p.Fact("lanes", "%s%s", outputs.LanesText(s.LaneCounts), outputs.LimitText(s.LaneCounts, j.Fabric))
	minimal := "all paths minimal"
	if !s.Minimal {
		minimal = "with detours"
	}
	p.Fact("hops", "at most %d, %s", s.MaxHops, minimal)
	p.Fact("routes", "%s pairs of switches with endpoints, %s without a sure way", words.Thousands(s.Pairs), words.Thousands(s.Unreachable))
	p.Fact("time", "read %s, paths %s, verify %s; %s at the peak", words.Seconds(j.Spent.Read), words.Seconds(j.Spent.Paths), words.Seconds(j.Spent.Verify), words.Bytes(s.PeakRSS))
	p.Fact("next", "switches with forwarding tables cannot do this: it is for simulation and for comparing")
	return p
}
