package page

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// finder marks on the map the parts of a network that a result names. Without a network it finds
// nothing.
type finder struct {
	n     *result.ReportNetwork
	node  map[string]int32   // by GUID
	cable map[[2]int32]int32 // by node and port
	marks *result.ReportMarks
}

// beginMarks gives r empty marks, and is the finder that fills them in; without a network that the
// result is about there are none.
func beginMarks(r *result.ReportResult, networks []*result.ReportNetwork) *finder {
	if r.Network < 0 {
		return &finder{}
	}
	n := networks[r.Network]
	d := &finder{n: n, node: map[string]int32{}, cable: map[[2]int32]int32{}, marks: &result.ReportMarks{GoneNodes: []int32{}, GoneCables: []int32{}, NewNodes: []int32{}, NewCables: []int32{}, Steps: [][]int32{}}}
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

// nodes appends the nodes of a list that the network has, by number.
func (d *finder) nodes(to *[]int32, list []result.Node) {
	for _, v := range list {
		if i, ok := d.node[v.GUID]; ok {
			*to = append(*to, i)
		}
	}
}

// links appends the cables of a list that the network has, by number.
func (d *finder) links(to *[]int32, list []result.RemovedLink) {
	for _, l := range list {
		if a, ok := d.node[l.FromNode.GUID]; ok {
			if c, ok := d.cable[[2]int32{a, int32(l.FromNode.Port)}]; ok {
				*to = append(*to, c)
			}
		}
	}
}

// entries adds the entries that change to those of each switch.
func (d *finder) entries(to []int32, list []result.SwitchEntries) {
	for _, e := range list {
		if i, ok := d.node[e.Switch.GUID]; ok && int(i) < len(to) {
			to[i] += int32(e.Entries)
		}
	}
}

// step marks the entries of a step of a plan.
func (d *finder) step(list []result.SwitchEntries) {
	if d.marks == nil {
		return
	}
	one := make([]int32, len(d.marks.BySwitch))
	d.entries(one, list)
	d.entries(d.marks.BySwitch, list)
	d.marks.Steps = append(d.marks.Steps, one)
}

// nodeNames is the names of nodes.
func nodeNames(list []result.Node) []string {
	var names []string
	for _, v := range list {
		names = append(names, v.Name)
	}
	return names
}

// listed writes parts, a kind and the list of its names alternating: a line for each kind that has
// any, with the first names.
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

// guidsOf is the GUIDs of the nodes among parts, and of the first ends of the cables, each once.
func guidsOf(p *result.Parts) []string {
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

// partsText names parts of a fabric.
func partsText(p *result.Parts) string {
	return listed("switches", nodeNames(p.Switches), "adapters", nodeNames(p.Hosts), "cables", list.Of(p.Links, result.RemovedLink.String))
}

// bandwidthText is the bandwidth before and after a change.
func bandwidthText(b *result.Bandwidths) string {
	if b.Before == nil || b.After == nil {
		return "there are fewer than two endpoints left"
	}
	return fmt.Sprintf("%.3f of full before, %.3f after (%+.1f %%), random pairs of the endpoints that both have", *b.Before, *b.After, 100*(*b.After/max(1e-12, *b.Before)-1))
}

// readDiff takes over what weft diff found.
func readDiff(r *result.ReportResult, networks []*result.ReportNetwork, text []byte) error {
	var o result.Diff
	if err := json.Unmarshal(text, &o); err != nil {
		return err
	}
	if o.Old.Fabric == "" || o.New.Fabric == "" {
		return half("fabric")
	}
	r.Title = fmt.Sprintf("From %s to %s", o.Old.Fabric, o.New.Fabric)
	about(r, networks, shownOf(&o, networks), func(n *result.ReportNetwork) bool { return fitsDiff(&o, n) })
	d := beginMarks(r, networks)
	if d.marks != nil {
		d.nodes(&d.marks.GoneNodes, append(o.Gone.Switches, o.Gone.Hosts...))
		d.links(&d.marks.GoneCables, o.Gone.Links)
		d.nodes(&d.marks.NewNodes, append(o.Added.Switches, o.Added.Hosts...))
		d.links(&d.marks.NewCables, o.Added.Links)
	}
	addFact(r, "gone", "%s", partsText(&o.Gone))
	addFact(r, "new", "%s", partsText(&o.Added))
	c := o.Change
	if c == nil {
		return nil
	}
	if d.marks != nil {
		d.entries(d.marks.BySwitch, c.BySwitch)
	}
	addFact(r, "tables", "%s, then %s", o.Old.Tables, o.New.Tables)
	addFact(r, "entries", "%s differ, %s of them had to, in %s of 64 LIDs on %s", words.Thousands(c.Entries), words.Thousands(c.Due), words.Counted(c.Blocks, "block", "blocks"), words.Counted(c.Touched, "switch", "switches"))
	if c.Free() {
		addFact(r, "on the way", "no mixture of old and new entries has a credit loop (contract %s)", c.Contract)
	} else {
		addFact(r, "on the way", "packets can deadlock while tables are written: a mixture of old and new entries has the credit loop below (contract %s)", c.Contract)
	}
	addFact(r, "cut off", "of %s pairs %s before, %s for a while at most, %s after", words.Thousands(c.Pairs), words.Thousands(c.CutBefore), words.Thousands(c.Exposed), words.Thousands(c.CutAfter))
	addFact(r, "bandwidth", "%s", bandwidthText(&c.Bandwidth))
	for _, s := range c.Cycle {
		r.Loop = append(r.Loop, result.ReportLoopStep{Text: fmt.Sprintf("%s → %s, VL %d, by %s → %s", s.From, s.To, s.VL, s.Src, s.Dst)})
	}
	r.Tables = append(r.Tables, entriesTable("Entries that change, by switch", c.BySwitch))
	return nil
}

// shownOf is the name of that of the two fabrics which is on the page; the old one's if both are or
// neither is.
func shownOf(o *result.Diff, networks []*result.ReportNetwork) string {
	for _, n := range networks {
		if n.Name == o.New.Fabric && n.Name != o.Old.Fabric {
			return o.New.Fabric
		}
	}
	return o.Old.Fabric
}

// fitsDiff reports whether a network has the switches whose entries change, or else some of what
// is gone or new.
func fitsDiff(o *result.Diff, n *result.ReportNetwork) bool {
	if o.Change != nil && len(o.Change.BySwitch) > 0 {
		return hasMost(n, switchGUIDs(o.Change.BySwitch))
	}
	return len(guidsOf(&o.Gone))+len(guidsOf(&o.Added)) == 0 || has(n, guidsOf(&o.Gone)) > 0 || has(n, guidsOf(&o.Added)) > 0
}

// has counts the nodes of a network among some.
func has(n *result.ReportNetwork, guids []string) int {
	count := 0
	for _, g := range n.Nodes.GUID {
		if slices.Contains(guids, g) {
			count++
		}
	}
	return count
}

// hasMost reports whether a network has most nodes of a list.
func hasMost(n *result.ReportNetwork, guids []string) bool {
	return len(guids) == 0 || 2*has(n, guids) > len(guids)
}

// switchGUIDs is the switches whose entries change.
func switchGUIDs(list []result.SwitchEntries) []string {
	var guids []string
	for _, e := range list {
		guids = append(guids, e.Switch.GUID)
	}
	return guids
}

// entriesTable is a table of how many entries change at each switch.
func entriesTable(title string, list []result.SwitchEntries) result.ReportTable {
	t := result.ReportTable{Title: title, Columns: []string{"switch", "GUID", "entries"}, Rows: [][]string{}}
	for _, e := range list {
		t.Rows = append(t.Rows, []string{e.Switch.Name, e.Switch.GUID, words.Thousands(e.Entries)})
	}
	return t
}

// readWhatIf takes over what weft what-if found.
func readWhatIf(r *result.ReportResult, networks []*result.ReportNetwork, text []byte) error {
	var o result.WhatIf
	if err := json.Unmarshal(text, &o); err != nil {
		return err
	}
	if o.Fabric == "" {
		return half("fabric")
	}
	gone := result.Parts{}
	if w := o.Without; w != nil {
		gone = result.Parts{Switches: w.SwitchNodes, Hosts: w.HostNodes, Links: w.Links}
	}
	r.Title = "What if parts of " + o.Fabric + " were gone"
	named := guidsOf(&gone)
	for _, s := range o.Steps {
		named = append(named, switchGUIDs(s.BySwitch)...)
	}
	slices.Sort(named)
	named = slices.Compact(named)
	about(r, networks, o.Fabric, func(n *result.ReportNetwork) bool { return hasMost(n, named) })
	d := beginMarks(r, networks)
	if d.marks != nil {
		d.nodes(&d.marks.GoneNodes, append(gone.Switches, gone.Hosts...))
		d.links(&d.marks.GoneCables, gone.Links)
	}
	addFact(r, "without", "%s", partsText(&gone))
	addFact(r, "tables", "%s", o.Tables)
	cut := fmt.Sprintf("%s of %s pairs until the first step is written, %s after the last", words.Thousands(o.CutNow), words.Thousands(o.Pairs), words.Thousands(o.CutAfter))
	if o.Apart > 0 {
		cut += fmt.Sprintf(" (%s that no cable joins any more)", words.Thousands(o.Apart))
	}
	addFact(r, "cut off", "%s", cut)
	if len(o.Left) > 0 {
		addFact(r, "left", "%s that no step mends", words.Counted(len(o.Left), "destination", "destinations"))
	}
	addFact(r, "bandwidth", "%s", bandwidthText(&o.Bandwidth))
	steps := result.ReportTable{Title: "The steps, one by one; each is free of credit loops in any mixture while it is written", Columns: []string{"step", "entries for traffic", "others", "blocks", "switches", "pairs cut off after it"}, Rows: [][]string{}}
	entries := result.ReportTable{Title: "Entries that the repair changes, by step and switch", Columns: []string{"step", "switch", "GUID", "entries"}, Rows: [][]string{}}
	add := func(way string, list []result.StepOfPlan) {
		for i, s := range list {
			steps.Rows = append(steps.Rows, []string{fmt.Sprintf("%s %d", way, i+1), words.Thousands(s.Mended), words.Thousands(s.Follow), words.Thousands(s.Blocks), words.Thousands(s.Touched), words.Thousands(s.Cut)})
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
