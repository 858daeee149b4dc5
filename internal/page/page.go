package page

import (
	"fmt"
	"html/template"
	"io"
	"regexp"
	"strings"

	"github.com/weft-fabric/weft/internal/page/web"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// page is what the frame of a page is filled with.
type page struct {
	*result.Report
	Style, Script template.HTML
	Packed        template.HTML
	Views         []networkView
	ResultViews   []resultView
}

// networkView is a network as the frame shows it.
type networkView struct {
	*result.ReportNetwork
	ID    string
	Index int
	Facts []fact
	Text  []string // the map in words
	Sets  []setView
}

// setView is tables as the frame shows them.
type setView struct {
	*result.ReportTables
	ID     string
	Index  int
	Good   bool
	Head   string
	Facts  []fact
	Map    template.HTML
	Key    template.HTML // what the map shows
	Charts []template.HTML
	Tiers  []tierView
}

// tierView is a tier with its histogram.
type tierView struct {
	result.ReportTier
	Bars template.HTML
}

// resultView is a result of another command as the frame shows it.
type resultView struct {
	*result.ReportResult
	Tables []tableView
	Charts []template.HTML
}

// tableView is a table of a result as the frame shows it.
type tableView struct {
	Title string
	Heads []struct {
		Text    string
		Numeric bool
	}
	Cells [][]cell
}

// cell is a cell of a table, with its class in the style sheet.
type cell struct{ Text, Class string }

// figure is a cell that stands on the right: a number, or a number and by how much it differs from another.
var figure = regexp.MustCompile(`^[-+]?[0-9][0-9,]*(\.[0-9]+)?( \([-+]?[0-9.]+ %\))?$`)

var guid = regexp.MustCompile(`^0x[0-9a-f]{16}$`)

// tableViews is tables as the frame shows them, with columns of numbers to the right and verdicts in
// colour.
func tableViews(tables []result.ReportTable) []tableView {
	var all []tableView
	for _, t := range tables {
		v := tableView{Title: t.Title, Cells: make([][]cell, len(t.Rows))}
		for k, head := range t.Columns {
			numeric := len(t.Rows) > 0
			for _, row := range t.Rows {
				numeric = numeric && (row[k] == "" || figure.MatchString(row[k]))
			}
			v.Heads = append(v.Heads, struct {
				Text    string
				Numeric bool
			}{head, numeric})
			for i, row := range t.Rows {
				c := cell{Text: row[k]}
				switch {
				case numeric:
					c.Class = "num"
				case guid.MatchString(c.Text):
					c.Class = "guid"
				case strings.HasPrefix(c.Text, result.DeadlockFree):
					c.Class = "word good"
				case strings.HasPrefix(c.Text, result.CreditLoop):
					c.Class = "word bad"
				}
				v.Cells[i] = append(v.Cells[i], c)
			}
		}
		all = append(all, v)
	}
	return all
}

// fact is a figure with its name and what it is about.
type fact struct{ Name, Value, More string }

// Write writes the page.
func Write(w io.Writer, d *result.Report) error {
	frame, err := template.New("page").Funcs(template.FuncMap{
		"laneName": laneName,
		"thousands": func(n any) string {
			switch n := n.(type) {
			case int:
				return words.Thousands(n)
			case int64:
				return words.Thousands(n)
			case uint32:
				return words.Thousands(n)
			}
			return fmt.Sprint(n)
		},
		"first": func(n int, list []result.ReportPlace) []result.ReportPlace { return list[:min(n, len(list))] },
		"more":  func(n int, list []result.ReportPlace) int { return max(0, len(list)-n) },
		"plus":  func(a, b int) int { return a + b },
	}).Parse(web.Page)
	if err != nil {
		return err
	}
	p := &page{Report: d, Style: element("style", web.Style), Script: element("script", web.Script)}
	packed, err := pack(d)
	if err != nil {
		return err
	}
	p.Packed = template.HTML(packed) //nolint:gosec // base64
	for i, n := range d.Networks {
		p.Views = append(p.Views, viewOf(n, i))
	}
	for _, r := range d.Results {
		v := resultView{ReportResult: r, Tables: tableViews(r.Tables)}
		for i := range r.Curves {
			v.Charts = append(v.Charts, lineChart(&r.Curves[i]))
		}
		p.ResultViews = append(p.ResultViews, v)
	}
	return frame.Execute(w, p)
}

// element is the style or the program as an element of the page; the text must not have the end of
// one in it.
func element(name, text string) template.HTML {
	if strings.Contains(strings.ToLower(text), "</"+name) {
		panic("the " + name + " of the page ends itself")
	}
	return template.HTML("<" + name + ">\n" + text + "</" + name + ">") //nolint:gosec // files of package web
}

// viewOf is the i-th network of the page as the frame shows it.
func viewOf(n *result.ReportNetwork, i int) networkView {
	v := networkView{ReportNetwork: n, ID: fmt.Sprintf("network-%d", i), Index: i, Text: inWords(n)}
	c := n.Counts
	v.Facts = []fact{
		{"switches", words.Thousands(c.Switches), n.Found},
		{"host ports", words.Thousands(c.HostPorts), extraPorts(c)},
		{"cables", words.Thousands(c.SwitchCables), fmt.Sprintf("between switches; %s", words.Counted(c.Free, "port free", "ports free"))},
	}
	if n.Parts > 1 {
		v.Facts = append(v.Facts, fact{"parts", words.Thousands(n.Parts), "that no cable joins"})
	}
	for k, t := range n.Tables {
		v.Sets = append(v.Sets, setViewOf(n, t, i, k))
	}
	return v
}

// extraPorts says what there is beside host ports.
func extraPorts(c result.ReportCounts) string {
	var list []string
	if c.Aggregation > 0 {
		list = append(list, words.Counted(c.Aggregation, "aggregation node", "aggregation nodes"))
	}
	if c.RouterPorts > 0 {
		list = append(list, words.Counted(c.RouterPorts, "router port", "router ports"))
	}
	if len(list) == 0 {
		return "on " + words.Counted(c.Adapters, "adapter", "adapters")
	}
	return "and " + strings.Join(list, ", ")
}

// setViewOf is the k-th tables of network i as the frame shows them.
func setViewOf(n *result.ReportNetwork, t *result.ReportTables, i, k int) setView {
	v := setView{ReportTables: t, ID: fmt.Sprintf("tables-%d-%d", i, k), Index: k, Good: t.Verdict == result.DeadlockFree && t.Unreachable == t.Apart && t.Circling == 0 && t.Dropped == 0 && t.Absent == 0}
	switch {
	case t.Verdict != result.DeadlockFree:
		v.Head = fmt.Sprintf("Credit loop of %d steps", len(t.Cycle))
	case t.Absent > 0 && t.Unreachable == t.Apart:
		v.Head = "No credit loop, but packets are dropped for want of a lane"
	case !v.Good:
		v.Head = "No credit loop, but not every pair has a route"
	default:
		v.Head = "Proven free of credit loops"
	}
	v.Map, v.Key = drawMap(n, t, "map-"+v.ID), drawKey(n, t)
	v.Charts = charts(n, t)
	for _, l := range t.Tiers {
		v.Tiers = append(v.Tiers, tierView{l, smallBars(l.Loads, l.Name, t.Load.Most, t.Load.Scale)})
	}
	v.Facts = []fact{{"lanes in use", words.Thousands(t.Used), lanesText(t)}}
	if n.Ethernet {
		v.Facts = []fact{{"lossless priorities", words.Thousands(t.Used), "in use between devices"}}
	}
	if b := t.Bandwidth; b != nil {
		v.Facts = append(v.Facts, fact{"of full bandwidth", fmt.Sprintf("%.3f", b.Mean), fmt.Sprintf("random pairs, ± %.4f", b.StdErr)})
	}
	v.Facts = append(v.Facts, fact{"routes, fullest channel", words.Thousands(t.Load.Most), hottestText(t)},
		fact{"hops on average", fmt.Sprintf("%.2f", t.Hops.Mean), fmt.Sprintf("%d on the longest route", t.Hops.Most)})
	if t.Unreachable > 0 {
		more := fmt.Sprintf("of %s", words.Thousands(t.Pairs))
		if t.Apart > 0 {
			more += fmt.Sprintf("; %s are joined by no cable", words.Thousands(t.Apart))
		}
		v.Facts = append(v.Facts, fact{"pairs without a route", words.Thousands(t.Unreachable), more})
	}
	return v
}

// lanesText says how many lanes are needed and available, and how many service levels there are.
func lanesText(t *result.ReportTables) string {
	var list []string
	if t.Needed > 0 {
		list = append(list, fmt.Sprintf("%d needed", t.Needed))
	}
	if t.Available > 0 {
		list = append(list, fmt.Sprintf("%d available", t.Available))
	}
	return strings.Join(append(list, words.Counted(t.SLs, "service level", "service levels")), ", ")
}

// hottestText names the channel with most routes.
func hottestText(t *result.ReportTables) string {
	if len(t.Load.Hottest) == 0 {
		return "no channel is in use"
	}
	return t.Load.Hottest[0].Channel
}

// inWords is the map for those who cannot see it.
func inWords(n *result.ReportNetwork) []string {
	c := n.Counts
	text := []string{fmt.Sprintf("%s is %s: %s joined by %s, with %s.", n.Name, n.Found,
		words.Counted(c.Switches, "switch", "switches"), words.Counted(c.SwitchCables, "cable", "cables"), words.Counted(c.HostPorts, "host port", "host ports"))}
	if len(n.Levels) > 1 {
		for i := len(n.Levels) - 1; i >= 0; i-- {
			l := n.Levels[i]
			line := fmt.Sprintf("Level %d: %s", i, words.Counted(l.Switches, "switch", "switches"))
			for _, part := range []struct {
				n         int
				one, many string
			}{{l.Hosts, "host", "hosts"}, {l.Down, "cable down", "cables down"}, {l.Up, "cable up", "cables up"}, {l.Across, "cable across", "cables across"}, {l.Free, "free port", "free ports"}} {
				if part.n > 0 {
					line += ", " + words.Counted(part.n, part.one, part.many)
				}
			}
			if l.Over > 0 {
				line += fmt.Sprintf("; oversubscribed %.2f to 1", l.Over)
			}
			text = append(text, line+".")
		}
	}
	groups := int32(-1)
	for _, g := range n.Nodes.Group {
		groups = max(groups, g)
	}
	if groups >= 0 && n.Shape == "groups" {
		text = append(text, fmt.Sprintf("The %d groups stand on a ring; the switches of each on a small circle.", groups+1))
	}
	pairs := pairsOf(n, nil)
	if len(pairs) > 0 {
		least, most := pairs[0].cables, 0
		for _, p := range pairs {
			least, most = min(least, p.cables), max(most, p.cables)
		}
		line := fmt.Sprintf("%s joined, each by ", words.Counted(len(pairs), "pair of switches is", "pairs of switches are"))
		if most > least {
			line += fmt.Sprintf("%d to ", least)
		}
		text = append(text, line+words.Counted(most, "cable", "cables")+".")
	}
	return append(text, "The tables below list every switch, cable and load.")
}
