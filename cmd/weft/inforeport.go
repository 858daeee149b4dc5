package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/cmd/weft/internal/console"
	"github.com/weft-fabric/weft/cmd/weft/internal/list"
	"github.com/weft-fabric/weft/cmd/weft/internal/report"
	"github.com/weft-fabric/weft/cmd/weft/internal/words"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/fabric/inspect"
	"github.com/weft-fabric/weft/fabric/names"
)

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
	Nodes []report.Node `json:"nodes,omitempty"`
	Hosts []hostSummary `json:"hosts,omitempty"`
}

// linkSummary is a cable, or those between two switches.
type linkSummary struct {
	From   report.Node `json:"from"`
	To     report.Node `json:"to"`
	Rate   string      `json:"rate,omitempty"` // of one cable
	Cables int         `json:"cables"`
}

type hostSummary struct {
	Name     string        `json:"name"`
	Adapters []report.Node `json:"adapters"`
}

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
			link := linkSummary{From: report.NodeOf(f, l.A, l.APort), To: report.NodeOf(f, l.B, l.BPort), Cables: l.Cables}
			if l.APort > 0 {
				link.Rate = l.Rate.String()
			}
			s.Links = append(s.Links, link)
		}
		s.Nodes = report.NodesOf(f, o.Nodes)
		for _, h := range o.Hosts {
			s.Hosts = append(s.Hosts, hostSummary{h.Name, report.NodesOf(f, h.Adapters)})
		}
		return s
	})
}

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

// factOdd prints the anomalies, each with its places.
func (a *app) factOdd(p *console.Page, f *fabric.Fabric, findings []inspect.Finding) {
	label := "odd"
	for _, o := range findings {
		places := oddPlaces(f, &o)
		text := o.What
		shown := a.AtMost(5, len(places))
		for _, place := range places[:shown] {
			text += "\n  " + place
		}
		if shown < len(places) {
			text += fmt.Sprintf("\n  and %d more (in a pipe and with --json all are listed)", len(places)-shown)
		}
		p.Fact(label, "%s", text)
		label = ""
	}
}

func oddPlaces(f *fabric.Fabric, o *inspect.Finding) []string {
	var places []string
	for _, l := range o.Links {
		if l.APort == 0 {
			places = append(places, fmt.Sprintf("%s – %s", f.Label(l.A), f.Label(l.B)))
			continue
		}
		places = append(places, fmt.Sprintf("%s, port %d – %s, port %d", f.Label(l.A), l.APort, f.Label(l.B), l.BPort))
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
			return fmt.Sprintf(" at %s, port %d", f.Label(ch.To), ch.ToPort)
		}
	}
	return ""
}

// printLevels prints the levels of a tree, the top first. Columns that are empty for
// all levels are left out.
func (a *app) printLevels(levels []inspect.Level) {
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
