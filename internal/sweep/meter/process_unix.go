//go:build unix

package meter

import (
	"os"
	"strconv"
	"strings"
)

// forgetPeak has Linux forget the largest memory so far (proc(5), clear_refs). Where it
// does not, peakMemory is of the whole life of the process.
func forgetPeak() {
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // see above
}

// peakMemory is the largest resident memory, VmHWM of /proc/self/status in MiB, 0 where that is not known.
func peakMemory() float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			if err != nil {
				return 0
			}
			return kib / 1024
		}
	}
	return 0
}
