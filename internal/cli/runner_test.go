package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// Most of what a small command takes is the start of a process: the scripts give 1,500 of them, which
// took half the time of all tests of this package. So a script has a process that runs one command
// after the other, a runner, for those that cannot tell the difference.

// runnerName is the program that runner talks to.
const runnerName = "weft-again"

// command is what a runner is asked to run, and answer what came of it.
type command struct {
	Dir  string
	Args []string
}

type answer struct {
	Code           int
	Stdout, Stderr string
}

// runAgain is the program: it runs the commands of standard input, as Main does, until it ends.
func runAgain() {
	commands := make(chan command)
	go func() {
		in := json.NewDecoder(os.Stdin)
		for {
			var c command
			if in.Decode(&c) != nil {
				os.Exit(0) // whoever asked is gone, and waits for no command that may still run
			}
			commands <- c
		}
	}()
	out := json.NewEncoder(os.Stdout)
	for c := range commands {
		var stdout, stderr bytes.Buffer
		if err := os.Chdir(c.Dir); err != nil {
			panic(err)
		}
		os.Setenv("PWD", c.Dir)
		code := run(context.Background(), c.Args, strings.NewReader(""), &stdout, &stderr)
		if err := out.Encode(answer{code, stdout.String(), stderr.String()}); err != nil {
			panic(err)
		}
	}
}

// runner is the process of a script. It is started for the first command.
type runner struct {
	env     []string
	process *exec.Cmd
	in      io.WriteCloser
	out     *json.Decoder
	died    bytes.Buffer // what it said about itself
}

// changesEnv is a line of a script that sets a variable which programs see. Those in small letters are
// the script's own.
var changesEnv = regexp.MustCompile(`(?m)^env [A-Z_]+=`)

// takes reports whether a command of a script may run in the runner: not where it has standard input or
// output by name, which the runner needs itself, nor where the script changes the environment.
func (r *runner) takes(ts *testscript.TestScript, words []string) bool {
	if words[0] != "weft" || slices.ContainsFunc(words, func(w string) bool { return w == "-" || strings.HasPrefix(w, "/dev/") }) {
		return false
	}
	script, err := os.ReadFile(filepath.Join(scripts, ts.Name()+".txtar"))
	ts.Check(err)
	return !changesEnv.Match(script)
}

// run gives the exit code of a command.
func (r *runner) run(ts *testscript.TestScript, args []string) int {
	if r.process == nil {
		ts.Check(r.start())
	}
	var a answer
	if err := errors.Join(json.NewEncoder(r.in).Encode(command{ts.MkAbs("."), args}), r.out.Decode(&a)); err != nil {
		r.stop()
		ts.Fatalf("the process of this script ended (%v): %s", err, &r.died)
	}
	io.WriteString(ts.Stdout(), a.Stdout)
	io.WriteString(ts.Stderr(), a.Stderr)
	return a.Code
}

func (r *runner) start() (err error) {
	r.process = exec.Command(runnerName)
	r.process.Env = r.env
	r.process.Stderr = &r.died
	if r.in, err = r.process.StdinPipe(); err != nil {
		return err
	}
	out, err := r.process.StdoutPipe()
	if err != nil {
		return err
	}
	r.out = json.NewDecoder(out)
	return r.process.Start()
}

func (r *runner) stop() {
	if r.process == nil {
		return
	}
	r.in.Close()
	_ = r.process.Wait() // exit code 0 where it was idle, and whatever was the matter has been said
	r.process = nil
}
