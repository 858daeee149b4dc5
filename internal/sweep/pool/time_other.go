//go:build !unix

package pool

import "time"

var begun = time.Now()

// ProcessorTime is the time by the clock, where there is nothing better.
func ProcessorTime() time.Duration { return time.Since(begun) }
