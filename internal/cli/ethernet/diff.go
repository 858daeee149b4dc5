package ethernet

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/judge"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/ethernet/between"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// cableText is what people call a cable.
func cableText(c result.EthernetCable) string {
	return between.CableText(ethernet.Cable{A: ethernet.End{Device: c.A, Interface: c.AInterface}, B: ethernet.End{Device: c.B, Interface: c.BInterface}})
}

// judgeChange judges what the network holds while the old one becomes the new. otherMaps says that maps of priorities differ too: then
// mixtures of these are judged as well, by one priority for all.
func judgeChange(ctx context.Context, old, new *networkInput, otherMaps bool) (c result.EthernetChange, err error) {
	o := judge.Options{Most: -1} // all that is lost
	before, err := judge.Verify(ctx, old.Network, judge.Options{})
	if err != nil {
		return c, err
	}
	after, err := judge.Verify(ctx, new.Network, o)
	if err != nil {
		return c, err
	}
	mixture := between.Mixture(old.Network, new.Network)
	mixed, err := judge.Verify(ctx, mixture, o)
	if err != nil {
		return c, err
	}
	c = result.EthernetChange{
		Verdict: outputs.WordOf(mixed), Before: outputs.WordOf(before), After: outputs.WordOf(after), Cycle: outputs.EthernetSteps(mixture, mixed.Cycle), Lost: []result.EthernetLost{},
		Pairs: after.Pairs, CutBefore: before.Unreachable, CutBetween: mixed.Unreachable, CutAfter: after.Unreachable, Circles: after.Circles,
		OneMapsOnly: otherMaps,
	}
	if otherMaps && mixed.Free() {
		byAnyMaps, err := judge.Verify(ctx, between.AnyMaps(old.Network, new.Network), o)
		if err != nil {
			return c, err
		}
		c.OneMapsOnly, c.AnyMaps = !byAnyMaps.Free(), byAnyMaps.Free()
	}
	for i := range after.Lost {
		c.Lost = append(c.Lost, lostOf(new.Network, &after.Lost[i]))
	}
	if why := new.nothing(ethernet.HostScope); why != "" {
		c.Verdict, c.After, c.Nothing = result.NothingToJudge, result.NothingToJudge, why
	}
	if old.nothing(ethernet.HostScope) != "" {
		c.Before = result.NothingToJudge
	}
	return c, nil
}

// Diff makes of weft diff, the command c of InfiniBand, one that takes lossless Ethernet too.
func Diff(a *console.Console, c *cobra.Command) *cobra.Command {
	o := &networkFlags{}
	return ofBothKinds(twoKinds{
		Command: c,
		also:    []string{"json"},
		flags:   o.addTo,
		long: `Of two folders of lossless Ethernet: devices, cables and prefixes that are gone or new,
next hops and lossless priorities that are others, and whether packets can deadlock
while the one becomes the other: every device forwards by old next hops or new ones,
at any time, on the cables of NEW.`,
		run: func(cmd *cobra.Command, name string) error { return runDiff(a, cmd, o) },
	})
}

// runDiff answers weft diff of two folders.
func runDiff(a *console.Console, cmd *cobra.Command, o *networkFlags) error {
	args := cmd.Flags().Args()
	if len(args) < 2 {
		return exit.Usage("%s is one lossless Ethernet network; weft diff compares two folders, OLD and NEW", args[0])
	}
	if !isEthernet(cmd, cmd.Flags(), args[1]) {
		return exit.Usage("%s is a lossless Ethernet network, and %s is none", args[0], args[1])
	}
	asJSON, err := cmd.Flags().GetBool("json")
	if err != nil {
		return err
	}
	both := [2]string{args[0], args[1]}
	return diff(cmd.Context(), a, o, both, both, asJSON)
}

// diff compares two networks and answers: names are what the answer calls them, files where they are read.
func diff(ctx context.Context, a *console.Console, o *networkFlags, names, files [2]string, asJSON bool) error {
	s := &result.DiffEthernet{Old: names[0], New: names[1]}
	stage := a.Stage("reading", &s.Seconds.Read)
	old, err := o.read(a, files[0])
	if err != nil {
		stage.Done()
		return err
	}
	next, err := o.read(a, files[1])
	stage.Done()
	if err != nil {
		return err
	}
	stage = a.Stage("verify", &s.Seconds.Verify)
	d := between.Differ(old.Network, next.Network)
	take(s, d, next.Network)
	s.Change, err = judgeChange(ctx, old, next, d.Marks || len(d.Maps)+len(d.Lossless) > 0)
	stage.Done()
	if err != nil {
		return err
	}
	s.Assumed = common(names[:], old.Notes, next.Notes)
	s.NotCovered = append(common(names[:], old.Gaps, next.Gaps), outside...)
	c := &s.Change
	found := c.Verdict != result.DeadlockFree || c.CutAfter > 0 || c.Circles > 0
	return a.Answer(asJSON, s, func() error { return a.Show(diffScreen(a, old, next, s)) }, found)
}

// common is sentences about two networks, those about one of them with its name.
func common(names []string, a, b []string) []string {
	all := []string{}
	for _, text := range a {
		if slices.Contains(b, text) {
			all = append(all, text)
		} else {
			all = append(all, names[0]+": "+text)
		}
	}
	for _, text := range b {
		if !slices.Contains(a, text) {
			all = append(all, names[1]+": "+text)
		}
	}
	return all
}

// take fills in s of a difference; n is the new network.
func take(s *result.DiffEthernet, d *between.Difference, n *ethernet.Network) {
	s.Same, s.Entries = d.Same(), d.Entries
	s.Parts = partsOf(d)
	s.Prefixes.Gone, s.Prefixes.New, s.Prefixes.Moved = prefixTexts(d.PrefixesGone), prefixTexts(d.PrefixesNew), prefixTexts(d.Moved)
	s.Routes = list.Of(d.Routes, func(r between.Route) result.EthernetReroute {
		return result.EthernetReroute{Device: r.Device, Before: hopsOf(r.Before), After: hopsOf(r.After), Prefixes: prefixTexts(r.Prefixes), Text: r.Text()}
	})
	s.Lossless = list.Of(d.Lossless, func(l between.Lane) result.EthernetLossless {
		return result.EthernetLossless{
			EthernetLink: result.EthernetLink{From: l.From.Device, FromInterface: l.From.Interface, To: l.To.Device, ToInterface: l.To.Interface},
			Before:       bitsOf(l.Before), After: bitsOf(l.After),
		}
	})
	if s.Maps = append([]string{}, d.Maps...); d.Marks { // maps cannot be compared one by one
		s.Maps = append(s.Maps, n.Names...)
	}
}

func partsOf(d *between.Difference) result.EthernetParts {
	return result.EthernetParts{
		DevicesGone: d.DevicesGone, DevicesNew: d.DevicesNew, CablesGone: list.Of(d.CablesGone, cableOf), CablesNew: list.Of(d.CablesNew, cableOf),
		Recabled: list.Of(d.Recabled, func(r between.Recabled) result.EthernetRecabled {
			return result.EthernetRecabled{EthernetPort: result.EthernetPort{Device: r.At.Device, Interface: r.At.Interface}, Before: r.Before.String(), After: r.After.String()}
		}),
	}
}

func cableOf(c ethernet.Cable) result.EthernetCable {
	return result.EthernetCable{A: c.A.Device, AInterface: c.A.Interface, B: c.B.Device, BInterface: c.B.Interface}
}

func hopsOf(ends []ethernet.End) []result.EthernetPort {
	return list.Of(ends, func(e ethernet.End) result.EthernetPort {
		return result.EthernetPort{Device: e.Device, Interface: e.Interface}
	})
}

func prefixTexts(prefixes []netip.Prefix) []string { return list.Of(prefixes, netip.Prefix.String) }

// bitsOf is the numbers of the bits that are set.
func bitsOf(set uint16) []int {
	all := []int{}
	for i := range 16 {
		if set>>i&1 == 1 {
			all = append(all, i)
		}
	}
	return all
}

// diffScreen is what weft diff shows people.
func diffScreen(a *console.Console, old, next *networkInput, s *result.DiffEthernet) *console.Page {
	p := a.NewPage()
	c := &s.Change
	switch {
	case c.Nothing != "":
		p.Judged(false, "%s: %s", result.NothingToJudge, c.Nothing)
	case c.Verdict == result.DeadlockFree && c.AnyMaps:
		p.Judged(true, "no mixture of old next hops and new ones can deadlock, whatever maps of priorities devices have meanwhile%s", next.covered())
	case c.Verdict == result.DeadlockFree:
		p.Judged(true, "no mixture of old next hops and new ones can deadlock%s", next.covered())
	default:
		p.Judged(false, "packets can deadlock while it changes: a shortest loop of %d steps (%s before, %s after):\n%s", len(c.Cycle), c.Before, c.After, namedLoop(a, c.Cycle))
	}
	p.Fact("old", "%s", old.text(s.Old))
	p.Fact("new", "%s", next.text(s.New))
	if len(s.Assumed) > 0 {
		p.Fact("read", "%s", strings.Join(s.Assumed, "\n"))
	}
	if s.Same {
		p.Fact("differ", "nothing that weft looks at")
	}
	factParts(p, &s.Parts)
	for _, f := range []struct {
		what string
		list []string
	}{{"gone", s.Prefixes.Gone}, {"new", s.Prefixes.New}, {"behind other devices", s.Prefixes.Moved}} {
		if len(f.list) > 0 {
			p.Fact("prefixes", "%s with hosts %s: %s", words.Counted(len(f.list), "prefix", "prefixes"), f.what, words.FirstOf(f.list))
		}
	}
	if len(s.Routes) > 0 {
		lines := list.Of(s.Routes, func(r result.EthernetReroute) string { return r.Text })
		p.Fact("routes", "%s of a prefix at a device changed:\n%s", words.Counted(s.Entries, "set of next hops", "sets of next hops"),
			firstLines(lines))
	}
	if len(s.Lossless) > 0 {
		lines := list.Of(s.Lossless, func(l result.EthernetLossless) string {
			return fmt.Sprintf("%s, %s → %s, %s: %s, was %s", l.From, l.FromInterface, l.To, l.ToInterface, prioritiesText(l.After), prioritiesText(l.Before))
		})
		p.Finding("lossless", "%s", firstLines(lines))
	}
	if len(s.Maps) > 0 {
		p.Fact("maps", "of priorities changed at %s", words.FirstOf(s.Maps))
	}
	factCut(p, c)
	if c.OneMapsOnly {
		p.Fact("not judged", "mixtures of old maps of priorities and new ones, which changed too and decide here: with one priority for all there is a loop; old and new next hops are judged with the maps of NEW")
	}
	p.Fact("outside", "of any proof: %s; longer paths that BGP tries in between", strings.Join(outside, ", "))
	p.Fact("time", "read %s, verify %s", words.Seconds(s.Seconds.Read), words.Seconds(s.Seconds.Verify))
	return p
}

// factParts says which devices and cables are gone and new.
func factParts(p *console.Page, parts *result.EthernetParts) {
	for _, f := range []struct {
		what string
		list []string
		one  string
	}{
		{"gone", parts.DevicesGone, "device"}, {"new", parts.DevicesNew, "device"},
		{"gone", list.Of(parts.CablesGone, cableText), "cable"}, {"new", list.Of(parts.CablesNew, cableText), "cable"},
	} {
		if len(f.list) > 0 {
			p.Fact(f.one+"s", "%s %s: %s", words.Plural(len(f.list), f.one), f.what, words.FirstOf(f.list))
		}
	}
	if len(parts.Recabled) > 0 {
		lines := list.Of(parts.Recabled, func(r result.EthernetRecabled) string {
			return r.Device + ", " + r.Interface + " leads to " + r.After + ", was " + r.Before
		})
		p.Finding("recabled", "%s", firstLines(lines))
	}
}

// factCut says which pairs have no sure route.
func factCut(p *console.Page, c *result.EthernetChange) {
	p.Fact("cut off", "of %s pairs of prefixes with hosts %s before, up to %s meanwhile, %s after", words.Thousands(c.Pairs), words.Thousands(c.CutBefore), words.Thousands(c.CutBetween), words.Thousands(c.CutAfter))
	if len(c.Lost) > 0 {
		lines := list.Of(c.Lost, func(l result.EthernetLost) string { return lostLine(&l) })
		p.Finding("", "%s", firstLines(lines))
	}
	if c.Circles > 0 {
		p.Finding("circling", "packets to %s can circle for ever after it", words.Counted(c.Circles, "prefix", "prefixes"))
	}
}

// firstLines keeps lists short, on a terminal and elsewhere.
func firstLines(lines []string) string {
	return firstOf(maxFailures, lines)
}

func prioritiesText(set []int) string {
	if len(set) == 0 {
		return "nothing is lossless"
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(set), " ", ", "), "[]")
}
