package reproduce

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reproduce/claims"
	"github.com/weft-fabric/weft/internal/reproduce/papers"
	"github.com/weft-fabric/weft/internal/sweep"
	"github.com/weft-fabric/weft/internal/sweep/campaign"
	"github.com/weft-fabric/weft/internal/sweep/measures"
	"github.com/weft-fabric/weft/internal/sweep/meter"
	"github.com/weft-fabric/weft/internal/sweep/pool"
	"github.com/weft-fabric/weft/internal/sweep/results"
	"github.com/weft-fabric/weft/internal/testnet"
)

// tinySweep is the campaign of tiny: three networks, or four seeds fewer.
const tinySweep = `
sets: [quick, full]
seeds: {quick: 1..2, full: 1..3}
networks:
  - {spec: "ring:5", seeds: 1}
  - random:switches=8,links=14,hosts=1,seed={seed}
  - full: {spec: "torus:4x4", seeds: 1}
engines: [{engine: [lash, dfsssp, ftree], contract: directed}]
measures: [lanes]
`

// tiny is an experiment that takes milliseconds.
func tiny() papers.Experiment {
	places := []claims.Place{
		{Label: "5", X: 5, Spec: "ring:5"},
		{Label: "8", X: 8, Spec: "random:switches=8,links=14,hosts=1,seed={seed}"},
		{Label: "16", X: 16, Spec: "torus:4x4"},
	}
	var lines []claims.Line
	for _, engine := range []string{"lash", "dfsssp", "ftree"} {
		lines = append(lines, claims.Line{Name: engine, Engine: engine, Places: places})
	}
	return papers.Experiment{
		ID: "tiny-1", Paper: "TINY 2026", Figure: "Fig. 1", Title: "Lanes | of small networks", Shows: "Lanes.", Measure: papers.Lanes, X: "switches", Curves: true,
		Lines: lines, Sweep: []byte(tinySweep),
		Claims: []claims.Claim{
			{Where: "I", Says: "LASH needs two on a ring", Check: claims.RangesAt("lash", "5", 2, 2)},
			{Where: "II", Says: "LASH needs seven", Check: claims.Ranges("lash", 7, 7), Why: "It does not."},
			{Where: "III", Says: "+11 % on JUROPA", Check: claims.NotPublic, Why: claims.NoPlan},
		},
	}
}

// here takes points in this process.
type here struct{ *meter.Meter }

func (here) Close() error { return nil }

// run is Execute with points taken in this process.
func run(ctx context.Context, list []papers.Experiment, o Options) (*Run, error) {
	o.Workers = max(1, o.Workers)
	o.Meter = &meter.Meter{Version: o.Origin.Weft, Machine: o.Origin.Machine, Open: func(file string) (*fabric.Fabric, error) {
		for _, f := range o.Real {
			if f.File == file {
				return f.Fabric, nil
			}
		}
		return nil, errors.New("no such dump")
	}}
	if o.Start == nil {
		o.Start = func(int) (pool.Worker[sweep.Point, []results.Row], error) {
			own := *o.Meter // it keeps the network of the point before
			return here{&own}, nil
		}
	}
	return Execute(ctx, list, o)
}

func execute(t *testing.T, ctx context.Context, o Options) (*Run, error) {
	t.Helper()
	return run(ctx, []papers.Experiment{tiny()}, o)
}

func finished(t *testing.T, o Options) *Run {
	t.Helper()
	r, err := execute(t, context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// found is the results of the first experiment, in order.
func found(r *Run) (all []claims.Result) {
	r.Outcomes[0].measured(func(_ *claims.Line, _ *claims.Place, m claims.Result) { all = append(all, m) })
	return all
}

func TestRunResumes(t *testing.T) {
	o := Options{Dir: t.TempDir(), Quick: true, Seed: 1, Workers: 2}
	first := finished(t, o)
	if first.Points != 9 || first.Kept != 0 {
		t.Errorf("%d points, %d kept, want 9 and none", first.Points, first.Kept)
	}
	again := finished(t, o)
	if again.Kept != 9 {
		t.Errorf("%d points kept of 9", again.Kept)
	}
	if diff := cmp.Diff(found(first), found(again)); diff != "" {
		t.Errorf("kept points differ: %s", diff)
	}
	// The full set has one more network drawn, and one that is not: those are taken.
	o.Quick = false
	if full := finished(t, o); full.Points != 15 || full.Kept != 9 {
		t.Errorf("full set: %d points, %d kept, want 15 and the 9 of the quick one", full.Points, full.Kept)
	}
	// From seed 2 on: of the networks drawn the second and the third are there.
	o.Quick, o.Seed = true, 2
	if other := finished(t, o); other.Kept != 6 {
		t.Errorf("another seed: %d points kept, want 6", other.Kept)
	}
}

func TestResultsDoNotDependOnWorkers(t *testing.T) {
	one := finished(t, Options{Dir: t.TempDir(), Seed: 7, Workers: 1})
	many := finished(t, Options{Dir: t.TempDir(), Seed: 7, Workers: 4, Memory: 1})
	if diff := cmp.Diff(found(one), found(many)); diff != "" {
		t.Error(diff)
	}
}

func TestInterruptedRunKeepsWhatIsFinished(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o := Options{Dir: t.TempDir(), Quick: true, Seed: 1, Workers: 1}
	o.Progress = func(done, total int, begun string) {
		if done == 2 {
			cancel()
		}
	}
	if _, err := execute(t, ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	o.Progress = nil
	r := finished(t, o)
	if r.Kept != 2 {
		t.Errorf("%d points kept, 2 were finished", r.Kept)
	}
	if r.Runs != 2 || r.SpentRuns <= r.Spent {
		t.Errorf("%d runs in %g s, this one in %g s", r.Runs, r.SpentRuns, r.Spent)
	}
	if again := finished(t, o); again.Runs != 2 || again.SpentRuns != r.SpentRuns {
		t.Errorf("a run that takes nothing counts: %d runs in %g s", again.Runs, again.SpentRuns)
	}
}

// Another definition, another weft or a torn line: the point is taken again.
func TestInvalidation(t *testing.T) {
	o := Options{Dir: t.TempDir(), Quick: true, Seed: 1, Origin: Origin{"weft 1", "a machine"}}
	finished(t, o)
	e := tiny()
	e.Sweep = []byte(strings.Replace(tinySweep, "engine: [lash, dfsssp, ftree]", "vls: 5, engine: [lash, dfsssp, ftree]", 1))
	r, err := run(context.Background(), []papers.Experiment{e}, o)
	if err != nil || r.Kept != 0 || r.Dropped != 0 {
		t.Errorf("another definition: %d kept, %d dropped; %v", r.Kept, r.Dropped, err)
	}
	for _, other := range []Origin{{"weft 2", "a machine"}, {"weft 2", "another"}} {
		o.Origin = other
		if r := finished(t, o); r.Kept != 0 || r.Dropped == 0 {
			t.Errorf("%v: %d kept, %d dropped", other, r.Kept, r.Dropped)
		}
	}
	name := filepath.Join(o.Dir, results.LogFile)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	torn := bytes.LastIndex(text, []byte(`{"rows"`)) + 30
	if err := os.WriteFile(name, text[:torn], 0o644); err != nil {
		t.Fatal(err)
	}
	if r := finished(t, o); r.Kept != 8 {
		t.Errorf("a torn line: %d kept, want 8", r.Kept)
	}
	if r := finished(t, o); r.Kept != 9 {
		t.Errorf("after it was mended: %d kept, want 9", r.Kept)
	}
}

func TestRefusalsAreResults(t *testing.T) {
	r := finished(t, Options{Dir: t.TempDir(), Quick: true, Seed: 1})
	got, _ := r.Outcomes[0].Get("ftree", "5")
	if got.Count != 0 || got.Refusals != 1 || !strings.Contains(got.Refused, "rule:") {
		t.Errorf("ftree on a ring: %+v", got)
	}
}

// A dump is known by its content, so that another of the same name is another point.
func TestRealFabrics(t *testing.T) {
	e := tiny()
	e.Real = true
	o := Options{Dir: t.TempDir(), Quick: true, Seed: 1}
	for i, digest := range []string{"aa", "bb"} {
		o.Real = []RealFabric{{"cluster", "cluster.ibnetdiscover", digest, testnet.Build(t, "ring:6,hosts=2")}}
		r, err := run(context.Background(), []papers.Experiment{e}, o)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := r.Outcomes[0].At("lash", "cluster"); !ok || got.Hosts != 12 {
			t.Errorf("%+v, %t", got, ok)
		}
		if want := 9 * i; r.Kept != want {
			t.Errorf("digest %s: %d points kept, want %d", digest, r.Kept, want)
		}
	}
}

// dying is a worker at which every point breaks.
type dying struct{ here }

func (d dying) Take(_ context.Context, p *sweep.Point) ([]results.Row, error) {
	return d.Lost(p, "it died"), nil
}

// A point at which weft fails stops the run, with its name.
func TestBrokenPoint(t *testing.T) {
	o := Options{Dir: t.TempDir(), Quick: true, Seed: 1}
	o.Start = func(int) (pool.Worker[sweep.Point, []results.Row], error) { return dying{here{&meter.Meter{}}}, nil }
	_, err := execute(t, context.Background(), o)
	if err == nil || !strings.Contains(err.Error(), "lanes of lash on ring:5, seed 1: it died") {
		t.Error(err)
	}
}

// A line at a place of which the campaign has nothing that fits is an error.
func TestLineWithoutMeasure(t *testing.T) {
	e := tiny()
	e.Measure = papers.Risk
	_, err := run(context.Background(), []papers.Experiment{e}, Options{Dir: t.TempDir(), Quick: true, Seed: 1})
	if err == nil || !strings.Contains(err.Error(), "tiny-1: lash at 5 has 0 measures risk") {
		t.Error(err)
	}
}

// Points of weft sweep count, and those of a run for weft sweep.
func TestHave(t *testing.T) {
	first := t.TempDir()
	finished(t, Options{Dir: first, Quick: true, Seed: 1})
	rows, err := results.Of(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	again := finished(t, Options{Dir: t.TempDir(), Quick: true, Seed: 1, Have: rows})
	if v, ok := again.Outcomes[0].At("lash", "5"); again.Kept != 9 || !ok || v.Value != 2 {
		t.Errorf("%d points of 9 are kept, lash on a ring needs %+v", again.Kept, v)
	}
	var page bytes.Buffer
	if err := again.Index(&page, "weft"); err != nil || !strings.Contains(page.String(), "| time | none here: all points were there; the points took") {
		t.Errorf("%v:\n%s", err, page.String())
	}
	if again.Foreign != 0 || strings.Contains(page.String(), "| of others |") {
		t.Errorf("%d points are of others", again.Foreign)
	}
	rows[0].Version = "another"
	if other := finished(t, Options{Dir: t.TempDir(), Quick: true, Seed: 1, Have: rows}); other.Foreign != 1 || other.Kept != 9 {
		t.Errorf("%d points are of others, %d kept; want 1 and 9", other.Foreign, other.Kept)
	}
	s, err := sweep.ReadSet(strings.NewReader(tinySweep), "tiny", nil, "quick")
	if err != nil {
		t.Fatal(err)
	}
	if left := campaign.NewPlan(s.Points, sweep.BuiltIn(), &meter.Meter{}).Left(rows, "", 1); len(left) != 0 {
		t.Errorf("of the same campaign %d points are left", len(left))
	}
}

func TestOutput(t *testing.T) {
	var index [2]string
	for i := range index {
		o := Options{Dir: t.TempDir(), Quick: true, Seed: 1, Workers: 2}
		r := finished(t, o)
		r.Date = r.Date.AddDate(-1, 0, 0)
		if err := r.Write("weft reproduce tiny"); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"tiny-1.csv", "tiny-1.svg", IndexFile} {
			text, err := os.ReadFile(filepath.Join(o.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if name != IndexFile {
				index[i] += string(text)
				continue
			}
			for _, want := range []string{
				"| I | LASH needs two on a ring | 2 | ✔ agrees |  |", "✘ differs | It does not.", "– open | The cabling",
				`Lanes \| of small networks`, "![Lanes", "- ftree on 5, 8 (", "`weft reproduce tiny`", "2 networks drawn for each place",
			} {
				if name == IndexFile && !strings.Contains(string(text), want) && !strings.Contains(string(text), strings.TrimSuffix(want, " (")) {
					t.Errorf("the index has no %q:\n%s", want, text)
				}
			}
		}
	}
	if index[0] != index[1] {
		t.Error("figures differ from run to run")
	}
}

func TestEstimate(t *testing.T) {
	r := finished(t, Options{Dir: t.TempDir(), Quick: true, Seed: 1, Workers: 1})
	seconds, points, err := r.Estimate()
	if err != nil || points != 15 || seconds <= 0 || seconds > 60 {
		t.Errorf("the full set: %d points in %g s", points, seconds)
	}
}

// Every measure has an axis.
func TestEveryMeasureHasAnAxis(t *testing.T) {
	for _, e := range papers.All() {
		if axes[e.Measure] == "" {
			t.Errorf("%s: nothing is written beside the axis of %s", e.ID, e.Measure)
		}
	}
}

// Tables with a credit loop are counted where tables are what is measured, and not times.
func TestLoopsAreCounted(t *testing.T) {
	value := 2.5
	p := &sweep.Point{ID: "p"}
	all := takenOf([]results.Row{
		{Point: "p", Measure: "time", Status: results.OK, Value: &value, Low: &value, High: &value, Count: 3, Verdict: "credit-loop"},
		{Point: "p", Measure: "lanes", Status: results.OK, Value: &value, Verdict: "credit-loop"},
	})
	for m, want := range map[papers.Measure]int{papers.Seconds: 0, papers.Lanes: 1} {
		name := map[papers.Measure]string{papers.Seconds: "time", papers.Lanes: "lanes"}[m]
		r, err := all.result(m, &papers.Value{Samples: []papers.Sample{{Point: p, Measure: &measures.Measure{Name: name}}}})
		if err != nil || r.Loops != want || r.Value != value {
			t.Errorf("%s: %+v, %v", m, r, err)
		}
	}
}
