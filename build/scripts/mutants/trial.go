package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// Outcomes of a mutant, which results are stored by: other words make earlier results unknown.
const (
	killed      = "killed"
	timedOut    = "killed by the clock"
	survived    = "survived"
	notCompiled = "does not compile"
	untested    = "tests that fail without it"
)

// outcome is what is stored of a trial.
type outcome struct {
	Fate string `json:"fate"`
	By   string `json:"by,omitempty"` // the test that failed
}

// bench runs tests on mutants. It does not change the tree: Go reads the mutated file
// by -overlay, and the plugin is built from a copy.
type bench struct {
	root     string
	dir      string // for files that are passed to the compilers
	patience time.Duration
	rapid    map[string]bool          // [package of tests] whether it uses rapid, which must be told to leave no files
	sound    map[string]outcome       // [tests] their outcome without a mutant
	takes    map[string]time.Duration // [tests] their time without a mutant
	plugin   string                   // a folder with the plugin and what is built of it; empty: not yet
	cases    string                   // a folder with small cases for the plugin, and the verdicts that are due; empty: not drawn yet
	only     bool                     // the plugin's mutants are tried on these alone
	drawn    string                   // the folder for the cases; empty: a new one
}

// memory limits the memory of a test in KiB, because a mutant may allocate without end.
const memory = 8 << 20

var (
	failed  = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
	unbuilt = regexp.MustCompile(`\[(build|setup) failed\]`)
)

// try runs the tests of a mutant, those of its own package first, until one fails.
func (b *bench) try(ctx context.Context, m *mutant) (outcome, error) {
	dir := path.Dir(m.File)
	tests := targetOf(dir).tests
	if strings.HasSuffix(m.File, ".go") {
		tests = append([]string{"./" + dir}, tests...)
	}
	source, err := os.ReadFile(filepath.Join(b.root, m.File))
	if err != nil {
		return outcome{}, err
	}
	if strings.HasSuffix(m.File, ".c") {
		return b.tryPlugin(ctx, m, m.apply(source))
	}
	file := filepath.Join(b.dir, "mutant.go")
	if err := os.WriteFile(file, m.apply(source), 0o600); err != nil {
		return outcome{}, err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(b.root, m.File): file}})
	if err != nil {
		return outcome{}, err
	}
	replaced := filepath.Join(b.dir, "overlay.json")
	if err := os.WriteFile(replaced, overlay, 0o600); err != nil {
		return outcome{}, err
	}
	for _, suite := range tests {
		o, err := b.checkSound(ctx, suite)
		if err == nil && o.Fate == survived {
			o, err = b.test(ctx, suite, nil, "-overlay="+replaced)
		}
		if err != nil || o.Fate != survived {
			return o, err
		}
	}
	return outcome{Fate: survived}, nil
}

// watching has the plugin's C watch its memory and its arithmetic; quick has it compiled at once.
const (
	watching = "CFLAGS=-O1 -fsanitize=address,undefined -fno-sanitize-recover=all"
	quick    = "CFLAGS=-O0"
)

// buildPlugin builds the plugin as it is, of which a mutant takes all files but its own.
func (b *bench) buildPlugin(ctx context.Context) error {
	if b.plugin != "" {
		return nil
	}
	b.plugin = filepath.Join(b.dir, "plugin")
	script := `mkdir "$2" && cp -r "$1" "$2" && nice make -s -C "$2/plugin" OUT="$2" ` + quick + ` "$2/weft-core" && nice make -s -C "$2/plugin" OUT="$2/watched" "` + watching + `" "$2/watched/weft-core"`
	if out, err := exec.CommandContext(ctx, "sh", "-c", script, "sh", filepath.Join(b.root, "plugin"), b.plugin).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// tryPlugin builds the mutated plugin from a copy, and runs its tests with it.
func (b *bench) tryPlugin(ctx context.Context, m *mutant, text []byte) (outcome, error) {
	work, err := os.MkdirTemp(b.dir, "plugin-")
	if err != nil {
		return outcome{}, err
	}
	defer os.RemoveAll(work)
	if err := b.buildPlugin(ctx); err != nil {
		return outcome{}, err
	}
	if out, err := exec.CommandContext(ctx, "cp", "-rp", b.plugin+"/.", work).CombinedOutput(); err != nil {
		return outcome{}, fmt.Errorf("%w: %s", err, out)
	}
	if err := os.WriteFile(filepath.Join(work, m.File), text, 0o600); err != nil {
		return outcome{}, err
	}
	src := filepath.Join(work, path.Dir(m.File))
	for _, what := range []string{"weft-core", "libweft.so"} {
		flags := quick
		if what == "libweft.so" {
			flags = "CFLAGS=-O2 -g"
		}
		if err := exec.CommandContext(ctx, "nice", "make", "-s", "-C", src, "OUT="+work, flags, work+"/"+what).Run(); err != nil {
			return outcome{Fate: notCompiled}, ctx.Err()
		}
		if what == "libweft.so" {
			continue
		}
		if o, err := b.tryCases(ctx, work+"/"+what, false); err != nil || o.Fate != survived {
			return o, err
		}
		watched := work + "/watched"
		if err := exec.CommandContext(ctx, "nice", "make", "-s", "-C", src, "OUT="+watched, watching, watched+"/"+what).Run(); err != nil {
			return outcome{Fate: notCompiled}, ctx.Err()
		}
		if o, err := b.tryCases(ctx, watched+"/"+what, true); err != nil || o.Fate != survived || b.only {
			return o, err
		}
	}
	for _, suite := range targetOf(path.Dir(m.File)).tests {
		o, err := b.checkSound(ctx, suite)
		if err == nil && o.Fate == survived {
			o, err = b.test(ctx, suite, []string{"WEFT_TEST_SOURCES=" + src})
		}
		if err != nil || o.Fate != survived {
			return o, err
		}
	}
	return outcome{Fate: survived}, nil
}

// checkSound checks that tests pass without a mutant: tests that fail anyway kill
// nothing.
func (b *bench) checkSound(ctx context.Context, tests string) (outcome, error) {
	o, known := b.sound[tests]
	if !known {
		var err error
		began := time.Now()
		if o, err = b.test(ctx, tests, nil); err != nil {
			return o, err
		}
		b.takes[tests] = time.Since(began)
		if o.Fate != survived {
			o = outcome{Fate: untested, By: o.By}
		}
		b.sound[tests] = o
	}
	return o, nil
}

// test runs tests: a package, and flags behind it.
func (b *bench) test(ctx context.Context, tests string, env []string, flags ...string) (outcome, error) {
	words := strings.Fields(tests)
	pkg := words[0]
	patience := max(4*b.patience, 5*b.takes[tests]) // the machine may be busy: what counts is the processor's time
	args := append([]string{"go", "test", "-failfast", "-count=1", "-vet=off", "-timeout=" + patience.String()}, flags...)
	args = append(args, words[1:]...)
	limit := fmt.Sprintf(`ulimit -t %.0f; exec "$@"`, b.patience.Seconds())
	if !strings.HasPrefix(pkg, "./test/e2e") {
		args = append(args, "-short") // which leaves out OpenSM
		// Those of the plugin watch its memory, and need a lot of addresses for that.
		limit = fmt.Sprintf("ulimit -v %d; %s", memory, limit)
	}
	args = append(args, pkg)
	if b.usesRapid(pkg) {
		// The same draws for every mutant and for none: a test that fails by chance would kill nothing.
		args = append(args, "-rapid.nofailfile", "-rapid.shrinktime=1ms", "-rapid.seed=1")
	}
	ctx, cancel := context.WithTimeout(ctx, patience+5*time.Minute) // go test keeps the time itself
	defer cancel()
	cmd := exec.CommandContext(ctx, "nice", append([]string{"sh", "-c", limit, "sh"}, args...)...)
	cmd.Dir = b.root
	cmd.Env = append(append(os.Environ(), "WEFT_WHOLE=1"), env...) // what survives a sample may not survive all
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case errors.Is(context.Cause(ctx), context.Canceled):
		return outcome{}, ctx.Err()
	case err == nil:
		return outcome{Fate: survived}, nil
	case !errors.As(err, &exit) && ctx.Err() == nil:
		return outcome{}, err
	case unbuilt.Match(out):
		return outcome{Fate: notCompiled}, nil
	case ctx.Err() != nil, bytes.Contains(out, []byte("panic: test timed out")), bytes.Contains(out, []byte("signal: killed")):
		return outcome{Fate: timedOut, By: pkg}, nil
	}
	by := pkg
	if at := failed.FindSubmatch(out); at != nil {
		by += " " + string(at[1])
	}
	return outcome{Fate: killed, By: by}, nil
}

// usesRapid reports whether the tests of a package take rapid's flags.
func (b *bench) usesRapid(pkg string) bool {
	uses, known := b.rapid[pkg]
	if known {
		return uses
	}
	files, _ := filepath.Glob(filepath.Join(b.root, pkg, "*_test.go"))
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && bytes.Contains(text, []byte(`"pgregory.net/rapid"`)) {
			uses = true
		}
	}
	b.rapid[pkg] = uses
	return uses
}
