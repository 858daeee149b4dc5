package page

import (
	"cmp"
	"fmt"
	"html"
	"html/template"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// bins is how many colours loads have.
const bins = 8

// mapWidth is how wide a drawing of the map is, in its own units.
const mapWidth = 1000.0

// How many switches a network has at most for its drawing to have names, and circles that say a name
// under a pointer; with more they are dots.
const (
	mostNames = 60
	mostTips  = 400
)

// nameLength is how many letters of a name a drawing has.
const nameLength = 18

// drawing is a map as SVG, for pages that are printed or that run no program.
type drawing struct {
	n    *result.ReportNetwork
	t    *result.ReportTables // nil: without loads
	x, y []float64            // [switch]
	high float64              // of the drawing, in the units of mapWidth
	size float64              // radius of a switch
	b    strings.Builder
}

// drawMap draws the map, the trunks in the colours of their loads, and over it the credit
// loop, if there is one. ID is that of the element, and what its parts are called by.
func drawMap(n *result.ReportNetwork, t *result.ReportTables, id string) template.HTML {
	d := &drawing{n: n, t: t}
	d.scale()
	title := mapTitle(n, t)
	fmt.Fprintf(&d.b, `<svg class="map-drawing" id="%s" viewBox="0 0 %s %s" role="img" aria-label="%s">`, id, short(mapWidth), short(d.high), html.EscapeString(title))
	fmt.Fprintf(&d.b, `<defs><marker id="%s-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path class="loop-head" d="M0 0L8 4L0 8Z"/></marker></defs>`, id)
	d.trunks()
	d.switches()
	if t != nil {
		d.loop(id)
	}
	d.b.WriteString("</svg>")
	return template.HTML(d.b.String()) //nolint:gosec // numbers, and texts that are escaped
}

// mapTitle is the drawing in a sentence.
func mapTitle(n *result.ReportNetwork, t *result.ReportTables) string {
	text := fmt.Sprintf("Map of %s: %s, %s, %s between them.", n.Name, n.Found, words.Counted(n.Counts.Switches, "switch", "switches"), words.Counted(n.Counts.SwitchCables, "cable", "cables"))
	if t != nil && len(t.Cycle) > 0 {
		text += fmt.Sprintf(" A credit loop of %d steps is drawn over it.", len(t.Cycle))
	}
	return text
}

// scale sets x, y, high and size: the places of the network, fitted into the width.
func (d *drawing) scale() {
	c := &d.n.Nodes
	width, high := 1.0, 1.0
	for s := range c.X {
		width, high = max(width, c.X[s]), max(high, c.Y[s])
	}
	const margin = 30.0
	k := min((mapWidth-2*margin)/width, (0.72*mapWidth-2*margin)/high)
	left := (mapWidth - k*width) / 2
	for s := range c.X {
		d.x, d.y = append(d.x, left+k*c.X[s]), append(d.y, margin+k*c.Y[s])
	}
	d.high = k*high + 2*margin + 14
	d.size = max(1.6, min(7, 0.32*k))
}

// short writes a place to a tenth.
func short(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// trunkPair is all cables between two switches.
type trunkPair struct {
	a, b   int32
	cables int
	load   uint32 // the most of one direction of one of them
	odd    bool
}

// pairsOf is the trunks of a network, each pair of switches once, in the order of their
// first cables.
func pairsOf(n *result.ReportNetwork, t *result.ReportTables) []trunkPair {
	c := &n.Cables
	at := map[[2]int32]int{}
	var pairs []trunkPair
	for i := range c.Trunks {
		key := [2]int32{min(c.A[i], c.B[i]), max(c.A[i], c.B[i])}
		k, ok := at[key]
		if !ok {
			k = len(pairs)
			at[key] = k
			pairs = append(pairs, trunkPair{a: key[0], b: key[1]})
		}
		p := &pairs[k]
		p.cables++
		p.odd = p.odd || c.Odd[i] > 0
		if t != nil {
			p.load = max(p.load, t.Load.There[i], t.Load.Back[i])
		}
	}
	return pairs
}

// bin is the colour of a load.
func bin(load, most uint32) int {
	if most == 0 {
		return 0
	}
	return min(bins-1, int(float64(load)/float64(most)*bins))
}

// trunks draws the trunks, one path for all of a colour and a width, the fullest last.
func (d *drawing) trunks() {
	type class struct{ bin, width int }
	lines := map[class]*strings.Builder{}
	most := uint32(0)
	if d.t != nil {
		most = d.t.Load.Scale
	}
	for _, p := range pairsOf(d.n, d.t) {
		c := class{bin: bin(p.load, most), width: min(3, 1+bits.Len(uint(p.cables-1)))}
		if lines[c] == nil {
			lines[c] = &strings.Builder{}
		}
		fmt.Fprintf(lines[c], "M%s %sL%s %s", short(d.x[p.a]), short(d.y[p.a]), short(d.x[p.b]), short(d.y[p.b]))
	}
	order := slices.SortedFunc(maps.Keys(lines), func(a, b class) int { return cmp.Or(cmp.Compare(a.bin, b.bin), cmp.Compare(a.width, b.width)) })
	for _, c := range order {
		fmt.Fprintf(&d.b, `<path class="trunk load-%d wide-%d" d="%s"/>`, c.bin, c.width, lines[c].String())
	}
	d.missing()
}

// missing draws cables that are expected and not there.
func (d *drawing) missing() {
	var line strings.Builder
	for _, o := range d.n.Odd {
		for _, p := range o.Places {
			if p.A >= 0 && p.B >= 0 && p.Cable < 0 && p.A < len(d.x) && p.B < len(d.x) {
				fmt.Fprintf(&line, "M%s %sL%s %s", short(d.x[p.A]), short(d.y[p.A]), short(d.x[p.B]), short(d.y[p.B]))
			}
		}
	}
	if line.Len() > 0 {
		fmt.Fprintf(&d.b, `<path class="missing" d="%s"/>`, line.String())
	}
}

// switches draws the switches, with their names where there is room.
func (d *drawing) switches() {
	c := &d.n.Nodes
	if len(d.x) > mostTips {
		var dots [8]strings.Builder
		for s := range d.x {
			fmt.Fprintf(&dots[levelColour(c.Level[s])], "M%s %sh0", short(d.x[s]), short(d.y[s]))
		}
		for level := range dots {
			if dots[level].Len() > 0 {
				fmt.Fprintf(&d.b, `<path class="dots level-%d" stroke-width="%s" d="%s"/>`, level, short(2*d.size), dots[level].String())
			}
		}
		return
	}
	for s := range d.x {
		fmt.Fprintf(&d.b, `<circle class="switch level-%d" cx="%s" cy="%s" r="%s"><title>%s</title></circle>`,
			levelColour(c.Level[s]), short(d.x[s]), short(d.y[s]), short(d.size), html.EscapeString(c.Name[s]))
	}
	if len(d.x) > mostNames {
		return
	}
	var named []int
	for s := range d.x {
		if d.crowded(s, named) {
			continue
		}
		named = append(named, s)
		fmt.Fprintf(&d.b, `<text class="name" x="%s" y="%s">%s</text>`, short(d.x[s]), short(d.y[s]+d.size+11), html.EscapeString(cut(c.Short[s], nameLength)))
	}
}

// crowded reports whether the name of a switch would run into one that is written.
func (d *drawing) crowded(s int, named []int) bool {
	length := func(s int) int { return min(nameLength, utf8.RuneCountInString(d.n.Nodes.Short[s])) }
	for _, o := range named {
		if math.Abs(d.y[o]-d.y[s]) > 10 {
			continue
		}
		room := 3.1 * float64(length(s)+length(o))
		if math.Abs(d.x[o]-d.x[s]) < room {
			return true
		}
	}
	return false
}

// cut shortens a text to so many letters.
func cut(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most-1]) + "…"
}

// levelColour is the number of the colour of switches of a level; -1 is a level, too.
func levelColour(level int32) int { return int(min(7, max(0, level+1))) }

// loop draws a credit loop, an arrow for each step.
func (d *drawing) loop(id string) {
	c := &d.n.Cables
	for i, s := range d.t.Cycle {
		a, b := c.A[s.Cable], c.B[s.Cable]
		if s.Back {
			a, b = b, a
		}
		dx, dy := d.x[b]-d.x[a], d.y[b]-d.y[a]
		length := math.Hypot(dx, dy)
		if length == 0 {
			continue
		}
		ux, uy := dx/length, dy/length
		fmt.Fprintf(&d.b, `<path class="loop" marker-end="url(#%s-arrow)" d="M%s %sL%s %s"><title>%d: %s → %s, %s %d</title></path>`, id,
			short(d.x[a]+ux*d.size), short(d.y[a]+uy*d.size), short(d.x[b]-ux*(d.size+2)), short(d.y[b]-uy*(d.size+2)),
			i+1, html.EscapeString(s.From), html.EscapeString(s.To), laneName(d.n), s.VL)
	}
}

// drawKey says what a drawing shows: colours, widths and dashes.
func drawKey(n *result.ReportNetwork, t *result.ReportTables) template.HTML {
	var b strings.Builder
	fmt.Fprintf(&b, `<div class="map-key"><b>Routes over a channel, %s at most</b><span class="ends">0<span class="ramp">`, words.Thousands(t.Load.Most))
	for i := range bins {
		fmt.Fprintf(&b, `<i class="back-%d"></i>`, i)
	}
	fmt.Fprintf(&b, `</span>%s</span><ul>`, words.Thousands(t.Load.Scale))
	levels := slices.Clone(n.Nodes.Level)
	slices.Sort(levels)
	for _, l := range slices.Compact(levels) {
		text := fmt.Sprintf("switches of level %d", l)
		switch {
		case l < 0:
			text = "switches without hosts near"
		case l == 0:
			text = "switches with hosts"
		}
		fmt.Fprintf(&b, `<li><i class="round back-level-%d"></i>%s</li>`, levelColour(l), text)
	}
	if slices.ContainsFunc(pairsOf(n, nil), func(p trunkPair) bool { return p.cables > 1 }) {
		b.WriteString("<li>wider lines: more cables</li>")
	}
	if slices.ContainsFunc(n.Odd, func(o result.ReportOdd) bool {
		return slices.ContainsFunc(o.Places, func(p result.ReportPlace) bool { return p.A >= 0 && p.B >= 0 && p.Cable < 0 })
	}) {
		b.WriteString(`<li><i class="dashes"></i>cables missing</li>`)
	}
	if len(t.Cycle) > 0 {
		b.WriteString(`<li><i class="back-loop"></i>credit loop</li>`)
	}
	b.WriteString("</ul></div>")
	return template.HTML(b.String()) //nolint:gosec // numbers, and texts of ours
}
