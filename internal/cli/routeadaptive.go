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
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// adaptiveSummary is the result of weft route with an adaptive engine, for
// programs: the fields of routeSummary that make sense.
type adaptiveSummary struct {
	Fabric   fabricSummary `json:"fabric"`
	Engine   string        `json:"engine"`
	Adaptive bool          `json:"adaptive"`
	report.LaneCounts
	VLs          int                   `json:"vls"`
	VLsUsed      int                   `json:"vls_used"`
	Verdict      string                `json:"verdict"`
	Endpoints    string                `json:"endpoints"`
	Minimal      bool                  `json:"minimal"`
	MaxHops      int                   `json:"max_hops"`
	Pairs        int64                 `json:"pairs"` // of switches with endpoints
	Unreachable  int64                 `json:"unreachable"`
	Dependencies int                   `json:"dependencies"`
	Cycle        []adaptiveStepSummary `json:"cycle,omitempty"`
	Notes        []string              `json:"notes,omitempty"`
	Seconds      stageSeconds          `json:"seconds"`
	PeakRSS      int64                 `json:"peak_rss_bytes"`
}

type adaptiveStepSummary struct {
	From string `json:"from"`
	To   string `json:"to"`
	VL   uint8  `json:"vl"`
	Kind string `json:"kind"`
	Src  string `json:"src"` // a switch
	report.ChannelNodes
	SrcNode report.Node `json:"src_node"`
}

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

func (j *routeJob) adaptiveSummary(t *routing.Adaptive, v *deadlock.AdaptiveVerdict) *adaptiveSummary {
	s := &adaptiveSummary{
		Fabric: summariseFabric(j.name, j.fabric),
		Engine: j.wanted.Name, Adaptive: true, VLs: t.Needed, VLsUsed: v.VLs, LaneCounts: report.LaneCounts{Needed: t.Needed, Used: v.VLs, Available: j.vls, Limit: report.LimitOf(j.fabric, j.vls)}, Verdict: report.Verdict(v), Endpoints: j.o.Scope.String(),
		Minimal: v.Minimal, MaxHops: v.Hops, Pairs: v.Pairs, Unreachable: v.Unreachable, Dependencies: v.Dependencies, Notes: t.Notes,
		Seconds: j.spent,
		PeakRSS: console.PeakMemory(),
	}
	for _, step := range v.Cycle {
		c := j.fabric.Channel(step.Trunk)
		s.Cycle = append(s.Cycle, adaptiveStepSummary{
			From: j.fabric.PortLabel(c.From, c.FromPort),
			To:   j.fabric.PortLabel(c.To, c.ToPort),
			VL:   step.Lane, Kind: step.Kind.String(), Src: j.fabric.Label(step.Source),
			ChannelNodes: report.EndsOf(j.fabric, step.Trunk), SrcNode: report.NodeOf(j.fabric, step.Source, 0),
		})
	}
	return s
}

func (j *routeJob) adaptiveScreen(s *adaptiveSummary) *console.Page {
	p := j.NewPage()
	p.Fact("fabric", "%s", report.Network(j.name, j.fabric))
	p.Fact("engine", "%s (%s), adaptive: %s", s.Engine, j.wanted.Adaptive.Paper, engines.AdaptiveTrust)
	for _, note := range s.Notes {
		p.Fact("", "%s", note)
	}
	if s.Verdict == report.DeadlockFree {
		p.Fact("verdict", "%s (endpoints %s): %s dependencies of the extended graph, a rank that rises along each", s.Verdict, s.Endpoints, words.Thousands(s.Dependencies))
	} else {
		steps := list.Of(s.Cycle, func(c adaptiveStepSummary) string {
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
