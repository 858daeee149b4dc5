package campaign_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/weft-fabric/weft/internal/sweep"
	"github.com/weft-fabric/weft/internal/sweep/campaign"
	"github.com/weft-fabric/weft/internal/sweep/meter"
	"github.com/weft-fabric/weft/internal/sweep/pool"
	"github.com/weft-fabric/weft/internal/sweep/results"
)

const spec = `
networks: [{spec: "random:switches=12,links={links},seed={seed}", links: [20, 24], seeds: 1..3}, "torus:3x3"]
engines: [updn, {engine: lash, contract: directed}, ftree]
measures: [lanes, {measure: bandwidth, patterns: 20}]
`

func plan(t *testing.T, spec string) *campaign.Plan {
	t.Helper()
	s, err := sweep.Read(strings.NewReader(spec), "SPEC.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	return campaign.NewPlan(s.Points, sweep.BuiltIn(), &meter.Meter{})
}

// here is a worker in this process, which counts the measures that it takes.
type here struct {
	meter.Meter
	taken *[]string
	stop  func() // called after each point
}

func (h *here) Take(ctx context.Context, p *sweep.Point) ([]results.Row, error) {
	defer h.stop()
	for i := range p.Measures {
		*h.taken = append(*h.taken, p.ID+" "+p.Measures[i].Key())
	}
	return h.Meter.Take(ctx, p)
}

func (*here) Close() error { return nil }

func options(dir, version string, taken *[]string, stop func()) campaign.Options {
	m := meter.Meter{Version: version, Machine: "m"}
	return campaign.Options{Dir: dir, Workers: 1, Memory: 1 << 30, Meter: &m, Start: func(int) (pool.Worker[sweep.Point, []results.Row], error) { return &here{m, taken, stop}, nil }}
}

// timeless compares rows but for what is different another time.
var timeless = cmpopts.IgnoreFields(results.Row{}, "Seconds", "RoutingSeconds", "Memory")

func run(t *testing.T, p *campaign.Plan, dir string) (*campaign.Summary, []string) {
	t.Helper()
	var taken []string
	s, err := p.Run(t.Context(), options(dir, "v1", &taken, func() {}))
	if err != nil {
		t.Fatal(err)
	}
	return s, taken
}

// However often a campaign is interrupted, every measure is taken once, and the results are
// those of a campaign that was not.
func TestInterruptedCampaignGoesOn(t *testing.T) {
	whole, all := run(t, plan(t, spec), t.TempDir())
	if len(whole.Rows) != 7*3*2 || len(all) != len(whole.Rows) {
		t.Fatalf("%d rows, %d measures taken", len(whole.Rows), len(all))
	}
	dir := t.TempDir()
	var taken []string
	for range 4 {
		ctx, stop := context.WithCancel(t.Context())
		n := 0
		_, err := plan(t, spec).Run(ctx, options(dir, "v1", &taken, func() {
			if n++; n == 3 {
				stop()
			}
		}))
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	s, rest := run(t, plan(t, spec), dir)
	if s.Kept == 0 || s.Kept == s.Points {
		t.Errorf("%d of %d points were kept", s.Kept, s.Points)
	}
	if d := cmp.Diff(whole.Rows, s.Rows, timeless); d != "" {
		t.Error(d)
	}
	// The points at hand when it was interrupted were begun again; no finished one was.
	finished := map[string]int{}
	for _, key := range append(taken, rest...) {
		finished[key]++
	}
	again := 0
	for _, n := range finished {
		again += n - 1
	}
	if len(finished) != len(all) || again > 4*2 {
		t.Errorf("%d measures, %d of them begun again", len(finished), again)
	}
	if _, none := run(t, plan(t, spec), dir); len(none) > 0 {
		t.Errorf("a finished campaign took %v", none)
	}
	back, err := results.ReadParquet(t.Context(), filepath.Join(dir, results.ParquetFile))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(s.Rows, back); d != "" {
		t.Error(d)
	}
}

// A SPEC that grew takes what is new, and of old points the new measures only.
func TestGrownSpecTakesWhatIsNew(t *testing.T) {
	dir := t.TempDir()
	run(t, plan(t, spec), dir)
	grown := strings.NewReplacer("links: [20, 24]", "links: [20, 22, 24]", "[lanes,", "[hops, lanes,").Replace(spec)
	s, taken := run(t, plan(t, grown), dir)
	if want := 3*3*3 + 7*3; len(taken) != want || len(s.Rows) != 10*3*3 {
		t.Errorf("%d measures taken, want %d; %d rows", len(taken), want, len(s.Rows))
	}
	// The smaller SPEC finds its own again, and says that there are others.
	s, taken = run(t, plan(t, spec), dir)
	if len(taken) != 0 || len(s.Rows) != 7*3*2 || s.Others != 10*3*3-7*3*2 {
		t.Errorf("%d measures taken, %d rows, %d others", len(taken), len(s.Rows), s.Others)
	}
}

func TestShardsAreTheWhole(t *testing.T) {
	whole, _ := run(t, plan(t, spec), t.TempDir())
	for _, n := range []int{1, 2, 5, 40} {
		var parts [][]results.Row
		var taken []string
		for i := 1; i <= n; i++ {
			s, mine := run(t, plan(t, spec).Shard(sweep.Shard{I: i, N: n}), t.TempDir())
			parts, taken = append(parts, s.Rows), append(taken, mine...)
		}
		rows, differ := results.Merge(parts...)
		if d := cmp.Diff(whole.Rows, rows, timeless); d != "" || len(differ) > 0 {
			t.Errorf("%d shards: %s, differences %v", n, d, differ)
		}
		slices.Sort(taken)
		if len(slices.Compact(taken)) != len(whole.Rows) {
			t.Errorf("%d shards took %d measures", n, len(taken))
		}
	}
}

// What this version broke at stays broken; another version tries again.
func TestBrokenPointsAreForAnotherVersion(t *testing.T) {
	dir := t.TempDir()
	l, err := results.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	p := plan(t, "{networks: ['torus:3x3'], engines: [updn], measures: [lanes]}")
	broken := results.Row{Point: p.Points[0].ID, Measure: "lanes", Status: results.Broken, Version: "v1"}
	if err := errors.Join(l.Append([]results.Row{broken}), l.Close()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		version string
		status  results.Status
		taken   int
	}{{"v1", results.Broken, 0}, {"v2", results.OK, 1}, {"v1", results.OK, 0}} {
		var taken []string
		s, err := p.Run(t.Context(), options(dir, c.version, &taken, func() {}))
		if err != nil || len(taken) != c.taken || len(s.Rows) != 1 || s.Rows[0].Status != c.status {
			t.Errorf("%s: took %v: %+v (%v)", c.version, taken, s.Rows, err)
		}
	}
}

// What needs much memory is taken alone, and p2sssp needs more than others.
func TestLargePoints(t *testing.T) {
	p := plan(t, "networks: ['torus:3x3']\nengines: [updn, p2sssp]\nmeasures: [lanes]")
	for i := range p.Sizes {
		p.Sizes[i].Bytes, p.Sizes[i].Pairs = 10, 100
	}
	for memory, want := range map[int64][2]bool{5: {true, true}, 50: {false, true}, 200: {false, false}} {
		jobs := p.Left(nil, "", memory)
		if got := [2]bool{jobs[0].Large, jobs[1].Large}; got != want {
			t.Errorf("%d bytes at hand: large are %v, want %v", memory, got, want)
		}
	}
}
