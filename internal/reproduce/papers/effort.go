package papers

import (
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/internal/reproduce/claims"
	"github.com/weft-fabric/weft/internal/sweep/measures"
)

// Effort is how often a set measures, as its campaign says. Zero is once, or nothing of the
// kind.
type Effort struct {
	Patterns      int // of Bandwidth and Risk, on each network; of Accepted and Delivered the time units of the window
	Swept         int // patterns on each network of a band, where that is fewer
	Networks      int // drawn for each place
	Improved      int // of them for lines as improved, where that is fewer
	Beside        int // of them for our engines beside the paper's, where that is fewer
	Repeats       int // of Seconds and Stops
	BesideRepeats int // for our engines beside the paper's, where that is fewer
}

// Effort is what some values take to measure.
func (e *Experiment) Effort(values []Value) (o Effort) {
	lines := map[string]*claims.Line{}
	for i := range e.Lines {
		lines[e.Lines[i].Name] = &e.Lines[i]
	}
	for i := range values {
		v := &values[i]
		l, m := lines[v.Line], v.Samples[0].Measure
		drawn, often, repeats := v.drawn(), number(m, "patterns")+number(m, "window"), number(m, "repeats")
		if m.Name == "risk" && l.Traffic != randomPermutations {
			often = 0
		}
		switch {
		case l.Beside:
			o.Beside, o.BesideRepeats = max(o.Beside, drawn), max(o.BesideRepeats, repeats)
		case l.Band:
			o.Swept, o.Networks = max(o.Swept, often), max(o.Networks, drawn)
		case strings.HasSuffix(l.Like, claims.AsPrinted):
			o.Improved = max(o.Improved, drawn)
		default:
			o.Patterns, o.Networks, o.Repeats = max(o.Patterns, often), max(o.Networks, drawn), max(o.Repeats, repeats)
		}
	}
	for fewer, all := range map[*int]int{&o.Improved: o.Networks, &o.Beside: o.Networks, &o.BesideRepeats: o.Repeats, &o.Swept: o.Patterns} {
		if *fewer >= all {
			*fewer = 0
		}
	}
	return o
}

// drawn is how many networks of one kind are drawn for a value.
func (v *Value) drawn() (most int) {
	of := map[kind]int{}
	for i := range v.Samples {
		n := &v.Samples[i].Point.Network
		k := kind{n.Kind, n.Ports, n.Damage.Cables}
		if !strings.Contains(n.Kind, seedMark) && k.ports == "" && k.cables == "" {
			continue
		}
		of[k]++
		most = max(most, of[k])
	}
	return most
}

func number(m *measures.Measure, key string) int {
	n, _ := strconv.Atoi(m.Setting(key)) // none is 0
	return n
}

// Points is the points that values are made of, each once.
func Points(values []Value) (ids map[string]bool) {
	ids = map[string]bool{}
	for i := range values {
		for k := range values[i].Samples {
			ids[values[i].Samples[k].Point.ID] = true
		}
	}
	return ids
}

// Count is how many points the experiment has in its quick or its full set, real fabrics
// aside.
func (e *Experiment) Count(quick bool) (int, error) {
	values, err := e.Selection(quick, 1, nil)
	return len(Points(values)), err
}
