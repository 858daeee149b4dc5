package page

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// The size of a chart, in its own units, and the room for its axes.
const (
	chartWide, chartHigh             = 420.0, 210.0
	chartLeft, chartRight            = 52.0, 12.0
	chartTop, chartBottom            = 12.0, 40.0
	chartInside, chartInsideHigh     = chartWide - chartLeft - chartRight, chartHigh - chartTop - chartBottom
	smallWide, smallHigh             = 150.0, 34.0
	mostTicks                    int = 11
)

// bar is a bar of a chart; tip is what a pointer over it shows.
type bar struct {
	label string
	value float64
	tip   string
}

// barChart draws bars; x and y name the axes.
func barChart(title, x, y string, bars []bar) template.HTML {
	if len(bars) == 0 {
		return ""
	}
	most := 0.0
	for _, b := range bars {
		most = max(most, b.value)
	}
	var out strings.Builder
	writeHead(&out, title, x, y)
	top := writeYAxis(&out, most)
	step := chartInside / float64(len(bars))
	wide := max(1, min(46, step*0.86))
	every := (len(bars) + mostTicks - 1) / mostTicks
	for i, b := range bars {
		high := chartInsideHigh * b.value / top
		if b.value > 0 {
			high = max(1.5, high)
		}
		cx := chartLeft + (float64(i)+0.5)*step
		fmt.Fprintf(&out, `<rect class="bar" x="%s" y="%s" width="%s" height="%s"><title>%s</title></rect>`,
			short(cx-wide/2), short(chartTop+chartInsideHigh-high), short(wide), short(high), html.EscapeString(b.tip))
		if i%every == 0 {
			fmt.Fprintf(&out, `<text class="tick" x="%s" y="%s" text-anchor="middle">%s</text>`, short(cx), short(chartTop+chartInsideHigh+14), html.EscapeString(b.label))
		}
	}
	out.WriteString("</svg></figure>")
	return template.HTML(out.String()) //nolint:gosec // numbers, and texts that are escaped
}

// writeHead begins a chart: its frame, title and the names of its axes.
func writeHead(out *strings.Builder, title, x, y string) {
	fmt.Fprintf(out, `<figure class="chart"><figcaption>%s</figcaption><svg viewBox="0 0 %s %s" role="img" aria-label="%s">`,
		html.EscapeString(title), short(chartWide), short(chartHigh), html.EscapeString(title+": "+y+" by "+x))
	fmt.Fprintf(out, `<text class="axis" x="%s" y="%s" text-anchor="middle">%s</text>`, short(chartLeft+chartInside/2), short(chartHigh-6), html.EscapeString(x))
	fmt.Fprintf(out, `<text class="axis" transform="translate(11 %s) rotate(-90)" text-anchor="middle">%s</text>`, short(chartTop+chartInsideHigh/2), html.EscapeString(y))
}

// writeYAxis draws lines across, with their values, so that most is below the top, and returns the value at
// the top.
func writeYAxis(out *strings.Builder, most float64) float64 {
	step := niceStep(most / 4)
	top := step * math.Ceil(most/step-1e-9)
	if top == 0 {
		top = 1
	}
	for i := 0; float64(i)*step <= top*1.0001; i++ {
		v := float64(i) * step
		at := chartTop + chartInsideHigh*(1-v/top)
		fmt.Fprintf(out, `<path class="grid" d="M%s %sh%s"/>`, short(chartLeft), short(at), short(chartInside))
		fmt.Fprintf(out, `<text class="tick" x="%s" y="%s" text-anchor="end">%s</text>`, short(chartLeft-5), short(at+3.5), tick(v))
	}
	return top
}

// niceStep is the least of …, 1, 2, 5, 10, … that is not below v.
func niceStep(v float64) float64 {
	if v <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5, 10} {
		if m*power >= v*0.9999 {
			return m * power
		}
	}
	return 10 * power
}

// tick writes a value at an axis: 12k, 3.5M.
func tick(v float64) string {
	for _, unit := range []struct {
		of   float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= unit.of {
			return strconv.FormatFloat(math.Round(v/unit.of*100)/100, 'f', -1, 64) + unit.name
		}
	}
	return strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64)
}

// smallBars draws a histogram of channels by load for a cell of a table, in the colours of the map:
// the last bar ends at the load end, the last colour at the load scale.
func smallBars(counts []int, name string, end, scale uint32) template.HTML {
	most := 1
	for _, n := range counts {
		most = max(most, n)
	}
	var out strings.Builder
	fmt.Fprintf(&out, `<svg class="small" viewBox="0 0 %s %s" role="img" aria-label="%s">`, short(smallWide), short(smallHigh), html.EscapeString(name))
	step := smallWide / float64(len(counts))
	for i, n := range counts {
		high := (smallHigh - 2) * float64(n) / float64(most)
		if n > 0 {
			high = max(1.5, high)
		}
		fmt.Fprintf(&out, `<rect class="fill-%d" x="%s" y="%s" width="%s" height="%s"><title>%d%% to %d%% of the fullest: %s</title></rect>`,
			bin(uint32((float64(i)+0.5)/float64(len(counts))*float64(end)), scale), short(float64(i)*step+0.5), short(smallHigh-1-high), short(step-1), short(high),
			100*i/len(counts), 100*(i+1)/len(counts), words.Counted(n, "channel", "channels"))
	}
	fmt.Fprintf(&out, `<path class="grid" d="M0 %sh%s"/></svg>`, short(smallHigh-0.5), short(smallWide))
	return template.HTML(out.String()) //nolint:gosec // numbers, and texts that are escaped
}

// lineChart draws curves, each with a mark of its own.
func lineChart(c *result.ReportCurves) template.HTML {
	left, right, most := math.Inf(1), math.Inf(-1), 0.0
	for _, s := range c.Series {
		for i := range s.X {
			left, right, most = min(left, s.X[i]), max(right, s.X[i]), max(most, s.Y[i])
		}
	}
	if left > right {
		return ""
	}
	if left == right {
		left, right = left-1, right+1
	}
	var out strings.Builder
	writeHead(&out, c.Title, c.X, c.Y)
	top := writeYAxis(&out, most)
	place := func(x, y float64) (float64, float64) {
		return chartLeft + 6 + (chartInside-12)*(x-left)/(right-left), chartTop + chartInsideHigh*(1-y/top)
	}
	step := niceStep((right - left) / 6)
	for v := math.Ceil(left/step-1e-9) * step; v <= right+step*1e-6; v += step {
		x, _ := place(v, 0)
		fmt.Fprintf(&out, `<text class="tick" x="%s" y="%s" text-anchor="middle">%s</text>`, short(x), short(chartTop+chartInsideHigh+14), tick(v))
	}
	for k, s := range c.Series {
		var path strings.Builder
		for i := range s.X {
			x, y := place(s.X[i], s.Y[i])
			fmt.Fprintf(&path, "%s%s %s", [2]string{"M", "L"}[min(1, i)], short(x), short(y))
		}
		fmt.Fprintf(&out, `<path class="curve series-%d" d="%s"/>`, k%6, path.String())
		for i := range s.X {
			x, y := place(s.X[i], s.Y[i])
			fmt.Fprintf(&out, `<circle class="mark series-%d" cx="%s" cy="%s" r="3"><title>%s: %s, %s</title></circle>`, k%6, short(x), short(y), html.EscapeString(s.Name), tick(s.X[i]), tick(s.Y[i]))
		}
	}
	out.WriteString("</svg>")
	if len(c.Series) > 1 {
		out.WriteString(`<ul class="key">`)
		for k, s := range c.Series {
			fmt.Fprintf(&out, `<li><span class="swatch series-%d"></span>%s</li>`, k%6, html.EscapeString(s.Name))
		}
		out.WriteString("</ul>")
	}
	out.WriteString("</figure>")
	return template.HTML(out.String()) //nolint:gosec // numbers, and texts that are escaped
}

// charts is the charts of some tables, those of which there is nothing to show left out.
func charts(n *result.ReportNetwork, t *result.ReportTables) []template.HTML {
	var all []template.HTML
	add := func(c template.HTML) {
		if c != "" {
			all = append(all, c)
		}
	}
	add(loadChart(t))
	if b := t.Bandwidth; b != nil {
		add(countChart("Congestion of random pairs", "flows on the fullest channel of a route", "flows", b.Congestion, "with %s on the fullest channel of their route"))
		var bars []bar
		total := int64(0)
		for _, n := range b.Flows {
			total += n
		}
		for i, n := range b.Flows {
			bars = append(bars, bar{
				strconv.FormatFloat(float64(i)/float64(len(b.Flows)), 'f', 2, 64), float64(n),
				fmt.Sprintf("%s (%.1f %%) get %d to %d %% of full", words.Counted(n, "flow", "flows"), percent(n, total), 100*i/len(b.Flows), 100*(i+1)/len(b.Flows)),
			})
		}
		add(barChart("Bandwidth of random pairs", "bandwidth of a flow, of full", "flows", bars))
	}
	add(countChart("Length of routes", "hops between switches", "pairs", t.Hops.Pairs, "over %s hops"))
	var lanes, pairs, levels []bar
	for _, l := range t.Lanes {
		lanes = append(lanes, bar{fmt.Sprintf("%s %d", laneName(n), l.VL), float64(l.Hops), fmt.Sprintf("%s %d: %s crossed on %s; at most %s on one", laneName(n), l.VL, words.Counted(l.Hops, "hop", "hops"), words.Counted(l.Trunks, "channel", "channels"), words.Counted(l.Most, "route", "routes"))})
	}
	for _, l := range t.Lanes {
		pairs = append(pairs, bar{fmt.Sprintf("%s %d", laneName(n), l.VL), float64(l.Pairs), fmt.Sprintf("%s %d: on the way of %s", laneName(n), l.VL, words.Counted(l.Pairs, "pair", "pairs"))})
	}
	if len(lanes) > 1 {
		add(barChart("Use of lanes", "virtual lane", "hops of all routes", lanes))
		add(barChart("Pairs on each lane", "virtual lane a route crosses a trunk on", "pairs", pairs))
	}
	for _, l := range t.Levels {
		levels = append(levels, bar{fmt.Sprintf("SL %d", l.SL), float64(l.Pairs), fmt.Sprintf("SL %d: %s", l.SL, words.Counted(l.Pairs, "pair", "pairs"))})
	}
	if len(levels) > 1 {
		add(barChart("Pairs on each service level", "service level", "pairs", levels))
	}
	return all
}

// loadChart is how many channels have how many routes.
func loadChart(t *result.ReportTables) template.HTML {
	const parts = 20
	var counts [parts]int64
	for _, list := range [][]uint32{t.Load.There, t.Load.Back} {
		for _, n := range list {
			counts[min(parts-1, int(float64(n)/float64(max(1, t.Load.Most))*parts))]++
		}
	}
	var bars []bar
	for i, n := range counts {
		from, to := float64(i)/parts*float64(t.Load.Most), float64(i+1)/parts*float64(t.Load.Most)
		bars = append(bars, bar{tick(math.Round(from)), float64(n), fmt.Sprintf("%s with %s to %s routes", words.Counted(n, "channel", "channels"), words.Thousands(int64(from)), words.Thousands(int64(to)))})
	}
	return barChart("Load of channels", "routes over a channel when all send to all", "channels", bars)
}

// countChart is a bar chart of counts, [a small whole number], such as pairs by hops. tip says of a
// bar which number it is, %s.
func countChart(title, x, y string, counts []int64, tip string) template.HTML {
	last := len(counts) - 1
	for last > 0 && counts[last] == 0 {
		last--
	}
	total := int64(0)
	for _, n := range counts {
		total += n
	}
	var bars []bar
	for i, n := range counts[:last+1] {
		if i == 0 && n == 0 && last > 1 {
			continue
		}
		bars = append(bars, bar{strconv.Itoa(i), float64(n), fmt.Sprintf("%s (%.1f %%), "+tip, words.Thousands(n)+" "+y, percent(n, total), strconv.Itoa(i))})
	}
	return barChart(title, x, y, bars)
}

// percent is n of all, in percent.
func percent(n, of int64) float64 { return 100 * float64(n) / float64(max(1, of)) }
