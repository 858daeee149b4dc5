package reproduce

import (
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/internal/dumped"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/reproduce/claims"
	"github.com/weft-fabric/weft/internal/reproduce/measure"
	"github.com/weft-fabric/weft/internal/reproduce/papers"
	"github.com/weft-fabric/weft/routing"
)

// TestWriteOpenSMReference asks OpenSM, on a simulated fabric, for its tables of the
// experiments' networks and writes what they have, for weft reproduce --opensm:
//
//	WEFT_OPENSM_REFERENCE=$PWD/results/opensm.csv go test -run WriteOpenSMReference -timeout 60m ./internal/reproduce
//
// Drawn networks and those of more hosts than mostReferenceHosts are left out, and so
// is what OpenSM falls back from, and its LASH on more than 200 switches, which takes
// longer than the tests wait.
func TestWriteOpenSMReference(t *testing.T) {
	file := os.Getenv("WEFT_OPENSM_REFERENCE")
	if file == "" {
		t.Skip("takes minutes: set WEFT_OPENSM_REFERENCE to the file to write")
	}
	live.Need(t)
	rows := [][]string{referenceHeader}
	for _, spec := range referenceNetworks() {
		for _, engine := range referenceEngines {
			t.Run(spec+" "+engine, func(t *testing.T) { rows = append(rows, askOpenSM(t, spec, engine)...) })
		}
		var b strings.Builder
		if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const mostReferenceHosts = 1300

// referenceEngines is those of OpenSM that HOTI 2009 compares with.
var referenceEngines = []string{"minhop", "updn", "ftree", "dor", "lash"}

// jobsOf is the jobs that experiments run on a network, 0 for all hosts.
func jobsOf(spec string) (jobs []int) {
	for _, e := range papers.All() {
		for _, l := range e.Lines {
			for _, n := range l.Places {
				if e.Measure == measure.Bandwidth && n.Spec == spec && !slices.Contains(jobs, n.Job) {
					jobs = append(jobs, n.Job)
				}
			}
		}
	}
	return jobs
}

func referenceNetworks() (specs []string) {
	for _, e := range papers.All() {
		for _, l := range e.Lines {
			for _, n := range l.Places {
				if e.Measure != measure.Bandwidth || slices.Contains(specs, n.Spec) || strings.Contains(n.Spec, measure.SeedMark) {
					continue
				}
				if f, err := measure.Build(n.Spec); err == nil && f.Count().HCA <= mostReferenceHosts {
					specs = append(specs, n.Spec)
				}
			}
		}
	}
	return specs
}

func askOpenSM(t *testing.T, spec, engine string) (rows [][]string) {
	f, err := measure.Build(spec)
	if err != nil {
		t.Fatal(err)
	}
	if engine == "lash" && f.Switches() > 200 {
		t.Skip("OpenSM's LASH takes minutes")
	}
	net := filepath.Join(t.TempDir(), "net")
	w, err := os.Create(net)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := ibnet.Write(w, f); err != nil {
		t.Fatal(err)
	}
	d := live.OpenSM(t, net, map[string]string{"routing_engine": engine}, nil)
	if d.Engine != engine {
		t.Logf("%s: OpenSM falls back from %s to %s", spec, engine, d.Engine)
		return nil
	}
	tables := dumped.Read(t, f, d.Subnet, d.LFTs)
	index := congestion.Count(f, tables.Forwarding, routing.HCA).Max
	for _, job := range jobsOf(spec) {
		label := ""
		if job > 0 {
			label = strconv.Itoa(job)
		}
		mean, stderr, err := measure.EffectiveBisection(context.Background(), tables, job, 1000, 1)
		if err != nil {
			t.Fatal(err)
		}
		number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
		rows = append(rows, []string{"3.3.23", spec, label, engine, number(mean), number(stderr), number(float64(index))})
	}
	return rows
}

func TestReadReference(t *testing.T) {
	head := strings.Join(referenceHeader, ",") + "\n"
	ref, err := ReadReference(strings.NewReader(head+"3.3.23,odin,,minhop,0.77,0.001,234\n3.3.23,odin,16,minhop,0.9,0.002,234\n"), "f.csv")
	if err != nil {
		t.Fatal(err)
	}
	want := measure.Result{Value: 0.9, Low: 0.898, High: 0.902, Count: 1, Index: 234}
	got, ok := ref.result(claims.Place{Spec: "odin", Job: 16}, "minhop")
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Error(diff)
	}
	if _, ok := ref.result(claims.Place{Spec: "odin"}, "updn"); ok {
		t.Error("a result that is not there")
	}
	for text, problem := range map[string]string{
		"":                                     "f.csv:1: a reference begins",
		"a,b,c,d,e,f,g\n":                      "f.csv:1: a reference begins",
		head + "1,odin,,minhop,much,0.1,2\n":   `f.csv:2: bandwidth "much" is no number`,
		head + "1,odin,,minhop,0.5,0.1\n":      "wrong number of fields",
		head + "1,odin,,minhop,0.5,0.1,many\n": `edge_forwarding_index "many"`,
	} {
		if _, err := ReadReference(strings.NewReader(text), "f.csv"); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%q: %v, want something about %q", text, err, problem)
		}
	}
}
