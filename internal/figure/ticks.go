package figure

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// mostTicks is how many numbers an axis shows at most.
const mostTicks = 8

// linearTicks is multiples of 1, 2 or 5 times a power of ten.
func linearTicks(low, high float64) (ticks []plot.Tick) {
	if high <= low {
		return []plot.Tick{{Value: low, Label: label(low)}}
	}
	step := math.Pow(10, math.Floor(math.Log10((high-low)/mostTicks)))
	for i := 0; (high-low)/step > mostTicks; i++ {
		step *= [...]float64{2, 2.5, 2}[i%3]
	}
	for i := math.Ceil(low/step - 1e-9); i*step <= high*(1+1e-9); i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: label(i * step)})
	}
	return ticks
}

// logTicks is powers of ten; where these are few, also 2 and 5 times them, or all
// multiples.
func logTicks(low, high float64) (ticks []plot.Tick) {
	decades := math.Log10(high / low)
	labelled := map[int]bool{1: true}
	if decades < 3 {
		labelled[2], labelled[5] = true, true
	}
	if decades < 1 {
		labelled[3], labelled[4], labelled[7] = true, true, true
	}
	for power := math.Floor(math.Log10(low)); power <= math.Ceil(math.Log10(high)); power++ {
		for m := 1; m < 10; m++ {
			v := float64(m) * math.Pow(10, power)
			if v < low*(1-1e-9) || v > high*(1+1e-9) {
				continue
			}
			t := plot.Tick{Value: v}
			if labelled[m] {
				t.Label = label(v)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// label writes a number without digits that come from rounding.
func label(v float64) string {
	if v != 0 && (math.Abs(v) < 1e-3 || math.Abs(v) >= 1e6) {
		return strconv.FormatFloat(v, 'e', 0, 64)
	}
	return strconv.FormatFloat(math.Round(v*1e6)/1e6+0, 'g', -1, 64) // +0 turns -0 into 0
}
