package console

import "syscall"

// PeakMemory is the most memory the process has held so far, in bytes.
func PeakMemory() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Maxrss * 1024
}
