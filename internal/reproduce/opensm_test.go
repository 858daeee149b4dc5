package reproduce

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/internal/dumped"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/reproduce/claims"
	"github.com/weft-fabric/weft/internal/reproduce/papers"
	"github.com/weft-fabric/weft/internal/sweep"
	"github.com/weft-fabric/weft/internal/sweep/measures"
	"github.com/weft-fabric/weft/internal/sweep/meter"
	"github.com/weft-fabric/weft/routing"
)

// TestWriteOpenSMReference asks OpenSM, on a simulated fabric, for its tables of the
// experiments' networks and writes what they have, for weft reproduce --opensm. Rows that
// the file has already are kept; a new file has all of them taken:
//
//	WEFT_OPENSM_REFERENCE=$PWD/docs/results/opensm.csv go test -run WriteOpenSMReference -timeout 60m ./internal/reproduce
//
// Networks of more hosts than mostReferenceHosts are left out, and so is what OpenSM
// falls back from, and its LASH on more than 200 switches, which takes longer than the
// tests wait. Of drawn networks those of the quick and the full set are taken.
//
// All of it takes some 3 minutes. Taken again, the same rows come out, but for those of OpenSM's
// ftree on Deimos, which it routes otherwise each time.
func TestWriteOpenSMReference(t *testing.T) {
	file := os.Getenv("WEFT_OPENSM_REFERENCE")
	if file == "" {
		t.Skip("takes minutes: set WEFT_OPENSM_REFERENCE to the file to write")
	}
	live.Need(t)
	had, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	rows := [][]string{}
	if len(had) > 0 {
		if _, err := ReadReference(bytes.NewReader(had), file); err != nil {
			t.Fatal(err)
		}
		if rows, err = csv.NewReader(bytes.NewReader(had)).ReadAll(); err != nil {
			t.Fatal(err)
		}
		rows = rows[1:]
	}
	have := map[[4]string]bool{}
	for _, r := range rows {
		have[[4]string(r[1:5])] = true
	}
	var wanted []referenceRow
	order := map[[4]string]int{}
	m := &meter.Meter{}
	for _, w := range referenceRows(t, m) {
		order[w.key()] = len(order)
		if !have[w.key()] {
			wanted = append(wanted, w)
		}
	}
	var mu sync.Mutex
	group := errgroup.Group{}
	group.SetLimit(4) // most of the time OpenSM waits
	for len(wanted) > 0 {
		first := wanted[0]
		same := func(w referenceRow) bool {
			return bareOf(w.sample.Point) == bareOf(first.sample.Point) && w.engine == first.engine
		}
		of := slices.DeleteFunc(slices.Clone(wanted), func(w referenceRow) bool { return !same(w) })
		wanted = slices.DeleteFunc(wanted, same)
		group.Go(func() error {
			t.Run(first.sample.Network+" "+first.engine, func(t *testing.T) {
				more := askOpenSM(t, &meter.Meter{}, of)
				mu.Lock()
				defer mu.Unlock()
				rows = append(rows, more...)
				slices.SortStableFunc(rows, func(a, b []string) int { return order[[4]string(a[1:5])] - order[[4]string(b[1:5])] })
				var b strings.Builder
				if err := csv.NewWriter(&b).WriteAll(append([][]string{referenceHeader}, rows...)); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			})
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}

const mostReferenceHosts = 1300

// referenceEngines is those of OpenSM that HOTI 2009 compares with; of networks that stop
// it is the one that stops them.
var referenceEngines = map[papers.Measure][]string{
	papers.Bandwidth: {"minhop", "updn", "ftree", "dor", "lash"},
	papers.Stops:     {"sssp"},
}

// referenceRow is a row to take.
type referenceRow struct {
	measure papers.Measure
	job     int
	engine  string
	sample  papers.Sample
}

func (r *referenceRow) key() [4]string {
	job := ""
	if r.job > 0 {
		job = strconv.Itoa(r.job)
	}
	return [4]string{string(r.measure), r.sample.Network, job, r.engine}
}

// referenceRows is all rows, in the order of the experiments.
func referenceRows(t *testing.T, m *meter.Meter) (rows []referenceRow) {
	small := map[string]bool{}
	seen := map[[4]string]bool{}
	for _, e := range papers.All() {
		for _, quick := range []bool{true, false} {
			values, err := e.Selection(quick, 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range values {
				l := e.Lines[slices.IndexFunc(e.Lines, func(l claims.Line) bool { return l.Name == v.Line })]
				at := l.Places[slices.IndexFunc(l.Places, func(p claims.Place) bool { return p.Label == v.Place })]
				if !slices.Contains(referenceEngines[e.Measure], l.Engine) || at.Missing > 0 {
					continue
				}
				for _, sample := range v.Samples {
					bare := bareOf(sample.Point)
					if _, known := small[bare]; !known {
						f, err := m.Fabric(sample.Point)
						small[bare] = err == nil && f.Count().HCA <= mostReferenceHosts && (l.Engine != "lash" || f.Switches() <= 200)
					}
					w := referenceRow{e.Measure, at.Job, l.Engine, sample}
					if small[bare] && !seen[w.key()] {
						seen[w.key()] = true
						rows = append(rows, w)
					}
				}
			}
		}
	}
	return rows
}

// bareOf tells networks apart, whatever is measured of them.
func bareOf(p *sweep.Point) string { return fmt.Sprint(p.Network.String(), p.Network.Ports, p.Seed) }

func askOpenSM(t *testing.T, m *meter.Meter, of []referenceRow) (rows [][]string) {
	spec, engine := of[0].sample.Network, of[0].engine
	f, err := m.Fabric(of[0].sample.Point)
	if err != nil {
		t.Fatal(err)
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
	for i := range of {
		r, err := ofOpenSM(t.Context(), m, tables, &of[i])
		if err != nil {
			t.Fatal(err)
		}
		key := of[i].key()
		text := append([]string{"3.3.23"}, key[:]...)
		for _, v := range []float64{r.Value, r.Low, r.High, float64(r.Count), r.Index, float64(r.Loops)} {
			text = append(text, strconv.FormatFloat(v, 'g', 6, 64))
		}
		rows = append(rows, text)
	}
	return rows
}

// ofOpenSM is what a row has under tables of OpenSM.
func ofOpenSM(ctx context.Context, m *meter.Meter, t *routing.Tables, row *referenceRow) (claims.Result, error) {
	v, err := deadlock.Verify(ctx, t, deadlock.Options{Scope: routing.HCA, Contract: routing.Directed})
	if err != nil {
		return claims.Result{}, err
	}
	p := *row.sample.Point
	p.Measures = []measures.Measure{*row.sample.Measure, {Name: "load"}}
	rows, err := m.Judged(ctx, &p, &weft.Result{Tables: t, Verdict: v, Loads: congestion.Count(t.Fabric, t.Forwarding, routing.HCA)})
	if err != nil {
		return claims.Result{}, err
	}
	all := takenOf(rows)
	return all.result(row.measure, &papers.Value{Samples: []papers.Sample{row.sample}})
}

func TestReadReference(t *testing.T) {
	head := strings.Join(referenceHeader, ",") + "\n"
	ref, err := ReadReference(strings.NewReader(head+"3.3.23,bandwidth,odin,,minhop,0.77,0.769,0.771,1,234,0\n"+
		"3.3.23,bandwidth,odin,16,minhop,0.9,0.898,0.902,1,234,0\n3.3.23,bandwidth,odin:seed=4,16,minhop,0.8,0.798,0.802,1,236,0\n"+
		"3.3.23,stops,odin,,sssp,0,0,0,0,0,1\n"), "f.csv")
	if err != nil {
		t.Fatal(err)
	}
	of := func(m papers.Measure, at claims.Place, engine string) (claims.Result, bool) {
		v := &papers.Value{}
		for network := range strings.SplitSeq(at.Spec, " | ") {
			v.Samples = append(v.Samples, papers.Sample{Network: network})
		}
		return ref.result(m, at, engine, v)
	}
	for text, c := range map[string]struct {
		m      papers.Measure
		at     claims.Place
		engine string
		want   claims.Result
	}{
		"one network": {papers.Bandwidth, claims.Place{Spec: "odin", Job: 16}, "minhop", claims.Result{Value: 0.9, Low: 0.898, High: 0.902, Count: 1, Index: 234}},
		"swept, of which one is missing": {papers.Bandwidth, claims.Place{Spec: "odin | odin:seed=4 | odin:seed=5", Job: 16}, "minhop",
			claims.Result{Value: 0.8500000000000001, Low: 0.8, High: 0.9, Count: 2, Index: 235, Each: []float64{0.9, 0.8, 0}}},
		"never stopped": {papers.Stops, claims.Place{Spec: "odin"}, "sssp", claims.Result{Loops: 1, Refused: measures.NeverStopped, Refusals: 1}},
	} {
		got, ok := of(c.m, c.at, c.engine)
		if diff := cmp.Diff(c.want, got); !ok || diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
	if _, ok := of(papers.Bandwidth, claims.Place{Spec: "odin"}, "updn"); ok {
		t.Error("a result that is not there")
	}
	for text, problem := range map[string]string{
		"":                        "f.csv:1: a reference begins",
		"a,b,c,d,e,f,g,h,i,j,k\n": "f.csv:1: a reference begins",
		head + "1,bandwidth,odin,,minhop,much,0.1,2,1,1,0\n":     `f.csv:2: value "much" is no number`,
		head + "1,bandwidth,odin,,minhop,0.5,0.1\n":              "wrong number of fields",
		head + "1,bandwidth,odin,,minhop,0.5,0.1,0.2,1,many,0\n": `edge_forwarding_index "many"`,
	} {
		if _, err := ReadReference(strings.NewReader(text), "f.csv"); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%q: %v, want something about %q", text, err, problem)
		}
	}
}
