// Package claims is the language in which a paper's sentences about a figure are
// held against what was measured here.
//
// A figure has lines, usually one an engine, over places, each of them a network. A
// Claim is a sentence of the paper's text; its Check looks at the results and says
// what came out here and whether that agrees. Checks are values made by functions of
// this package that read like the sentence: Above("sssp", others, 0.01). Where
// nothing was measured that a claim is about, it is open and never agrees.
package claims

import (
	"fmt"
	"math"
	"strings"
)

// Claim is what a paper's text states about a figure, and how to hold it against
// ours.
type Claim struct {
	Where string // the section
	Says  string // the paper's words or figures
	Check Check
	Why   string // shown where ours does not agree, or cannot: the reason as far as it is known
}

// Check holds results against a claim.
type Check func(*Results) Answer

// Answer is what ours says to a claim.
type Answer struct {
	Ours      string
	Agreement Agreement
	By        Variant // of lines that have variants
}

// Agreement is how ours compares with a claim.
type Agreement string

// The agreements.
const (
	Agrees  Agreement = "agrees"
	Differs Agreement = "differs"
	Open    Agreement = "open" // cannot be held against anything here, or not in a run of this size
)

// Variant says which of the variants of lines an agreement is by. Where there are variants,
// a claim is held against the algorithm as printed, and the answer says whether the
// improved one agrees too.
type Variant string

// The variants.
const (
	Both     Variant = "both"     // they agree, or they differ, as printed and as improved
	Printed  Variant = "printed"  // it agrees as printed, and differs as improved
	Improved Variant = "improved" // it differs as printed, and agrees as improved
)

// Line is what a figure joins by a line, or gives a colour.
type Line struct {
	Name    string
	Engine  string // as pages call it; package papers knows what campaigns do
	Places  []Place
	Traffic string // of Accepted: uniform, or a pattern of package traffic; of Risk: the same, or alltoall
	Like    string // the line whose colour it takes, paler; empty: none
	Given   bool   // its results are at hand and not measured: those of OpenSM
	Band    bool   // what a paper leaves open is swept: from the least to the most, as a band or as whiskers without a bar
	Unseen  bool   // not drawn, for claims only
	Beside  bool   // no line of the paper's: drawn paler
}

// Place is a network on a line.
type Place struct {
	Label   string
	X       float64 // of figures over numbers
	Spec    string  // of package topology; {seed} stands for one seed after another; see package papers
	Missing int     // cables between switches removed at random, drawn anew for each network
	Job     int     // hosts that take part, drawn anew for every pattern; 0: all
	Load    float64 // of Accepted: offered, as a fraction
}

// OpenSMPrefix is what the lines of OpenSM's own tables are called by, before the
// engine.
const OpenSMPrefix = "OpenSM "

// AsPrinted ends the names of lines whose engine assigns lanes as its paper prints it. A
// line of the same name without it is the variant as improved here.
const AsPrinted = ", as printed"

// Swept ends the names of lines that go over what a paper leaves open of a cabling.
const Swept = ", swept"

// Pairs ends the names of lines under pairwise traffic.
const Pairs = ", pairs"

// Results is what was measured of the lines of a figure.
type Results struct {
	lines []Line
	at    map[location]Result
}

// location is a place on a line, by their names.
type location struct{ line, place string }

// NewResults is the results of lines of which nothing has been measured yet.
func NewResults(lines []Line) *Results { return &Results{lines, map[location]Result{}} }

// Set notes the result of a line at a place.
func (r *Results) Set(line, place string, result Result) {
	r.at[location{line, place}] = result
}

// Get is the result of a line at a place, a refusal included.
func (r *Results) Get(line, place string) (Result, bool) {
	result, ok := r.at[location{line, place}]
	return result, ok
}

// At is the result of a line at a place, if it has a value.
func (r *Results) At(line, place string) (Result, bool) {
	result, ok := r.Get(line, place)
	return result, ok && result.Count > 0
}

// At is a place with a result.
type At struct {
	Place
	Result
}

// Values is the places at which a line has a value, in order.
func (r *Results) Values(line string) (all []At) {
	for _, l := range r.lines {
		if l.Name != line {
			continue
		}
		for _, p := range l.Places {
			if result, ok := r.At(line, p.Label); ok {
				all = append(all, At{p, result})
			}
		}
	}
	return all
}

// other is the result of an engine at a place for comparisons that the paper makes
// with OpenSM: OpenSM's own where it was measured, else ours of the same name.
func (r *Results) other(engine, place string) (result Result, name string, ok bool) {
	if result, ok := r.At(OpenSMPrefix+engine, place); ok {
		return result, OpenSMPrefix + engine, true
	}
	result, ok = r.At(engine, place)
	return result, engine, ok
}

// best is the largest value of others at a place (see other), and whose it is; an empty name: none
// has one.
func (r *Results) best(others []string, place string) (value float64, name string) {
	value = math.Inf(-1)
	for _, engine := range others {
		if result, theirs, ok := r.other(engine, place); ok && result.Value > value {
			value, name = result.Value, theirs
		}
	}
	return value, name
}

// NotMeasured is the answer where a place was not measured.
var NotMeasured = Answer{Ours: "not measured", Agreement: Open}

// NotPublic is the check of a claim about a network that nobody outside has.
func NotPublic(*Results) Answer { return NotMeasured }

// NoPlan is why such a claim is open.
const NoPlan = "The cabling of that system was never published."

// answer is an answer that agrees if yes, and differs otherwise, with a text.
func answer(yes bool, format string, values ...any) Answer {
	a := Answer{Ours: fmt.Sprintf(format, values...), Agreement: Differs}
	if yes {
		a.Agreement = Agrees
	}
	return a
}

// list is parts of an answer that agrees if all of them do, and differs if one does.
type list struct {
	texts    []string
	no, open bool
}

// add adds a part that agrees or differs.
func (l *list) add(yes bool, format string, values ...any) {
	l.take(map[bool]Agreement{true: Agrees, false: Differs}[yes], format, values...)
}

// take adds a part with any agreement.
func (l *list) take(a Agreement, format string, values ...any) {
	l.texts = append(l.texts, fmt.Sprintf(format, values...))
	l.no, l.open = l.no || a == Differs, l.open || a == Open
}

// answer is the parts together: open if one is open and none differs, not measured if there are none.
func (l *list) answer(separator string) Answer {
	if len(l.texts) == 0 {
		return NotMeasured
	}
	a := answer(!l.no, "%s", strings.Join(l.texts, separator))
	if l.open && !l.no {
		a.Agreement = Open
	}
	return a
}

// extent is the least and the most of some values, which are added to noExtent one by one; while
// there are none it is empty, and a claim about it not measured.
type extent struct{ least, most float64 }

func noExtent() extent { return extent{math.Inf(1), math.Inf(-1)} }

func (e *extent) add(low, high float64) { e.least, e.most = min(e.least, low), max(e.most, high) }

func (e extent) empty() bool { return e.least > e.most }

func (e extent) within(low, high float64) bool { return e.least >= low && e.most <= high }

// extentOf is the least and largest value of a line, whiskers included, and how many
// networks were refused.
func (r *Results) extentOf(line string) (e extent, refused int) {
	e = noExtent()
	for _, v := range r.Values(line) {
		e.add(v.Low, v.High)
	}
	for at, result := range r.at {
		if at.line == line {
			refused += result.Refusals
		}
	}
	return e, refused
}

// percent is the gain of a over b.
func percent(a, b float64) string { return fmt.Sprintf("%+.1f %%", (a/b-1)*100) }

// number writes a value with the digits that matter.
func number(v float64) string {
	switch {
	case v == math.Trunc(v) && math.Abs(v) < 1e15:
		return fmt.Sprintf("%.0f", v)
	case math.Abs(v) >= 100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// ratio writes how many times something is another, with few digits.
func ratio(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2g", v)
}

// some joins the first few of a list.
func some(list []string) string {
	const most = 3
	text := strings.Join(list[:min(most, len(list))], "; ")
	if len(list) > most {
		text += fmt.Sprintf("; and %d more", len(list)-most)
	}
	return text
}
