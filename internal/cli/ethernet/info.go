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
)

// ethernetInfo is what weft info prints.
type ethernetInfo struct {
	Network    string         `json:"network"`
	Routes     string         `json:"routes"`
	Assumed    []string       `json:"assumed"`
	Gaps       []string       `json:"not_covered"`
	Devices    int            `json:"devices"`
	Cables     int            `json:"cables"`
	Prefixes   int            `json:"prefixes"`
	Hosts      int            `json:"host_prefixes"`
	Classes    int            `json:"classes"`
	Adapters   int            `json:"adapters"`
	Priorities []int          `json:"lossless_priorities"`
	Tiers      []ethernetTier `json:"tiers"`
	Odd        []ethernetOdd  `json:"odd"`
}

// ethernetTier is the devices that are equally far from hosts.
type ethernetTier struct {
	Devices   int     `json:"devices"`
	WithHosts int     `json:"with_hosts"`
	Up        int     `json:"cables_up"`
	Down      int     `json:"cables_down"`
	Across    int     `json:"cables_across"`
	Over      float64 `json:"oversubscription,omitempty"`
	NextHops  []width `json:"next_hops"`
}

// width is how many routes have so many next hops.
type width struct {
	NextHops int `json:"count"`
	Routes   int `json:"routes"`
}

// ethernetOdd is a shape.Finding.
type ethernetOdd struct {
	Kind   string `json:"kind"`
	Device string `json:"device"`
	Text   string `json:"text"`
}

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
	s := &ethernetInfo{
		Network: name, Routes: in.routes, Assumed: append([]string{}, in.Notes...), Gaps: append([]string{}, in.Gaps...),
		Devices: len(in.Names), Cables: in.Cables(), Prefixes: in.Prefixes(), Hosts: in.HostPrefixes(), Classes: len(in.Classes),
		Priorities: append([]int{}, in.Priorities.Lossless()...), Tiers: []ethernetTier{}, Odd: []ethernetOdd{},
	}
	adapters := make([]int, len(found.Tiers))
	for d, n := range in.hosts {
		s.Adapters += n
		if found.Level[d] >= 0 {
			adapters[found.Level[d]] += n
		}
	}
	for i, t := range found.Tiers {
		e := ethernetTier{Devices: t.Devices, WithHosts: t.Hosts, Up: t.Up, Down: t.Down, Across: t.Across, NextHops: []width{}}
		if below := t.Down + adapters[i]; below > 0 && t.Up > 0 {
			e.Over = float64(below) / float64(t.Up)
		}
		for hops, routes := range t.Widths {
			if routes > 0 {
				e.NextHops = append(e.NextHops, width{hops, routes})
			}
		}
		s.Tiers = append(s.Tiers, e)
	}
	for _, f := range found.Odd {
		s.Odd = append(s.Odd, ethernetOdd{Kind: f.Kind, Device: in.Names[f.Device], Text: f.Text})
	}
	return a.Answer(asJSON, s, func() error { return a.Show(infoScreen(a, in, s)) }, false)
}

func infoScreen(a *console.Console, in *networkInput, s *ethernetInfo) *console.Page {
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
			parts = append(parts, "next hops of routes to hosts: "+strings.Join(list.Of(t.NextHops, func(w width) string {
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
		lines := list.Of(s.Odd, func(o ethernetOdd) string { return o.Kind + ": " + o.Text })
		p.Finding("odd", "%s", a.First(20, lines, func(n int) string { return "and " + words.Thousands(n) + " more (--json has all)" }))
	}
	return p
}
