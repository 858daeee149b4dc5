package live

import (
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

type toolset struct {
	opensm, ibsim, ibdmchk, timeout string
	umad2sim                        string // the library that connects OpenSM to ibsim
}

// find looks for the tools once. OpenSM is in sbin, which is not in every PATH, and
// each distribution has its own folder for the library.
var find = sync.OnceValues(func() (tools toolset, lacking string) {
	for _, tool := range []struct {
		name string
		path *string
	}{
		{"opensm", &tools.opensm},
		{"ibsim", &tools.ibsim},
		{"ibdmchk", &tools.ibdmchk},
		{"timeout", &tools.timeout},
	} {
		for _, dir := range []string{"", "/usr/local/sbin", "/usr/sbin", "/sbin"} {
			if path, err := exec.LookPath(filepath.Join(dir, tool.name)); err == nil {
				*tool.path = path
				break
			}
		}
		if *tool.path == "" {
			return tools, tool.name
		}
	}
	for _, pattern := range []string{"/usr/lib/*/umad2sim", "/usr/lib*/umad2sim", "/usr/local/lib*/umad2sim"} {
		// The pattern is well formed, so there is no error.
		if found, _ := filepath.Glob(filepath.Join(pattern, "libumad2sim.so*")); len(found) > 0 {
			tools.umad2sim = found[0]
			return tools, ""
		}
	}
	return tools, "libumad2sim.so"
})

// Need skips a test where the tools are not installed, and in short mode.
func Need(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("live: not in short mode")
	}
	if _, lacking := find(); lacking != "" {
		t.Skipf("live: %s is not installed; build/scripts/test-deps.sh installs it", lacking)
	}
}

// UMAD2Sim is the library to preload into programs that use ibsim.
func UMAD2Sim(t testing.TB) string {
	t.Helper()
	Need(t)
	tools, _ := find()
	return tools.umad2sim
}
