//go:build !unix

package meter

func forgetPeak() {}

// peakMemory is not known here.
func peakMemory() float64 { return 0 }
