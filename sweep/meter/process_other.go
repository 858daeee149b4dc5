//go:build !unix

package meter

import "time"

var begun = time.Now()

// processorTime is the time by the clock, where there is nothing better.
func processorTime() time.Duration { return time.Since(begun) }

func forgetPeak() {}

// peakMemory is not known here.
func peakMemory() float64 { return 0 }
