package nue_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/internal/engine/nue"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/engine/paths/symmetric"
	"github.com/weft-fabric/weft/internal/engine/paths/updown"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// contracts is those that Nue makes different tables for.
var contracts = []routing.Contract{routing.Directed, routing.Honored}

func route(t testing.TB, f *fabric.Fabric, lanes int, c routing.Contract) *routing.Tables {
	t.Helper()
	tables, err := nue.Engine{}.Route(context.Background(), f, routing.Budget{VLs: lanes, Scope: routing.All, Contract: c}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

// check says what is wrong with tables: whether the judge, in any scope, finds a
// credit loop, a loop, or a pair within a part of the network without a route.
func check(f *fabric.Fabric, tables *routing.Tables, lanes int, contract routing.Contract) error {
	if lanes == 1 {
		contract = routing.Any
	}
	for _, scope := range []routing.Scope{routing.HCA, routing.Adapters, routing.All} {
		v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Contract: contract, Scope: scope})
		if err != nil {
			return err
		}
		if !v.Free() || v.Loops > 0 || v.Dropped > 0 {
			return fmt.Errorf("scope %s, contract %s: free %v, %d loops, %d dropped", scope, contract, v.Free(), v.Loops, v.Dropped)
		}
		if v.VLs > lanes {
			return fmt.Errorf("%d lanes in use, of %d", v.VLs, lanes)
		}
		if apart := testnet.Apart(f, scope.Includes); v.Unreachable != apart {
			return fmt.Errorf("scope %s: %d pairs without a route; %d lie apart", scope, v.Unreachable, apart)
		}
	}
	return nil
}

var networks = []string{
	"ring:n=3", "ring:n=5", "ring:n=12,hosts=2", "mesh:4x4", "torus:3x3", "torus:4x4x4,hosts=2", "torus:5x6,hosts=3",
	"hypercube:n=4", "dragonfly:p=2", "dragonfly:p=3", "karytree:k=3,n=3", "xgft:m=4x4,w=4x4,hosts=4",
	"random:switches=32,links=64,hosts=2,seed=7", "random:switches=24,links=90,hosts=1,seed=3", "deimos",
}

// Theorem of the paper: for any number of lanes from one on, deadlock-free and
// connected.
func TestAnyNumberOfLanes(t *testing.T) {
	for _, spec := range testnet.First(networks, 5) {
		f := testnet.Build(t, spec)
		for _, lanes := range []int{1, 2, 3, 4, 5, 6, 7, 8, 15} {
			for _, c := range contracts {
				if err := check(f, route(t, f, lanes, c), lanes, c); err != nil {
					t.Errorf("%s on %d lanes, %s: %v", spec, lanes, c, err)
				}
			}
		}
	}
}

// Cables and switches fail at random until the network falls apart.
func TestDamaged(t *testing.T) {
	for _, spec := range testnet.First(networks, 5) {
		rng := rand.New(rand.NewPCG(1, uint64(len(spec))))
		f := testnet.Build(t, spec)
		for round := 0; round < 6 && f.Trunks() > 0; round++ {
			var cables []fabric.ChannelID
			for range 1 + f.Trunks()/12 {
				cables = append(cables, fabric.ChannelID(rng.IntN(f.Trunks())))
			}
			var err error
			if f, err = f.Without(cables, []fabric.NodeID{fabric.NodeID(rng.IntN(f.Switches()))}); err != nil {
				t.Fatal(err)
			}
			for _, lanes := range []int{1, 2, 8} {
				for _, c := range contracts {
					if err := check(f, route(t, f, lanes, c), lanes, c); err != nil {
						t.Errorf("%s, round %d, on %d lanes, %s: %v", spec, round, lanes, c, err)
					}
				}
			}
		}
	}
}

// drawn draws a network: parallel cables, adapters with two ports on different
// switches or one, LMC, perhaps in parts, perhaps without hosts.
func drawn(t *rapid.T) *fabric.Fabric {
	var b fabric.Builder
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "wiring"), 1))
	n := rapid.IntRange(1, 14).Draw(t, "switches")
	lmc := uint8(rapid.IntRange(0, 2).Draw(t, "LMC"))
	const ports = 24
	refs, used := make([]fabric.Ref, n), make([]uint8, n)
	plug := func(i int) (fabric.Ref, uint8, bool) {
		if used[i] == ports {
			return 0, 0, false
		}
		used[i]++
		return refs[i], used[i], true
	}
	for i := range refs {
		refs[i] = b.Node(fabric.Node{Kind: fabric.Switch, Ports: ports}, fmt.Sprintf("s%02d", i))
	}
	for i := range rapid.IntRange(0, 2*n).Draw(t, "adapters") {
		h := b.Node(fabric.Node{Kind: fabric.Adapter, Ports: 2}, fmt.Sprintf("h%02d", i))
		for p := range uint8(1 + rng.IntN(2)) {
			b.Port(h, p+1, fabric.Port{LMC: lmc})
			if s, port, ok := plug(rng.IntN(n)); ok {
				b.Cable(h, p+1, s, port, fabric.Rate{})
			}
		}
	}
	for range rapid.IntRange(0, 4*n).Draw(t, "cables") {
		i, j := rng.IntN(n), rng.IntN(n)
		for range 1 + rng.IntN(2) {
			a, ap, ok := plug(i)
			z, zp, ok2 := plug(j)
			if ok && ok2 {
				b.Cable(a, ap, z, zp, fabric.Rate{})
			}
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestAnyNetwork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawn(t)
		lanes := rapid.IntRange(1, routing.MaxDataVLs).Draw(t, "lanes")
		c := rapid.SampledFrom(contracts).Draw(t, "contract")
		r := nue.Engine{Wanted: rapid.SampledFrom([][]routing.PathFinder{nil, {symmetric.Finder{}}, {sssp.Finder{}, symmetric.Finder{Regular: true}}}).Draw(t, "wanted")}
		tables, err := r.Route(context.Background(), f, routing.Budget{VLs: lanes, Scope: routing.All, Contract: c}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := check(f, tables, lanes, c); err != nil {
			t.Fatal(err)
		}
	})
}

// In a tree, and with a lane for every destination's switch, nothing has to be
// blocked: paths are minimal.
func TestMinimalWhereNothingIsBlocked(t *testing.T) {
	for _, c := range []struct {
		spec  string
		lanes int
	}{
		{"karytree:k=4,n=2", 1}, {"karytree:k=3,n=3", 1}, {"xgft:m=6x6,w=6x6,hosts=6", 1}, {"torus:3x5", 15}, {"ring:n=13", 13},
	} {
		f := testnet.Build(t, c.spec)
		shortest, err := sssp.Finder{}.Paths(context.Background(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := congestion.Count(f, route(t, f, c.lanes, routing.Directed).Forwarding, routing.HCA)
		if want := congestion.Count(f, shortest, routing.HCA); got.Hops != want.Hops || got.Max > want.Max*5/4 {
			t.Errorf("%s on %d lanes: %d hops, largest load %d; sssp has %d and %d", c.spec, c.lanes, got.Hops, got.Max, want.Hops, want.Max)
		}
	}
}

// One lane is what Up*/Down* has too; inside the dependency graph there is more
// to be had from it.
func TestBetterThanUpDownOnOneLane(t *testing.T) {
	for _, spec := range []string{"dragonfly:p=3", "torus:6x5x5,hosts=7", "random:switches=64,links=128,hosts=16,seed=1"} {
		f := testnet.Build(t, spec)
		other, err := updown.Finder{}.Paths(context.Background(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, updn := congestion.Count(f, route(t, f, 1, routing.Honored).Forwarding, routing.HCA), congestion.Count(f, other, routing.HCA)
		if got.Hops >= updn.Hops || got.Max*3 > updn.Max*2 {
			t.Errorf("%s: mean hops %.3f, largest load %d; updn has %.3f and %d", spec, got.MeanHops(), got.Max, updn.MeanHops(), updn.Max)
		}
	}
}

func TestSameInputSameTables(t *testing.T) {
	f := testnet.Build(t, "random:switches=32,links=64,hosts=4,seed=2")
	for _, lanes := range []int{1, 3} {
		a, b := route(t, f, lanes, routing.Honored), route(t, f, lanes, routing.Honored)
		for lid := range f.LIDs() {
			if d := cmp.Diff(a.Forwarding.Row(lid), b.Forwarding.Row(lid)); d != "" {
				t.Fatalf("LID %d: %s", lid, d)
			}
			if d := cmp.Diff(a.Lanes.SLRow(lid), b.Lanes.SLRow(lid)); d != "" {
				t.Fatalf("LID %d: %s", lid, d)
			}
		}
	}
}

// Under contract directed the service level depends on the destination's switch only, and
// all lanes of the budget carry about as many destinations.
func TestLanesByDestination(t *testing.T) {
	f := testnet.Build(t, "torus:4x4x4,hosts=2")
	const lanes = 5
	tables := route(t, f, lanes, routing.Directed)
	count := make([]int, lanes)
	bySwitch := map[fabric.NodeID]uint8{}
	for lid, e := range f.LIDs() {
		row := tables.Lanes.SLRow(lid)
		for _, sl := range row {
			if sl != row[0] {
				t.Fatalf("LID %d has service levels %v", lid, row)
			}
		}
		s := f.Endpoint(e).Switch
		if sl, ok := bySwitch[s]; ok && sl != row[0] {
			t.Errorf("switch %d has service levels %d and %d", s, sl, row[0])
		}
		bySwitch[s] = row[0]
		count[row[0]]++
	}
	for l, n := range count {
		if n < 36 || n > 42 { // of 192, three to a switch
			t.Errorf("lane %d has %d destinations of 192", l, n)
		}
	}
	if tables.Lanes.Needed != lanes {
		t.Errorf("%d lanes needed, not %d", tables.Lanes.Needed, lanes)
	}
}

// Under contract honored both ways between two switches have one service level. Where the
// lanes suffice for the paths it begins with, these are the paths; with fewer lanes none
// goes missing, and on no network does it do worse than on one lane.
func TestLanesByPair(t *testing.T) {
	for _, spec := range []string{"torus:4x4x4,hosts=2", "torus:5x6,hosts=3", "dragonfly:p=3", "kautz:b=3,n=3,hosts=2", "random:switches=32,links=64,hosts=2,seed=7"} {
		f := testnet.Build(t, spec)
		begin, err := symmetric.Finder{}.Paths(context.Background(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		for lanes := 2; lanes <= 8; lanes++ {
			tables, err := nue.Engine{Wanted: []routing.PathFinder{symmetric.Finder{}}}.Route(context.Background(), f, routing.Budget{VLs: lanes}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, from := range routing.HCA.Endpoints(f) {
				for _, to := range routing.HCA.Endpoints(f) {
					if there, back := tables.Lanes.SL(from, f.Endpoint(to).LID), tables.Lanes.SL(to, f.Endpoint(from).LID); from != to && there != back {
						t.Fatalf("%s: SL %d from endpoint %d to %d, SL %d back", spec, there, from, to, back)
					}
				}
			}
			v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{})
			if err != nil || !v.Free() || !v.Complete() || v.VLs > lanes || v.VLs > tables.Lanes.Needed {
				t.Errorf("%s on %d lanes: %v, free %v, complete %v, %d in use", spec, lanes, err, v.Free(), v.Complete(), v.VLs)
			}
			if lanes < 8 {
				continue
			}
			for _, e := range routing.HCA.Endpoints(f) {
				lid := f.Endpoint(e).LID
				if d := cmp.Diff(begin.Row(lid), tables.Forwarding.Row(lid)); d != "" {
					t.Fatalf("%s on %d lanes: LID %d: %s", spec, lanes, lid, d)
				}
			}
		}
	}
}

func TestRefuses(t *testing.T) {
	f := testnet.Build(t, "ring:n=4")
	for _, lanes := range []int{-1, routing.MaxDataVLs + 1} {
		if _, err := (nue.Engine{}).Route(context.Background(), f, routing.Budget{VLs: lanes}, nil); err == nil {
			t.Errorf("%d lanes are taken", lanes)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (nue.Engine{}).Route(ctx, f, routing.Budget{VLs: 1}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled, and the error is %v", err)
	}
}

// Real fabrics.
func TestDumps(t *testing.T) {
	dumps, _ := filepath.Glob(filepath.Join(testnet.Corpus(t), "fabrics", "*.ibnetdiscover"))
	if len(dumps) == 0 {
		t.Skip("no dumps of real fabrics under WEFT_CORPUS")
	}
	for _, name := range dumps {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := ibnet.Read(file, filepath.Base(name))
		file.Close()
		if err != nil {
			t.Logf("not readable, which is for its reader to test: %v", err)
			continue
		}
		for _, lanes := range []int{1, 8} {
			for _, c := range contracts {
				if err := check(f, route(t, f, lanes, c), lanes, c); err != nil {
					t.Errorf("%s on %d lanes: %v", filepath.Base(name), lanes, err)
				}
			}
		}
	}
}

func BenchmarkRoute(b *testing.B) {
	for _, spec := range []string{"torus:6x5x5,hosts=7", "dragonfly:p=4"} {
		f := testnet.Build(b, spec)
		for _, lanes := range []int{1, 8} {
			for _, c := range contracts {
				b.Run(fmt.Sprintf("%s/lanes=%d/%s", spec, lanes, c), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						route(b, f, lanes, c)
					}
				})
			}
		}
	}
}
