package ethernet

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/ethernet/shape"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// Info makes of weft info, the command c of InfiniBand, one that takes lossless Ethernet too.
func Info(a *console.Console, c *cobra.Command) *cobra.Command {
	o := &networkFlags{}
	ofInfiniBand := c.RunE
	return ofBothKinds(twoKinds{
		Command: c,
		also:    []string{"json"},
		flags:   o.addTo,
		long:    `Of lossless Ethernet: tiers, next hops, and odd devices, routes and cables; see docs/ethernet.md.`,
		run: func(cmd *cobra.Command, name string) error {
			err := runInfo(a, cmd, name, o)
			var other interface{ NoDevices() bool }
			if errors.As(err, &other) && other.NoDevices() {
				return ofInfiniBand(cmd, []string{name}) // it says what a folder of InfiniBand has
			}
			return err
		},
	})
}

// runInfo answers weft info of the network called name.
func runInfo(a *console.Console, cmd *cobra.Command, name string, o *networkFlags) error {
	in, err := o.read(a, name)
	if err != nil {
		return err
	}
	asJSON, err := cmd.Flags().GetBool("json")
	if err != nil {
		return err
	}
	found := shape.Of(in.Network)
	s := &result.InfoEthernet{
		Network: name, Routes: in.routes, Assumed: append([]string{}, in.Notes...), NotCovered: append([]string{}, in.Gaps...),
		Devices: len(in.Names), Cables: in.Cables(), Prefixes: in.Prefixes(), Hosts: in.HostPrefixes(), Classes: len(in.Classes),
		Priorities: append([]int{}, in.Priorities.Lossless()...), Tiers: []result.EthernetTier{}, Odd: []result.EthernetOdd{},
	}
	adapters, carry := make([]int, len(found.Tiers)), make([]int, len(found.Tiers)) // [tier] and what they carry together, Mb/s
	rated := in.HostSpeeds != nil
	for d, n := range in.hosts {
		s.Adapters += n
		if found.Level[d] >= 0 {
			adapters[found.Level[d]] += n
		}
		if rated && n > 0 {
			rated = in.HostSpeeds[d] > 0
			carry[max(found.Level[d], 0)] += n * int(in.HostSpeeds[d])
		}
	}
	for i, t := range found.Tiers {
		e := result.EthernetTier{Devices: t.Devices, WithHosts: t.Hosts, Up: t.Up, Down: t.Down, Across: t.Across, NextHops: []result.EthernetWidth{}}
		if below := t.Down + adapters[i]; below > 0 && t.Up > 0 {
			e.Over = float64(below) / float64(t.Up)
			if t.UpMbps > 0 && (t.DownMbps > 0 || t.Down == 0) && (rated || adapters[i] == 0) {
				e.Over = float64(t.DownMbps+carry[i]) / float64(t.UpMbps)
			}
		}
		for hops, routes := range t.Widths {
			if routes > 0 {
				e.NextHops = append(e.NextHops, result.EthernetWidth{NextHops: hops, Routes: routes})
			}
		}
		s.Tiers = append(s.Tiers, e)
	}
	for _, f := range found.Odd {
		s.Odd = append(s.Odd, result.EthernetOdd{Kind: f.Kind, Device: in.Names[f.Device], Text: f.Text})
	}
	return a.Answer(asJSON, s, func() error { return a.Show(infoScreen(a, in, s)) }, false)
}

func infoScreen(a *console.Console, in *networkInput, s *result.InfoEthernet) *console.Page {
	p := a.NewPage()
	in.factNetwork(p, s.Network)
	for i, t := range s.Tiers {
		parts := []string{words.Plural(t.Devices, "device")}
		if t.WithHosts > 0 {
			parts[0] += ", with hosts"
		}
		for _, c := range []struct {
			cables int
			way    string
		}{{t.Down, "down"}, {t.Across, "across"}, {t.Up, "up"}} {
			if c.cables > 0 {
				parts = append(parts, words.Plural(c.cables, "cable")+" "+c.way)
			}
		}
		if t.Over > 0 {
			parts = append(parts, fmt.Sprintf("oversubscription %.2g", t.Over))
		}
		if len(t.NextHops) > 0 {
			parts = append(parts, "next hops of routes to hosts: "+strings.Join(list.Of(t.NextHops, func(w result.EthernetWidth) string {
				return fmt.Sprintf("%d (%s)", w.NextHops, words.Plural(w.Routes, "route"))
			}), ", "))
		}
		p.Fact(fmt.Sprintf("tier %d", i), "%s", strings.Join(parts, "; "))
	}
	p.Fact("lanes", "%s", losslessText(s.Priorities))
	if i := slices.IndexFunc(in.Classes, func(c ethernet.Class) bool { return len(c.Weights) > 0 }); i >= 0 {
		p.Fact("weights", "next hops of some routes have weights that differ, such as to %s", in.Classes[i].Prefix())
	}
	if len(s.Odd) > 0 {
		lines := list.Of(s.Odd, func(o result.EthernetOdd) string { return o.Kind + ": " + o.Text })
		p.Finding("odd", "%s", a.First(20, lines, func(n int) string { return "and " + words.Thousands(n) + " more (--json has all)" }))
	}
	return p
}
