package experiments

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Measure is what is taken of a network routed by an engine.
type Measure string

// The measures.
const (
	Bandwidth Measure = "bandwidth" // effective bisection bandwidth, a fraction of full
	Lanes     Measure = "lanes"     // virtual lanes needed, before paths are spread over spare ones
	Seconds   Measure = "seconds"   // routing time, paths and lanes
	Loops     Measure = "loops"     // 1 where the tables have a credit loop, 0 where they are proven free
	Stops     Measure = "stops"     // microseconds until a network without lanes to spare stood still
	Accepted  Measure = "accepted"  // packets delivered, a fraction of what the links of the hosts carry
	Ports     Measure = "ports"     // the most ports of a switch
	Example   Measure = "example"   // effective bisection bandwidth over all patterns, of HOTI 2009 figure 6
)

// version is raised when the code that takes a measure changes what comes out, so
// that finished points are taken again.
var version = map[Measure]int{Bandwidth: 1, Lanes: 1, Seconds: 2, Loops: 1, Stops: 1, Accepted: 1, Ports: 1, Example: 1}

// Experiment is one figure or table of a paper.
type Experiment struct {
	ID     string // for the command line and file names
	Paper  string // short: HOTI 2009
	Figure string // as the paper numbers it
	Title  string
	Shows  string // what the figure shows, and how ours differs in set-up; Markdown

	Measure Measure
	X       string // what the places are, with the unit
	Curves  bool   // places are numbers; else they are names in a row
	LogX    bool   // of Curves
	Lines   []Line
	Real    bool // the real fabrics at hand are further places

	Quick, Full Effort
	Claims      []Claim
}

// Line is what a figure joins by a line, or gives a colour.
type Line struct {
	Name     string
	Engine   string // by name, or one of methods
	Networks []Network
	Traffic  string // of Accepted: uniform, or a pattern of package traffic
	Like     string // the line whose colour it takes, paler; empty: none

	given bool // of OpenSM: the results are at hand
}

// Network is a place of a figure and what is measured there.
type Network struct {
	Label string  // the name of the place
	X     float64 // of Curves
	Spec  string  // of package topology; {seed} stands for one seed after another
	Job   int     // hosts that take part, drawn anew for every pattern; 0: all
	Load  float64 // of Accepted: offered, as a fraction
	Quick bool    // taken in quick runs too
}

// Effort is how often to measure. Zero counts as one.
type Effort struct {
	Patterns int // of Bandwidth, on each network; of Accepted the time units of the window
	Networks int // drawn for each place whose spec has a {seed}
	Repeats  int // of Seconds and Stops
}

// Point is the definition of one value. Its JSON form is its key.
type Point struct {
	Measure  Measure `json:"measure"`
	Version  int     `json:"version"`
	Network  string  `json:"network"`          // a spec of package topology, or real:NAME
	Digest   string  `json:"digest,omitempty"` // of a real fabric's dump
	Engine   string  `json:"engine,omitempty"`
	Job      int     `json:"job,omitempty"`
	Traffic  string  `json:"traffic,omitempty"`
	Load     float64 `json:"load,omitempty"`
	Patterns int     `json:"patterns,omitempty"`
	Networks int     `json:"networks,omitempty"`
	Repeats  int     `json:"repeats,omitempty"`
	Seed     uint64  `json:"seed,omitempty"` // where something is drawn
}

// Key is what a finished point is kept by.
func (p Point) Key() string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // strings and numbers
	}
	return string(text)
}

// alone says whether nothing else may run beside the point.
func (p Point) alone() bool { return p.Measure == Seconds }

// Result is what came of a point.
type Result struct {
	Value float64 `json:"value"` // the mean; of times the least
	Low   float64 `json:"low"`   // the least; of Bandwidth on one network the mean less its standard error
	High  float64 `json:"high"`
	Count int     `json:"count"` // networks, or repetitions, that the value is of; 0: there is none

	Refused  string `json:"refused,omitempty"`  // why, of the first network refused
	Refusals int    `json:"refusals,omitempty"` // networks refused

	Index float64 `json:"edge_forwarding_index,omitempty"` // of Bandwidth, the mean
	Loops int     `json:"credit_loops,omitempty"`          // networks whose tables have a credit loop
	Delay float64 `json:"latency,omitempty"`               // of Accepted, the mean latency in time units

	Switches int     `json:"switches"` // of the first network
	Hosts    int     `json:"hosts"`
	Cables   int     `json:"cables"` // between switches
	Spent    float64 `json:"spent"`  // seconds that the whole point took
}

// place is a point with where it goes in the figure.
type place struct {
	Point
	line, at int // Experiment.Lines[line].Networks[at]
}

// places are the points of an experiment, line by line. real fabrics have been
// added to its lines.
func (e *Experiment) places(quick bool, seed uint64, digests map[string]string) []place {
	effort := e.Full
	if quick {
		effort = e.Quick
	}
	var all []place
	for i, l := range e.Lines {
		for k, n := range l.Networks {
			if quick && !n.Quick || l.given {
				continue
			}
			p := Point{Measure: e.Measure, Version: version[e.Measure], Network: n.Spec, Engine: l.Engine, Job: n.Job}
			if name, ok := strings.CutPrefix(n.Spec, realPrefix); ok {
				p.Digest = digests[name]
			}
			if drawn := strings.Contains(n.Spec, seedMark); drawn {
				p.Networks = max(1, effort.Networks)
				p.Seed = seed
			}
			switch e.Measure {
			case Bandwidth:
				p.Patterns, p.Seed = max(1, effort.Patterns), seed
			case Seconds:
				p.Repeats = max(1, effort.Repeats)
			case Stops:
				p.Repeats, p.Seed = max(1, effort.Repeats), seed
			case Accepted:
				p.Patterns, p.Load, p.Traffic = max(1, effort.Patterns), n.Load, l.Traffic
			}
			all = append(all, place{p, i, k})
		}
	}
	return all
}

// Count is how many points the experiment has in quick and in full runs, real
// fabrics aside.
func (e *Experiment) Count() (quick, full int) {
	return len(e.places(true, 0, nil)), len(e.places(false, 0, nil))
}

// seedMark stands for the seed in the spec of a drawn network.
const seedMark = "{seed}"

// realPrefix marks a network that is a dump and no spec.
const realPrefix = "real:"

// withReal is the experiment with the real fabrics at hand as further places.
func (e Experiment) withReal(names []string) Experiment {
	if !e.Real {
		return e
	}
	lines := make([]Line, len(e.Lines))
	for i, l := range e.Lines {
		networks := append([]Network(nil), l.Networks...)
		for _, name := range names {
			networks = append(networks, Network{Label: name, Spec: realPrefix + name, Quick: true})
		}
		l.Networks = networks
		lines[i] = l
	}
	e.Lines = lines
	return e
}

// drawn is the spec of the i-th network of a point.
func (p Point) drawn(i int) string {
	return strings.ReplaceAll(p.Network, seedMark, fmt.Sprint(p.Seed+uint64(i)))
}

// each is a line for every engine, all over the same networks.
func each(engines []string, networks []Network) []Line {
	lines := make([]Line, len(engines))
	for i, name := range engines {
		lines[i] = Line{Name: name, Engine: name, Networks: networks}
	}
	return lines
}
