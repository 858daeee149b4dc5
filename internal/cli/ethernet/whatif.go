package ethernet

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/ethernet/between"
	"github.com/weft-fabric/weft/internal/ethernet/bgp"
	"github.com/weft-fabric/weft/internal/ethernet/hops"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/traffic"
)

// WhatIf is weft what-if, the command c of InfiniBand, of lossless Ethernet too.
func WhatIf(a *console.Console, c *cobra.Command) *cobra.Command {
	o := &trafficFlags{}
	return ofBothKinds(twoKinds{
		Command: c,
		also:    []string{"json", "switch", "cable", "seed", "precision"},
		flags:   o.addTo,
		long: `Of lossless Ethernet, --switch names devices and --cable NAME:INTERFACE; the answer is
who is cut off, whether packets can deadlock with the routes that BGP computes then, or
while it converges, in any mixture of the routes before and after, and how long random
pairs take on what is left.`,
		run: func(cmd *cobra.Command, name string) error { return runWhatIf(a, cmd, name, o) },
	})
}

// taken is the parts that flags take away.
type taken struct {
	devices, links []bool // [DeviceID], [LinkID] one direction of each cable
}

// partsTaken finds the parts that flags name.
func partsTaken(cmd *cobra.Command, c *ethernet.Cabling) (*taken, error) {
	switches, err := cmd.Flags().GetStringArray("switch")
	if err != nil {
		return nil, err
	}
	cables, err := cmd.Flags().GetStringArray("cable")
	if err != nil {
		return nil, err
	}
	if len(switches)+len(cables) == 0 {
		return nil, exit.Usage("nothing is taken away: give --switch or --cable")
	}
	t := &taken{devices: make([]bool, len(c.Names)), links: make([]bool, len(c.Links))}
	for _, name := range switches {
		devices, err := devicesOf(c, name)
		if err != nil {
			return nil, exit.Usage("--switch: %w", err)
		}
		for _, d := range devices {
			t.devices[d] = true
		}
	}
	for _, text := range cables {
		links, err := cablesOf(c, text)
		if err != nil {
			return nil, exit.Usage("--cable: %w", err)
		}
		for _, l := range links {
			t.links[l] = true
		}
	}
	if !slices.Contains(t.devices, false) {
		return nil, exit.Usage("--switch: nothing is left of the network")
	}
	return t, nil
}

// runWhatIf compares the network with itself without the parts that flags name, both with computed routes: BGP's after the
// failure can only be computed. Findings are a credit loop after it or on the way, and pairs cut off by it.
func runWhatIf(a *console.Console, cmd *cobra.Command, name string, o *trafficFlags) error {
	if err := o.check(); err != nil {
		return err
	}
	j := trafficJob{}
	var asJSON bool
	if err := errorOf(
		get(cmd.Flags().GetUint64, "seed", &j.seed), get(cmd.Flags().GetBool, "json", &asJSON),
	); err != nil {
		return err
	}
	if cmd.Flags().Changed("precision") {
		if err := get(cmd.Flags().GetFloat64, "precision", &j.precision); err != nil {
			return err
		}
	}
	s := &result.WhatIfEthernet{Network: name, Differ: []string{}}
	stage := a.Stage("reading", &s.Seconds.Read)
	in, err := o.read(a, name)
	var t *taken
	if err == nil {
		t, err = partsTaken(cmd, in.Cabling) // before routes are computed: a wrong name need not wait for them
	}
	if err == nil && in.plan == nil {
		var differ []string
		differ, err = o.computeInstead(in)
		s.Differ = append(s.Differ, differ...)
	}
	stage.Done()
	if err != nil {
		return err
	}
	stage = a.Stage("verify", &s.Seconds.Verify)
	after, err := in.without(t)
	if err == nil {
		err = judgeWithout(cmd.Context(), s, in, after)
	}
	stage.Done()
	if err != nil {
		return err
	}
	stage = a.Stage("simulate", &s.Seconds.Simulate)
	ways, err := o.left(cmd.Context(), in, after, &j)
	stage.Done()
	if err != nil {
		return err
	}
	s.Bandwidth = []result.EthernetBandwidth{}
	for i, x := range ways[0] {
		y := &ways[1][i]
		s.Bandwidth = append(s.Bandwidth, result.EthernetBandwidth{Way: x.Way, QueuePairs: x.QueuePairs, Before: x.Time, BeforeStdErr: x.StdErr, After: y.Time, AfterStdErr: y.StdErr, Lost: y.Lost})
	}
	s.Routes, s.Assumed, s.NotCovered = in.routes, append([]string{}, in.Notes...), in.notCovered()
	c := &s.Change
	found := c.Verdict == result.CreditLoop || c.After == result.CreditLoop || c.CutAfter > c.CutBefore
	return a.Answer(asJSON, s, func() error { return showWhatIf(a, in, s, &ways) }, found)
}

// without is the network without parts, with the routes that are computed then.
func (in *networkInput) without(t *taken) (*networkInput, error) {
	n, err := between.Without(in.plan, in.Network, t.devices, t.links)
	if err != nil {
		return nil, err
	}
	return &networkInput{Network: n, plan: in.plan, routes: in.routes, again: in.again}, nil
}

// judgeWithout fills in s with what is gone, who is cut off, whether packets can deadlock, and the leaf with the smallest part of its cables left.
func judgeWithout(ctx context.Context, s *result.WhatIfEthernet, in, after *networkInput) (err error) {
	d := between.Differ(in.Network, after.Network)
	s.Without, s.Gone, s.Entries = partsOf(d), prefixTexts(d.PrefixesGone), d.Entries
	devices := map[string]bool{}
	for _, r := range d.Routes {
		devices[r.Device] = true
	}
	s.Devices = len(devices)
	if s.Change, err = judgeChange(ctx, in, after, false); err != nil {
		return err
	}
	s.Apart = apart(after.Network)
	for _, leaf := range bgp.Leaves(after.Classes) {
		first, end := after.LinksFrom(leaf)
		now := int(end - first)
		first, end = in.LinksFrom(in.Device(after.Names[leaf]))
		was, least := int(end-first), &s.Least
		if now < was && (least.Device == "" || now*least.Of < least.Cables*was) {
			least.Device, least.Cables, least.Of = after.Names[leaf], now, was
		}
	}
	return nil
}

// apart counts pairs of prefixes with hosts that no cables join.
func apart(n *ethernet.Network) (pairs int64) {
	part, parts := hops.Parts(n.Cabling, nil) // [DeviceID], and how many
	if parts == 1 {
		return 0
	}
	senders := n.Senders(ethernet.HostScope)
	for i := range senders {
		for k := range senders {
			a, b := &senders[i], &senders[k]
			four := func(class int) bool { return n.Classes[class].Prefix().Addr().Is4() }
			together := func(from ethernet.DeviceID) bool {
				return slices.ContainsFunc(b.At, func(to ethernet.DeviceID) bool { return part[from] == part[to] })
			}
			if i != k && four(a.Class) == four(b.Class) && !slices.ContainsFunc(a.At, together) {
				pairs += int64(a.Count) * int64(b.Count)
			}
		}
	}
	return pairs
}

// left is how long random pairs of the adapters that stay take before and after, in each way without pins: no way where nobody is
// left to send to another. It enters the
// adapters in after, and in in the note of how they were counted.
func (o *trafficFlags) left(ctx context.Context, in, after *networkInput, j *trafficJob) (ways [2][]result.EthernetWay, err error) {
	before := *in
	before.Network = &ethernet.Network{}
	*before.Network = *in.Network // gets a note
	before.fabric = nil           // adapters are named by their devices, in both
	if before.hosts == nil {
		before.hosts = o.adapters(&before)
		in.Notes = before.Notes
	} else if o.nics > 0 {
		return ways, exit.Usage("--nics is for networks that do not tell their adapters, and this one does")
	}
	was := before.hosts // all; from here on only those that stay count
	before.hosts, after.hosts = make([]int, len(in.Names)), make([]int, len(after.Names))
	for d, name := range after.Names {
		n := was[in.Device(name)]
		after.hosts[d], before.hosts[in.Device(name)] = n, n
	}
	bare := trafficFlags{qps: o.qps, polarized: o.polarized}
	if adaptersWithRoutes(after) < 2 {
		return ways, nil // nobody is left to send to another
	}
	a, err := bare.lay(&before, "the network")
	if err != nil {
		return ways, err
	}
	b, err := bare.lay(after, "what is left")
	if err != nil {
		return ways, err
	}
	if j.pattern, err = traffic.Parse("bisect"); err != nil {
		return ways, err
	}
	for i, t := range []*trafficNetwork{a, b} {
		j.placement = t.byName()
		if ways[i], _, err = t.hashedWays(ctx, &bare, j, nil); err != nil {
			return ways, err
		}
	}
	return ways, nil
}

// adaptersWithRoutes counts the adapters that traffic can be laid on.
func adaptersWithRoutes(in *networkInput) (n int) {
	t := &trafficNetwork{networkInput: in}
	for d, classes := range t.classes() {
		if len(classes) > 0 {
			n += in.hosts[d]
		}
	}
	return n
}

// byName is the adapters of a network in an order that does not depend on which others there are.
func (t *trafficNetwork) byName() traffic.Placement {
	p := traffic.Placement(t.among())
	name := func(e fabric.EndpointID) string { return t.f.Label(t.f.Endpoint(e).Node) }
	slices.SortFunc(p, func(a, b fabric.EndpointID) int { return words.Natural(name(a), name(b)) })
	return p
}

// showWhatIf shows s to people; ways is how long random pairs take before and after, of which s.Bandwidth is a part.
func showWhatIf(a *console.Console, in *networkInput, s *result.WhatIfEthernet, ways *[2][]result.EthernetWay) error {
	p := a.NewPage()
	c := &s.Change
	switch {
	case c.Nothing != "":
		p.Judged(false, "%s: %s", result.NothingToJudge, c.Nothing)
	case c.Verdict == result.DeadlockFree:
		p.Judged(true, "no packet can deadlock after it, nor while BGP converges%s", in.covered())
	default:
		when := "while BGP converges"
		if c.After == result.CreditLoop {
			when = "after it"
		}
		p.Judged(false, "packets can deadlock %s (%s before): a shortest loop of %d steps:\n%s", when, c.Before, len(c.Cycle), namedLoop(a, c.Cycle))
	}
	p.Fact("without", "%s", partsText(&s.Without))
	if len(s.Gone) > 0 {
		p.Fact("", "gone with it: %s with hosts: %s", words.Counted(len(s.Gone), "prefix", "prefixes"), words.FirstOf(s.Gone))
	}
	factCut(p, c)
	if s.Apart > 0 {
		p.Fact("", "no cables join %s of these pairs", words.Thousands(s.Apart))
	}
	p.Fact("routes", "%s of a prefix at a device change, at %s", words.Counted(s.Entries, "set of next hops", "sets of next hops"), words.Plural(s.Devices, "device"))
	if least := s.Least; least.Device != "" {
		p.Fact("bandwidth", "%s has %d of %s left", least.Device, least.Cables, words.Plural(least.Of, "cable"))
	}
	p.Fact("network", "%s", in.text(s.Network))
	p.Fact("routing", "%s", in.routes)
	if len(s.Differ) > 0 {
		p.Fact("differ", "computed routes are not those that were read at %s: what is said here is about those computed", strings.Join(s.Differ, ", "))
	}
	if len(s.Assumed) > 0 {
		p.Fact("read", "%s", strings.Join(s.Assumed, "\n"))
	}
	p.Fact("outside", "of any proof: %s; longer paths that BGP tries in between", strings.Join(s.NotCovered, ", "))
	p.Fact("time", "read %s, verify %s, simulate %s", words.Seconds(s.Seconds.Read), words.Seconds(s.Seconds.Verify), words.Seconds(s.Seconds.Simulate))
	if err := a.Show(p); err != nil || len(ways[0]) == 0 {
		return err
	}
	t := a.NewTable("random pairs of adapters that stay", "before", "after")
	t.Right(1, 2)
	for i := range ways[0] {
		before, after := &ways[0][i], &ways[1][i]
		text := timeText(after)
		if after.Lost > 0 && after.Lost < after.Flows {
			text += fmt.Sprintf(", %.3g %% lost", 100*float64(after.Lost)/float64(after.Flows))
		}
		t.Row(wayText(before), timeText(before), text)
	}
	t.Render()
	return a.Say("times of the fullest link, 1 if no flow is in another's way")
}

// partsText is what is taken away, in words.
func partsText(p *result.EthernetParts) string {
	var parts []string
	if len(p.DevicesGone) > 0 {
		parts = append(parts, words.Plural(len(p.DevicesGone), "device")+": "+words.FirstOf(p.DevicesGone))
	}
	if len(p.CablesGone) > 0 {
		parts = append(parts, words.Plural(len(p.CablesGone), "cable")+": "+strings.Join(firstThree(list.Of(p.CablesGone, cableText)), "; "))
	}
	return strings.Join(parts, "; ")
}

// firstThree is the first three of more than four names, and how many more there are.
func firstThree(names []string) []string {
	if len(names) <= 4 {
		return names
	}
	return append(slices.Clone(names[:3]), "and "+words.Thousands(len(names)-3)+" more")
}
