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
			return a.Answer(asJSON, s, func() error { return printInfo(a, s, f) }, false)
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
	Rates     map[string]int `json:"rates"`              // cables by rate
	Lanes     map[string]int `json:"data_vls,omitempty"` // cables by the data lanes that they run, where these are stated
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

// summarise is everything that weft info says of a fabric.
func summarise(ctx context.Context, name string, f *fabric.Fabric) *infoSummary {
	n := f.Count()
	s := &infoSummary{
		Name: name, Switches: n.Switches, Adapters: n.Adapters, Routers: n.Routers,
		Endpoints: endpointCounts{n.HCA, n.Aggregation, n.Router},
		Links:     linkCounts{n.SwitchCables, n.AdapterCables, n.SelfCables},
		Rates:     map[string]int{}, Parts: len(f.Parts()), Diameter: diameter(ctx, f),
		Warnings: []string{},
	}
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
func (s *infoSummary) countLanes(runs uint8) {
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
func printInfo(a *console.Console, s *infoSummary, f *fabric.Fabric) error {
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
func (s *infoSummary) lanesText(f *fabric.Fabric) string {
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

// hostCounts is the number of hosts, as far as adapters name them.
type hostCounts struct {
	Count      int         `json:"count"`
	ByAdapters map[int]int `json:"by_adapters"` // number of hosts by their number of adapters
}

// railSummary is a rail; its number, from 1, is what --rail takes.
type railSummary struct {
	Rail     int      `json:"rail"`
	Adapters []string `json:"adapters"`
	Port     uint8    `json:"port"`
	Hosts    int      `json:"hosts"`
}

type levelSummary struct {
	Level    int     `json:"level"`
	Switches int     `json:"switches"`
	Hosts    int     `json:"host_cables"`
	Others   int     `json:"other_cables"` // to aggregation nodes and routers
	Down     int     `json:"cables_down"`
	Up       int     `json:"cables_up"`
	Across   int     `json:"cables_across"`
	Free     int     `json:"free_ports"`
	Over     float64 `json:"oversubscription"` // of all its switches together; 0: no cables lead up
	Least    float64 `json:"oversubscription_least"`
	Most     float64 `json:"oversubscription_most"`
}

type oddSummary struct {
	Kind  string        `json:"kind"`
	What  string        `json:"what"`
	Links []linkSummary `json:"links,omitempty"`
	Nodes []result.Node `json:"nodes,omitempty"`
	Hosts []hostSummary `json:"hosts,omitempty"`
}

// linkSummary is a cable, or those between two switches.
type linkSummary struct {
	From   result.Node `json:"from"`
	To     result.Node `json:"to"`
	Rate   string      `json:"rate,omitempty"` // of one cable
	Cables int         `json:"cables"`
}

type hostSummary struct {
	Name     string        `json:"name"`
	Adapters []result.Node `json:"adapters"`
}

// countHosts fills in hosts and rails.
func (s *infoSummary) countHosts(index *names.Index) {
	s.Hosts.ByAdapters, s.Rails = map[int]int{}, []railSummary{}
	for _, h := range index.Hosts() {
		s.Hosts.Count++
		s.Hosts.ByAdapters[len(h.Adapters)]++
	}
	for i, r := range index.Rails() {
		s.Rails = append(s.Rails, railSummary{i + 1, append([]string{}, r.Adapters...), r.Port, r.Hosts})
	}
}

func levelSummaries(levels []inspect.Level) []levelSummary {
	all := list.Of(levels, func(l inspect.Level) levelSummary {
		return levelSummary{
			Switches: l.Switches, Hosts: l.Hosts, Others: l.Others, Down: l.Down, Up: l.Up, Across: l.Across,
			Free: l.Free, Over: l.Over.Value(), Least: l.Least.Value(), Most: l.Most.Value(),
		}
	})
	for i := range all {
		all[i].Level = i
	}
	return all
}

func oddSummaries(f *fabric.Fabric, findings []inspect.Finding) []oddSummary {
	return list.Of(findings, func(o inspect.Finding) oddSummary {
		s := oddSummary{Kind: string(o.Kind), What: o.What}
		for _, l := range o.Links {
			link := linkSummary{From: outputs.Node(f, l.A, l.APort), To: outputs.Node(f, l.B, l.BPort), Cables: l.Cables}
			if l.APort > 0 {
				link.Rate = l.Rate.String()
			}
			s.Links = append(s.Links, link)
		}
		s.Nodes = outputs.Nodes(f, o.Nodes)
		for _, h := range o.Hosts {
			s.Hosts = append(s.Hosts, hostSummary{h.Name, outputs.Nodes(f, h.Adapters)})
		}
		return s
	})
}

// hostsText says how many adapters hosts have, and on which rails these are.
func (s *infoSummary) hostsText() string {
	rails := list.Of(s.Rails, func(r railSummary) string {
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

// overText is an oversubscription, with its range if switches differ.
func overText(l *inspect.Level) string {
	if l.Over.Above == 0 {
		return ""
	}
	if l.Most.Value()-l.Least.Value() < 0.005 {
		return fmt.Sprintf("%.2f", l.Over.Value())
	}
	return fmt.Sprintf("%.2f, %.2f to %.2f", l.Over.Value(), l.Least.Value(), l.Most.Value())
}
