// Package cli is the command weft.
//
// The command is a thin layer: an area of subcommands is a package below this one (look, prove,
// route, changes, simulate, opensm, campaigns, networks, ethernet), which declares their flags, calls
// the packages that do the work, and prints. This package puts them together: the root with its
// help, the errors of flags, completion, and every JSON output in one list. What several areas have
// in common, such as flags, reading, writing and wording, is below internal.
//
// Results go to standard output, for people or with --json for programs; progress and logs go to
// standard error.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/visible"
)

// Main runs the command and ends the process with its exit code.
func Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole command; it returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	// Whatever is printed has names in it that others gave: none of them reaches a terminal raw.
	shown, told := &visible.Writer{Under: stdout}, &visible.Writer{Under: stderr}
	stderr = told
	defer told.Close()
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(stderr, "weft: internal error: %v\nPlease report this with the input that causes it.\n%s", r, debug.Stack())
			code = exit.Bug
		}
	}()
	out := &sink{w: shown}
	a := &console.Console{Context: ctx, Stdin: stdin, Stdout: out, Stderr: stderr, Outputs: schemas}
	a.Columns, a.Terminal = console.ColumnsOf(stdout)
	if a.Terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" { // no-color.org
		a.Colors = stdout
	}
	cmd := newRoot(a)
	cmd.SetArgs(args)
	cmd.SetIn(stdin)
	cmd.SetOut(out)
	cmd.SetErr(stderr)
	ran, err := cmd.ExecuteContextC(ctx)
	if out.err = cmp.Or(out.err, shown.Close()); out.err != nil {
		err = &exit.Error{Code: exit.BadInput, Err: fmt.Errorf("standard output: %w", out.err)}
	}
	if err == nil {
		return exit.OK
	}
	var e *exit.Error
	if !errors.As(err, &e) { // the commands say theirs: this is cobra's, about the command line
		e = &exit.Error{Code: exit.BadUsage, Err: fmt.Errorf("%w\nSee %s --help.", err, ran.CommandPath())}
	}
	if ctx.Err() != nil && e.Err != nil {
		fmt.Fprintln(stderr, "weft: interrupted; nothing was written")
		return exit.Interrupted
	}
	if e.Err != nil {
		fmt.Fprintf(stderr, "weft: %s\n", e.Err.Error())
	}
	return e.Code
}

// sink remembers the first error of a writer, so that what prints need not look.
type sink struct {
	w   io.Writer
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if err != nil && s.err == nil {
		s.err = err
	}
	return n, err
}
