package weave_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/nue"
	"github.com/weft-fabric/weft/internal/engine/paths/balance"
	"github.com/weft-fabric/weft/internal/engine/paths/fattree"
	"github.com/weft-fabric/weft/internal/engine/paths/shortest"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/engine/weave"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// The paths that the routers are given, as in the table of engines.
var (
	balanced = []routing.PathFinder{&once{PathFinder: balance.Finder{Seed: 1}}, &once{PathFinder: balance.Finder{Seed: 1, Regular: true}}}
	lowest   = shortest.Finder{Pick: shortest.Lowest}
	honored  = weave.Engine{Paths: append(balanced[:2:2], lowest)}
	anySL    = weave.Any{Paths: balanced}
)

// once finds the paths of a network once for all routers, as those of the table of engines
// share them: they take longer than all that is tried with them here.
type once struct {
	routing.PathFinder
	mu   sync.Mutex
	made map[*fabric.Fabric]func() (*routing.Forwarding, error)
}

func (o *once) Paths(_ context.Context, f *fabric.Fabric, _ routing.Progress) (*routing.Forwarding, error) {
	o.mu.Lock()
	if o.made == nil {
		o.made = map[*fabric.Fabric]func() (*routing.Forwarding, error){}
	}
	if o.made[f] == nil {
		o.made[f] = sync.OnceValues(func() (*routing.Forwarding, error) { return o.PathFinder.Paths(context.Background(), f, nil) })
	}
	paths := o.made[f]
	o.mu.Unlock()
	return paths()
}

// verify judges tables and says what is wrong with them.
func verify(f *fabric.Fabric, tables *routing.Tables, c routing.Contract, b routing.Budget) (*deadlock.Verdict, error) {
	v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Contract: c, Scope: b.Scope})
	switch {
	case err != nil:
		return nil, err
	case !v.Free():
		return nil, fmt.Errorf("a credit loop of %d steps", len(v.Cycle))
	case v.Loops > 0 || v.Dropped > 0 || v.Stray > 0 && len(f.Parts()) == 1:
		return nil, fmt.Errorf("%d loops, %d dropped, %d stray", v.Loops, v.Dropped, v.Stray)
	case v.VLs > tables.Lanes.Needed || tables.Lanes.Needed > b.VLs:
		return nil, fmt.Errorf("%d lanes in use, %d said to be needed, %d offered", v.VLs, tables.Lanes.Needed, b.VLs)
	case v.Unreachable != testnet.Apart(f, b.Scope.Includes):
		return nil, fmt.Errorf("%d pairs without a route, %d lie apart", v.Unreachable, testnet.Apart(f, b.Scope.Includes))
	}
	return v, nil
}

// route routes and has the tables judged.
func route(t testing.TB, f *fabric.Fabric, r routing.Engine, c routing.Contract, b routing.Budget) (*routing.Tables, *deadlock.Verdict) {
	t.Helper()
	b.Contract = c
	tables, err := r.Route(context.Background(), f, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := verify(f, tables, c, b)
	if err != nil {
		t.Fatal(err)
	}
	return tables, v
}

// bisection is the effective bisection bandwidth, from few runs.
func bisection(t testing.TB, tables *routing.Tables) float64 {
	t.Helper()
	f := tables.Fabric
	placement, err := traffic.Place("all", f, routing.HCA.Endpoints(f), 1)
	if err != nil {
		t.Fatal(err)
	}
	pattern, err := traffic.Parse("bisect")
	if err != nil {
		t.Fatal(err)
	}
	r, err := congestion.Simulate(context.Background(), tables, congestion.Options{Pattern: pattern, Placement: placement, UniformRates: true, Runs: 100})
	if err != nil {
		t.Fatal(err)
	}
	return r.Lambda
}

// The networks that OpenSM's figures are known for, as far as they take little
// time, with the lanes that weave may take there.
var reference = []struct {
	spec  string
	lanes int
	slow  bool // only with WEFT_THOROUGH
	torus bool // long rings: what no single service level can route on shortest paths
}{
	{spec: "dragonfly:p=2", lanes: 2},
	{spec: "dragonfly:p=3", lanes: 2},
	{spec: "dragonfly:p=4", lanes: 2, slow: true},
	{spec: "xgft:m=36,w=18,hosts=18", lanes: 1},
	{spec: "deimos", lanes: 2},
	{spec: "torus:4x4x4,hosts=2", lanes: 2},
	{spec: "torus:6x5x5,hosts=7", lanes: 3, slow: true},
	{spec: "torus:8x8,hosts=2", lanes: 3, torus: true},
	{spec: "random:switches=64,links=128,hosts=16,seed=1", lanes: 2},
	{spec: "random:switches=128,links=256,hosts=16,seed=1", lanes: 3, slow: true},
	{spec: "random:switches=128,links=1024,hosts=16,seed=1", lanes: 2, slow: true},
	{spec: "kautz:b=5,n=3,hosts=7", lanes: 2, slow: true},
	{spec: "slimfly:q=5,hosts=7", lanes: 2},
	{spec: "oft:k=4", lanes: 2},
	{spec: "dragonfly:p=2,global=palmtree", lanes: 2},
	{spec: "dragonfly:p=2,global=random,seed=3", lanes: 2},
}

// weave keeps to these lanes, to 15 service levels and within a tenth of the largest
// load of its paths. weave-any is proven under contract any, within a tenth of that
// load too, but for long rings, and better than Nue on one lane everywhere.
func TestReference(t *testing.T) {
	for i, n := range reference {
		t.Run(n.spec, func(t *testing.T) {
			if n.slow && os.Getenv("WEFT_THOROUGH") == "" {
				t.Skip("takes seconds: set WEFT_THOROUGH")
			}
			if i%testnet.Of(1, 4) != 0 {
				testnet.OnlyWhole(t)
			}
			t.Parallel()
			f := testnet.Build(t, n.spec)
			paths, err := balanced[0].Paths(context.Background(), f, nil)
			if err != nil {
				t.Fatal(err)
			}
			before := congestion.Count(f, paths, routing.HCA).Max
			b := routing.Budget{VLs: routing.DefaultVLs, Scope: routing.Adapters}

			for _, contract := range []routing.Contract{routing.Honored, routing.Directed} {
				tables, v := route(t, f, honored, contract, b)
				load := congestion.Count(f, tables.Forwarding, routing.HCA)
				t.Logf("weave, %s: %d lanes, %d service levels, load %d of %d", contract, tables.Lanes.Needed, v.SLs, load.Max, before)
				if tables.Lanes.Needed > n.lanes || v.SLs > 15 || load.Max*10 > before*11 {
					t.Errorf("weave, %s: %d lanes, %d service levels and a load of %d; balance's is %d", contract, tables.Lanes.Needed, v.SLs, load.Max, before)
				}
			}

			tables, _ := route(t, f, anySL, routing.Any, b)
			load := congestion.Count(f, tables.Forwarding, routing.HCA)
			one, _ := route(t, f, nue.Engine{}, routing.Any, routing.Budget{VLs: 1, Scope: b.Scope})
			nues := congestion.Count(f, one.Forwarding, routing.HCA).Max
			t.Logf("weave-any: %d lanes, load %d; nue's on one lane %d", tables.Lanes.Needed, load.Max, nues)
			if got, least := bisection(t, tables), bisection(t, one); got < least*.99 {
				t.Errorf("weave-any has a bisection bandwidth of %.3f, nue on one lane %.3f", got, least)
			}
			if load.Max > nues || !n.torus && load.Max*10 > before*11 {
				t.Errorf("weave-any has a load of %d; balance's is %d, nue's on one lane %d", load.Max, before, nues)
			}
		})
	}
}

// One lane and one service level are enough on real fat trees, though the way to
// aggregation nodes on spines goes down and up again, and cost at most 2 % of the
// largest load or bandwidth.
func TestRealFabrics(t *testing.T) {
	names := []string{"psmn-x5-2020", "topograph-ndr-dgx-2025"}
	if os.Getenv("WEFT_THOROUGH") != "" {
		names = append(names, "kalcher-stage-2014")
	}
	for _, name := range testnet.First(names, 1) {
		f := testnet.Dump(t, name)
		paths, err := balanced[0].Paths(context.Background(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		before := congestion.Count(f, paths, routing.HCA).Max
		for _, r := range []routing.Engine{honored, anySL} {
			tables, _ := route(t, f, r, routing.Any, routing.Budget{VLs: 8, Scope: routing.Adapters})
			if got, want := bisection(t, tables), bisection(t, &routing.Tables{Fabric: f, Forwarding: paths, Lanes: tables.Lanes}); got < want*.98 {
				t.Errorf("%s: %T has a bisection bandwidth of %.3f, balance %.3f", name, r, got, want)
			}
			if load := congestion.Count(f, tables.Forwarding, routing.HCA).Max; tables.Lanes.Needed > 1 || load*100 > before*102 {
				t.Errorf("%s: %T takes %d lanes, and a load of %d; balance's is %d", name, r, tables.Lanes.Needed, load, before)
			}
		}
	}
}

var networks = []string{
	"ring:n=3", "ring:n=5", "ring:n=12,hosts=2", "mesh:4x4", "torus:3x3", "torus:5x6,hosts=3", "torus:8x8", "hypercube:n=4",
	"dragonfly:p=2", "karytree:k=3,n=3", "random:switches=32,links=64,hosts=2,seed=7", "random:switches=24,links=90,hosts=1,seed=3",
}

// weave-any never fails, whatever the lanes, while cables and switches fail until
// the network has fallen apart.
func TestAnyNeverFails(t *testing.T) {
	for i, spec := range testnet.First(networks, 5) {
		rng := rand.New(rand.NewPCG(1, uint64(i)))
		f := testnet.Build(t, spec)
		for round := 0; round < 5 && f.Trunks() > 0; round++ {
			for _, vls := range []int{1, 2, 8} {
				scope := routing.Scope(round % 3)
				r := weave.Any{Paths: []routing.PathFinder{sssp.Finder{}}}
				tables, err := r.Route(context.Background(), f, routing.Budget{VLs: vls, Scope: scope}, nil)
				if err == nil {
					_, err = verify(f, tables, routing.Any, routing.Budget{VLs: vls, Scope: scope})
				}
				if err != nil {
					t.Errorf("%s, round %d, scope %s, %d lanes: %v", spec, round, scope, vls, err)
				}
			}
			var cables []fabric.ChannelID
			for range 1 + f.Trunks()/12 {
				cables = append(cables, fabric.ChannelID(rng.IntN(f.Trunks())))
			}
			var err error
			if f, err = f.Without(cables, []fabric.NodeID{fabric.NodeID(rng.IntN(f.Switches()))}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// drawn draws a network: parallel cables, some switches without hosts, perhaps in
// parts.
func drawn(t *rapid.T) *fabric.Fabric {
	var b fabric.Builder
	n := rapid.IntRange(1, 12).Draw(t, "switches")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "wiring"), 1))
	refs, used := make([]fabric.Ref, n), make([]int, n)
	for i := range refs {
		refs[i] = b.Node(fabric.Node{Kind: fabric.Switch, Ports: 12}, fmt.Sprintf("s%02d", i))
	}
	for range rapid.IntRange(0, 3*n).Draw(t, "cables") {
		if a, z := rng.IntN(n), rng.IntN(n); a != z && used[a] < 9 && used[z] < 9 {
			used[a]++
			used[z]++
			b.Cable(refs[a], uint8(used[a]), refs[z], uint8(used[z]), fabric.Rate{})
		}
	}
	for i := range refs {
		for h := range rng.IntN(3) {
			host := b.Node(fabric.Node{Kind: fabric.Adapter, Ports: 1}, fmt.Sprintf("h%02d-%d", i, h))
			b.Cable(refs[i], uint8(10+h), host, 1, fabric.Rate{})
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Both on any network, with any paths to begin with and any lanes: weave-any never
// fails, and weave refuses nothing but too few lanes.
func TestAnyNetwork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawn(t)
		b := routing.Budget{VLs: rapid.IntRange(1, 5).Draw(t, "lanes"), Scope: routing.Scope(rapid.IntRange(0, 2).Draw(t, "scope"))}
		finders := []routing.PathFinder{
			shortest.Finder{Pick: shortest.Random, Seed: rapid.Uint64().Draw(t, "paths")},
			rapid.SampledFrom([]routing.PathFinder{lowest, sssp.Finder{}}).Draw(t, "second"),
		}
		tables, err := weave.Any{Paths: finders}.Route(context.Background(), f, b, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := verify(f, tables, routing.Any, b); err != nil {
			t.Fatalf("weave-any: %v", err)
		}
		b.Contract = rapid.SampledFrom([]routing.Contract{routing.Honored, routing.Directed}).Draw(t, "contract")
		prefer := rapid.SampledFrom([]weave.Prefer{weave.Bandwidth, weave.Lanes}).Draw(t, "prefer")
		tables, err = weave.Engine{Paths: finders, Prefer: prefer}.Route(context.Background(), f, b, nil)
		if few := (*routing.TooFewLanes)(nil); errors.As(err, &few) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := verify(f, tables, b.Contract, b); err != nil {
			t.Fatalf("weave: %v", err)
		}
	})
}

// Whoever prefers lanes gets no more of them, and whoever prefers bandwidth gets no
// more load; on one network either has less.
func TestPrefer(t *testing.T) {
	const differs = "random:switches=24,links=60,hosts=1,seed=2"
	for _, spec := range testnet.First([]string{differs, "torus:6x6", "ring:8", "torus:4x4x4,hosts=2", "deimos"}, 3) {
		f := testnet.Build(t, spec)
		b := routing.Budget{VLs: 8}
		thrifty := honored
		thrifty.Prefer = weave.Lanes
		var lanes [2]int
		var load [2]uint32
		for i, e := range []routing.Engine{honored, thrifty} {
			tables, _ := route(t, f, e, routing.Honored, b)
			lanes[i], load[i] = tables.Lanes.Needed, congestion.Count(f, tables.Forwarding, routing.HCA).Max
		}
		if lanes[1] > lanes[0] || load[0] > load[1] {
			t.Errorf("%s: %d lanes and a load of %d where bandwidth is preferred, %d and %d where lanes are", spec, lanes[0], load[0], lanes[1], load[1])
		}
		if either := lanes[1] < lanes[0] && load[0] < load[1]; either != (spec == differs) {
			t.Errorf("%s: either has less of what it prefers: %v", spec, either)
		}
	}
	for _, p := range []weave.Prefer{weave.Bandwidth, weave.Lanes} {
		if got, err := weave.ParsePrefer(p.String()); err != nil || got != p {
			t.Errorf("%s reads as %v, %v", p, got, err)
		}
	}
	if _, err := weave.ParsePrefer("speed"); err == nil {
		t.Error("speed is no preference")
	}
}

// The note says how many destinations have other paths than they were given, and how
// many of them longer ones than need be; where there is none, none has.
func TestNoteCounts(t *testing.T) {
	noted := 0
	for _, spec := range []string{"karytree:k=3,n=2", "torus:5x5", "torus:6x6", "kautz:b=3,n=3,hosts=2", "random:switches=16,links=32,hosts=4,seed=1"} {
		f := testnet.Build(t, spec)
		given, err := balanced[0].Paths(context.Background(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		tables, _ := route(t, f, weave.Any{Paths: balanced[:1]}, routing.Any, routing.Budget{VLs: routing.DefaultVLs, Scope: routing.HCA})
		changed, longer := 0, 0
		for lid, e := range f.LIDs() {
			row := tables.Forwarding.Row(lid)
			if slices.Equal(row, given.Row(lid)) {
				continue
			}
			changed++
			root := f.Endpoint(e).Switch
			if hops := hopsBy(f, row, root); !slices.Equal(hops, hopsBy(f, given.Row(lid), root)) {
				longer++
			}
		}
		want := "none"
		if changed > 0 {
			want = fmt.Sprintf("%d of %d destinations routed anew for the sake of lanes, %d of them over longer paths", changed, hosts(f), longer)
			noted++
		}
		got := "none"
		for _, note := range tables.Forwarding.Notes {
			if strings.Contains(note, "routed anew") {
				got = note
			}
		}
		if got != want {
			t.Errorf("%s: note is %q, want %q", spec, got, want)
		}
	}
	if noted < 2 {
		t.Errorf("%d networks have destinations routed anew: no test", noted)
	}
}

// Entries that the given paths leave empty are filled where aggregation nodes and routers count, too, and then the
// notes do not leave it at saying that they stay empty.
func TestNoteOfFilledEntries(t *testing.T) {
	f := testnet.Build(t, "patchwork:12")
	for scope, filled := range map[routing.Scope]bool{routing.HCA: false, routing.Adapters: true} {
		tables, _ := route(t, f, weave.Any{Paths: []routing.PathFinder{fattree.Finder{}}}, routing.Any, routing.Budget{VLs: routing.DefaultVLs, Scope: scope})
		notes := strings.Join(tables.Forwarding.Notes, "\n")
		if !strings.Contains(notes, "stay empty") || strings.Contains(notes, "entries that stayed empty") != filled {
			t.Errorf("%v: the notes are %q", scope, notes)
		}
		empty := 0
		for lid := range f.LIDs() {
			empty += bytes.Count(tables.Forwarding.Row(lid), []byte{routing.NoPort})
		}
		if (empty == 0) != filled {
			t.Errorf("%v: %d entries are empty", scope, empty)
		}
	}
}

// hopsBy is how many hops each switch is away from a root by a row of ports.
func hopsBy(f *fabric.Fabric, row []uint8, root fabric.NodeID) []int {
	hops := make([]int, f.Switches())
	for s := range hops {
		for at := fabric.NodeID(s); at != root; at = f.Channel(f.Out(at, row[at])).To {
			hops[s]++
		}
	}
	return hops
}

// hosts is how many LIDs host adapters have.
func hosts(f *fabric.Fabric) (n int) {
	for _, e := range f.LIDs() {
		if f.Endpoint(e).Class == fabric.HostAdapter {
			n++
		}
	}
	return n
}

func BenchmarkRoute(b *testing.B) {
	for _, spec := range []string{"dragonfly:p=4", "random:switches=64,links=128,hosts=16,seed=1"} {
		f := testnet.Build(b, spec)
		for name, r := range map[string]routing.Engine{
			"weave":     weave.Engine{Paths: []routing.PathFinder{sssp.Finder{}}},
			"weave-any": weave.Any{Paths: []routing.PathFinder{sssp.Finder{}}},
		} {
			b.Run(spec+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := r.Route(context.Background(), f, routing.Budget{VLs: 8, Scope: routing.Adapters}, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// On trees of three levels as they grow, with planes of spines and tails of leaves behind
// leaves, weave-any takes one lane of the eight there are.
func TestOneLaneOnGrownTrees(t *testing.T) {
	for _, spec := range testnet.First([]string{testnet.Small, testnet.SmallWide, "planes:ports=12,groups=4,planes=3,wide=2"}, 1) {
		if n := lanes(t, spec, anySL); n != 1 {
			t.Errorf("%s: %d lanes", spec, n)
		}
	}
}

// On a network with levels weave-any takes one lane also where many paths have to be routed anew for it (105), and where
// some of few have no way but by an escape tree (142).
func TestOneLaneByLevels(t *testing.T) {
	for _, spec := range []string{"patchwork:105", "patchwork:142"} {
		if n := lanes(t, spec, weave.Any{Paths: []routing.PathFinder{sssp.Finder{}}}); n != 1 {
			t.Errorf("%s: %d lanes", spec, n)
		}
	}
}

// lanes is how many lanes an engine needs of eight.
func lanes(t *testing.T, spec string, r routing.Engine) int {
	t.Helper()
	tables, _ := route(t, testnet.Build(t, spec), r, routing.Any, routing.Budget{VLs: 8})
	return tables.Lanes.Needed
}
