package export

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/result"
)

// sample is a value with its labels.
type sample struct {
	labels [][2]string
	value  float64
}

// gauge is a metric with its values.
type gauge struct {
	name, help string
	samples    []sample
}

// writePrometheus writes the findings in the text format of Prometheus.
func writePrometheus(w *bufio.Writer, n *result.ReportNetwork) error {
	fabric := [2]string{"fabric", n.Name}
	one := func(v float64, labels ...[2]string) []sample {
		return []sample{{labels: append([][2]string{fabric}, labels...), value: v}}
	}
	odd := gauge{name: "weft_odd_places", help: "Unusual things in the fabric, as weft info finds them, by kind."}
	kinds := []string{"slow-link", "narrow-link", "mixed-rates", "missing-cable", "one-sided", "no-cable", "no-switch", "no-path", "missing-rail", "duplicate-name", "no-name"}
	if n.Ethernet {
		kinds = []string{"one-uplink", "uneven-cables", "narrow-group", "one-way-lossless", "slow-cable", "speed-differs", "no-route", "no-cable"}
	}
	for _, kind := range kinds {
		places := 0
		for _, o := range n.Odd {
			if o.Kind == kind {
				places += len(o.Places)
			}
		}
		odd.samples = append(odd.samples, one(float64(places), [2]string{"kind", kind})...)
	}
	all := []gauge{
		{"weft_switches", "Switches of the fabric.", one(float64(n.Counts.Switches))},
		{"weft_host_ports", "Cabled ports of host adapters.", one(float64(n.Counts.HostPorts))},
		{"weft_switch_cables", "Cables between switches.", one(float64(n.Counts.SwitchCables))},
		{"weft_parts", "Connected parts of the fabric.", one(float64(n.Parts))},
		odd,
	}
	for _, m := range []struct {
		name, help string
		value      func(t *result.ReportTables) (v float64, known bool)
	}{
		{"weft_tables_deadlock_free", "1 where the tables are proven free of credit loops, 0 where they have one.", func(t *result.ReportTables) (float64, bool) { return boolean(t.Verdict == "deadlock-free"), true }},
		{"weft_tables_unreachable_pairs", "Pairs of endpoints without a route.", func(t *result.ReportTables) (float64, bool) { return float64(t.Unreachable), true }},
		{"weft_tables_forwarding_loops", "Pairs of switch and destination whose packets circle.", func(t *result.ReportTables) (float64, bool) { return float64(t.Circling), true }},
		{"weft_tables_lanes_used", "Lanes that carry traffic between switches.", func(t *result.ReportTables) (float64, bool) { return float64(t.Used), true }},
		{"weft_tables_edge_forwarding_index", "Routes over the fullest channel when all send to all.", func(t *result.ReportTables) (float64, bool) { return float64(t.Load.Most), true }},
		{"weft_tables_bisection_bandwidth", "Effective bisection bandwidth, of full.", func(t *result.ReportTables) (float64, bool) {
			if t.Bandwidth == nil {
				return 0, false
			}
			return t.Bandwidth.Mean, true
		}},
	} {
		g := gauge{name: m.name, help: m.help}
		for _, t := range n.Tables {
			if v, ok := m.value(t); ok {
				g.samples = append(g.samples, one(v, [2]string{"tables", t.Name}, [2]string{"contract", t.Contract}, [2]string{"endpoints", t.Endpoints})...)
			}
		}
		if len(g.samples) > 0 {
			all = append(all, g)
		}
	}
	for _, g := range all {
		g.write(w)
	}
	return nil
}

func (g *gauge) write(w *bufio.Writer) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s gauge\n", g.name, g.help, g.name)
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	for _, s := range g.samples {
		labels := make([]string, len(s.labels))
		for i, l := range s.labels {
			labels[i] = fmt.Sprintf(`%s="%s"`, l[0], escape.Replace(strings.ToValidUTF8(l[1], "?")))
		}
		fmt.Fprintf(w, "%s{%s} %s\n", g.name, strings.Join(labels, ","), strconv.FormatFloat(s.value, 'g', -1, 64))
	}
}

// boolean is 1 for true.
func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
