package congestion_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/loads"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

var rates = []fabric.Rate{{Width: 4, Speed: fabric.QDR}, {Width: 4, Speed: fabric.QDR}, {Width: 4, Speed: fabric.FDR10}, {Width: 4, Speed: fabric.HDR}, {}}

// anyTables is a small network with cables of many rates, hosts with one or two
// addresses, tables with some entries missing or wrong, and service levels that
// forbid some addresses.
func anyTables(t *rapid.T) *routing.Tables {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "wiring"), 1))
	var b fabric.Builder
	var switches []fabric.Ref
	ports := map[fabric.Ref]uint8{}
	cable := func(x, y fabric.Ref) {
		ports[x]++
		ports[y]++
		b.Cable(x, ports[x], y, ports[y], rates[r.IntN(len(rates))])
	}
	n := rapid.IntRange(1, 12).Draw(t, "switches")
	for i := range n {
		switches = append(switches, b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Ports: 60}, ""))
		if i > 0 {
			cable(switches[i], switches[r.IntN(i)])
		}
	}
	for range rapid.IntRange(0, 6).Draw(t, "more cables") {
		if x, y := r.IntN(n), r.IntN(n); x != y {
			cable(switches[x], switches[y])
		}
	}
	lmc := uint8(rapid.IntRange(0, 1).Draw(t, "LMC"))
	for i := range rapid.IntRange(2, 12).Draw(t, "hosts") {
		h := b.Node(fabric.Node{GUID: fabric.GUID(100 + i), Kind: fabric.Adapter, Ports: 1}, "")
		b.Port(h, 1, fabric.Port{LMC: lmc})
		cable(h, switches[r.IntN(n)])
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	fw, err := sssp.Finder{}.Paths(context.Background(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	lanes := routing.NewLanes(f, routing.LanePerSL(1))
	for range rapid.IntRange(0, 5).Draw(t, "broken entries") {
		lid := fabric.LID(1 + r.IntN(int(f.TopLID())))
		fw.Row(lid)[r.IntN(n)] = uint8(r.IntN(8))
		lanes.SLRow(lid)[r.IntN(n)] = routing.NoSL
	}
	return &routing.Tables{Fabric: f, Forwarding: fw, Lanes: lanes}
}

// Any flows on any tables: what is found is what the twin finds, and is right by
// itself.
func TestAnyFlows(t *testing.T) {
	var tables, walks int
	testnet.CheckCounted(t, func(t *rapid.T) {
		tab := anyTables(t)
		f := tab.Fabric
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "flows"), 1))
		var p traffic.Placement
		for range rapid.IntRange(2, 20).Draw(t, "ranks") {
			p = append(p, fabric.EndpointID(r.IntN(len(f.Endpoints()))))
		}
		var pairs fixed
		for range rapid.IntRange(1, 60).Draw(t, "pairs") {
			if from, to := r.IntN(len(p)), r.IntN(len(p)); from != to {
				pairs = append(pairs, traffic.Pair{From: int32(from), To: int32(to)})
			}
		}
		o := congestion.Options{
			Pattern: pairs, Placement: p, UniformRates: rapid.Bool().Draw(t, "uniform"),
			Model: rapid.SampledFrom([]congestion.Model{congestion.Bottleneck, congestion.MaxMin}).Draw(t, "model"),
			Tiers: loads.Trunks(f, loads.Levels(f, routing.HCA)),
		}
		got, err := congestion.Simulate(context.Background(), tab, o)
		w := twin{tab, ratesOf(f, p, o.UniformRates)}
		flows, load := w.phase(p, pairs)
		if len(flows) == 0 {
			if err == nil || !strings.Contains(err.Error(), "nothing crosses the network") {
				t.Fatalf("without flows: %v", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if got.Table {
			tables++
		} else {
			walks++
		}
		compare(t, got, o.Model, flows, load)
		compareTiers(t, got, w, flows, load)
		isFair(t, w, flows)
	}, func() {
		if tables == 0 || walks == 0 {
			t.Errorf("%d cases with a table of routes, %d without: both should be tried", tables, walks)
		}
	})
}

// compareTiers looks at each tier by itself: what its fullest channel leaves each flow.
func compareTiers(t *rapid.T, got *congestion.Result, w twin, flows []judged, load map[fabric.ChannelID]int) {
	f := w.tables.Fabric
	level := loads.Levels(f, routing.HCA)
	var names [][2]int
	for c := range fabric.ChannelID(f.Trunks()) {
		ch := f.Channel(c)
		if x := [2]int{int(level[ch.From]), int(level[ch.To])}; x[0] >= 0 && !slices.Contains(names, x) {
			names = append(names, x)
		}
	}
	slices.SortFunc(names, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	if len(names) != len(got.Tiers) {
		t.Fatalf("%d tiers, the twin has %d", len(got.Tiers), len(names))
	}
	for i, name := range names {
		n, sum := int64(0), 0.0
		for _, j := range flows {
			share := math.Inf(1)
			for _, c := range j.route {
				if ch := f.Channel(c); int(c) < f.Trunks() && int(level[ch.From]) == name[0] && int(level[ch.To]) == name[1] {
					share = min(share, w.rate(c)/float64(load[c])/j.full)
				}
			}
			if !math.IsInf(share, 1) {
				n++
				sum += min(1, share)
			}
		}
		if g := got.Tiers[i]; g.Flows != n || n > 0 && math.Abs(g.Share-sum/float64(n)) > 1e-9 {
			t.Fatalf("tier %v: %+v, the twin has %d flows, %g", name, g, n, sum)
		}
	}
}

// ratesOf is the rate of every channel, of the fastest that counts: trunks and
// those of the endpoints that take part. Unknown ones are as the commonest.
func ratesOf(f *fabric.Fabric, p traffic.Placement, uniform bool) func(fabric.ChannelID) float64 {
	matters := map[fabric.ChannelID]bool{}
	for c := range f.Trunks() {
		matters[fabric.ChannelID(c)] = true
	}
	for _, e := range p {
		if ep := f.Endpoint(e); ep.Inject != fabric.None {
			matters[ep.Inject], matters[ep.Deliver] = true, true
		}
	}
	count := map[float64]int{}
	top, common := 0.0, 0.0
	for c := range matters {
		if m := float64(f.Channel(c).Rate.Mbps()); m > 0 {
			count[m]++
			top = max(top, m)
		}
	}
	for m, n := range count {
		if n > count[common] || n == count[common] && m > common {
			common = m
		}
	}
	return func(c fabric.ChannelID) float64 {
		m := float64(f.Channel(c).Rate.Mbps())
		switch {
		case uniform || top == 0:
			return 1
		case m == 0:
			return common / top
		}
		return m / top
	}
}

func compare(t *rapid.T, got *congestion.Result, model congestion.Model, flows []judged, load map[fabric.ChannelID]int) {
	sum, full, lost, hops := 0.0, 0.0, int64(0), 0
	worst, slowest, ideal := math.Inf(1), 0.0, 0.0
	congested := map[int]int64{}
	for _, j := range flows {
		bandwidth := j.bottleneck
		if model == congestion.MaxMin {
			bandwidth = j.maxmin
		}
		full += j.full
		if j.route == nil {
			lost++
			slowest = math.Inf(1)
			continue
		}
		sum += bandwidth
		worst = min(worst, bandwidth/j.full)
		slowest, ideal = max(slowest, 1/bandwidth), max(ideal, 1/j.full)
		congested[j.congestion]++
		hops += len(j.route)
	}
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-6 {
			t.Fatalf("%s is %g, the twin has %g", what, got, want)
		}
	}
	near("Lambda", got.Lambda, sum/full)
	near("the worst flow", min(1e9, got.Worst.Bandwidth), min(1e9, worst))
	near("the time", min(1e9, got.Time), min(1e9, slowest))
	near("the ideal time", got.Ideal, ideal)
	if got.Lost != lost || got.Flows != int64(len(flows))-lost || (lost == 0) != (len(got.Losses) == 0) {
		t.Fatalf("%d flows, %d lost (%v), the twin has %d and %d", got.Flows, got.Lost, got.Losses, int64(len(flows))-lost, lost)
	}
	for m, n := range got.Congestion {
		if n != congested[m] {
			t.Fatalf("%d flows see %d at most, the twin has %d", n, m, congested[m])
		}
	}
	total, most := uint64(0), 0
	for c, n := range got.Most {
		if load[fabric.ChannelID(c)] != int(n) || got.Sum[c] != n {
			t.Fatalf("channel %d has %g flows, in all %g, the twin has %d", c, n, got.Sum[c], load[fabric.ChannelID(c)])
		}
		total += uint64(got.Sum[c])
		most = max(most, int(n))
	}
	if total != uint64(hops) || got.MaxCongestion != most {
		t.Fatalf("loads add up to %d, routes to %d; most %d, %d", total, hops, got.MaxCongestion, most)
	}
	binned := int64(0)
	for _, n := range got.Bandwidth {
		binned += n
	}
	if binned != int64(len(flows)) {
		t.Fatalf("%d of %d flows in the histogram of bandwidth", binned, len(flows))
	}
}

// isFair checks what defines max-min fairness: no channel gives more than it has,
// and every flow has a channel that is full and on which no flow has more.
func isFair(t *rapid.T, w twin, flows []judged) {
	used, top := map[fabric.ChannelID]float64{}, map[fabric.ChannelID]float64{}
	for _, j := range flows {
		for _, c := range j.route {
			used[c] += j.maxmin
			top[c] = max(top[c], j.maxmin)
		}
	}
	for _, j := range flows {
		stopped := j.route == nil
		for _, c := range j.route {
			if used[c] > w.rate(c)+1e-6 {
				t.Fatalf("channel %d gives %g of %g", c, used[c], w.rate(c))
			}
			stopped = stopped || used[c] > w.rate(c)-1e-6 && j.maxmin > top[c]-1e-6
		}
		if !stopped {
			t.Fatalf("nothing stops the flow over %v at %g", j.route, j.maxmin)
		}
		if j.route != nil && j.maxmin < j.bottleneck-1e-6 {
			t.Fatalf("max-min gives %g, less than the bottleneck's share %g", j.maxmin, j.bottleneck)
		}
	}
}

// Same tables, same options, same result, bit for bit, on any number of cores.
func TestSameOnAnyCores(t *testing.T) {
	tables := routed.By(t, "dragonfly:p=2", "sssp")
	for _, spec := range []string{"bisect", "shifts", "incast:n=5", "uniform+ring"} {
		for _, model := range []congestion.Model{congestion.Bottleneck, congestion.MaxMin} {
			o := congestion.Options{Pattern: pattern(t, spec), Placement: hosts(t, tables.Fabric), Model: model, Seed: 3, Precision: .004}
			var results [3]*congestion.Result
			for i, cores := range []int{1, 2, 7} {
				before := runtime.GOMAXPROCS(cores)
				results[i] = simulate(t, tables, o)
				runtime.GOMAXPROCS(before)
			}
			if !reflect.DeepEqual(results[0], results[1]) || !reflect.DeepEqual(results[0], results[2]) {
				t.Errorf("%s, %s: differs between 1, 2 and 7 cores", spec, model)
			}
		}
	}
}

// A run of many phases is all its phases, and the seed matters to random patterns.
func TestRunsAndSeeds(t *testing.T) {
	tables := routed.By(t, "torus:3x3,hosts=2", "dfsssp")
	o := congestion.Options{Pattern: pattern(t, "bisect"), Placement: hosts(t, tables.Fabric), Seed: 1, Runs: 300}
	one := simulate(t, tables, o)
	o.Seed = 2
	if other := simulate(t, tables, o); other.Lambda == one.Lambda || one.Runs != 300 || other.Runs != 300 {
		t.Errorf("%d runs give %g, %d runs with another seed %g", one.Runs, one.Lambda, other.Runs, other.Lambda)
	}
	o.Runs, o.Precision = 0, .002
	if r := simulate(t, tables, o); r.StdErr > .002 || r.Runs%256 != 0 {
		t.Errorf("stopped at ± %g after %d runs", r.StdErr, r.Runs)
	}
	o.Runs = 10
	if r := simulate(t, tables, o); r.Runs != 10 || r.StdErr < .002 {
		t.Errorf("stopped at ± %g after %d runs", r.StdErr, r.Runs)
	}
	o.Pattern = pattern(t, "shifts")
	all := simulate(t, tables, o)
	if all.Runs != 1 || all.Phases != 17 || all.Flows != 18*17 || all.StdErr != 0 {
		t.Errorf("%+v", all)
	}
	time := 0.0
	for k := 1; k < 18; k++ {
		o.Pattern = fixed(pattern(t, "shifts").Append(nil, 18, k-1, nil))
		time += simulate(t, tables, o).Time
	}
	if all.Time != time || all.Slowdown() != time/17 {
		t.Errorf("all to all takes %g, its phases %g", all.Time, time)
	}
}

// However many flows are walked at a time, what is found is the same.
func TestWalkedAhead(t *testing.T) {
	tables := routed.By(t, "xgft:m=8x12,w=8x8,hosts=8", "minhop")
	for _, kind := range []string{"bisect", "shifts:phases=20", "bisect+bisect"} {
		o := congestion.Options{Pattern: pattern(t, kind), Placement: hosts(t, tables.Fabric), Runs: 20}
		at := func(flows int) *congestion.Result {
			defer congestion.Ahead(congestion.Ahead(flows))
			r := simulate(t, tables, o)
			if r.Table {
				t.Fatalf("%s: routes are looked up in a table", kind)
			}
			return r
		}
		want := at(1 << 30)
		for _, flows := range []int{1, 2000} {
			if got := at(flows); !reflect.DeepEqual(want, got) {
				t.Errorf("%s, %d flows at a time: %+v, want %+v", kind, flows, got, want)
			}
		}
	}
}

// The length of records is guessed from some destinations; one that is farther
// than these is not cut short.
func TestLongRoutes(t *testing.T) {
	tables := routed.By(t, "ring:70,hosts=1", "minhop")
	f, p := tables.Fabric, hosts(t, tables.Fabric)
	far := f.Endpoint(p[1])
	for s := range fabric.NodeID(f.Switches()) {
		for c, end := f.TrunksFrom(s); c < end && s != far.Switch; c++ {
			if f.Heads()[c] == (s+1)%70 { // the same way round from everywhere
				tables.Forwarding.Row(far.LID)[s] = f.Channel(c).FromPort
			}
		}
	}
	w := twin{tables: tables}
	for kind, table := range map[string]bool{"alltoall": true, "shift:k=69": false} {
		to := pattern(t, kind)
		r := simulate(t, tables, congestion.Options{Pattern: to, Placement: p})
		want := make([]float64, len(f.Channels()))
		for _, pair := range to.Append(nil, len(p), 0, nil) {
			for _, c := range w.route(p[pair.From], p[pair.To]) {
				want[c]++
			}
		}
		if r.Table != table || !slices.Equal(want, r.Sum) {
			t.Errorf("%s: table %t, loads %v, want %v", kind, r.Table, r.Sum, want)
		}
	}
	if loads := congestion.Count(f, tables.Forwarding, routing.HCA); loads.MaxHops != 69 {
		t.Errorf("the longest route has %d hops", loads.MaxHops)
	}
}

// sent is pairs with bytes: from, to, how many.
func sent(list ...[3]int64) (f fixed) {
	for _, p := range list {
		f = append(f, traffic.Pair{From: int32(p[0]), To: int32(p[1]), Bytes: p[2]})
	}
	return f
}

// Bytes make the slow flow of a phase.
func TestBytes(t *testing.T) {
	tables, p := drawing(t, []string{"AB"}, []string{"1A", "2A", "3B", "4B"}, []string{"1AB3", "2AB4", "3BA1"})
	o := congestion.Options{Placement: p, Pattern: sent([3]int64{0, 2, 1000}, [3]int64{1, 3, 10}, [3]int64{2, 0, 5000})}
	if r := simulate(t, tables, o); r.Time != 5000 || r.Ideal != 5000 || r.Lambda != 2./3 {
		t.Errorf("time %g, ideal %g, Λ %g", r.Time, r.Ideal, r.Lambda)
	}
	o.Pattern = sent([3]int64{0, 2, 4000}, [3]int64{1, 3, 10}, [3]int64{2, 0, 5000})
	if r := simulate(t, tables, o); r.Slowdown() != 1.6 {
		t.Errorf("slowdown %g", r.Slowdown())
	}
}

// Nothing is allocated run by run.
func TestRunsDoNotAllocate(t *testing.T) {
	tables := routed.By(t, "torus:4x4,hosts=4", "dfsssp")
	for _, model := range []congestion.Model{congestion.Bottleneck, congestion.MaxMin} {
		o := congestion.Options{Pattern: pattern(t, "bisect"), Placement: hosts(t, tables.Fabric), Model: model}
		few, many := 512, 512+2560
		allocs := func(runs int) float64 {
			o.Runs = runs
			return testing.AllocsPerRun(1, func() { simulate(t, tables, o) })
		}
		// Ten rounds more may start goroutines anew, and find worse flows.
		if more := allocs(many) - allocs(few); more > 10*20 {
			t.Errorf("%s: %d runs more allocate %g times", model, many-few, more)
		}
	}
}

func TestRefusals(t *testing.T) {
	tables, p := drawing(t, []string{"AB"}, []string{"1A", "2B"}, []string{"1AB2", "2BA1"})
	for _, c := range []struct {
		want string
		o    congestion.Options
	}{
		{"the placement is empty", congestion.Options{Pattern: pattern(t, "bisect")}},
		{"rank 1 is on endpoint 99; the fabric has 4", congestion.Options{Pattern: pattern(t, "bisect"), Placement: traffic.Placement{0, 99}}},
		{"it takes two to talk", congestion.Options{Pattern: pattern(t, "ring"), Placement: p[:1]}},
		{"neither can be negative", congestion.Options{Pattern: pattern(t, "bisect"), Placement: p, Runs: -1}},
		{"nothing crosses the network", congestion.Options{Pattern: pattern(t, "ring"), Placement: traffic.Placement{p[0], p[0]}}},
		{"power of two", congestion.Options{Pattern: pattern(t, "reverse"), Placement: traffic.Placement{p[0], p[1], p[0]}}},
	} {
		if _, err := congestion.Simulate(context.Background(), tables, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := congestion.Simulate(ctx, tables, congestion.Options{Pattern: pattern(t, "bisect"), Placement: p}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Pairs without a route are counted each time, listed once, and get nothing.
func TestLosses(t *testing.T) {
	tables, p := drawing(t, []string{"AB"}, []string{"1A", "2B"}, []string{"1AB2"})
	r := simulate(t, tables, congestion.Options{Pattern: pattern(t, "bisect"), Placement: p, Runs: 1000, Seed: 5})
	if r.Lost+r.Flows != 1000 || r.Lost < 400 || r.Lost > 600 || math.Abs(r.Lambda-float64(r.Flows)/1000) > 1e-9 {
		t.Errorf("%d lost of %d, Λ %g", r.Lost, r.Lost+r.Flows, r.Lambda)
	}
	if want := (congestion.Lost{From: p[1], To: p[0]}); len(r.Losses) != 1 || r.Losses[0] != want {
		t.Errorf("lost %v, want %v", r.Losses, want)
	}
	if r.Bandwidth[0] != r.Lost || !math.IsInf(r.Time, 1) {
		t.Errorf("%v, time %g", r.Bandwidth, r.Time)
	}
}
