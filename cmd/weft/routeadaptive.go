package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// adaptiveSummary is the result of weft route with an adaptive engine, for
// programs: the fields of routeSummary that make sense.
type adaptiveSummary struct {
	Fabric   fabricSummary `json:"fabric"`
	Engine   string        `json:"engine"`
	Adaptive bool          `json:"adaptive"`
	laneCounts
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
	channelNodes
	SrcNode nodeSummary `json:"src_node"`
}

// routeAdaptive is weft route for an engine whose switches choose among ports.
// There are no InfiniBand tables to write, only a verdict.
func (j *routeJob) routeAdaptive(ctx context.Context, o *routeFlags) error {
	if o.out != "" {
		return usage("%s is adaptive: InfiniBand tables cannot express it, so there is nothing to write with --out", j.engine.Name)
	}
	t, v, err := j.adapt(ctx)
	if routing.Refused(err) {
		return finding("%s refuses: %w", j.engine.Name, err)
	}
	if err != nil {
		return err
	}
	sum := j.adaptiveSummary(t, v)
	return j.answer(o.json, sum, func() error { return j.show(j.adaptiveScreen(sum)) }, !v.Free())
}

// adapt routes and judges.
func (j *routeJob) adapt(ctx context.Context) (*routing.Adaptive, *deadlock.AdaptiveVerdict, error) {
	s := j.stage("paths", &j.spent.paths)
	t, err := j.adaptive.RouteAdaptive(ctx, j.fabric, j.budget, s.progress())
	s.done()
	if err != nil {
		return nil, nil, err
	}
	s = j.stage("verify", &j.spent.verify)
	defer s.done()
	v, err := deadlock.VerifyAdaptive(ctx, t, deadlock.AdaptiveOptions{Scope: j.scope, Progress: s.progress()})
	return t, v, err
}

func (j *routeJob) adaptiveSummary(t *routing.Adaptive, v *deadlock.AdaptiveVerdict) *adaptiveSummary {
	n := j.fabric.Count()
	s := &adaptiveSummary{
		Fabric: fabricSummary{
			Name: j.name, Switches: n.Switches, Endpoints: n.HCA + n.Aggregation + n.Router,
			Links: n.SwitchCables + n.AdapterCables + n.SelfCables,
		},
		Engine: j.engine.Name, Adaptive: true, VLs: t.Needed, VLsUsed: v.VLs, laneCounts: laneCounts{t.Needed, v.VLs, j.budget.VLs}, Verdict: creditLoop, Endpoints: j.scope.String(),
		Minimal: v.Minimal, MaxHops: v.Hops, Pairs: v.Pairs, Unreachable: v.Unreachable, Dependencies: v.Dependencies, Notes: t.Notes,
		Seconds: stageSeconds{Read: j.spent.read.Seconds(), Paths: j.spent.paths.Seconds(), Verify: j.spent.verify.Seconds()},
		PeakRSS: peakRSS(),
	}
	if v.Free() {
		s.Verdict = deadlockFree
	}
	for _, step := range v.Cycle {
		c := j.fabric.Channel(step.Trunk)
		s.Cycle = append(s.Cycle, adaptiveStepSummary{
			From: fmt.Sprintf("%s, port %d", j.fabric.Label(c.From), c.FromPort),
			To:   fmt.Sprintf("%s, port %d", j.fabric.Label(c.To), c.ToPort),
			VL:   step.Lane, Kind: step.Kind.String(), Src: j.fabric.Label(step.Source),
			channelNodes: endsOf(j.fabric, step.Trunk), SrcNode: nodeOf(j.fabric, step.Source, 0),
		})
	}
	return s
}

func (j *routeJob) adaptiveScreen(s *adaptiveSummary) *page {
	p := j.newPage()
	p.fact("fabric", "%s: %s, %s", j.name, plural(s.Fabric.Switches, "switch"), describeEndpoints(j.fabric))
	p.fact("engine", "%s (%s), adaptive: %s", s.Engine, j.adaptive.Paper, engines.AdaptiveTrust)
	for _, note := range s.Notes {
		p.fact("", "%s", note)
	}
	if s.Verdict == deadlockFree {
		p.fact("verdict", "%s (endpoints %s): %s dependencies of the extended graph, a rank that rises along each", s.Verdict, s.Endpoints, thousands(int64(s.Dependencies)))
	} else {
		steps := make([]string, len(s.Cycle))
		for i, c := range s.Cycle {
			steps[i] = fmt.Sprintf("  %s → %s, VL %d    (%s, from %s)", c.From, c.To, c.VL, c.Kind, c.Src)
		}
		p.fact("verdict", "%s (endpoints %s), a shortest one of %d steps:\n%s", s.Verdict, s.Endpoints, len(s.Cycle), strings.Join(steps, "\n"))
	}
	p.fact("lanes", "%s", s.laneCounts)
	minimal := "all paths minimal"
	if !s.Minimal {
		minimal = "with detours"
	}
	p.fact("hops", "at most %d, %s", s.MaxHops, minimal)
	p.fact("routes", "%s pairs of switches with endpoints, %s without a sure way", thousands(s.Pairs), thousands(s.Unreachable))
	p.fact("time", "read %s, paths %s, verify %s; %s at the peak", seconds(j.spent.read), seconds(j.spent.paths), seconds(j.spent.verify), bytesOf(s.PeakRSS))
	p.fact("next", "switches with forwarding tables cannot do this: it is for simulation and for comparing")
	return p
}
