// Package measure takes one value of a network that an engine has routed: its
// bandwidth, its lanes, the time that routing takes, and what else the papers'
// figures show.
//
// A Point says what is to be measured, a Meter measures it. Everything but times
// is a function of the point. Every routing that claims to be free of deadlock is
// judged by package deadlock before it is measured; if the judge disagrees, that
// is an error and no value.
package measure

import (
	"encoding/json"
	"math"
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
	Delivered Measure = "delivered" // the largest load offered that is still delivered, of a grid; a fraction likewise
	Rounds    Measure = "rounds"    // of messages between neighbours, until all switches have the tables of MROOTS, see roundsOf
	Ports     Measure = "ports"     // the most ports of a switch
	Risk      Measure = "risk"      // congestion risk, see riskOf
	Example   Measure = "example"   // effective bisection bandwidth over all patterns, of HOTI 2009 figure 6
)

// Version is raised when the code that takes a measure changes what comes out, so
// that finished points are taken again.
var Version = map[Measure]int{Bandwidth: 2, Lanes: 2, Seconds: 2, Loops: 1, Stops: 1, Accepted: 4, Delivered: 3, Rounds: 1, Ports: 1, Risk: 1, Example: 1}

// SeedMark stands for one seed after another in the spec of a drawn network.
const SeedMark = "{seed}"

// RealPrefix marks a network that is a dump and no spec.
const RealPrefix = "real:"

// Uniform is the traffic of Accepted in which every packet has a receiver of its
// own; other traffic is a pattern of package traffic.
const Uniform = "uniform"

// Point is the definition of one value. Its JSON form is its key.
type Point struct {
	Measure  Measure `json:"measure"`
	Version  int     `json:"version"`
	Network  string  `json:"network"`           // one or several, see Networks; or real:NAME
	Digest   string  `json:"digest,omitempty"`  // of a real fabric's dump
	Engine   string  `json:"engine,omitempty"`  // by name, or one of methods
	Missing  int     `json:"missing,omitempty"` // cables between switches that are removed, drawn anew for each network
	Job      int     `json:"job,omitempty"`     // hosts that take part, drawn anew for every pattern; 0: all
	Traffic  string  `json:"traffic,omitempty"`
	Load     float64 `json:"load,omitempty"`     // of Accepted: offered, as a fraction
	Patterns int     `json:"patterns,omitempty"` // of Bandwidth and Risk; of Accepted and Delivered the time units of the window
	Networks int     `json:"networks,omitempty"` // drawn from a spec with a {seed}, or by what is missing
	Repeats  int     `json:"repeats,omitempty"`  // of Seconds and Stops
	Seed     uint64  `json:"seed,omitempty"`     // where something is drawn
}

// Key is what a finished point is kept by.
func (p Point) Key() string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // strings and numbers
	}
	return string(text)
}

// Alone says whether nothing else may run beside the point.
func (p Point) Alone() bool { return p.Measure == Seconds }

// Drawn is the networks of a point, one by one.
func (p Point) Drawn() []Drawn {
	return Networks(p.Network, p.Seed, p.Networks, p.Missing > 0)
}

// Work is how many times a point does the same.
func (p Point) Work() float64 {
	return float64(len(p.Drawn())) * float64(max(1, p.Repeats)) * math.Max(1, float64(p.Patterns)/1000)
}

// Result is what came of a point.
type Result struct {
	Value float64 `json:"value"` // the mean; of times the least
	Low   float64 `json:"low"`   // the least; of Bandwidth on one network the mean less the standard deviation of single patterns
	High  float64 `json:"high"`
	Count int     `json:"count"` // networks, or repetitions, that the value is of; 0: there is none

	Refused  string `json:"refused,omitempty"`  // why, of the first network refused
	Refusals int    `json:"refusals,omitempty"` // networks refused

	Each []float64 `json:"each,omitempty"` // of Bandwidth over several networks, each of them in order; 0: refused

	Index float64 `json:"edge_forwarding_index,omitempty"` // of Bandwidth, the mean
	Loops int     `json:"credit_loops,omitempty"`          // networks whose tables have a credit loop
	Delay float64 `json:"latency,omitempty"`               // of Accepted, the mean latency in time units

	Switches int     `json:"switches"` // of the first network
	Hosts    int     `json:"hosts"`
	Cables   int     `json:"cables"` // between switches
	Spent    float64 `json:"spent"`  // seconds of processor time that the whole point took
}
