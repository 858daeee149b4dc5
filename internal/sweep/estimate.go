package sweep

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/sweep/measures"
)

// Size is how large a network is, as far as the time and the memory depend on it that its
// points take.
type Size struct {
	Switches, Hosts, Cables int
	LIDs                    int
	Bytes                   int64 // about what it takes to route and judge it
	Pairs                   int64 // bytes besides, for p2sssp: the shortest paths to every switch at once
}

// Sample is what one part of a point took: of routing, under the name of the engine, or of
// a measure.
type Sample struct {
	Part    string // engine with its contract, or measure: and its name
	Kind    string // of the network, without its seed
	Seconds float64
	at      [features]float64 // routingAt or measureAt
}

// features is how many numbers an estimate is made of: the number 1, and two logarithms.
const features = 3

// OfRouting is a sample of making a network, routing it with an engine and proving it;
// options is what Engine.Options says.
func OfRouting(engine, options, kind string, s Size, seconds float64) Sample {
	contract := ""
	for pair := range strings.SplitSeq(options, ",") {
		if key, value, _ := strings.Cut(pair, "="); key == "contract" {
			contract = value
		}
	}
	return Sample{Part: enginePart(engine, contract), Kind: kind, Seconds: seconds, at: routingAt(s)}
}

// enginePart is an engine under a contract, which may have other paths: "lash directed". With
// the contract that it is made for it is its name alone.
func enginePart(name, contract string) string { return strings.TrimSpace(name + " " + contract) }

// OfMeasure is a sample of a measure.
func OfMeasure(m *measures.Measure, kind string, s Size, seconds float64) Sample {
	part, _ := partOf(m)
	return Sample{Part: part, Kind: kind, Seconds: seconds, at: measureAt(m, s)}
}

// measurePart begins the part of a measure; other parts are engines.
const measurePart = "measure:"

// partOf is the part that a measure is, and the part whose line foretells it where it has none
// of its own. Measures of one run are one part.
func partOf(m *measures.Measure) (part, like string) {
	k, err := measures.Named(m.Name)
	if err != nil {
		return measurePart + m.Name, ""
	}
	return measurePart + cmp.Or(k.RunOf, m.Name), measurePart + k.Like
}

// routingAt is the features of routing a network: of the entries of its forwarding tables, and
// of how many cables a switch has.
func routingAt(s Size) [features]float64 {
	return [features]float64{1, logOf(s.Switches * s.LIDs), math.Log(float64(max(1, s.Cables)) / float64(max(1, s.Switches)))}
}

// measureAt is the features of a measure: of its work (Kind.Work), and of the table of routes that
// it makes first.
func measureAt(m *measures.Measure, s Size) [features]float64 {
	work := float64(max(1, s.Hosts))
	if k, err := measures.Named(m.Name); err == nil {
		work = k.Work(m, s.Hosts, max(1, s.Switches)*max(1, s.LIDs))
	}
	return [features]float64{1, math.Log(work), logOf(s.Hosts * s.Switches)}
}

// logOf is a logarithm, of 1 for numbers below.
func logOf(n int) float64 { return math.Log(float64(max(1, n))) }

// line is what one part takes: the logarithm of its seconds is the sum of its features, each by a
// coefficient.
type line struct {
	by      [features]float64 // coefficients
	samples int
	factor  float64 // half of the samples are within this factor of what the others foretell
}

func (l *line) seconds(at [features]float64) float64 {
	sum := 0.0
	for i, v := range at {
		sum += l.by[i] * v
	}
	return math.Exp(sum)
}

// Estimates foretells what points take, in processor seconds, from what others took.
type Estimates struct{ lines map[string]*line }

//go:embed estimates.csv
var builtIn string

// BuiltIn is estimates from a campaign over all engines on many networks, on one core of
// the machine that the file names.
func BuiltIn() *Estimates {
	e, err := ReadEstimates(strings.NewReader(builtIn), "estimates.csv")
	if err != nil {
		panic(err) // a test reads it
	}
	return e
}

// anyEngine is the line for engines without one of their own.
const anyEngine = "*"

// Fit makes estimates of samples.
func Fit(samples []Sample) *Estimates {
	parts := map[string][]Sample{}
	for _, s := range samples {
		if s.Seconds <= 0 {
			continue
		}
		parts[s.Part] = append(parts[s.Part], s)
		if strings.HasPrefix(s.Part, measurePart) {
			continue
		}
		parts[anyEngine] = append(parts[anyEngine], s)
		if name, _, contract := strings.Cut(s.Part, " "); contract {
			parts[name] = append(parts[name], s)
		}
	}
	e := &Estimates{lines: map[string]*line{}}
	for part, list := range parts {
		l := fit(list)
		factors, _, _ := foretellEach(list)
		slices.Sort(factors)
		l.factor = quantile(factors, 0.5)
		e.lines[part] = l
	}
	return e
}

// fit is the line through samples with the least squares, drawn a little towards the line (prior)
// on which time grows with the first logarithm alone, so that few samples do not turn it upside
// down. At the end it is raised or lowered so that its sum over the samples is right.
func fit(samples []Sample) *line {
	var a [features][features + 1]float64
	prior := [features]float64{0, 1, 0}
	for i := 1; i < features; i++ {
		a[i][i], a[i][features] = pull, pull*prior[i]
	}
	a[0][0] = 1e-9 // not 0, also where there are no samples
	for _, s := range samples {
		y := math.Log(s.Seconds)
		for i := range features {
			for j := range features {
				a[i][j] += s.at[i] * s.at[j]
			}
			a[i][features] += s.at[i] * y
		}
	}
	l := &line{samples: len(samples), by: solve(a)}
	var took, foretold float64
	for _, s := range samples {
		took, foretold = took+s.Seconds, foretold+l.seconds(s.at)
	}
	l.by[0] += math.Log(took / foretold) // logarithms are right in the middle, sums are of what takes long
	return l
}

// pull is how many samples the prior counts for.
const pull = 0.1

// solve solves linear equations, a row each with its right side last, by elimination with pivots.
func solve(a [features][features + 1]float64) (x [features]float64) {
	for i := range features {
		p := i
		for k := i + 1; k < features; k++ {
			if math.Abs(a[k][i]) > math.Abs(a[p][i]) {
				p = k
			}
		}
		a[i], a[p] = a[p], a[i]
		for k := range features {
			if k == i || a[i][i] == 0 {
				continue
			}
			by := a[k][i] / a[i][i]
			for j := i; j <= features; j++ {
				a[k][j] -= by * a[i][j]
			}
		}
	}
	for i := range features {
		if a[i][i] != 0 {
			x[i] = a[i][features] / a[i][i]
		}
	}
	return x
}

// quantile is the value below which a share of sorted ones is; 0 of none.
func quantile(sorted []float64, share float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}

// Reach is how good estimates are for networks of kinds that they were not made of.
type Reach struct {
	Half, Ninety float64 // half, and nine of ten samples are within this factor
	Sum          float64 // of all estimates, by the sum of what the samples took
}

// Quality is how well samples are foretold from those of other kinds of networks.
func Quality(samples []Sample) Reach {
	parts := map[string][]Sample{}
	for _, s := range samples {
		if s.Seconds > 0 {
			parts[s.Part] = append(parts[s.Part], s)
		}
	}
	var factors []float64
	var foretold, took float64
	for _, list := range parts {
		f, foretoldOf, tookOf := foretellEach(list)
		factors, foretold, took = append(factors, f...), foretold+foretoldOf, took+tookOf
	}
	slices.Sort(factors)
	return Reach{Half: quantile(factors, 0.5), Ninety: quantile(factors, 0.9), Sum: foretold / max(took, 1e-9)}
}

// foretellEach foretells every sample of a part from those of other kinds of networks. It returns
// the factors by which that is off, and the sums of the seconds foretold and taken; none where all
// samples are of one kind.
func foretellEach(samples []Sample) (factors []float64, foretold, took float64) {
	kinds := map[string][]Sample{}
	for _, s := range samples {
		kinds[s.Kind] = append(kinds[s.Kind], s)
	}
	if len(kinds) < 2 {
		return nil, 0, 0
	}
	for kind, these := range kinds {
		l := fit(slices.DeleteFunc(slices.Clone(samples), func(s Sample) bool { return s.Kind == kind }))
		for _, s := range these {
			v := l.seconds(s.at)
			factors = append(factors, math.Exp(math.Abs(math.Log(v/s.Seconds))))
			foretold, took = foretold+v, took+s.Seconds
		}
	}
	return factors, foretold, took
}

// Point is what a point is expected to take, in processor seconds.
func (e *Estimates) Point(p *Point, s Size) float64 {
	total := 0.0
	if p.Engine.Name != NoEngine {
		total = e.part(routingAt(s), enginePart(p.Engine.Name, p.Engine.Contract), p.Engine.Name, anyEngine)
	}
	counted := map[string]bool{} // runs of packets, which several measures share
	for i := range p.Measures {
		m := &p.Measures[i]
		part, like := partOf(m)
		if k, err := measures.Named(m.Name); err == nil && k.OfPackets {
			if counted[part+m.Text()] {
				continue
			}
			counted[part+m.Text()] = true
		}
		total += e.part(measureAt(m, s), part, like)
	}
	return total
}

// part is the seconds of a part, by the line of the first of the names that has one; 0 where none
// has.
func (e *Estimates) part(at [features]float64, names ...string) float64 {
	for _, name := range names {
		if l := e.lines[name]; l != nil {
			return l.seconds(at)
		}
	}
	return 0
}

// Write writes the estimates as CSV, sorted.
func (e *Estimates) Write(w io.Writer) error {
	out := reading.NewCSVWriter(w)
	rows := [][]string{{"part", "constant", "work", "density", "samples", "half_within"}}
	for _, part := range slices.Sorted(maps.Keys(e.lines)) {
		l := e.lines[part]
		row := []string{part}
		for _, v := range append(l.by[:], float64(l.samples), l.factor) {
			row = append(row, strconv.FormatFloat(v, 'g', 5, 64))
		}
		rows = append(rows, row)
	}
	return out.WriteAll(rows)
}

// ReadEstimates reads what Write wrote.
func ReadEstimates(r io.Reader, file string) (*Estimates, error) {
	in := reading.NewCSV(r, file)
	in.FieldsPerRecord, in.Comment = 3+features, '#'
	rows, err := in.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: these are no estimates of weft sweep: %w", file, err)
	}
	e := &Estimates{lines: map[string]*line{}}
	for i, row := range rows {
		if i == 0 {
			continue // the names of the columns
		}
		var v [features + 2]float64
		for k := range v {
			if v[k], err = strconv.ParseFloat(row[k+1], 64); err != nil || math.IsNaN(v[k]) || math.IsInf(v[k], 0) {
				return nil, fmt.Errorf("%s: %q in the row of %s is no number", file, row[k+1], row[0])
			}
		}
		e.lines[row[0]] = &line{by: [features]float64(v[:features]), samples: int(v[features]), factor: v[features+1]}
	}
	return e, nil
}
