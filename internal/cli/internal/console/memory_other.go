//go:build !linux

package console

import "runtime"

// PeakMemory is the memory that the process has had of the system, in bytes: the
// nearest to its peak that the standard library tells everywhere.
func PeakMemory() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
