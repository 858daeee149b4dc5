package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// smallCases is what kills most mutants of the plugin's proof, at once: cases with the verdicts of the
// proven checker, which it gives once for all mutants.
const smallCases = "./test/e2e/plugin -run=TestSmallCases$"

// drawCases has the cases drawn and judged, without a mutant.
func (b *bench) drawCases(ctx context.Context) error {
	if b.cases != "" {
		return nil
	}
	dir := filepath.Join(b.dir, "cases")
	if b.drawn != "" {
		dir = b.drawn
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*.cases")); len(files) > 0 {
		return b.checkCases(ctx, dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	o, err := b.test(ctx, smallCases, []string{"WEFT_CASES_AT=" + dir})
	if err == nil && o.Fate != survived {
		err = fmt.Errorf("%s without a mutant: %s", smallCases, o.Fate)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.cases"))
	if err == nil && len(files) == 0 {
		err = errors.New("no small cases: they take OCaml, a C compiler and OpenSM's headers")
	}
	if err != nil {
		return err
	}
	return b.checkCases(ctx, dir)
}

// checkCases checks that the plugin as it is answers the cases as is due, watched and not: else every
// mutant would seem to be killed.
func (b *bench) checkCases(ctx context.Context, dir string) error {
	b.cases = dir
	for _, program := range []string{"weft-core", "watched/weft-core"} {
		o, err := b.tryCases(ctx, filepath.Join(b.plugin, program), program != "weft-core")
		if err != nil {
			return err
		}
		if o.Fate != survived {
			return fmt.Errorf("the plugin as it is does not answer the cases in %s as is due: %s by %s", dir, o.Fate, program)
		}
	}
	return nil
}

// tryCases has a mutant of the plugin answer the cases; watched is one that watches its memory.
func (b *bench) tryCases(ctx context.Context, program string, watched bool) (outcome, error) {
	if err := b.drawCases(ctx); err != nil {
		return outcome{}, err
	}
	files, err := filepath.Glob(filepath.Join(b.cases, "*.cases"))
	if err != nil {
		return outcome{}, err
	}
	limit := fmt.Sprintf(`ulimit -t 10; ulimit -v %d; exec nice "$@"`, memory)
	if watched { // which takes addresses without end, and time
		limit, files = `ulimit -t 60; exec nice "$@"`, files[:min(2, len(files))]
	}
	for _, file := range files {
		due, err := os.ReadFile(strings.TrimSuffix(file, "cases") + "due")
		if err != nil {
			return outcome{}, err
		}
		cmd := exec.CommandContext(ctx, "sh", "-c", limit, "sh", program, "cases", file, "-")
		got, err := cmd.Output()
		if ctx.Err() != nil {
			return outcome{}, ctx.Err()
		}
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signal() == syscall.SIGKILL {
				return outcome{Fate: timedOut, By: smallCases}, nil
			}
		}
		if err != nil || !bytes.Equal(got, due) {
			return outcome{Fate: killed, By: smallCases}, nil
		}
	}
	return outcome{Fate: survived}, nil
}
