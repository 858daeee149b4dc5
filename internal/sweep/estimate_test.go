package sweep_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/sweep"
	"github.com/weft-fabric/weft/internal/sweep/measures"
)

// made is samples of an engine that takes ns for each entry of the tables, times a power
// of the cables of a switch, on networks of several kinds.
func made(name string, ns, power float64) (all []sweep.Sample) {
	for _, switches := range []int{8, 32, 128, 512} {
		for _, cables := range []int{2, 3, 6} {
			s := sizeOf(switches, cables)
			all = append(all, sweep.OfRouting(name, "vls=8,contract=directed", fmt.Sprint(switches, cables), s, takes(s, ns, power)))
		}
	}
	return all
}

func sizeOf(switches, cables int) sweep.Size {
	return sweep.Size{Switches: switches, Hosts: 4 * switches, Cables: cables * switches, LIDs: 5*switches + 1}
}

func takes(s sweep.Size, ns, power float64) float64 {
	return ns * 1e-9 * float64(s.Switches*s.LIDs) * math.Pow(float64(s.Cables)/float64(s.Switches), power)
}

func point(engine, contract string, measures ...measures.Measure) *sweep.Point {
	return &sweep.Point{Engine: sweep.Engine{Name: engine, Contract: contract}, Measures: measures}
}

func TestEstimatesFindTheLaw(t *testing.T) {
	samples := append(made("quick", 50, 0), made("slow", 5000, 1.5)...)
	e := sweep.Fit(samples)
	for _, c := range []struct {
		engine, contract string
		s                sweep.Size
		want             float64
	}{
		{"quick", "directed", sizeOf(1024, 4), takes(sizeOf(1024, 4), 50, 0)},
		{"quick", "", sizeOf(20, 4), takes(sizeOf(20, 4), 50, 0)}, // the contract is not known, the engine is
		{"slow", "directed", sizeOf(1024, 4), takes(sizeOf(1024, 4), 5000, 1.5)},
	} {
		if got := e.Point(point(c.engine, c.contract), c.s); math.Abs(math.Log(got/c.want)) > 0.1 {
			t.Errorf("%s: %g s, want %g", c.engine, got, c.want)
		}
	}
	if got := e.Point(point("unheard of", ""), sizeOf(100, 4)); got < takes(sizeOf(100, 4), 50, 0) || got > takes(sizeOf(100, 4), 5000, 1.5) {
		t.Errorf("an engine without samples: %g s", got)
	}
	if q := sweep.Quality(samples); q.Half > 1.05 || q.Ninety > 1.2 || math.Abs(q.Sum-1) > 0.1 {
		t.Errorf("samples without noise are foretold within %+v", q)
	}
}

// Whatever the samples, what is expected grows with the work, and the sum is as it was.
func TestFewSamplesDoNotTurnTheLine(t *testing.T) {
	small, large := sizeOf(10, 3), sizeOf(1000, 3)
	e := sweep.Fit([]sweep.Sample{sweep.OfRouting("e", "", "a", small, 0.5)})
	if got := e.Point(point("e", ""), small); math.Abs(got-0.5) > 0.01 {
		t.Errorf("the only sample is 0.5 s, it is foretold as %g", got)
	}
	if got := e.Point(point("e", ""), large); got < 100 {
		t.Errorf("ten thousand times the work takes %g s", got)
	}
}

// What takes long counts in sums: the mean is foretold, and not the middle.
func TestEstimatesAddUp(t *testing.T) {
	s := sizeOf(100, 3)
	e := sweep.Fit([]sweep.Sample{sweep.OfRouting("e", "", "a", s, 1), sweep.OfRouting("e", "", "b", s, 99)})
	if got := e.Point(point("e", ""), s); math.Abs(got-50) > 0.1 {
		t.Errorf("points of 1 s and 99 s are foretold as %g s each", got)
	}
}

func TestMeasuresCost(t *testing.T) {
	m := measures.Parse("bandwidth", "pattern=bisect,patterns=100")
	s := sizeOf(100, 3)
	var samples []sweep.Sample
	for i, patterns := range []int{10, 100, 1000} {
		of := measures.Parse("bandwidth", fmt.Sprintf("pattern=bisect,patterns=%d", patterns))
		samples = append(samples, sweep.OfMeasure(&of, fmt.Sprint(i), s, 1e-6*float64(patterns*s.Hosts)))
	}
	e := sweep.Fit(samples)
	if got, want := e.Point(point("e", "", m), s), 1e-6*float64(100*s.Hosts); math.Abs(math.Log(got/want)) > 0.1 {
		t.Errorf("%g s, want %g", got, want)
	}
}

// Packets are in the built-in figures: more for more hosts, a longer time and a higher load;
// what they accept and their latency is of one run, and throughput of many.
func TestPacketsCost(t *testing.T) {
	e, s := sweep.BuiltIn(), sizeOf(64, 3)
	of := func(names ...string) float64 {
		var all []measures.Measure
		for _, n := range names {
			name, settings, _ := strings.Cut(n, " ")
			all = append(all, measures.Parse(name, settings))
		}
		return e.Point(point("updn", "", all...), s) - e.Point(point("updn", ""), s)
	}
	usual := of("accepted load=0.5,time=0")
	if usual < 0.01 || usual > 100 {
		t.Errorf("a load: %g s", usual)
	}
	if both := of("accepted load=0.5,time=0", "latency load=0.5,time=0"); both != usual {
		t.Errorf("with the latency of the same run: %g s, without %g", both, usual)
	}
	if two := of("accepted load=0.5,time=0", "latency load=0.4,time=0"); two < 1.5*usual {
		t.Errorf("two runs: %g s, one %g", two, usual)
	}
	for what, less := range map[string]float64{"a lower load": of("accepted load=0.1,time=0"), "less time": of("accepted load=0.5,time=20000")} {
		if less >= usual {
			t.Errorf("%s: %g s, the usual %g", what, less, usual)
		}
	}
	if all := of("throughput time=0"); all < 2*usual {
		t.Errorf("throughput, many loads: %g s, one load %g", all, usual)
	}
}

// Packets until they have settled take what they took on such networks, a tenth of a second and
// less for a load; without samples of them they are like those of ns.
func TestSettledPacketsCost(t *testing.T) {
	s := sweep.Size{Switches: 64, Hosts: 64, Cables: 128, LIDs: 129}
	settled, delivered := measures.Parse("settled", "load=0.3,window=50000"), measures.Parse("delivered", "window=50000")
	latency := measures.Parse("settled-latency", "load=0.3,window=50000")
	of := func(e *sweep.Estimates, all ...measures.Measure) float64 {
		return e.Point(point("none", "", all...), s)
	}
	e := sweep.BuiltIn()
	one := of(e, settled)
	if one < 0.02 || one > 0.1 || of(e, settled, latency) != one {
		t.Errorf("a load takes %g s, with the latency of the same run %g", one, of(e, settled, latency))
	}
	if many := of(e, delivered); many < 2*one || many > 20*one {
		t.Errorf("the load that is delivered takes %g s, one %g", many, one)
	}
	m := measures.Parse("accepted", "load=0.3,time=0")
	if of(sweep.Fit([]sweep.Sample{sweep.OfMeasure(&m, "a", s, 1)}), settled) <= 0 {
		t.Error("nothing is known of packets of time units where those of ns are known")
	}
}

func TestEstimatesComeBackAsTheyWent(t *testing.T) {
	var first, second strings.Builder
	e := sweep.Fit(made("e", 100, 1))
	if err := e.Write(&first); err != nil {
		t.Fatal(err)
	}
	back, err := sweep.ReadEstimates(strings.NewReader(first.String()), "x.csv")
	if err != nil {
		t.Fatal(err)
	}
	if err := back.Write(&second); err != nil || first.String() != second.String() || !strings.Contains(first.String(), "e directed,") {
		t.Errorf("%v\n%s\n%s", err, first.String(), second.String())
	}
	for _, bad := range []string{"a,b\n", "part,constant,work,density,samples,half_within\ne,1,2,x,4,5\n", "part,constant,work,density,samples,half_within\ne,1,2,NaN,4,5\n"} {
		if _, err := sweep.ReadEstimates(strings.NewReader(bad), "x.csv"); err == nil || !strings.HasPrefix(err.Error(), "x.csv") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// The built-in figures know every engine that makes tables on networks as they are, and
// foretell no nonsense.
func TestBuiltInEstimates(t *testing.T) {
	e := sweep.BuiltIn()
	s := sweep.Size{Switches: 128, Hosts: 2048, Cables: 256, LIDs: 2177}
	for _, engine := range []string{"minhop", "lash", "dfsssp", "nue", "weave", "another"} {
		m := measures.Parse("bandwidth", "patterns=1000")
		if got := e.Point(point(engine, "directed", m), s); got < 0.02 || got > 20 {
			t.Errorf("%s: %g s", engine, got)
		}
	}
}

func TestDealIsFairAndWhole(t *testing.T) {
	var points []sweep.Point
	var costs []float64
	total := 0.0
	for i := range 1000 {
		points = append(points, sweep.Point{ID: fmt.Sprintf("%04d", i)})
		costs = append(costs, float64(1+i%17))
		total += costs[i]
	}
	shares := make([]float64, 16)
	for i, shard := range sweep.Deal(points, costs, 16) {
		shares[shard] += costs[i]
	}
	for i, share := range shares {
		if share < total/16-17 || share > total/16+17 {
			t.Errorf("shard %d has %g of %g", i, share, total)
		}
	}
	// The order of the SPEC does not matter.
	backwards := make([]sweep.Point, len(points))
	turned := make([]float64, len(points))
	for i := range points {
		backwards[len(points)-1-i], turned[len(points)-1-i] = points[i], costs[i]
	}
	there, back := sweep.Deal(points, costs, 7), sweep.Deal(backwards, turned, 7)
	for i := range points {
		if there[i] != back[len(points)-1-i] {
			t.Fatalf("point %d is dealt to %d and, in another order, to %d", i, there[i], back[len(points)-1-i])
		}
	}
}

// One long point is a shard by itself.
func TestDealGoesByCost(t *testing.T) {
	points, costs := make([]sweep.Point, 101), make([]float64, 101)
	for i := range points {
		points[i].ID, costs[i] = fmt.Sprintf("%03d", i), 1
	}
	costs[40] = 100
	shards := sweep.Deal(points, costs, 2)
	for i := range points {
		if i != 40 && shards[i] == shards[40] {
			t.Fatalf("point %d is in the shard of the long one", i)
		}
	}
}

func TestAmounts(t *testing.T) {
	for amount, want := range map[sweep.Amount]int{"": 0, "12": 12, "5%": 2, "4%": 1, "0.5%": 0, "99.9%": 30} {
		if got := amount.Of(30); got != want {
			t.Errorf("%q of 30 is %d, want %d", amount, got, want)
		}
	}
}

func TestParseShard(t *testing.T) {
	if s, err := sweep.ParseShard("3/16"); err != nil || s != (sweep.Shard{I: 3, N: 16}) || s.String() != "3/16" {
		t.Errorf("%v, %v", s, err)
	}
	for _, bad := range []string{"", "3", "0/4", "5/4", "-1/4", "a/b", "1/99999999", "1/2/3"} {
		if s, err := sweep.ParseShard(bad); err == nil {
			t.Errorf("%q is %v", bad, s)
		}
	}
}
