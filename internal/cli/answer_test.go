package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/testnet"
)

// onTerminal is what a command prints on a terminal of 80 columns.
func onTerminal(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	a := &console.Console{Context: t.Context(), Stdout: &out, Stderr: io.Discard, Outputs: schemas, Columns: 80, Terminal: true}
	c := newRoot(a)
	c.SetArgs(args)
	c.SetOut(&out)
	c.SetErr(io.Discard)
	err := c.ExecuteContext(t.Context())
	if e := (*exit.Error)(nil); err != nil && (!errors.As(err, &e) || e.Code != exit.Found || e.Err != nil) {
		t.Fatalf("weft %s: %v", strings.Join(args, " "), err)
	}
	return out.String()
}

// On a terminal the answer takes ten lines of 80 columns at most, its first says the verdict, and -v
// says more.
func TestAnswersAreShort(t *testing.T) {
	networks := map[string]struct{ spec, gone string }{
		"torus": {"torus:4x4,hosts=2", "sw-1-1"}, "tree": {"xgft:m=4x4,w=4x4,hosts=2", "sw-l1-0-1"},
		"dragonfly": {"dragonfly:p=1", "sw-g0-r1"}, "random": {"random:switches=24,links=60,hosts=1,seed=3", "sw-3"},
		"kalcher-stage-2014": {"", "*ib3*"}, "topograph-ndr-dgx-2025": {"", "*SPINE-01*"}, "psmn-x5-2020": {"", "*8C5C*"},
	}
	for name, n := range networks {
		t.Run(name, func(t *testing.T) {
			if name == "topograph-ndr-dgx-2025" {
				testnet.OnlyWhole(t) // it takes most of the time
			}
			t.Parallel()
			if n.spec == "" {
				n.spec = filepath.Join(testnet.Corpus(t), "fabrics", name+".ibnetdiscover")
			}
			dir, err := os.MkdirTemp("", "w") // short, since no line with it can be broken
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			in := func(name string) string { return filepath.Join(dir, name) }
			good, bad, less := in("good"), in("bad"), in("less")
			onTerminal(t, "route", n.spec, "--engine", "updn", "--out", good)
			onTerminal(t, "route", n.spec, "--engine", "sssp", "--contract", "any", "--out", bad, "--write-unproven")
			onTerminal(t, "degrade", n.spec, "--switch", n.gone, "--keep-connected=false", "-o", less)
			first := map[string]bool{}
			for _, args := range [][]string{
				{"route", n.spec, "--time-budget", "10ms"}, {"route", n.spec, "--time-budget", "10ms", "--tables", good, "--tables", "other=" + bad},
				{"route", n.spec, "--engine", "updn", "--out", in("again")}, {"route", n.spec, "--engine", "sssp", "--contract", "any"},
				{"verify", n.spec, "--tables", good}, {"verify", n.spec, "--tables", bad}, {"verify", less, "--tables", good}, {"verify", n.spec, "--tables", filepath.Join(good, "lfts.dump")},
				{"what-if", n.spec, "--tables", good, "--switch", n.gone}, {"what-if", n.spec, "--engine", "updn", "--switch", n.gone},
				{"repair", n.spec, "--tables", good, "--switch", n.gone, "--within-parts"}, {"repair", less, "--tables", good, "--before", n.spec, "--steps", in("steps"), "--within-parts"},
				{"compare", n.spec, "--tables", good, "--tables", "bad=" + bad, "--precision", "0.05", "--phases", "2", "--engine", "updn,minhop,nue,dfsssp,lash,dor,ftree,df-d2"},
			} {
				t.Run(args[0], func(t *testing.T) {
					text := onTerminal(t, args...)
					lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
					if len(lines) > 10 {
						t.Errorf("weft %s: %d lines:\n%s", strings.Join(args, " "), len(lines), text)
					}
					for _, line := range lines {
						if utf8.RuneCountInString(line) > 80 {
							t.Errorf("weft %s: wider than 80 columns:\n%s", strings.Join(args, " "), line)
						}
					}
					if args[0] != "compare" && !strings.HasPrefix(text, "verdict ") {
						t.Errorf("weft %s does not begin with the verdict:\n%s", strings.Join(args, " "), text)
					}
					if name != "torus" || first[args[0]] {
						return // once is enough
					}
					first[args[0]] = true
					for i, arg := range args { // folders that were written
						if arg == "--steps" || arg == "--out" {
							args[i+1] += "-v"
						}
					}
					if all := onTerminal(t, append(args, "-v")...); len(all) <= len(text) {
						t.Errorf("weft %s -v says no more:\n%s", strings.Join(args, " "), all)
					}
				})
			}
		})
	}
}

// Whatever else people ask for fits 80 columns too.
func TestEverythingFitsTheTerminal(t *testing.T) {
	for _, net := range []string{"xgft:m=4x4,w=4x4,hosts=2", "kalcher-stage-2014"} {
		t.Run(net, func(t *testing.T) {
			t.Parallel()
			gone := "sw-l1-0-1"
			if net == "kalcher-stage-2014" {
				net, gone = filepath.Join(testnet.Corpus(t), "fabrics", net+".ibnetdiscover"), "ib3"
			}
			dir, err := os.MkdirTemp("", "w")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			tables := filepath.Join(dir, "t")
			onTerminal(t, "route", net, "--engine", "updn", "--out", tables)
			for _, command := range []string{
				"info", "drain --tables " + tables + " --switch " + gone, "diff --tables old=" + tables + " --tables new=" + tables, "explain --engine ftree",
				"simulate --tables " + tables + " --precision 0.05", "lanes --engine minhop", "packets --tables " + tables + " --load 0.3 --time 20us", "place --engine updn --pattern alltoall --allocation linear:8",
				"route -v --engine updn", "verify -v --tables " + tables, "what-if -v --precision 0.05 --tables " + tables + " --switch " + gone, "repair -v --within-parts --tables " + tables + " --switch " + gone,
				"compare -v --precision 0.05 --phases 2 --engine updn,minhop,lash", "engines", "topologies",
			} {
				words := strings.Fields(command)
				t.Run(words[0], func(t *testing.T) {
					args := words
					if words[0] != "engines" && words[0] != "topologies" {
						args = append([]string{words[0], net}, words[1:]...)
					}
					for line := range strings.Lines(onTerminal(t, args...)) {
						if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
							t.Errorf("weft %s: %d columns:\n%s", strings.Join(args, " "), n, line)
						}
					}
				})
			}
		})
	}
}
