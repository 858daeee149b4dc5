//go:build unix

package pool

import (
	"syscall"
	"time"
)

// ProcessorTime is what this process has used so far, on all cores: what a point takes
// whatever else the machine does.
func ProcessorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
