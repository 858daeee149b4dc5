package cli

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/weft-fabric/weft/internal/testnet"
)

// The scenarios of testdata/script run weft as its users do, in a folder of
// their own. Besides the commands of testscript there are
//
//	exits CODE weft …           run, and expect this exit code; exec weft is a process of its
//	                            own, which exits does without where it makes no difference
//	json PATH[=VALUE]…          standard output is one JSON document that has these;
//	                            a.b.2 is the third element of b in a, len a length
//	edit FILE REGEXP NEW        replace every match, of which there must be one
//	shuffle FILE                put the records of a fabric in another order
//	same FOLDER FOLDER          the files are alike, timings aside
//	no-leftovers FOLDER…        nothing half-written lies about
//	timeless FILE               take version, times and memory out of the CSV of a campaign
//	appears PATH                wait until a file matches this pattern
//	signal NAME SOCKET          send HUP or TERM to the daemon at a socket
//	appears-in REGEXP SOCKET    wait until weft status says this of the daemon at a socket
//
// $CORPUS is the folder of real dumps (testnet.Corpus), where the condition
// [corpus] holds; [whole] holds where testnet.Whole does, and [thorough] where WEFT_THOROUGH is set.

// scripts is where the scenarios are.
const scripts = "testdata/script"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[2] == "worker" {
		Main() // a command that runs in this process started it as a worker of its own
	}
	testscript.Main(m, map[string]func(){"weft": Main, runnerName: runAgain})
}

func TestScripts(t *testing.T) {
	corpus, err := filepath.Abs(cmp.Or(os.Getenv("WEFT_CORPUS"), filepath.Join("..", "..", "..", "shared")))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 scripts,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GOMAXPROCS", "2") // many scenarios run at once
			env.Setenv("CORPUS", corpus)
			r := &runner{env: env.Vars}
			env.Values[runnerName] = r
			env.Defer(r.stop)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":        cmdExits,
			"json":         cmdJSON,
			"edit":         cmdEdit,
			"shuffle":      cmdShuffle,
			"same":         cmdSame,
			"no-leftovers": cmdNoLeftovers,
			"timeless":     cmdTimeless,
			"appears":      cmdAppears,
			"appears-in":   cmdAppearsIn,
			"signal":       cmdSignal,
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "root":
				return os.Geteuid() == 0, nil
			case "thorough":
				return os.Getenv("WEFT_THOROUGH") != "", nil
			case "whole":
				return testnet.Whole(), nil
			case "corpus":
				_, err := os.Stat(filepath.Join(corpus, "fabrics"))
				return err == nil, nil
			}
			return false, fmt.Errorf("no condition is called %q", name)
		},
	})
}

func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE command…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if r := ts.Value(runnerName).(*runner); r.takes(ts, args[1:]) {
		if got := r.run(ts, args[2:]); got != want {
			ts.Fatalf("exit code %d, not %d", got, want)
		}
		return
	}
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, not %d", got, want)
	}
}

// cmdTimeless takes away the last five columns: seconds, routing_seconds, memory, version and
// machine.
func cmdTimeless(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: timeless FILE")
	}
	in := csv.NewReader(strings.NewReader(ts.ReadFile(args[0])))
	rows, err := in.ReadAll()
	ts.Check(err)
	var b strings.Builder
	out := csv.NewWriter(&b)
	for _, row := range rows {
		ts.Check(out.Write(row[:len(row)-5]))
	}
	out.Flush()
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o644))
}

func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	d := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	d.UseNumber()
	var doc any
	ts.Check(d.Decode(&doc))
	if _, err := d.Token(); err != io.EOF {
		ts.Fatalf("more than one JSON document")
	}
	for _, arg := range args {
		path, want, compared := strings.Cut(arg, "=")
		got, ok := lookup(doc, path)
		switch {
		case neg && ok:
			ts.Fatalf("there is a %s: %v", path, got)
		case neg:
		case !ok:
			ts.Fatalf("there is no %s", path)
		case compared && fmt.Sprint(got) != want:
			ts.Fatalf("%s is %v, not %s", path, got, want)
		}
	}
}

// lookup finds a value in a JSON document.
func lookup(doc any, path string) (any, bool) {
	for _, key := range strings.Split(path, ".") {
		switch v := doc.(type) {
		case map[string]any:
			inner, ok := v[key]
			if key == "len" {
				inner, ok = len(v), true
			}
			if !ok {
				return nil, false
			}
			doc = inner
		case []any:
			if key == "len" {
				doc = len(v)
				continue
			}
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			doc = v[i]
		default:
			return nil, false
		}
	}
	return doc, true
}

func cmdEdit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit FILE REGEXP NEW")
	}
	re, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	text := ts.ReadFile(args[0])
	if !re.MatchString(text) {
		ts.Fatalf("%s has nothing like %s", args[0], args[1])
	}
	text = re.ReplaceAllString(text, strings.ReplaceAll(args[2], `\n`, "\n"))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

func cmdShuffle(ts *testscript.TestScript, neg bool, args []string) {
	records := strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n\n")
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Join(records, "\n\n")+"\n"), 0o644))
}

// timing is what of summary.json may differ from run to run.
var timing = regexp.MustCompile(`(?s)\n  "seconds": \{.*?\n  \},|\n  "peak_rss_bytes": [0-9]+,?`)

func cmdSame(ts *testscript.TestScript, neg bool, args []string) {
	var files [2]map[string]string
	for i, dir := range args {
		files[i] = map[string]string{}
		entries, err := os.ReadDir(ts.MkAbs(dir))
		ts.Check(err)
		for _, e := range entries {
			files[i][e.Name()] = timing.ReplaceAllString(ts.ReadFile(filepath.Join(dir, e.Name())), "")
		}
	}
	for name, text := range files[0] {
		if text != files[1][name] {
			ts.Fatalf("%s differs between %s and %s", name, args[0], args[1])
		}
	}
	if len(files[0]) != len(files[1]) || len(files[0]) == 0 {
		ts.Fatalf("%s has %d files, %s has %d", args[0], len(files[0]), args[1], len(files[1]))
	}
}

func cmdNoLeftovers(ts *testscript.TestScript, neg bool, args []string) {
	for _, dir := range args {
		entries, err := os.ReadDir(ts.MkAbs(dir))
		ts.Check(err)
		for _, e := range entries {
			// testscript itself makes .tmp.
			if strings.HasPrefix(e.Name(), ".") && e.Name() != ".tmp" {
				ts.Fatalf("%s was left in %s", e.Name(), dir)
			}
		}
	}
}

func cmdAppears(ts *testscript.TestScript, neg bool, args []string) {
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if found, err := filepath.Glob(ts.MkAbs(args[0])); err != nil || len(found) > 0 {
			ts.Check(err)
			return
		}
	}
	ts.Fatalf("%s does not appear", args[0])
}

func cmdAppearsIn(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: appears-in REGEXP SOCKET")
	}
	re, err := regexp.Compile(args[0])
	ts.Check(err)
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		_ = ts.Exec("weft", "status", "--socket", args[1]) // its exit code is about something else
		if re.MatchString(ts.ReadFile("stdout")) {
			return
		}
	}
	ts.Fatalf("the status does not come to say %s", args[0])
}

func cmdSignal(ts *testscript.TestScript, neg bool, args []string) {
	signal, ok := map[string]syscall.Signal{"HUP": syscall.SIGHUP, "TERM": syscall.SIGTERM}[args[0]]
	if neg || !ok || len(args) != 2 {
		ts.Fatalf("usage: signal HUP|TERM SOCKET")
	}
	_ = ts.Exec("weft", "status", "--json", "--socket", args[1]) // its exit code is about something else
	var status struct{ PID int }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &status))
	ts.Check(syscall.Kill(status.PID, signal))
}
