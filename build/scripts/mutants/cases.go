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

// smallCases is what kills most mutants of the plugin's proof within seconds: cases with the verdicts of
// the proven checker, which it gives once for all mutants.
const smallCases = "./test/e2e/plugin -run=TestSmallCases$"

// drawCases has the cases drawn and judged without a mutant, or takes those of an earlier run.
func (b *bench) drawCases(ctx context.Context) error {
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

// checkCases checks that the plugin as it is answers the cases as is due, built to watch its memory and
// not, and takes them for the mutants: else every mutant would seem to be killed.
func (b *bench) checkCases(ctx context.Context, dir string) error {
	for _, watched := range []bool{false, true} {
		program := "weft-core"
		if watched {
			program = "watched/weft-core"
		}
		o, err := answerCases(ctx, dir, filepath.Join(b.plugin, program), watched)
		if err != nil {
			return err
		}
		if o.Fate != survived {
			return fmt.Errorf("the plugin as it is does not answer the cases in %s as is due: %s by %s", dir, o.Fate, program)
		}
	}
	b.cases = dir
	return nil
}

// tryCases has a mutant of the plugin answer the cases, which are drawn for the first.
func (b *bench) tryCases(ctx context.Context, program string, watched bool) (outcome, error) {
	if b.cases == "" {
		if err := b.drawCases(ctx); err != nil {
			return outcome{}, err
		}
	}
	return answerCases(ctx, b.cases, program, watched)
}

// answerCases has a program answer the cases of a folder. If it is watched (built to watch its memory, see
// watching), it answers few.
func answerCases(ctx context.Context, dir, program string, watched bool) (outcome, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.cases"))
	if err != nil {
		return outcome{}, err
	}
	limit := fmt.Sprintf(`ulimit -t 10; ulimit -v %d; exec nice "$@"`, memory)
	if watched { // AddressSanitizer takes addresses without end, and time
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
			if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signal() == syscall.SIGKILL { // by ulimit -t
				return outcome{Fate: timedOut, By: smallCases}, nil
			}
		}
		if err != nil || !bytes.Equal(got, due) {
			return outcome{Fate: killed, By: smallCases}, nil
		}
	}
	return outcome{Fate: survived}, nil
}
