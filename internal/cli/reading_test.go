//go:build linux

package cli

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/testnet"
)

// process is the command in a process of its own, in a folder.
func process(t *testing.T, dir, args string) (p *exec.Cmd, stderr *bytes.Buffer) {
	t.Helper()
	program, err := exec.LookPath("weft") // this program, by package testscript
	if err != nil {
		t.Fatal(err)
	}
	stderr = &bytes.Buffer{}
	p = exec.Command(program, strings.Fields(args)...)
	p.Dir, p.Stderr = dir, stderr
	return p, stderr
}

// folderOfTables is a folder with a network, tables for it, and a pipe.
func folderOfTables(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, args := range []string{"generate ring:4 -o ring", "route ring --engine updn --out tables"} {
		p, stderr := process(t, dir, args)
		if err := p.Run(); err != nil {
			t.Fatalf("%s: %v: %s", args, err, stderr)
		}
	}
	for _, name := range []string{"diagnet", "devices"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A pipe that nobody writes into, wherever a file may be given: both signals end the command
// at once.
func TestPipesAreInterrupted(t *testing.T) {
	dir := folderOfTables(t)
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for i, args := range testnet.First([]string{
		"info pipe", "route ring --traffic pipe", "repair ring --tables pipe", "verify ring --tables pipe", "verify ring --tables tables/lfts.dump --sl2vl pipe",
		"verify ring --tables tables/lfts.dump --psl pipe", "verify ring --tables tables --certificate pipe", "verify ring --tables tables --lst pipe",
		"verify ring --tables tables --groups pipe", "verify ring --tables tables --multicast pipe",
		"place ring --traffic pipe", "place ring --ranks pipe", "compare ring --measured pipe", "report ring --with pipe -o page.html", "convert pipe out.dot",
		"sweep pipe -o results", "serve --config pipe --check-config", "watch --config pipe --check-config", "watch log --config pipe",
		"deploy check --conf pipe", "verify pipe --routes ecmp", "diff ring pipe", "export pipe --to csv", "reproduce all --opensm pipe -o results",
	}, 4) {
		p, stderr := process(t, dir, args)
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		over := make(chan error, 1)
		go func() { over <- p.Wait() }()
		silent, err := -1, error(syscall.ENXIO)
		for deadline := time.Now().Add(time.Minute); errors.Is(err, syscall.ENXIO) && time.Now().Before(deadline) && len(over) == 0; time.Sleep(time.Millisecond) {
			silent, err = syscall.Open(pipe, syscall.O_WRONLY|syscall.O_NONBLOCK, 0) // once it is being read
		}
		if err != nil {
			t.Errorf("weft %s does not read the pipe: %v: %s", args, err, stderr)
			p.Process.Kill()
			continue
		}
		if err := p.Process.Signal([]os.Signal{syscall.SIGINT, syscall.SIGTERM}[i%2]); err != nil {
			t.Error(err)
		}
		select {
		case <-over:
			if code := p.ProcessState.ExitCode(); code != exit.Interrupted || stderr.String() != "weft: interrupted; nothing was written\n" {
				t.Errorf("weft %s: exit code %d: %s", args, code, stderr)
			}
		case <-time.After(time.Minute):
			t.Errorf("weft %s goes on after a signal", args)
			p.Process.Kill()
		}
		syscall.Close(silent)
	}
	for _, name := range []string{"page.html", "results/points.jsonl"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("an interrupted command wrote %s", name)
		}
	}
}

// Before anybody opens the other end of a pipe, a signal ends the command too; found in a
// folder a pipe is refused by its name; what a command prints is a file as any other.
func TestPipes(t *testing.T) {
	dir := folderOfTables(t)
	for _, name := range []string{"pipe", "diagnet/ibdiagnet2.db_csv", "devices/leaf1.route.json", "tables/opensm-sl2vl.dump"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, stderr := process(t, dir, "info pipe")
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second) // however far it is: it does not end by itself
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait()
	if code := p.ProcessState.ExitCode(); code != exit.Interrupted && p.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	for args, want := range map[string]string{
		"info diagnet":                "weft: diagnet/ibdiagnet2.db_csv is not a plain file but a named pipe: remove it, or put a file in its place\n",
		"verify devices":              "weft: devices/leaf1.route.json is not a plain file but a named pipe: remove it, or put a file in its place\n",
		"verify ring --tables tables": "weft: tables/opensm-sl2vl.dump is not a plain file but a named pipe: remove it, or put a file in its place\n",
	} {
		p, stderr := process(t, dir, args)
		_ = p.Run()
		if code := p.ProcessState.ExitCode(); code != exit.BadInput || stderr.String() != want {
			t.Errorf("weft %s: exit code %d: %s, want %s", args, code, stderr, want)
		}
	}
	p, stderr = process(t, dir, "info /dev/stdin")
	r, w := io.Pipe()
	p.Stdin = r
	text, err := os.ReadFile(filepath.Join(dir, "ring"))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, err := w.Write(text)
		w.CloseWithError(err)
	}()
	if out, err := p.Output(); err != nil || !bytes.Contains(out, []byte("4 switches")) {
		t.Errorf("%v: %s %s", err, out, stderr)
	}
}

// Some megabytes that unpack to a gigabyte without the end of a line, a record or a text are
// refused with file and line, in the memory that a network takes.
func TestReadersAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("gigabytes are unpacked")
	}
	testnet.OnlyWhole(t) // the readers have tests of their bounds
	dir := folderOfTables(t)
	bomb := func(name, first, again string) {
		packed := func(text string) []byte {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			if _, err := io.WriteString(z, text); err != nil {
				t.Fatal(err)
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			return b.Bytes()
		}
		// What was packed one after the other is unpacked as one text.
		text := append(packed(first), bytes.Repeat(packed(strings.Repeat(again, 1<<20/len(again))), 1<<10)...)
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bomb("line.gz", "host-0,host-1\n", "x")
	bomb("quote.gz", "host-0,host-1\n\"", "x\n")
	bomb("lists.gz", "", "- a\n")
	bomb("devices/leaf1.lldp.json.gz", "{\"a\":[0", "\n,0")
	bomb("text.gz", "{\"directed\": \"", "x")
	for args, want := range map[string]string{
		"route ring --traffic line.gz":                    "line.gz:2: line longer than 65536 bytes: this is no list of comma-separated values, one a line",
		"route ring --traffic quote.gz":                   `quote.gz:\d+: more than 1048576 bytes without the end of a record: is a quote not closed\?`,
		"place ring --ranks line.gz":                      "line.gz:2: line longer than 65536 bytes: this is not one of the text files weft reads",
		"compare ring --measured line.gz":                 "line.gz:",
		"sweep lists.gz -o results":                       `lists.gz:\d+: more than 16777216 bytes of text, which is the most that is read of such a file: give the one that was meant, or parts of it`,
		"serve --config lists.gz --check-config":          `lists.gz:\d+: more than 16777216 bytes of text, which is the most`,
		"watch --config lists.gz --check-config":          `lists.gz:\d+: more than 16777216 bytes of text, which is the most`,
		"verify devices":                                  `devices/leaf1.lldp.json.gz:\d+: more than 4194304 values: give the file that was meant, or parts of it`,
		"verify ring --tables line.gz":                    "line.gz:2: line longer than 65536 bytes: this is not one of the text files weft reads",
		"deploy check --conf line.gz":                     "line.gz:2: line longer than 65536 bytes",
		"verify ring --tables tables --multicast line.gz": "line.gz:",
		"info line.gz":                                    "line.gz:1: this is text of an unknown kind",
	} {
		t.Run(args, func(t *testing.T) {
			p, stderr := process(t, dir, args)
			_ = p.Run()
			if code := p.ProcessState.ExitCode(); code != exit.BadInput || !regexp.MustCompile("^weft: "+want).Match(stderr.Bytes()) {
				t.Errorf("exit code %d: %.300s, want %s", code, stderr, want)
			}
			took := p.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
			t.Logf("%d MiB, %.1f s", took, p.ProcessState.UserTime().Seconds())
			if most := max(200, ownPeak(t)); took > most { // a new process counts what this one had
				t.Errorf("%d MiB of memory, more than %d", took, most)
			}
		})
	}
}

// ownPeak is the memory that this process had at most, in mebibytes.
func ownPeak(t *testing.T) int64 {
	t.Helper()
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		t.Fatal(err)
	}
	return own.Maxrss >> 10
}
