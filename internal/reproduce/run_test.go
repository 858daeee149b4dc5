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
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reproduce/claims"
	"github.com/weft-fabric/weft/internal/reproduce/measure"
	"github.com/weft-fabric/weft/internal/reproduce/papers"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/sweep/pool"
)

// tiny is an experiment that takes milliseconds.
func tiny() papers.Experiment {
	places := []claims.Place{
		{Label: "5", X: 5, Spec: "ring:5", Quick: true},
		{Label: "8", X: 8, Spec: "random:switches=8,links=14,hosts=1,seed={seed}", Quick: true},
		{Label: "16", X: 16, Spec: "torus:4x4"},
	}
	var lines []claims.Line
	for _, engine := range []string{"lash", "dfsssp", "ftree"} {
		lines = append(lines, claims.Line{Name: engine, Engine: engine, Places: places})
	}
	return papers.Experiment{
		ID: "tiny-1", Paper: "TINY 2026", Figure: "Fig. 1", Title: "Lanes | of small networks", Shows: "Lanes.", Measure: measure.Lanes, X: "switches", Curves: true,
		Lines: lines,
		Quick: papers.Effort{Networks: 2}, Full: papers.Effort{Networks: 3},
		Claims: []claims.Claim{
			{Where: "I", Says: "LASH needs two on a ring", Check: claims.RangesAt("lash", "5", 2, 2)},
			{Where: "II", Says: "LASH needs seven", Check: claims.Ranges("lash", 7, 7), Why: "It does not."},
			{Where: "III", Says: "+11 % on JUROPA", Check: claims.NotPublic, Why: claims.NoPlan},
		},
	}
}

// here takes points in this process.
type here struct{ *measure.Meter }

func (h here) Take(ctx context.Context, p *measure.Point) (measure.Result, error) {
	return h.Meter.Take(ctx, *p)
}

func (here) Close() error { return nil }

// run is Execute with points taken in this process.
func run(ctx context.Context, list []papers.Experiment, o Options) (*Run, error) {
	o.Start = func(int) (pool.Worker[measure.Point, measure.Result], error) {
		return here{measure.NewMeter(func(name string) (*fabric.Fabric, error) {
			for _, f := range o.Real {
				if f.Name == name {
					return f.Fabric, nil
				}
			}
			return nil, errors.New("no such dump")
		})}, nil
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

// results is those of the first experiment, in order.
func results(r *Run) (all []measure.Result) {
	r.Outcomes[0].measured(func(_ *claims.Line, _ *claims.Place, m measure.Result) { all = append(all, m) })
	return all
}

var untimed = cmpopts.IgnoreFields(measure.Result{}, "Spent")

func TestRunResumes(t *testing.T) {
	o := Options{Dir: t.TempDir(), Quick: true, Seed: 1, Workers: 2}
	first := finished(t, o)
	if first.Points != 6 || first.Kept != 0 {
		t.Errorf("%d points, %d kept, want 6 and none", first.Points, first.Kept)
	}
	again := finished(t, o)
	if again.Kept != 6 {
		t.Errorf("%d points kept of 6", again.Kept)
	}
	if diff := cmp.Diff(results(first), results(again)); diff != "" {
		t.Errorf("kept points differ: %s", diff)
	}
	// The full set has another number of drawn networks, and one more: those are taken.
	o.Quick = false
	if full := finished(t, o); full.Points != 9 || full.Kept != 3 {
		t.Errorf("full set: %d points, %d kept, want 9 and the 3 on the ring", full.Points, full.Kept)
	}
	o.Quick, o.Seed = true, 2
	if other := finished(t, o); other.Kept != 3 {
		t.Errorf("another seed: %d points kept, want the 3 that draw nothing", other.Kept)
	}
}

func TestResultsDoNotDependOnWorkers(t *testing.T) {
	one := finished(t, Options{Dir: t.TempDir(), Seed: 7, Workers: 1})
	many := finished(t, Options{Dir: t.TempDir(), Seed: 7, Workers: 4, Memory: 1})
	if diff := cmp.Diff(results(one), results(many), untimed); diff != "" {
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
	e.Quick.Networks = 4
	r, err := run(context.Background(), []papers.Experiment{e}, o)
	if err != nil || r.Kept != 3 {
		t.Errorf("another number of networks: %d kept, want 3; %v", r.Kept, err)
	}
	for _, other := range []Origin{{"weft 2", "a machine"}, {"weft 2", "another"}} {
		o.Origin = other
		if r := finished(t, o); r.Kept != 0 || r.Dropped == 0 {
			t.Errorf("%v: %d kept, %d dropped", other, r.Kept, r.Dropped)
		}
	}
	name := filepath.Join(o.Dir, pointsFile)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	torn := bytes.LastIndex(text, []byte(`{"key"`)) + 30
	if err := os.WriteFile(name, text[:torn], 0o644); err != nil {
		t.Fatal(err)
	}
	if r := finished(t, o); r.Kept != 5 {
		t.Errorf("a torn line: %d kept, want 5", r.Kept)
	}
	if r := finished(t, o); r.Kept != 6 {
		t.Errorf("after it was mended: %d kept, want 6", r.Kept)
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
		o.Real = []RealFabric{{"cluster", digest, testnet.Build(t, "ring:6,hosts=2")}}
		r, err := run(context.Background(), []papers.Experiment{e}, o)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := r.Outcomes[0].At("lash", "cluster"); !ok || got.Hosts != 12 {
			t.Errorf("%+v, %t", got, ok)
		}
		if want := 6 * i; r.Kept != want {
			t.Errorf("digest %s: %d points kept, want %d", digest, r.Kept, want)
		}
	}
}

// A definition without sense stops the run with its name.
func TestBadDefinition(t *testing.T) {
	e := tiny()
	e.Lines[0].Places = []claims.Place{{Label: "x", Spec: "tours:4x4", Quick: true}}
	_, err := run(context.Background(), []papers.Experiment{e}, Options{Dir: t.TempDir(), Quick: true})
	if err == nil || !strings.Contains(err.Error(), "lash on tours:4x4") {
		t.Error(err)
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
	seconds, points := r.Estimate()
	if points != 9 || seconds <= 0 || seconds > 60 {
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
