package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/cmd/weft/internal/flags"
	"github.com/weft-fabric/weft/cmd/weft/internal/input"
	"github.com/weft-fabric/weft/cmd/weft/internal/report"
	"github.com/weft-fabric/weft/cmd/weft/internal/words"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/fabric/inspect"
	"github.com/weft-fabric/weft/fabric/names"
)

func infoCommand(a *app) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "info FABRIC",
		Short: "Say what a fabric is made of, and what is odd about it",
		Long: `Say what a fabric is made of: nodes, cables and their rates; hosts and rails;
the levels of a tree, with the oversubscription of each, what comes from below by
what goes up; and what is odd:

  slow-link, narrow-link  cables slower than most between such switches, or to
                          such adapters
  missing-cable           pairs of switches with fewer cables than most like them
  no-cable, no-switch     nodes cabled to nothing, switches to no other switch
  missing-rail            hosts with fewer adapters than most
  duplicate-name          several nodes of one description
  no-name                 adapters whose hosts never named them

Like is what is between the same levels and models, or an adapter of the same
model; where no value is in the majority, none is odd. What was odd about the file
is under warnings. On a terminal long lists are shortened; in a pipe and with --json
all is there.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			quiet := *a.Console
			quiet.Quiet = true // warnings are part of the result here
			f, err := input.Fabric(&quiet, args[0])
			if err != nil {
				return err
			}
			s := summarise(cmd.Context(), args[0], f)
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			return a.answer(asJSON, s, func() error { return a.printInfo(s, f) }, false)
		},
	}
	flags.AddJSON(c.Flags(), &asJSON)
	return c
}

type infoSummary struct {
	Name      string         `json:"name"`
	Switches  int            `json:"switches"`
	Adapters  int            `json:"adapters"`
	Routers   int            `json:"routers"`
	Endpoints endpointCounts `json:"endpoints"`
	Links     linkCounts     `json:"links"`
	Rates     map[string]int `json:"rates"` // cables by rate
	Parts     int            `json:"parts"`
	Diameter  int            `json:"diameter"` // hops between switches, within a part
	Hosts     hostCounts     `json:"hosts"`
	Rails     []railSummary  `json:"rails"`
	Levels    []levelSummary `json:"levels"` // from the hosts up; one: no tree
	LIDs      lidSummary     `json:"lids"`
	Odd       []oddSummary   `json:"odd"`
	Warnings  []string       `json:"warnings"`

	levels []inspect.Level
	odd    []inspect.Finding
}

type endpointCounts struct {
	HCA         int `json:"hca"`
	Aggregation int `json:"aggregation"`
	Router      int `json:"router"`
}

type linkCounts struct {
	Switch  int `json:"switch"`
	Adapter int `json:"adapter"`
	Self    int `json:"self"`
}

type lidSummary struct {
	Used int        `json:"used"`
	Top  fabric.LID `json:"top"`
}

func summarise(ctx context.Context, name string, f *fabric.Fabric) *infoSummary {
	n := f.Count()
	s := &infoSummary{
		Name: name, Switches: n.Switches, Adapters: n.Adapters, Routers: n.Routers,
		Endpoints: endpointCounts{n.HCA, n.Aggregation, n.Router},
		Links:     linkCounts{n.SwitchCables, n.AdapterCables, n.SelfCables},
		Rates:     map[string]int{}, Parts: len(f.Parts()), Diameter: diameter(ctx, f),
		Warnings: append([]string{}, f.Warnings()...),
	}
	for i := range f.Channels() {
		if c := f.Channel(fabric.ChannelID(i)); c.Reverse > fabric.ChannelID(i) {
			s.Rates[c.Rate.String()]++
		}
	}
	index := names.New(f)
	s.countHosts(index)
	s.levels, s.odd = inspect.Levels(f), inspect.Anomalies(f)
	s.Levels, s.Odd = levelSummaries(s.levels), oddSummaries(f, s.odd)
	s.LIDs.Top = f.TopLID()
	for range f.LIDs() {
		s.LIDs.Used++
	}
	return s
}

// diameter is the largest number of hops between two switches that are connected; less
// if ctx ends.
func diameter(ctx context.Context, f *fabric.Fabric) int {
	most := int32(0)
	for root := range f.Switches() {
		if ctx.Err() != nil {
			break
		}
		most = max(most, slices.Max(f.Hops(fabric.NodeID(root))))
	}
	return int(most)
}

func (a *app) printInfo(s *infoSummary, f *fabric.Fabric) error {
	p := a.NewPage()
	p.Fact("fabric", "%s", s.Name)
	p.Fact("nodes", "%s, %s, %s", words.Plural(s.Switches, "switch"), words.Plural(s.Adapters, "adapter"), words.Plural(s.Routers, "router"))
	p.Fact("endpoints", "%s", report.Endpoints(f))
	p.Fact("cables", "%s between switches, %s to adapters, %s from a node to itself (never routed over)",
		words.Thousands(int64(s.Links.Switch)), words.Thousands(int64(s.Links.Adapter)), words.Thousands(int64(s.Links.Self)))
	rates := make([]string, 0, len(s.Rates))
	for rate, n := range s.Rates {
		rates = append(rates, fmt.Sprintf("%s × %s", words.Thousands(int64(n)), rate))
	}
	slices.Sort(rates)
	p.Fact("rates", "%s", strings.Join(rates, ", "))
	if len(s.Rails) > 1 {
		p.Fact("hosts", "%s", s.hostsText())
	}
	p.Fact("shape", "%s, diameter %d", words.Plural(s.Parts, "part"), s.Diameter)
	if s.Parts > 1 {
		p.Fact("", "%s", strings.TrimPrefix(report.Parts(f, f.Parts()), "\n"))
	}
	p.Fact("LIDs", "%s, the largest %d", words.Thousands(int64(s.LIDs.Used)), s.LIDs.Top)
	if len(s.levels) == 1 && s.levels[0].Across > 0 {
		p.Fact("levels", "one, as all switches have hosts: no tree")
	}
	if err := a.Show(p); err != nil {
		return err
	}
	if len(s.levels) > 1 {
		a.printLevels(s.levels)
	}
	p = a.NewPage()
	a.factOdd(p, f, s.odd)
	for i, w := range s.Warnings {
		label := ""
		if i == 0 {
			label = "warnings"
		}
		p.Fact(label, "%s", w)
	}
	return a.Show(p)
}
