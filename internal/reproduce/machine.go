package reproduce

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Machine describes the machine: processor, cores, Go. It names no host.
func Machine() string {
	return fmt.Sprintf("%s, %d cores, %s %s/%s", processor(), runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// processor is the model that Linux shows, or nothing better than the architecture.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "an unknown processor"
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "an unknown processor"
}
