package live

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// built is what tests have built, in a folder that Run removes.
var built struct {
	sync.Mutex
	root string            // empty: nothing yet
	of   map[string]string // folder by what is in it
}

// sideBySide is how many tests run at a time, for every core that there is: most of
// the time they wait for OpenSM or a daemon, or for a timer in it.
const sideBySide = 4

// Run is TestMain of a package whose tests run OpenSM or a daemon: more of them run at a time,
// unless -parallel says how many, and what they have built is removed behind them.
func Run(m *testing.M) int {
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "test.parallel" })
	if !asked {
		if err := flag.Set("test.parallel", fmt.Sprint(sideBySide*runtime.GOMAXPROCS(0))); err != nil {
			panic(err) // package testing has no such flag any more
		}
	}
	defer func() { os.RemoveAll(built.root) }()
	return m.Run()
}

// once builds something into a new folder, for the first test that asks for it.
func once(t testing.TB, what string, build func(dir string) *exec.Cmd) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if dir, ok := built.of[what]; ok {
		return dir
	}
	if built.root == "" {
		var err error
		if built.root, err = os.MkdirTemp("", "weft-built-"); err != nil {
			t.Fatalf("live: %v", err)
		}
		built.of = map[string]string{}
	}
	dir := filepath.Join(built.root, fmt.Sprint(len(built.of)))
	cmd := build(dir)
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatalf("live: %v", err)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("live: %v: %v\n%s", cmd.Args, err, out)
	}
	built.of[what] = dir
	return dir
}

// root walks up from the folder of the test to the one with go.mod, where commands can be built.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	t.Fatalf("live: no go.mod above the folder of the test: %v", err)
	return ""
}

// Weft builds the command, once for all tests of a package, and returns its path. It
// skips the test without Go.
func Weft(t testing.TB) string {
	t.Helper()
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("live: no go command to build weft with")
	}
	name := func(dir string) string { return filepath.Join(dir, "weft") }
	return name(once(t, "weft", func(dir string) *exec.Cmd {
		// go run keeps what it has linked, so that one package's tests link it for all; cp then is how it is run.
		cmd := exec.Command(tool, "run", "-exec=cp", "./cmd/weft", name(dir))
		cmd.Dir = root(t)
		return cmd
	}))
}

// ProofChecker builds weft-proof, the checker that is extracted from the proofs, once for all tests of a
// package, and returns its path. It skips the test without OCaml.
func ProofChecker(t testing.TB) string {
	t.Helper()
	if _, err := exec.LookPath("ocamlopt"); err != nil {
		t.Skip("live: no ocamlopt to build weft-proof with (on Debian: apt-get install ocaml-nox)")
	}
	name := func(dir string) string { return filepath.Join(dir, "weft-proof") }
	return name(once(t, "weft-proof", func(dir string) *exec.Cmd {
		return exec.Command(filepath.Join(root(t), "proof/checker/build.sh"), name(dir))
	}))
}

// Plugin builds a target of the Makefile of OpenSM's plugin with more compiler flags,
// once for all tests of a package, and returns the folder that it is in. It skips the
// test without compiler or headers.
func Plugin(t testing.TB, target, flags string) string {
	t.Helper()
	for _, tool := range []string{"make", "cc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("live: %s is not installed", tool)
		}
	}
	if _, err := os.Stat("/usr/include/infiniband/opensm/osm_event_plugin.h"); err != nil {
		t.Skip("live: no headers of OpenSM; build/scripts/test-deps.sh installs libopensm-dev and libibumad-dev")
	}
	return once(t, target+flags, func(dir string) *exec.Cmd {
		return exec.Command("make", "-s", "-C", PluginSources(t), "OUT="+dir, "CFLAGS=-O2 -g "+flags+" "+os.Getenv("WEFT_TEST_CFLAGS"), dir+"/"+target)
	})
}

// PluginSources is the folder of the plugin; WEFT_TEST_SOURCES names another, whose
// sources a test has changed.
func PluginSources(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("WEFT_TEST_SOURCES"); dir != "" {
		return dir
	}
	return filepath.Join(root(t), "plugin")
}
