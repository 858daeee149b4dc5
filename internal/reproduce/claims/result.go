package claims

import "math"

// Result is what came of a line at a place: one value, of all networks and draws there.
type Result struct {
	Value float64 // the mean; of times the least
	Low   float64 // the least; of bandwidth on one network the mean less the standard deviation of single patterns
	High  float64
	Count int // networks, or repetitions, that the value is of; 0: there is none

	Refused  string // why, of the first network refused
	Refusals int    // networks refused

	Each []float64 // of bandwidth, lanes and loads still delivered over several networks, each of them in order; 0: refused

	Index float64 // edge-forwarding index, the mean; 0: not taken
	Loops int     // networks whose tables have a credit loop
	Delay float64 // of packets, the mean latency in time units

	Switches int // of the first network
	Hosts    int
	Cables   int // between switches
}

// without is the mean over the networks but one, the i-th.
func (r *Result) without(i int) float64 {
	var rest []float64
	for k, v := range r.Each {
		if k != i && v > 0 {
			rest = append(rest, v)
		}
	}
	return Mean(rest)
}

// Mean is the mean of values, 0 of none.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / math.Max(1, float64(len(values)))
}
