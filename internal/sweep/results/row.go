package results

import "strings"

// Status says what came of a measure.
type Status string

// What can come of one.
const (
	OK      Status = "ok"
	Refused Status = "refused" // the engine does not route the network, or the network does not allow the measure
	Broken  Status = "broken"  // a defect of weft: it panicked, died, or an engine broke its promise
)

// Row is what came of one measure of one point. Its columns are those of the Parquet file
// and of the CSV; Columns says what they mean.
type Row struct {
	Point           string   `parquet:"point" json:"point"`
	Network         string   `parquet:"network,dict" json:"network"`
	Digest          string   `parquet:"digest,dict" json:"digest,omitempty"`
	Parameters      string   `parquet:"parameters,dict" json:"parameters,omitempty"`
	MissingCables   int64    `parquet:"missing_cables" json:"missing_cables,omitempty"`
	MissingSwitches int64    `parquet:"missing_switches" json:"missing_switches,omitempty"`
	Ports           string   `parquet:"ports,dict" json:"ports,omitempty"`
	Seed            uint64   `parquet:"seed" json:"seed"`
	Switches        int64    `parquet:"switches" json:"switches,omitempty"`
	Hosts           int64    `parquet:"hosts" json:"hosts,omitempty"`
	Cables          int64    `parquet:"cables" json:"cables,omitempty"`
	Engine          string   `parquet:"engine,dict" json:"engine"`
	Options         string   `parquet:"options,dict" json:"options,omitempty"`
	Measure         string   `parquet:"measure,dict" json:"measure"`
	Settings        string   `parquet:"settings,dict" json:"settings,omitempty"`
	Value           *float64 `parquet:"value,optional" json:"value,omitempty"`
	Error           *float64 `parquet:"error,optional" json:"error,omitempty"`
	Low             *float64 `parquet:"low,optional" json:"low,omitempty"`
	High            *float64 `parquet:"high,optional" json:"high,omitempty"`
	Count           int64    `parquet:"count" json:"count,omitempty"`
	Unit            string   `parquet:"unit,dict" json:"unit,omitempty"`
	Status          Status   `parquet:"status,dict" json:"status"`
	Reason          string   `parquet:"reason,dict" json:"reason,omitempty"`
	Verdict         string   `parquet:"verdict,dict" json:"verdict,omitempty"`
	Seconds         float64  `parquet:"seconds" json:"seconds"`
	RoutingSeconds  float64  `parquet:"routing_seconds" json:"routing_seconds"`
	Memory          float64  `parquet:"memory" json:"memory"`
	Version         string   `parquet:"version,dict" json:"version"`
	Machine         string   `parquet:"machine,dict" json:"machine"`
}

// Column describes a column.
type Column struct{ Name, Unit, What string }

// UnitOfMeasure stands for the unit of columns that have that of the measure, which the column unit says.
const UnitOfMeasure = "see unit"

// Columns is the columns of a row, in their order.
func Columns() []Column {
	return []Column{
		{"point", "", "the ID of the point: network, seed and engine, whatever file they are in"},
		{"network", "", "spec, or file"},
		{"digest", "", "of the file, SHA-256 cut to 16 hexadecimal digits"},
		{"parameters", "", "the words in braces of the spec and what they stood for, as name=value"},
		{"missing_cables", "cables", "taken away between switches, as damage"},
		{"missing_switches", "switches", "taken away, as damage"},
		{"ports", "", "shuffled where cables are in ports drawn by lot"},
		{"seed", "", "of everything drawn at random"},
		{"switches", "switches", "of the network as it was routed"},
		{"hosts", "ports", "host adapter ports that are cabled"},
		{"cables", "cables", "between switches"},
		{"engine", "", "as of weft engines"},
		{"options", "", "what the engine was told, as key=value"},
		{"measure", "", "what was measured"},
		{"settings", "", "how, as key=value"},
		{"value", UnitOfMeasure, "what came out; null where nothing did"},
		{"error", UnitOfMeasure, "standard error of value, where it is a mean over random draws"},
		{"low", UnitOfMeasure, "the least of the runs that value is of, of time and stops"},
		{"high", UnitOfMeasure, "the most"},
		{"count", "runs", "that value is of, of time and stops; of stops those that stopped"},
		{"unit", "", "of value"},
		{"status", "", "ok, refused (by the engine, or by the network) or broken (a defect of weft)"},
		{"reason", "", "why refused or broken"},
		{"verdict", "", "deadlock-free or credit-loop, by the judge"},
		{"seconds", "s", "processor time of this measure"},
		{"routing_seconds", "s", "processor time of making the network, routing it and proving it, once for all measures of the point"},
		{"memory", "MiB", "resident memory at the peak of the point, of the process that took it and kept what points before it left"},
		{"version", "", "of weft"},
		{"machine", "", "processor, cores, Go"},
	}
}

// Key tells the measures of a point apart.
func (r *Row) Key() string { return r.Measure + ":" + r.Settings }

// lacks says what a row must have and does not, so that whoever reads it need not look; empty: nothing.
func (r *Row) lacks() string {
	switch {
	case r.Status == OK && r.Value == nil:
		return "its status is ok, and it has no value"
	case r.Value != nil && r.Count > 0 && (r.Low == nil || r.High == nil):
		return "it has a count of runs, and no low or no high"
	}
	return ""
}

// Timed is the measures whose values are others another time.
var Timed = []string{"time", "memory", "repair-time"}

// Parameter is what a word in braces of the spec stood for; not ok where there is none.
func (r *Row) Parameter(name string) (value string, ok bool) { return valueOf(r.Parameters, name) }

// Setting is a setting of the row's measure; not ok where the measure has none of this name.
func (r *Row) Setting(name string) (value string, ok bool) { return valueOf(r.Settings, name) }

// valueOf is the value of a name in a list of name=value with commas between.
func valueOf(pairs, name string) (string, bool) {
	for pair := range strings.SplitSeq(pairs, ",") {
		if key, value, ok := strings.Cut(pair, "="); ok && key == name {
			return value, true
		}
	}
	return "", false
}
