package ethernet

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/ethernet/between"
	"github.com/weft-fabric/weft/internal/ethernet/bgp"
	"github.com/weft-fabric/weft/internal/ethernet/failures"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// maxFailures is how many findings are shown on a terminal.
const maxFailures = 10

// runFailures answers weft verify --failures of the network called name; runVerify calls it.
func runFailures(a *console.Console, cmd *cobra.Command, name string, o *verifyFlags) error {
	kind, err := failures.ParseKind(o.failures)
	if err != nil {
		return exit.Usage("--failures: %w", err)
	}
	if scope, err := scopeOf(cmd); err != nil || scope != ethernet.HostScope {
		return exit.Usage("--failures is about subnets with hosts: --endpoints hosts")
	}
	if o.samples < 1 {
		return exit.Usage("--samples is at least 1")
	}
	s := &result.EthernetFailures{Failures: kind.String(), Converging: o.converging}
	stage := a.Stage("reading", &s.Seconds.Read)
	in, err := o.read(a, name)
	if err == nil && in.plan == nil {
		s.Differ, err = o.computeInstead(in)
	}
	if err == nil && o.pins != "" {
		err = in.pinned(a, o.pins)
	}
	stage.Done()
	if err != nil {
		return err
	}
	if err := in.judgeable(); err != nil {
		return err
	}
	s.Routes, s.Assumed, s.NotCovered = in.routes, append([]string{}, in.Notes...), in.notCovered()
	stage = a.Stage("failures", &s.Seconds.Failures)
	r, err := failures.Run(cmd.Context(), in.plan, in.Network, failures.Options{Kind: kind, Converging: o.converging, Samples: o.samples, Progress: stage.Progress()})
	stage.Done()
	if err != nil {
		return err
	}
	s.Before, s.Tried, s.Of, s.Loops, s.Cuts = r.Before, r.Tried, r.Of, r.Loops, r.Cuts
	s.Findings = make([]result.EthernetFailure, 0, len(r.Findings))
	for _, f := range r.Findings {
		s.Findings = append(s.Findings, in.failure(f))
	}
	asJSON, err := cmd.Flags().GetBool("json")
	if err != nil {
		return err
	}
	return a.Answer(asJSON, s, func() error { return a.Show(failuresScreen(a, name, in, r, s)) }, r.Before || r.Loops > 0 || r.Cuts > 0)
}

// computeInstead puts a network with routes computed by BGP in the place of in, because only
// computed routes can be computed again after a failure. It returns the devices whose next hops in the dumps
// are others than those computed: what holds for the one need not hold for the other.
func (o *networkFlags) computeInstead(in *networkInput) ([]string, error) {
	read := in.Network
	computed := *read
	computed.Classes = bgp.HostClasses(read)
	next := &networkInput{Network: &computed, again: in.again, confs: in.confs, ownAS: in.ownAS}
	if err := o.compute(next); err != nil {
		return nil, err
	}
	differ := make([]bool, len(read.Names))
	for i := range computed.Classes {
		c := &computed.Classes[i]
		for j := range read.Classes {
			if !sharePrefix(&read.Classes[j], c) {
				continue
			}
			for d := range ethernet.DeviceID(len(read.Names)) {
				a, b := read.Words(c.Next, d), read.Words(read.Classes[j].Next, d)
				for k := range a {
					differ[d] = differ[d] || a[k] != b[k]
				}
			}
		}
	}
	*in = *next
	var names []string
	for d, yes := range differ {
		if yes {
			names = append(names, in.Names[d])
		}
	}
	return names, nil
}

// sharePrefix reports whether two classes have a prefix in common. Computed classes are coarser
// than those read: one for each set of devices with hosts.
func sharePrefix(a, b *ethernet.Class) bool {
	return slices.ContainsFunc(a.Prefixes, func(p netip.Prefix) bool { return slices.Contains(b.Prefixes, p) })
}

// failure is a finding with the names of devices and interfaces.
func (in *networkInput) failure(f failures.Finding) result.EthernetFailure {
	e := result.EthernetFailure{Loop: f.Loop, Cut: f.Cut}
	if f.Device != ethernet.None {
		e.Device = in.Names[f.Device]
	} else {
		for _, l := range f.Links {
			e.Cables = append(e.Cables, outputs.EthernetLink(in.Network, l))
		}
	}
	if f.Verdict != nil {
		e.Cycle = outputs.EthernetSteps(in.Network, f.Verdict.Cycle)
	}
	return e
}

func failuresScreen(a *console.Console, name string, in *networkInput, r *failures.Report, s *result.EthernetFailures) *console.Page {
	p := a.NewPage()
	p.Fact("network", "%s", in.text(name))
	p.Fact("routing", "%s", in.routes)
	switch {
	case len(s.Differ) > 0:
		p.Fact("differ", "computed routes are not those that were read at %s: what follows is about those computed", strings.Join(s.Differ, ", "))
	case len(in.Notes) > 0:
		p.Fact("read", "%s", strings.Join(in.Notes, "\n"))
	}
	if len(in.Gaps) > 0 {
		p.Fact("not covered", "%s", strings.Join(in.Gaps, "\n"))
	}
	what := map[failures.Kind]string{failures.Links: "each cable", failures.Switches: "each device", failures.TwoLinks: "each pair of cables"}
	kind, _ := failures.ParseKind(s.Failures)
	text := what[kind] + ", " + words.Thousands(r.Tried) + " in all"
	if r.Tried < r.Of {
		text = words.Thousands(r.Tried) + " pairs of cables drawn at random from " + words.Thousands(r.Of) + " (--samples)"
	}
	when := "after it"
	if s.Converging {
		when = "while BGP converges, in any mixture of the routes before and after"
	}
	p.Fact("failures", "%s, judged %s", text, when)
	p.Judged(r.Loops == 0, "a credit loop after %s of them; %s cut a pair of prefixes", words.Thousands(r.Loops), words.Thousands(r.Cuts))
	if r.Before {
		again := in.again
		if !strings.Contains(again, " --routes ") {
			again += " --routes bgp"
		}
		p.Fact("before", "there is a credit loop before anything fails: weft verify %s shows it", again)
	}
	if len(r.Findings) > 0 {
		p.Fact("worst", "%s", failuresText(a, in, r.Findings))
	}
	if r.Loops == 0 {
		p.Fact("outside", "of any proof: %s", strings.Join(outside, ", "))
	}
	p.Fact("time", "read %s, failures %s; %s at the peak", words.Seconds(s.Seconds.Read), words.Seconds(s.Seconds.Failures), words.Bytes(console.PeakMemory()))
	if r.Loops > 0 {
		p.Fact("next", "weft priorities %s --lossless %d computes rules for priorities that are safe after every single failure", in.again, in.twice())
	}
	return p
}

// failuresText is the worst findings, a line each, and behind the first that has a loop to
// show that loop.
func failuresText(a *console.Console, in *networkInput, found []failures.Finding) string {
	var lines []string
	shown := false
	for i, f := range found {
		if i == maxFailures {
			lines = append(lines, "and "+words.Thousands(len(found)-i)+" more (--json has all)")
			break
		}
		e := in.failure(f)
		parts := []string{e.Device}
		if e.Device == "" {
			parts = list.Of(e.Cables, func(c result.EthernetLink) string {
				return between.CableText(ethernet.Cable{A: ethernet.End{Device: c.From, Interface: c.FromInterface}, B: ethernet.End{Device: c.To, Interface: c.ToInterface}})
			})
		}
		line := strings.Join(parts, " and ") + ": "
		switch {
		case f.Loop && f.Cut > 0:
			line += "a loop, and " + words.Plural(f.Cut, "pair") + " cut"
		case f.Loop:
			line += "a loop"
		default:
			line += words.Plural(f.Cut, "pair") + " cut"
		}
		lines = append(lines, line)
		if f.Verdict != nil && !shown {
			shown = true
			lines = append(lines, loopText(a, in.Network, f.Verdict.Cycle))
		}
	}
	return strings.Join(lines, "\n")
}
