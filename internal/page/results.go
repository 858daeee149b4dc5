package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// resultReaders is the outputs that a report takes, by the schema that they name.
var resultReaders = map[string]func(r *result.ReportResult, n []*result.ReportNetwork, text []byte) error{
	"weft/compare/1": readCompare,
	"weft/packets/1": readPackets,
	"weft/diff/1":    readDiff,
	"weft/what-if/1": readWhatIf,
}

// ReadResult reads the JSON output of weft compare, packets, diff or what-if. Parts that it
// names are looked for in the networks of the report.
func ReadResult(text []byte, file string, networks []*result.ReportNetwork) (*result.ReportResult, error) {
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, fmt.Errorf("%s: %w", file, jsonError(text, err))
	}
	read := resultReaders[head.Schema]
	if read == nil {
		what := "it does not say which output it is"
		if head.Schema != "" {
			what = "it is " + head.Schema
		}
		return nil, fmt.Errorf("%s: %s; a report takes what weft compare, packets, diff and what-if print with --json", file, what)
	}
	r := &result.ReportResult{
		Command: "weft " + strings.TrimSuffix(strings.TrimPrefix(head.Schema, "weft/"), "/1"), File: file,
		Facts: []result.ReportFact{}, Tables: []result.ReportTable{}, Curves: []result.ReportCurves{}, Loop: []result.ReportLoopStep{}, Network: -1,
	}
	if err := read(r, networks, text); err != nil {
		return nil, fmt.Errorf("%s: %w", file, jsonError(text, err))
	}
	return r, nil
}

// jsonError says in which line JSON is wrong.
func jsonError(text []byte, err error) error {
	at := int64(-1)
	switch e := err.(type) { //nolint:errorlint // encoding/json does not wrap them
	case *json.SyntaxError:
		at = e.Offset
	case *json.UnmarshalTypeError:
		at = e.Offset
	}
	if at < 0 || at > int64(len(text)) {
		return err
	}
	return fmt.Errorf("line %d: %w", 1+bytes.Count(text[:at], []byte("\n")), err)
}

// addFact adds a line.
func addFact(r *result.ReportResult, what, format string, args ...any) {
	r.Facts = append(r.Facts, result.ReportFact{What: what, Text: fmt.Sprintf(format, args...)})
}

// about sets which network of the page a result is about: the one with the name of its fabric, else
// the only one that fits what the result says of it, since files go by several names. Where there is
// none, or it does not fit, Foreign says so.
func about(r *result.ReportResult, networks []*result.ReportNetwork, name string, fits func(n *result.ReportNetwork) bool) {
	var fit []int
	for i, n := range networks {
		if n.Name == name {
			r.Network = i
			if !fits(n) {
				r.Foreign = fmt.Sprintf("%s is not as it was then: parts of it have come or gone", name)
			}
			break
		}
		if fits(n) {
			fit = append(fit, i)
		}
	}
	if r.Network < 0 && len(fit) == 1 {
		r.Network = fit[0]
	}
	if r.Network < 0 {
		r.Foreign = fmt.Sprintf("it is about %s, which is none of the fabrics of this page", name)
	}
	if r.Foreign != "" {
		addFact(r, "fabric", "%s", r.Foreign)
	}
}

// fitsFabric reports whether a fabric has the size of a network, in any scope of endpoints.
func fitsFabric(f *result.Fabric, n *result.ReportNetwork) bool {
	c := &n.Counts
	all := c.HostPorts + c.Aggregation + c.RouterPorts
	return f.Switches == c.Switches && (f.Endpoints == c.HostPorts || f.Endpoints == all || f.Endpoints == all+c.Switches)
}

// half is the error for an output that lacks what every whole one has.
func half(what string) error {
	return fmt.Errorf("it names no %s: is the file whole?", what)
}

// optional writes a number that may be absent.
func optional[T any](v *T, format string) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf(format, *v)
}

// readCompare takes over what weft compare found.
func readCompare(r *result.ReportResult, networks []*result.ReportNetwork, text []byte) error {
	var o result.Compare
	if err := json.Unmarshal(text, &o); err != nil {
		return err
	}
	switch {
	case o.Fabric.Name == "":
		return half("fabric")
	case len(o.Rows) == 0:
		return half("engines")
	}
	about(r, networks, o.Fabric.Name, func(n *result.ReportNetwork) bool { return fitsFabric(&o.Fabric, n) })
	r.Title = "Engines side by side: " + o.Fabric.Name
	t := result.ReportTable{Title: "Engines and tables", Columns: []string{"name", "verdict", "contract", "lanes needed", "lanes used", "SLs", "hops", "longest", "fullest channel", "bandwidth", "all-to-all", "by name", "at random"}}
	var inForce *float64 // bandwidth of the first tables in force
	for _, row := range o.Rows {
		if row.Source == "tables" && inForce == nil {
			inForce = row.EBB
		}
	}
	for _, row := range o.Rows {
		if row.Refused != "" {
			t.Rows = append(t.Rows, []string{row.Name, "refuses: " + row.Refused, "", "", "", "", "", "", "", "", "", "", ""})
			continue
		}
		name, verdict, hops, longest := row.Name, row.Verdict, "", ""
		if row.Chosen != "" {
			name += ": " + row.Chosen
		}
		if row.Unreachable > 0 {
			verdict += ", " + words.Counted(row.Unreachable, "pair", "pairs") + " without a route"
		}
		if row.Hops != nil {
			hops, longest = fmt.Sprintf("%.2f", row.Hops.Mean), fmt.Sprint(row.Hops.Max)
		}
		bandwidth := optional(row.EBB, "%.3f")
		if inForce != nil && row.EBB != nil && *inForce > 0 && row.Source != "tables" {
			bandwidth += fmt.Sprintf(" (%+.0f %%)", 100*(*row.EBB / *inForce - 1))
		}
		byOrder := map[string]*float64{}
		for _, s := range row.Shifts {
			if s.Time > 0 {
				byOrder[s.Order] = &s.Time
			}
		}
		t.Rows = append(t.Rows, []string{
			name, verdict, row.Contract, fmt.Sprint(row.Needed), fmt.Sprint(row.Used), fmt.Sprint(row.SLs),
			hops, longest, optional(row.Index, "%d"), bandwidth, optional(row.AllToAll, "%.2f"),
			optional(byOrder["name"], "%.2f"), optional(byOrder["random"], "%.2f"),
		})
	}
	if b := o.AnyRouting; b != nil {
		byOrder := map[string]string{}
		for _, s := range b.Shifts {
			byOrder[s.Order] = fmt.Sprintf("≥ %.2f", s.Time)
		}
		t.Rows = append(t.Rows, []string{"any routing", "", "", "", "", "", "", "", fmt.Sprintf("≥ %d", b.Index), fmt.Sprintf("≤ %.3f", b.Lambda), byOrder["switch"], byOrder["name"], byOrder["random"]})
		addFact(r, "any routing", "what none can do better, by cuts of the network; weft bound says which cables are why.")
	}
	r.Tables = append(r.Tables, t)
	addFact(r, "bandwidth", "of random pairs, of full; all-to-all in phases as its time, 1 without congestion, with ranks by switch and port, by name and at random. Endpoints %s.", o.Endpoints)
	return nil
}

// readPackets takes over what weft packets found.
func readPackets(r *result.ReportResult, networks []*result.ReportNetwork, text []byte) error {
	var o result.Packets
	if err := json.Unmarshal(text, &o); err != nil {
		return err
	}
	switch {
	case o.Fabric.Name == "":
		return half("fabric")
	case len(o.Runs) == 0:
		return half("runs")
	}
	about(r, networks, o.Fabric.Name, func(n *result.ReportNetwork) bool { return fitsFabric(&o.Fabric, n) })
	source := o.Tables
	if o.Engine != "" {
		source = o.Engine
	}
	r.Title = fmt.Sprintf("Packets: %s, %s", o.Fabric.Name, source)
	addFact(r, "traffic", "%s", o.Traffic)
	addFact(r, "model", "%s, buffers of %s bytes for a lane, MTU %d", o.Preset, words.Thousands(o.Buffer), o.MTU)
	t := result.ReportTable{Title: "Runs", Columns: []string{"offered", "accepted", "mean ns", "median ns", "p99 ns", "max ns", "dropped", "status"}}
	latency := result.ReportCurves{Title: "Latency against load", X: "offered load", Y: "ns", Series: []result.ReportCurve{{Name: "mean"}, {Name: "median"}, {Name: "p99"}}}
	accepted := result.ReportCurves{Title: "Accepted against offered load", X: "offered load", Y: "accepted", Series: []result.ReportCurve{{Name: source}}}
	for _, run := range o.Runs {
		l := run.Latency
		row := []string{fmt.Sprintf("%.3g", run.Offered), fmt.Sprintf("%.3g", run.Accepted)}
		for _, v := range []float64{l.Mean, l.P50, l.P99, l.Max} {
			row = append(row, words.Thousands(int64(v+0.5)))
		}
		t.Rows = append(t.Rows, append(row, words.Thousands(run.Dropped), run.Status))
		for i, v := range []float64{l.Mean, l.P50, l.P99} {
			s := &latency.Series[i]
			s.X, s.Y = append(s.X, run.Offered), append(s.Y, v)
		}
		accepted.Series[0].X, accepted.Series[0].Y = append(accepted.Series[0].X, run.Offered), append(accepted.Series[0].Y, run.Accepted)
		if d := run.Deadlock; d != nil && len(r.Loop) == 0 {
			addFact(r, "deadlock", "at load %.3g after %s ns: %s that will never move", run.Offered, words.Thousands(int64(d.ClosedNS)), words.Counted(d.Packets, "packet", "packets"))
			for _, s := range d.Cycle {
				r.Loop = append(r.Loop, result.ReportLoopStep{Text: fmt.Sprintf("%s, VL %d", s.Channel, s.VL)})
			}
		}
	}
	r.Tables = append(r.Tables, t)
	if len(o.Runs) > 1 {
		r.Curves = append(r.Curves, latency, accepted)
	}
	return nil
}
