package install

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weft-fabric/weft/internal/testnet"
)

const root = "../../.."

// out is where make builds, for all tests; the folder goes when they are done. One
// make works there at a time. An older version has a folder of its own in it, so that
// each is linked once however tests take turns.
const older = "0.0.0~first"

var (
	out     string
	working sync.Mutex
)

func TestMain(m *testing.M) {
	var err error
	if out, err = os.MkdirTemp("", "weft-install-"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(out)
	os.Exit(code)
}

// build runs make in the repository, with flags that keep the Go tool from noting
// the commit, and returns what it prints.
func build(t *testing.T, args ...string) string {
	t.Helper()
	testnet.OnlyWhole(t) // all is compiled anew for the library
	need(t, "make", "go", "bash")
	if testing.Short() {
		t.Skip("packages are not built in short mode")
	}
	working.Lock()
	defer working.Unlock()
	to := out
	if slices.Contains(args, "VERSION="+older) {
		to = filepath.Join(out, "older")
	}
	// What is hardened is compiled otherwise, so all of it anew; TestHardened asks for it.
	cmd := exec.CommandContext(t.Context(), "make", append([]string{"--no-print-directory", "-s", "OUT=" + to, "HARDENED="}, args...)...)
	cmd.Dir = root
	// Packages are linked without symbols; if everything is, make links anew for another version only.
	cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false", "GO_LDFLAGS=-s -w", "DPKG_DEB_COMPRESSOR_TYPE=none", "RPM_PAYLOAD=w0.gzdio")
	var errs strings.Builder
	cmd.Stderr = &errs
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("make %s: %v\n%s%s", strings.Join(args, " "), err, text, errs.String())
	}
	return string(text)
}

func need(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
}

// run runs a command and returns what it prints.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, text)
	}
	return strings.TrimSpace(string(text))
}

// files is every file and folder below a folder, by its path from there, with what
// is in it; a folder ends with a slash.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, dir)
		if entry.IsDir() {
			all[name+"/"] = ""
			return nil
		}
		text, err := os.ReadFile(path)
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// plain is the names of files, without folders, sorted.
func plain(all map[string]string) []string {
	var names []string
	for name := range all {
		if !strings.HasSuffix(name, "/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// versionOf is what a program says that it is.
func versionOf(t *testing.T, text string) (version, revision string) {
	t.Helper()
	var v struct{ Version, Revision string }
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v.Version, v.Revision
}
