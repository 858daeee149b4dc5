package page

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/internal/words"
)

// nodeRef is a node as outputs of commands name it.
type nodeRef struct {
	Name string `json:"name"`
	GUID string `json:"guid"`
	Port int32  `json:"port"`
}

// linkRef is a cable as outputs of commands name it.
type linkRef struct {
	From     string  `json:"from"`
	FromPort int     `json:"from_port"`
	To       string  `json:"to"`
	ToPort   int     `json:"to_port"`
	FromNode nodeRef `json:"from_node"`
	ToNode   nodeRef `json:"to_node"`
}

// entriesRef is the entries that change at a switch.
type entriesRef struct {
	Switch  nodeRef `json:"switch"`
	Entries int32   `json:"entries"`
}

// finder finds the parts of a network that outputs name.
type finder struct {
	n     *Network
	node  map[string]int32   // by GUID
	cable map[[2]int32]int32 // by node and port
	marks *MarkedParts
}

// mark begins to mark parts of the network that a result is about; without one it marks
// nothing.
func (r *Result) mark(networks []*Network) *finder {
	if r.Network < 0 {
		return &finder{}
	}
	n := networks[r.Network]
	d := &finder{n: n, node: map[string]int32{}, cable: map[[2]int32]int32{}, marks: &MarkedParts{GoneNodes: []int32{}, GoneCables: []int32{}, NewNodes: []int32{}, NewCables: []int32{}, Steps: [][]int32{}}}
	d.marks.BySwitch = make([]int32, len(n.Nodes.X))
	for i, g := range n.Nodes.GUID {
		d.node[g] = int32(i)
	}
	c := &n.Cables
	for i := range c.A {
		d.cable[[2]int32{c.A[i], c.APort[i]}], d.cable[[2]int32{c.B[i], c.BPort[i]}] = int32(i), int32(i)
	}
	r.Marks = d.marks
	return d
}

func (d *finder) nodes(to *[]int32, list []nodeRef) {
	for _, v := range list {
		if i, ok := d.node[v.GUID]; ok {
			*to = append(*to, i)
		}
	}
}

func (d *finder) links(to *[]int32, list []linkRef) {
	for _, l := range list {
		if a, ok := d.node[l.FromNode.GUID]; ok {
			if c, ok := d.cable[[2]int32{a, l.FromNode.Port}]; ok {
				*to = append(*to, c)
			}
		}
	}
}

func (d *finder) entries(to []int32, list []entriesRef) {
	for _, e := range list {
		if i, ok := d.node[e.Switch.GUID]; ok && int(i) < len(to) {
			to[i] += e.Entries
		}
	}
}

// step marks the entries of a step of a plan.
func (d *finder) step(list []entriesRef) {
	if d.marks == nil {
		return
	}
	one := make([]int32, len(d.marks.BySwitch))
	d.entries(one, list)
	d.entries(d.marks.BySwitch, list)
	d.marks.Steps = append(d.marks.Steps, one)
}

func nodeNames(list []nodeRef) []string {
	var names []string
	for _, v := range list {
		names = append(names, v.Name)
	}
	return names
}

func linkNames(list []linkRef) []string {
	var names []string
	for _, l := range list {
		names = append(names, fmt.Sprintf("%s port %d to %s port %d", l.From, l.FromPort, l.To, l.ToPort))
	}
	return names
}

// listed writes kinds of parts that are not empty, a line each.
func listed(parts ...any) string {
	var lines []string
	for i := 0; i+1 < len(parts); i += 2 {
		if names, ok := parts[i+1].([]string); ok && len(names) > 0 {
			shown := names[:min(12, len(names))]
			line := fmt.Sprintf("%v: %s", parts[i], strings.Join(shown, ", "))
			if len(names) > len(shown) {
				line += fmt.Sprintf(" and %s more", words.Thousands(len(names)-len(shown)))
			}
			lines = append(lines, line)
		}
	}
	if lines == nil {
		return "nothing"
	}
	return strings.Join(lines, "\n")
}

type partsRef struct {
	Switches []nodeRef `json:"switches"`
	Hosts    []nodeRef `json:"hosts"`
	Links    []linkRef `json:"links"`
}

// guids is those of the nodes, and of the first ends of the cables, each once.
func (p *partsRef) guids() []string {
	var list []string
	for _, v := range slices.Concat(p.Switches, p.Hosts) {
		list = append(list, v.GUID)
	}
	for _, l := range p.Links {
		list = append(list, l.FromNode.GUID)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (p *partsRef) text() string {
	return listed("switches", nodeNames(p.Switches), "adapters", nodeNames(p.Hosts), "cables", linkNames(p.Links))
}

// bandwidthRef is bandwidth before and after.
type bandwidthRef struct {
	Before *float64 `json:"before"`
	After  *float64 `json:"after"`
}

func (b *bandwidthRef) text() string {
	if b.Before == nil || b.After == nil {
		return "there are fewer than two endpoints left"
	}
	return fmt.Sprintf("%.3f of full before, %.3f after (%+.1f %%), random pairs of the endpoints that both have", *b.Before, *b.After, 100*(*b.After/max(1e-12, *b.Before)-1))
}

// diffOutput is what a report shows of weft diff --json.
type diffOutput struct {
	Old struct {
		Fabric, Tables, Verdict string
	} `json:"old"`
	New struct {
		Fabric, Tables, Verdict string
	} `json:"new"`
	Gone   partsRef `json:"gone"`
	Added  partsRef `json:"added"`
	Change *struct {
		Contract  string       `json:"contract"`
		Verdict   string       `json:"verdict"`
		Entries   int          `json:"entries"`
		Due       int          `json:"entries_due"`
		Blocks    int          `json:"blocks"`
		Switches  int          `json:"switches"`
		Pairs     int64        `json:"pairs"`
		CutBefore int64        `json:"pairs_cut_before"`
		Exposed   int64        `json:"pairs_cut_meanwhile"`
		CutAfter  int64        `json:"pairs_cut_after"`
		Bandwidth bandwidthRef `json:"bandwidth"`
		BySwitch  []entriesRef `json:"by_switch"`
		Cycle     []struct {
			From string `json:"from"`
			To   string `json:"to"`
			VL   int    `json:"vl"`
			Src  string `json:"src"`
			Dst  string `json:"dst"`
		} `json:"cycle"`
	} `json:"change"`
}

func readDiff(r *Result, networks []*Network, text []byte) error {
	var o diffOutput
	if err := json.Unmarshal(text, &o); err != nil {
		return err
	}
	if o.Old.Fabric == "" || o.New.Fabric == "" {
		return half("fabric")
	}
	r.Title = fmt.Sprintf("From %s to %s", o.Old.Fabric, o.New.Fabric)
	r.about(networks, o.shown(networks), o.fits)
	d := r.mark(networks)
	if d.marks != nil {
		d.nodes(&d.marks.GoneNodes, append(o.Gone.Switches, o.Gone.Hosts...))
		d.links(&d.marks.GoneCables, o.Gone.Links)
		d.nodes(&d.marks.NewNodes, append(o.Added.Switches, o.Added.Hosts...))
		d.links(&d.marks.NewCables, o.Added.Links)
	}
	r.fact("gone", "%s", o.Gone.text())
	r.fact("new", "%s", o.Added.text())
	c := o.Change
	if c == nil {
		return nil
	}
	if d.marks != nil {
		d.entries(d.marks.BySwitch, c.BySwitch)
	}
	r.fact("tables", "%s, then %s", o.Old.Tables, o.New.Tables)
	r.fact("entries", "%s differ, %s of them had to, in %s of 64 LIDs on %s", words.Thousands(c.Entries), words.Thousands(c.Due), words.Counted(c.Blocks, "block", "blocks"), words.Counted(c.Switches, "switch", "switches"))
	if c.Verdict == deadlockFree {
		r.fact("on the way", "no mixture of old and new entries has a credit loop (contract %s)", c.Contract)
	} else {
		r.fact("on the way", "packets can deadlock while tables are written: a mixture of old and new entries has the credit loop below (contract %s)", c.Contract)
	}
	r.fact("cut off", "of %s pairs %s before, %s for a while at most, %s after", words.Thousands(c.Pairs), words.Thousands(c.CutBefore), words.Thousands(c.Exposed), words.Thousands(c.CutAfter))
	r.fact("bandwidth", "%s", c.Bandwidth.text())
	for _, s := range c.Cycle {
		r.Loop = append(r.Loop, ResultStep{fmt.Sprintf("%s → %s, VL %d, by %s → %s", s.From, s.To, s.VL, s.Src, s.Dst)})
	}
	r.Tables = append(r.Tables, entriesTable("Entries that change, by switch", c.BySwitch))
	return nil
}

// shown is the name of the fabric, of the two, that a report has.
func (o *diffOutput) shown(networks []*Network) string {
	for _, n := range networks {
		if n.Name == o.New.Fabric && n.Name != o.Old.Fabric {
			return o.New.Fabric
		}
	}
	return o.Old.Fabric
}

// fits says whether a network has the switches whose entries change, or else some of what
// is gone or new.
func (o *diffOutput) fits(n *Network) bool {
	if o.Change != nil && len(o.Change.BySwitch) > 0 {
		return n.hasMost(switchGUIDs(o.Change.BySwitch))
	}
	return len(o.Gone.guids())+len(o.Added.guids()) == 0 || n.has(o.Gone.guids()) > 0 || n.has(o.Added.guids()) > 0
}

// has counts the nodes of a network among some.
func (n *Network) has(guids []string) int {
	count := 0
	for _, g := range n.Nodes.GUID {
		if slices.Contains(guids, g) {
			count++
		}
	}
	return count
}

// hasMost says whether a network has most nodes of a list.
func (n *Network) hasMost(guids []string) bool { return len(guids) == 0 || 2*n.has(guids) > len(guids) }

// switchGUIDs is the switches whose entries change.
func switchGUIDs(list []entriesRef) []string {
	var guids []string
	for _, e := range list {
		guids = append(guids, e.Switch.GUID)
	}
	return guids
}

func entriesTable(title string, list []entriesRef) ResultTable {
	t := ResultTable{Title: title, Columns: []string{"switch", "GUID", "entries"}, Rows: [][]string{}}
	for _, e := range list {
		t.Rows = append(t.Rows, []string{e.Switch.Name, e.Switch.GUID, words.Thousands(e.Entries)})
	}
	return t
}

type stepRef struct {
	Mended   int          `json:"entries_mended"`
	Follow   int          `json:"entries_that_follow"`
	Blocks   int          `json:"blocks"`
	Switches int          `json:"switches"`
	Cut      int64        `json:"pairs_cut_after"`
	Rebuilt  bool         `json:"rebuilt"`
	BySwitch []entriesRef `json:"by_switch"`
}

// whatIfOutput is what a report shows of weft what-if --json.
type whatIfOutput struct {
	Fabric  string `json:"fabric"`
	Tables  string `json:"tables"`
	Without struct {
		Switches []nodeRef `json:"switch_nodes"`
		Hosts    []nodeRef `json:"host_nodes"`
		Links    []linkRef `json:"links"`
	} `json:"without"`
	Pairs     int64        `json:"pairs"`
	CutNow    int64        `json:"pairs_cut_now"`
	CutAfter  int64        `json:"pairs_cut_after"`
	Apart     int64        `json:"pairs_apart"`
	Steps     []stepRef    `json:"steps"`
	Left      []any        `json:"left"`
	Bandwidth bandwidthRef `json:"bandwidth"`
	Back      struct {
		Steps []stepRef `json:"steps"`
	} `json:"back"`
}

func readWhatIf(r *Result, networks []*Network, text []byte) error {
	var o whatIfOutput
	if err := json.Unmarshal(text, &o); err != nil {
		return err
	}
	if o.Fabric == "" {
		return half("fabric")
	}
	gone := partsRef{o.Without.Switches, o.Without.Hosts, o.Without.Links}
	r.Title = "What if parts of " + o.Fabric + " were gone"
	named := gone.guids()
	for _, s := range o.Steps {
		named = append(named, switchGUIDs(s.BySwitch)...)
	}
	slices.Sort(named)
	named = slices.Compact(named)
	r.about(networks, o.Fabric, func(n *Network) bool { return n.hasMost(named) })
	d := r.mark(networks)
	if d.marks != nil {
		d.nodes(&d.marks.GoneNodes, append(gone.Switches, gone.Hosts...))
		d.links(&d.marks.GoneCables, gone.Links)
	}
	r.fact("without", "%s", gone.text())
	r.fact("tables", "%s", o.Tables)
	cut := fmt.Sprintf("%s of %s pairs until the first step is written, %s after the last", words.Thousands(o.CutNow), words.Thousands(o.Pairs), words.Thousands(o.CutAfter))
	if o.Apart > 0 {
		cut += fmt.Sprintf(" (%s that no cable joins any more)", words.Thousands(o.Apart))
	}
	r.fact("cut off", "%s", cut)
	if len(o.Left) > 0 {
		r.fact("left", "%s that no step mends", words.Counted(len(o.Left), "destination", "destinations"))
	}
	r.fact("bandwidth", "%s", o.Bandwidth.text())
	steps := ResultTable{Title: "The steps, one by one; each is free of credit loops in any mixture while it is written", Columns: []string{"step", "entries for traffic", "others", "blocks", "switches", "pairs cut off after it"}, Rows: [][]string{}}
	entries := ResultTable{Title: "Entries that the repair changes, by step and switch", Columns: []string{"step", "switch", "GUID", "entries"}, Rows: [][]string{}}
	add := func(way string, list []stepRef) {
		for i, s := range list {
			steps.Rows = append(steps.Rows, []string{fmt.Sprintf("%s %d", way, i+1), words.Thousands(s.Mended), words.Thousands(s.Follow), words.Thousands(s.Blocks), words.Thousands(s.Switches), words.Thousands(s.Cut)})
		}
	}
	add("repair", o.Steps)
	add("and back", o.Back.Steps)
	for i, s := range o.Steps {
		d.step(s.BySwitch)
		for _, row := range entriesTable("", s.BySwitch).Rows {
			entries.Rows = append(entries.Rows, append([]string{fmt.Sprintf("repair %d", i+1)}, row...))
		}
	}
	r.Tables = append(r.Tables, steps)
	if len(entries.Rows) > 0 {
		r.Tables = append(r.Tables, entries)
	}
	return nil
}
