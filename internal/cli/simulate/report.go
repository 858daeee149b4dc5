package simulate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/loads"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// summary is the result for programs, made of everything that count has measured; screen shows it to
// people.
func (j *simulateJob) summary() *result.Simulate {
	f, r := j.tables.Fabric, j.result
	s := &result.Simulate{
		Fabric: j.name, Tables: j.source, Pattern: j.options.Pattern.String(), Ranks: len(j.options.Placement),
		Endpoints: j.scope.String(), Model: j.options.Model.String(), Uniform: r.Uniform, Split: r.Split, LinkMbps: r.Mbps, Seed: j.options.Seed,
		EBB: r.Lambda, StdErr: r.StdErr, Runs: r.Runs, Phases: r.Phases, Flows: r.Flows, Local: r.Local, NoRoute: r.Lost,
		Bandwidth: r.Bandwidth[:], MaxCongestion: r.MaxCongestion, Index: j.loads.Max,
		Spent:   j.spent,
		PeakRSS: console.PeakMemory(), Fit: j.fit, Histogram: []result.Congestion{}, Tiers: []result.TierLoad{},
	}
	s.NoRoutePairs = list.Of(r.Losses, func(l congestion.Lost) result.Pair { return outputs.Pair(f, l.From, l.To) })
	for m, n := range r.Congestion {
		if n > 0 {
			s.Histogram = append(s.Histogram, result.Congestion{Congestion: m, Flows: n})
		}
	}
	if !math.IsInf(r.Time, 0) && r.Ideal > 0 {
		s.Slowdown = r.Slowdown()
		if r.Weighed && r.Mbps > 0 {
			s.Seconds = r.Time * 8 / (float64(r.Mbps) * 1e6)
		}
	}
	if c := j.times; c != nil {
		nodes := outputs.Ends(f, c.Fullest)
		s.Traffic = &result.TrafficTime{Time: c.Time, Mean: c.Mean, Fullest: f.ChannelLabel(c.Fullest), Nodes: &nodes, Bytes: c.Bytes}
	}
	if r.Flows > 0 {
		w := r.Worst
		s.Worst = &result.WorstFlow{Pair: outputs.Pair(f, w.From, w.To), Bandwidth: w.Bandwidth, Run: w.Run, Phase: w.Phase}
		for i, c := range w.Route {
			s.Worst.Route = append(s.Worst.Route, result.HopFlows{NamedChannel: outputs.Channel(f, c), Flows: w.Load[i]})
			if w.Share != nil {
				s.Worst.Route[i].Share = w.Share[i]
			}
		}
	}
	s.Hot = list.Of(r.Hot(j.o.hot), func(c fabric.ChannelID) result.HotChannel {
		return result.HotChannel{NamedChannel: outputs.Channel(f, c), Mean: float64(r.Sum[c]) / float64(r.Runs*r.Phases), Most: r.Most[c]}
	})
	if j.loads.Hottest != fabric.None {
		nodes := outputs.Ends(f, j.loads.Hottest)
		s.IndexOn, s.IndexNodes = f.ChannelLabel(j.loads.Hottest), &nodes
	}
	for i, t := range loads.Tiers(j.loads, f, j.scope) { // r.Tiers is of the same tiers (count)
		s.Tiers = append(s.Tiers, result.TierLoad{
			From: t.From, To: t.To, Trunks: t.Trunks, Least: t.Least, Mean: t.Mean, Most: t.Most, Loads: t.Loads[:],
			Flows: r.Tiers[i].Flows, Share: r.Tiers[i].Share,
		})
	}
	s.Lanes = list.Of(j.lanes, func(l loads.Lane) result.LaneLoad {
		return result.LaneLoad{VL: l.VL, Hops: l.Hops, Channels: l.Trunks, Most: l.Most}
	})
	return s
}

// screen prints the result for people.
func (j *simulateJob) screen(s *result.Simulate) error {
	p := j.NewPage()
	p.Fact("fabric", "%s", report.NetworkAndCables(j.name, j.tables.Fabric))
	p.Fact("tables", "%s", s.Tables)
	if s.Split {
		p.Fact("", "switches choose: each flow is split evenly over the ports that its packets may take")
	}
	input.Facts(p, s.Fit)
	p.Fact("pattern", "%s among %s (endpoints %s); %s", s.Pattern, words.Plural(s.Ranks, "rank"), s.Endpoints, j.ratesText())
	p.Fact("bandwidth", "%s", j.bandwidthText(s))
	if s.NoRoute > 0 {
		p.Fact("NO ROUTE", "%s of %s pairs; they count with bandwidth 0:\n%s", words.Thousands(s.NoRoute), words.Thousands(s.NoRoute+s.Flows), noRouteText(j.Console, s.NoRoutePairs))
	}
	if s.Local > 0 {
		p.Fact("local", "%s no network", words.Counted(s.Local, "pair is on one endpoint and crosses", "pairs are on one endpoint and cross"))
	}
	if s.Slowdown > 0 {
		took := ""
		if s.Seconds > 0 {
			took = fmt.Sprintf(", %.4g s", s.Seconds)
		}
		p.Fact("duration", "%.2f times that without other flows, if each phase waits for its slowest flow%s", s.Slowdown, took)
	}
	if c := s.Traffic; c != nil {
		p.Fact("traffic", "%.2f times as long as the fullest link of a host takes, by the fullest channel, %s; %.2f in the mean over bytes", c.Time, c.Fullest, c.Mean)
	}
	p.Fact("congestion", "%s", congestionText(s))
	p.Fact("", "%s", sharesText(s))
	if w := s.Worst; w != nil {
		p.Fact("worst", "%.3f of full: %s → %s%s", w.Bandwidth, w.Src, w.Dst, whenText(s, w))
		j.printWorst(p, w)
	}
	p.Fact("lanes", "%s", lanesText(s))
	routed := "paths " + words.Seconds(j.spent.Paths) + ", lanes " + words.Seconds(j.spent.Lanes)
	if j.spent.Choose > 0 {
		routed = "choose " + words.Seconds(j.spent.Choose)
	}
	p.Fact("time", "read %s, %s, simulate %s; %s at the peak", words.Seconds(j.spent.Read), routed, words.Seconds(j.spent.Simulate), words.Bytes(s.PeakRSS))
	if err := j.Show(p); err != nil {
		return err
	}
	j.printTiers(s)
	j.printHot(s)
	return nil
}

// printWorst lists the channels of a flow; of one that is split, the fullest.
func (j *simulateJob) printWorst(p *console.Page, w *result.WorstFlow) {
	route := w.Route
	if j.result.Split {
		const most = 5
		route = slices.Clone(route)
		slices.SortStableFunc(route, func(a, b result.HopFlows) int { return cmp.Compare(b.Flows, a.Flows) })
		route = route[:min(len(route), most)]
	}
	for _, h := range route {
		p.Fact("", "  %s: %s", h.Channel, flowsText(h.Flows))
	}
	if n := len(w.Route) - len(route); n > 0 {
		p.Fact("", "  and %s that no more flows meet on (--json has them)", words.Plural(n, "channel"))
	}
}

// flowsText is a number of flows, which may have parts.
func flowsText(flows float64) string {
	if flows == math.Trunc(flows) {
		return words.Plural(int64(flows), "flow")
	}
	return fmt.Sprintf("%.3g flows", flows)
}

// ratesText is the model of bandwidth, and how fast links count.
func (j *simulateJob) ratesText() string {
	text := "model " + j.options.Model.String() + ", "
	switch {
	case j.o.uniformRates:
		return text + "all links treated alike"
	case j.result.Uniform:
		return text + "all links are alike"
	}
	return text + fmt.Sprintf("links at their rates, up to %g Gbit/s", float64(j.result.Mbps)/1000)
}

// bandwidthText is the bandwidth of the mean flow, with its error if runs were drawn.
func (j *simulateJob) bandwidthText(s *result.Simulate) string {
	what := "of full for the mean flow"
	if s.Pattern == "bisect" {
		what = "of full: the effective bisection bandwidth"
	}
	if s.Runs == 1 && s.StdErr == 0 {
		return fmt.Sprintf("%.4f %s (%s, %s)", s.EBB, what, words.Plural(s.Phases, "phase"), words.Plural(s.Flows, "flow"))
	}
	return fmt.Sprintf("%.4f ± %.4f %s (%s, seed %d)", s.EBB, s.StdErr, what, words.Plural(s.Runs, "run"), s.Seed)
}

// noRouteText names pairs without a route.
func noRouteText(a *console.Console, pairs []result.Pair) string {
	lines := list.Of(pairs, func(p result.Pair) string { return fmt.Sprintf("  %s → %s", p.Src, p.Dst) })
	return a.First(5, lines, func(int) string { return fmt.Sprintf("  … (--json has %d)", len(pairs)) })
}

// congestionText is the histogram of how many flows meet, for people: the share of flows for each
// number, or where the numbers are many, the least and what 50, 90 and 99 % of the flows do not exceed.
func congestionText(s *result.Simulate) string {
	const most = 8
	var parts []string
	for _, h := range s.Histogram {
		parts = append(parts, fmt.Sprintf("%d: %s", h.Congestion, percent(h.Flows, s.Flows)))
	}
	if len(parts) > most {
		parts = []string{fmt.Sprintf("least %s", words.Thousands(s.Histogram[0].Congestion))}
		for _, share := range []int64{50, 90, 99} {
			sum := int64(0)
			for _, h := range s.Histogram {
				if sum += h.Flows; sum*100 >= s.Flows*share {
					parts = append(parts, fmt.Sprintf("%d%% at most %s", share, words.Thousands(h.Congestion)))
					break
				}
			}
		}
	}
	return fmt.Sprintf("flows on the fullest channel of the route: %s; most %s", strings.Join(parts, ", "), words.Thousands(s.MaxCongestion))
}

// sharesText says what the 1, 10 and 50 % of the flows with least bandwidth get at most, to a bin of
// the histogram.
func sharesText(s *result.Simulate) string {
	total := int64(0)
	for _, n := range s.Bandwidth {
		total += n
	}
	var parts []string
	below, shares := int64(0), []int64{1, 10, 50}
	for b, n := range s.Bandwidth {
		below += n
		last := int64(0)
		for len(shares) > 0 && below*100 >= total*shares[0] {
			last, shares = shares[0], shares[1:]
		}
		if last > 0 {
			parts = append(parts, fmt.Sprintf("%d%% get at most %.2f", last, float64(b+1)/float64(len(s.Bandwidth))))
		}
	}
	return "of the flows " + strings.Join(parts, ", ") + " of full"
}

// percent is a part of a whole in percent.
func percent(part, whole int64) string {
	if share := 100 * float64(part) / float64(whole); share >= 0.05 {
		return fmt.Sprintf("%.1f%%", share)
	}
	return "<0.1%"
}

// whenText says in which run or phase a flow is, where there are several.
func whenText(s *result.Simulate, w *result.WorstFlow) string {
	switch {
	case s.Runs > 1:
		return fmt.Sprintf(" in run %d", w.Run)
	case s.Phases > 1:
		return fmt.Sprintf(" in phase %d", w.Phase)
	}
	return ""
}

// lanesText is the share of the hops that each lane carries.
func lanesText(s *result.Simulate) string {
	total := int64(0)
	for _, l := range s.Lanes {
		total += l.Hops
	}
	if total == 0 {
		return "no route crosses a cable between switches"
	}
	parts := list.Of(s.Lanes, func(l result.LaneLoad) string {
		return fmt.Sprintf("VL %d %.0f%%", l.VL, 100*float64(l.Hops)/float64(total))
	})
	return "of all routes' hops: " + strings.Join(parts, ", ")
}

// leaves is the mean bandwidth that the flows over a tier would get if no channel outside of it
// limited them.
func leaves(t *result.TierLoad) string {
	if t.Flows == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3f", t.Share)
}

// printTiers prints the loads of the channels, by tier.
func (j *simulateJob) printTiers(s *result.Simulate) {
	if len(s.Tiers) == 0 {
		return
	}
	t := j.NewTable("tier", "channels", "routes: least", "mean", "most", "leaves its flows", fmt.Sprintf("channels by load, 0 to %s in %d steps", words.Thousands(s.Index), loads.Bins))
	for _, r := range s.Tiers {
		t.Row(fmt.Sprintf("%d → %d", r.From, r.To), r.Trunks, r.Least, fmt.Sprintf("%.1f", r.Mean), r.Most, leaves(&r), strings.Trim(fmt.Sprint(r.Loads), "[]"))
	}
	t.Render()
}

// printHot prints the channels with most flows.
func (j *simulateJob) printHot(s *result.Simulate) {
	if len(s.Hot) == 0 {
		return
	}
	t := j.NewTable("hot channel", "flows: mean", "most")
	for _, h := range s.Hot {
		t.Row(h.Channel, fmt.Sprintf("%.2f", h.Mean), math.Round(100*h.Most)/100)
	}
	t.Render()
}
