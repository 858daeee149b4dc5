package look

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/inspect"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/names"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// Info makes the command weft info.
func Info(a *console.Console) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "info FABRIC",
		Short: "Say what a fabric is made of, and what is odd about it",
		Long: `Say what a fabric is made of: nodes, cables and their rates; hosts and rails;
the levels of a tree, with the oversubscription of each, what comes from below by
what goes up; and what is odd:

  slow-link, narrow-link  cables slower than most between such switches, or to
                          such adapters
  mixed-rates             cables of several rates between the same two nodes
  missing-cable           pairs of switches with fewer cables than most like them
  one-sided               cables that the record of one end only mentions, where
                          most are in the records of both
  no-cable, no-switch     nodes cabled to nothing, switches to no other switch
  no-path                 switches without hosts on no shortest path between hosts,
                          such as leaves and line cards that nothing hangs from yet
  missing-rail            hosts with fewer adapters than most
  duplicate-name          several nodes of one description
  no-name                 adapters whose hosts never named them

Like is what is between the same levels and models, or an adapter of the same
model; where no value is in the majority, none is odd. What was odd about the file
is under warnings. On a terminal long lists are shortened; in a pipe and with --json
all is there.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			quiet := *a
			quiet.Quiet = true // warnings are part of the result here
			f, err := input.Fabric(&quiet, args[0])
			if err != nil {
				return err
			}
			s := summarise(cmd.Context(), args[0], f)
			s.Warnings = append(s.Warnings, quiet.Warnings...)
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			return a.Answer(asJSON, &s.Info, func() error { return printInfo(a, s, f) }, false)
		},
	}
	flags.AddJSON(c.Flags(), &asJSON)
	return c
}

// info is a call of weft info: what it prints, and what that is made of.
type info struct {
	result.Info
	levels []inspect.Level
	odd    []inspect.Finding
}

// summarise is everything that weft info says of a fabric.
func summarise(ctx context.Context, name string, f *fabric.Fabric) *info {
	n := f.Count()
	s := &info{Info: result.Info{
		Name: name, Switches: n.Switches, Adapters: n.Adapters, Routers: n.Routers,
		Rates: map[string]int{}, Parts: len(f.Parts()), Diameter: diameter(ctx, f),
		Warnings: []string{},
	}}
	s.Endpoints.HCA, s.Endpoints.Aggregation, s.Endpoints.Router = n.HCA, n.Aggregation, n.Router
	s.Links.Switch, s.Links.Adapter, s.Links.Self = n.SwitchCables, n.AdapterCables, n.SelfCables
	for i := range f.Channels() {
		if c := f.Channel(fabric.ChannelID(i)); c.Reverse > fabric.ChannelID(i) {
			s.Rates[c.Rate.String()]++
			s.countLanes(c.DataVLs)
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

// countLanes counts a cable that is stated to run so many data lanes; 0: it is not stated.
func (s *info) countLanes(runs uint8) {
	if runs == 0 {
		return
	}
	if s.Lanes == nil {
		s.Lanes = map[string]int{}
	}
	s.Lanes[fmt.Sprint(runs)]++
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

// printInfo prints the summary for people: a page, the levels as a table, and what is odd.
func printInfo(a *console.Console, s *info, f *fabric.Fabric) error {
	p := a.NewPage()
	p.Fact("fabric", "%s", s.Name)
	p.Fact("nodes", "%s, %s, %s", words.Plural(s.Switches, "switch"), words.Plural(s.Adapters, "adapter"), words.Plural(s.Routers, "router"))
	p.Fact("endpoints", "%s", report.Endpoints(f))
	p.Fact("cables", "%s between switches, %s to adapters, %s from a node to itself (never routed over)",
		words.Thousands(s.Links.Switch), words.Thousands(s.Links.Adapter), words.Thousands(s.Links.Self))
	rates := make([]string, 0, len(s.Rates))
	for rate, n := range s.Rates {
		rates = append(rates, fmt.Sprintf("%s × %s", words.Thousands(n), rate))
	}
	slices.Sort(rates)
	p.Fact("rates", "%s", strings.Join(rates, ", "))
	if text := s.lanesText(f); text != "" {
		p.Fact("lanes", "%s", text)
	}
	if len(s.Rails) > 1 {
		p.Fact("hosts", "%s", s.hostsText())
	}
	p.Fact("shape", "%s, diameter %d", words.Plural(s.Parts, "part"), s.Diameter)
	if s.Parts > 1 {
		p.Fact("", "%s", strings.TrimPrefix(report.Parts(f, f.Parts()), "\n"))
	}
	p.Fact("LIDs", "%s, the largest %d", words.Thousands(s.LIDs.Used), s.LIDs.Top)
	if len(s.levels) == 1 && s.levels[0].Across > 0 {
		p.Fact("levels", "one, as all switches have hosts: no tree")
	}
	if err := a.Show(p); err != nil {
		return err
	}
	if len(s.levels) > 1 {
		printLevels(a, s.levels)
	}
	p = a.NewPage()
	factOdd(a, p, f, s.odd)
	for i, w := range s.Warnings {
		label := ""
		if i == 0 {
			label = "warnings"
		}
		p.Finding(label, "%s", w)
	}
	return a.Show(p)
}

// lanesText is the data lanes that cables run; empty: none are stated.
func (s *info) lanesText(f *fabric.Fabric) string {
	var counts []string
	known := 0
	for lanes := range routing.MaxDataVLs + 1 {
		if n := s.Lanes[fmt.Sprint(lanes)]; n > 0 {
			counts = append(counts, fmt.Sprintf("%s × %d", words.Thousands(n), lanes))
			known += n
		}
	}
	text := strings.Join(counts, ", ")
	if rest := s.Links.Switch + s.Links.Adapter + s.Links.Self - known; known > 0 && rest > 0 {
		text += fmt.Sprintf(", of %s not stated", words.Thousands(rest))
	}
	if limit := routing.LimitOf(f); limit.Lanes > 0 {
		text += fmt.Sprintf("; for paths between switches %d, as %s", limit.Lanes, limit.Text(f))
	}
	return text
}

// countHosts fills in hosts and rails.
func (s *info) countHosts(index *names.Index) {
	s.Hosts.ByAdapters, s.Rails = map[int]int{}, []result.Rail{}
	for _, h := range index.Hosts() {
		s.Hosts.Count++
		s.Hosts.ByAdapters[len(h.Adapters)]++
	}
	for i, r := range index.Rails() {
		s.Rails = append(s.Rails, result.Rail{Rail: i + 1, Adapters: append([]string{}, r.Adapters...), Port: r.Port, Hosts: r.Hosts})
	}
}

func levelSummaries(levels []inspect.Level) []result.TreeLevel {
	all := list.Of(levels, func(l inspect.Level) result.TreeLevel {
		return result.TreeLevel{
			Switches: l.Switches, Hosts: l.Hosts, Others: l.Others, Down: l.Down, Up: l.Up, Across: l.Across,
			Free: l.Free, NoUp: l.NoUp, Over: l.Over.Value(), Least: l.Least.Value(), Most: l.Most.Value(),
		}
	})
	for i := range all {
		all[i].Level = i
	}
	return all
}

func oddSummaries(f *fabric.Fabric, findings []inspect.Finding) []result.Odd {
	return list.Of(findings, func(o inspect.Finding) result.Odd {
		s := result.Odd{Kind: string(o.Kind), What: o.What}
		for _, l := range o.Links {
			link := result.OddLink{From: outputs.Node(f, l.A, l.APort), To: outputs.Node(f, l.B, l.BPort), Cables: l.Cables}
			if l.APort > 0 {
				link.Rate = l.Rate.String()
			}
			s.Links = append(s.Links, link)
		}
		s.Nodes = outputs.Nodes(f, o.Nodes)
		for _, h := range o.Hosts {
			s.Hosts = append(s.Hosts, result.OddHost{Name: h.Name, Adapters: outputs.Nodes(f, h.Adapters)})
		}
		return s
	})
}

// hostsText says how many adapters hosts have, and on which rails these are.
func (s *info) hostsText() string {
	rails := list.Of(s.Rails, func(r result.Rail) string {
		if text := (&names.Rail{Adapters: r.Adapters, Port: r.Port}).String(); text != "" {
			return fmt.Sprintf("%d (%s)", r.Rail, text)
		}
		return fmt.Sprint(r.Rail)
	})
	var counts []string
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(s.Hosts.ByAdapters))) {
		counts = append(counts, fmt.Sprintf("%d with %s", s.Hosts.ByAdapters[n], words.Plural(n, "adapter")))
	}
	return fmt.Sprintf("%s: %s; rails %s", words.Plural(s.Hosts.Count, "host"), strings.Join(counts, ", "), strings.Join(rails, ", "))
}

// factOdd adds what is odd to a page, of each kind the first places.
func factOdd(a *console.Console, p *console.Page, f *fabric.Fabric, findings []inspect.Finding) {
	label := "odd"
	for _, o := range findings {
		lines := append([]string{o.What}, list.Of(oddPlaces(f, &o), func(place string) string { return "  " + place })...)
		p.Finding(label, "%s", a.First(6, lines, func(n int) string { return fmt.Sprintf("  and %d more (in a pipe and with --json all are listed)", n) }))
		label = ""
	}
}

// oddPlaces is a line for each place of a finding: a cable, a node or a host.
func oddPlaces(f *fabric.Fabric, o *inspect.Finding) []string {
	var places []string
	for _, l := range o.Links {
		if l.APort == 0 {
			places = append(places, fmt.Sprintf("%s – %s", f.Label(l.A), f.Label(l.B)))
			continue
		}
		places = append(places, f.PortLabel(l.A, l.APort)+" – "+f.PortLabel(l.B, l.BPort))
	}
	for _, n := range o.Nodes {
		text := f.Label(n)
		if o.Kind == inspect.DuplicateName || o.Kind == inspect.NoName {
			text = f.Node(n).GUID.String() // the name is known
		}
		places = append(places, text+cabledTo(f, n))
	}
	for _, h := range o.Hosts {
		adapters := list.Of(h.Adapters, func(n fabric.NodeID) string {
			_, adapter := names.HostOf(f.Node(n))
			return cmp.Or(adapter, f.Node(n).GUID.String())
		})
		places = append(places, fmt.Sprintf("%s: %s", h.Name, strings.Join(adapters, ", ")))
	}
	return places
}

// cabledTo names the switch and port to which an adapter is cabled.
func cabledTo(f *fabric.Fabric, n fabric.NodeID) string {
	for p := 1; p <= f.Node(n).Ports && f.Node(n).Kind != fabric.Switch; p++ {
		if c := f.Out(n, uint8(p)); c != fabric.None {
			ch := f.Channel(c)
			return " at " + f.PortLabel(ch.To, ch.ToPort)
		}
	}
	return ""
}

// printLevels prints the levels of a tree, the top first. Columns that are empty for
// all levels are left out.
func printLevels(a *console.Console, levels []inspect.Level) {
	var all inspect.Level
	for _, l := range levels {
		all.Others += l.Others
		all.Across += l.Across
	}
	header := []any{"level", "switches", "hosts"}
	if all.Others > 0 {
		header = append(header, "others")
	}
	header = append(header, "down", "up")
	if all.Across > 0 {
		header = append(header, "across")
	}
	t := a.NewTable(append(header, "free", "oversubscribed")...)
	t.Right(0, len(header)) // all but the last, which is text
	for i := len(levels) - 1; i >= 0; i-- {
		l := &levels[i]
		row := []any{i, l.Switches, l.Hosts}
		if all.Others > 0 {
			row = append(row, l.Others)
		}
		row = append(row, l.Down, l.Up)
		if all.Across > 0 {
			row = append(row, l.Across)
		}
		t.Row(append(row, l.Free, overText(l))...)
	}
	t.Render()
}

// overText is an oversubscription, with its range if switches differ. Switches without a cable up have no ratio of
// their own, but make that of all together greater, which may be outside of the range then.
func overText(l *inspect.Level) string {
	if l.Over.Above == 0 {
		return ""
	}
	text := fmt.Sprintf("%.2f", l.Over.Value())
	switch {
	case l.Most.Value()-l.Least.Value() >= 0.005:
		text += fmt.Sprintf(", %.2f to %.2f", l.Least.Value(), l.Most.Value())
	case l.NoUp > 0:
		text += fmt.Sprintf(", %.2f", l.Most.Value())
	}
	if l.NoUp > 0 {
		text += " but for " + words.Counted(l.NoUp, "switch", "switches") + " without a cable up"
	}
	return text
}
