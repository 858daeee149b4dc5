package torus2qos_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/grid/gridtest"
	"github.com/weft-fabric/weft/internal/engine/torus2qos"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/topology"
)

type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

var two = routing.Budget{VLs: 2, Scope: routing.All}

func build(t failer, b gridtest.Box, seed uint64) *fabric.Fabric {
	t.Helper()
	f, err := b.Build(seed)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func without(t failer, f *fabric.Fabric, cables []fabric.ChannelID, nodes []fabric.NodeID) *fabric.Fabric {
	t.Helper()
	g, err := f.Without(cables, nodes)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func route(t failer, o torus2qos.Engine, f *fabric.Fabric) *routing.Tables {
	t.Helper()
	tables, err := o.Route(context.Background(), f, two, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

// judge wants tables that are complete within each part, free in every scope, on
// at most two lanes.
func judge(t failer, tables *routing.Tables) {
	t.Helper()
	for _, scope := range []routing.Scope{routing.HCA, routing.Adapters, routing.All} {
		v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Scope: scope})
		if err != nil {
			t.Fatal(err)
		}
		whole := len(tables.Fabric.Parts()) == 1
		if whole && !v.Complete() || v.Loops > 0 || v.Dropped > 0 || !v.Free() || v.VLs > tables.Lanes.Needed {
			t.Fatalf("scope %s: complete %v, free %v, %d lanes: %v %v", scope, v.Complete(), v.Free(), v.VLs, v.Lost, v.Cycle)
		}
	}
}

// changedLevels counts the pairs of adapters and switches whose service level
// differs between two fabrics that share their LIDs.
func changedLevels(before, after *routing.Tables) (changed int) {
	for _, from := range before.Fabric.Endpoints() {
		now := after.Fabric.Owner(from.LID)
		if now == fabric.None {
			continue
		}
		old := before.Fabric.Owner(from.LID)
		at := after.Fabric.Endpoint(now).Switch
		for lid := range before.Fabric.LIDs() {
			// A pair that nothing joins any more has no service level to keep.
			if at == fabric.None || after.Fabric.Owner(lid) == fabric.None || after.Forwarding.Port(at, lid) == routing.NoPort {
				continue
			}
			if after.Fabric.Owner(lid) != fabric.None && before.Lanes.SL(old, lid) != after.Lanes.SL(now, lid) {
				changed++
			}
		}
	}
	return changed
}

func TestEverySize(t *testing.T) {
	for i, c := range []struct {
		box       gridtest.Box
		lanes, sl int // lanes and service levels to be used
	}{
		{gridtest.Torus(5), 2, 2}, {gridtest.Torus(8), 2, 2}, {gridtest.Torus(3), 1, 1}, {gridtest.Mesh(7), 1, 1}, {gridtest.Mesh(1), 1, 1},
		{gridtest.Torus(3, 3), 1, 1}, {gridtest.Torus(4, 4), 1, 1}, {gridtest.Torus(5, 5), 2, 4}, {gridtest.Torus(6, 5), 2, 4},
		{gridtest.Torus(5, 3), 2, 2}, {gridtest.Torus(7, 4), 2, 2}, {gridtest.Torus(5, 2), 2, 2}, {gridtest.Mesh(5, 4), 1, 1},
		{gridtest.Torus(4, 4, 4), 1, 1}, {gridtest.Torus(5, 5, 5), 2, 8}, {gridtest.Torus(6, 5, 4), 2, 4}, {gridtest.Torus(3, 3, 3), 1, 1},
		{gridtest.Torus(5, 6, 7), 2, 8}, {gridtest.Torus(8, 5, 2), 2, 4}, {gridtest.Mesh(2, 2, 2, 2, 2), 1, 1},
		{gridtest.Box{Size: []int{6, 5, 5}, Ring: []bool{true, false, true}, Hosts: 2, Every: 2, Cables: 2}, 2, 4},
		{gridtest.Box{Size: []int{5, 5, 5, 5}, Ring: []bool{true, false, true, true}, Hosts: 0}, 2, 8},
	} {
		t.Run(c.box.String(), func(t *testing.T) {
			f := build(t, c.box, uint64(i))
			tables := route(t, torus2qos.Engine{}, f)
			judge(t, tables)
			v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Scope: routing.All})
			if err != nil {
				t.Fatal(err)
			}
			if tables.Lanes.Needed != c.lanes || v.SLs != c.sl {
				t.Errorf("%d lanes and %d service levels, want %d and %d", tables.Lanes.Needed, v.SLs, c.lanes, c.sl)
			}
			minimal(t, tables)
			for _, finding := range (torus2qos.Engine{}).Explain(f) {
				if !finding.OK || finding.Why == "" || finding.Rule == "" {
					t.Errorf("%+v", finding)
				}
			}
		})
	}
}

// On rings of eight, twelve … points halfway round apart have another way back under
// contract directed, as ever, and the same under honored: without that a loop closes.
func TestSameWayBack(t *testing.T) {
	for _, size := range [][]int{{8}, {12}, {8, 5}, {16, 3}, {4, 4}} {
		f := build(t, gridtest.Torus(size...), 1)
		directed := two
		directed.Contract = routing.Directed
		tables, err := torus2qos.Engine{}.Route(context.Background(), f, directed, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []routing.Contract{routing.Directed, routing.Honored} {
			v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Contract: c, Scope: routing.All})
			if free := c == routing.Directed || size[0] == 4; err != nil || v.Free() != free {
				t.Errorf("%v: for directed, judged under %s: free %v, %v", size, c, v.Free(), err)
			}
		}
		tables = route(t, torus2qos.Engine{}, f)
		judge(t, tables)
		for _, from := range routing.All.Endpoints(f) {
			for _, to := range routing.All.Endpoints(f) {
				if there, back := tables.Lanes.SL(from, f.Endpoint(to).LID), tables.Lanes.SL(to, f.Endpoint(from).LID); there != back {
					t.Fatalf("%v: SL %d from endpoint %d to %d, SL %d back", size, there, from, to, back)
				}
			}
		}
	}
}

func minimal(t *testing.T, tables *routing.Tables) {
	t.Helper()
	f := tables.Fabric
	var d dag.DAG
	var tree routing.Tree
	for lid, e := range f.LIDs() {
		s := f.Endpoint(e).Switch
		dag.Shortest(&d, f, s)
		tree.Build(f, tables.Forwarding.Row(lid), s)
		for x := range fabric.NodeID(f.Switches()) {
			if tree.Depth(x) != int(d.Hops[x]) {
				t.Fatalf("LID %d: %d hops from %s, not %d", lid, tree.Depth(x), f.Label(x), d.Hops[x])
			}
		}
	}
}

// survivors are grids that live through the loss of any one cable or switch.
var survivors = []gridtest.Box{
	gridtest.Torus(5, 5), gridtest.Torus(6, 5), gridtest.Torus(4, 4), gridtest.Torus(3, 3), gridtest.Torus(6, 3), gridtest.Torus(8, 4),
	gridtest.Torus(5, 5, 5), gridtest.Torus(5, 4, 3), gridtest.Torus(3, 3, 3), gridtest.Torus(4, 4, 4), gridtest.Torus(6, 5, 3),
	gridtest.Torus(3, 3, 5, 3),
}

// "One failed switch survived without changing the SLs already granted": every
// switch in turn, with the fabric before at hand, and where GUIDs run along the
// grid without it.
func TestAnySwitchMayFail(t *testing.T) {
	for i, b := range survivors {
		t.Run(b.String(), func(t *testing.T) {
			f := build(t, b, uint64(i))
			before := route(t, torus2qos.Engine{}, f)
			moved := 0
			for s := range fabric.NodeID(f.Switches()) {
				if f.Switches() > 40 && s%7 != 0 {
					continue
				}
				g := without(t, f, nil, []fabric.NodeID{s})
				after := route(t, torus2qos.Engine{Before: f}, g)
				judge(t, after)
				if n := changedLevels(before, after); n > 0 {
					t.Errorf("without %s %d service levels changed", f.Label(s), n)
				}
				alone := route(t, torus2qos.Engine{}, g)
				judge(t, alone)
				if changedLevels(before, alone) > 0 {
					moved++
				}
			}
			if moved > 1+len(b.Size) {
				t.Errorf("the frame hangs on %d switches", moved)
			}
		})
	}
}

func TestAnySwitchOfAnOrderedTorusMayFail(t *testing.T) {
	for _, dims := range [][]int{{5, 5}, {6, 5}, {5, 5, 5}, {6, 5, 3}} {
		f, err := topology.Build("torus:" + strings.Trim(strings.ReplaceAll(fmt.Sprint(dims), " ", "x"), "[]") + ",hosts=1")
		if err != nil {
			t.Fatal(err)
		}
		before := route(t, torus2qos.Engine{}, f)
		for s := range fabric.NodeID(f.Switches()) {
			after := route(t, torus2qos.Engine{}, without(t, f, nil, []fabric.NodeID{s}))
			if n := changedLevels(before, after); n > 0 {
				t.Errorf("torus %v without %s: %d service levels changed", dims, f.Label(s), n)
			}
		}
	}
}

// A packet passes a missing switch without a hop along a dimension in which it has nowhere to go.
func TestDetoursAreOfTheWay(t *testing.T) {
	whole := testnet.Build(t, "torus:5x5x5,hosts=1")
	f := without(t, whole, nil, []fabric.NodeID{31})
	tables := route(t, torus2qos.Engine{}, f)
	at := make([][3]int, f.Switches())
	for s := range at {
		if _, err := fmt.Sscanf(f.Label(fabric.NodeID(s)), "sw-%d-%d-%d", &at[s][0], &at[s][1], &at[s][2]); err != nil {
			t.Fatal(err)
		}
	}
	longer := 0
	for lid, e := range f.LIDs() {
		to := f.Endpoint(e).Switch
		for s := range fabric.NodeID(f.Switches()) {
			hops, least := 0, 0
			for d, k := range [3]int{5, 5, 5} {
				by := (at[to][d] - at[s][d] + k) % k
				least += min(by, k-by)
			}
			for v := s; v != to; hops++ {
				next := f.Heads()[f.Trunk(v, tables.Forwarding.Port(v, lid))]
				for d := range at[v] {
					if at[v][d] != at[next][d] && at[s][d] == at[to][d] {
						t.Fatalf("from %s to %s a packet goes from %s to %s", f.Label(s), f.Label(to), f.Label(v), f.Label(next))
					}
				}
				v = next
			}
			if hops > least {
				longer++
			}
		}
	}
	if longer == 0 {
		t.Error("no path is longer for the switch that is missing")
	}
}

// Any one cable, without a word about the fabric before.
func TestAnyCableMayFail(t *testing.T) {
	for i, b := range survivors {
		t.Run(b.String(), func(t *testing.T) {
			f := build(t, b, uint64(i))
			before := route(t, torus2qos.Engine{}, f)
			for c := range fabric.ChannelID(f.Trunks()) {
				if f.Channel(c).Reverse < c || f.Trunks() > 100 && c%11 != 0 {
					continue
				}
				after := route(t, torus2qos.Engine{}, without(t, f, []fabric.ChannelID{c}, nil))
				judge(t, after)
				if n := changedLevels(before, after); n > 0 {
					t.Errorf("without cable %d %d service levels changed", c, n)
				}
			}
		})
	}
}

// Clients go on with the service levels that they hold: also where the new tables
// would grant others, no harm is done as long as the old coordinates are kept.
func TestOldServiceLevelsOnNewTables(t *testing.T) {
	f := build(t, gridtest.Torus(6, 5), 3)
	before := route(t, torus2qos.Engine{}, f)
	for s := range fabric.NodeID(f.Switches()) {
		g := without(t, f, nil, []fabric.NodeID{s})
		after := route(t, torus2qos.Engine{Before: f}, g)
		held := routing.NewLanes(g, after.Lanes.SL2VL)
		held.Needed = after.Lanes.Needed
		for lid := range g.LIDs() {
			for i, e := range g.Endpoints() {
				held.SLRow(lid)[held.Row[i]] = before.Lanes.SL(f.Owner(e.LID), lid)
			}
		}
		judge(t, &routing.Tables{Fabric: g, Forwarding: after.Forwarding, Lanes: held})
	}
}

// Meshes and mixed grids lose a switch at the rim of their lines.
func TestRimOfAMesh(t *testing.T) {
	routed := 0
	for i, b := range []gridtest.Box{
		gridtest.Mesh(4, 5), gridtest.Mesh(3, 3, 3), gridtest.Mesh(3, 4, 2),
		{Size: []int{5, 4}, Ring: []bool{true, false}, Hosts: 1}, {Size: []int{5, 6, 3}, Ring: []bool{false, true, false}, Hosts: 1},
		{Size: []int{6, 5, 3}, Ring: []bool{true, true, false}, Hosts: 1}, gridtest.Torus(6, 5, 2), gridtest.Mesh(2, 2, 2),
	} {
		f := build(t, b, uint64(i))
		for s := range fabric.NodeID(f.Switches()) {
			g := without(t, f, nil, []fabric.NodeID{s})
			tables, err := torus2qos.Engine{Before: f}.Route(context.Background(), g, two, nil)
			if refusal := (*routing.Refusal)(nil); errors.As(err, &refusal) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			routed++
			judge(t, tables)
		}
	}
	if routed < 20 {
		t.Errorf("only %d were routed", routed)
	}
}

// Whatever fails, tables are right or refused.
func TestAnyDamage(t *testing.T) {
	boxes := append(slices.Clone(survivors[:9]), gridtest.Mesh(4, 4, 3), gridtest.Mesh(2, 2, 2, 2), gridtest.Torus(6), gridtest.Torus(7, 2),
		gridtest.Box{Size: []int{6, 5}, Ring: []bool{true, false}, Hosts: 2, Cables: 2})
	routed := 0
	testnet.CheckCounted(t, func(t *rapid.T) {
		f := build(t, rapid.SampledFrom(boxes).Draw(t, "box"), rapid.Uint64().Draw(t, "seed"))
		var cables []fabric.ChannelID
		for range rapid.IntRange(0, 6).Draw(t, "cables") {
			cables = append(cables, fabric.ChannelID(rapid.IntRange(0, f.Trunks()-1).Draw(t, "cable")))
		}
		var nodes []fabric.NodeID
		for range rapid.IntRange(0, 2).Draw(t, "switches") {
			nodes = append(nodes, fabric.NodeID(rapid.IntRange(0, f.Switches()-1).Draw(t, "switch")))
		}
		g := without(t, f, cables, nodes)
		o := torus2qos.Engine{}
		if rapid.Bool().Draw(t, "remembered") {
			o.Before = f
		}
		tables, err := o.Route(context.Background(), g, two, nil)
		if err != nil {
			if refusal := (*routing.Refusal)(nil); !errors.As(err, &refusal) || refusal.Rule == "" || refusal.Why == "" {
				t.Fatal(err)
			}
			if findings := o.Explain(g); findings[len(findings)-1].OK {
				t.Fatalf("%v, and yet %+v", err, findings)
			}
			return
		}
		routed++
		judge(t, tables)
		if o.Before != nil {
			if n := changedLevels(route(t, torus2qos.Engine{}, f), tables); n > 0 {
				t.Fatalf("%d service levels changed", n)
			}
		}
	}, func() {
		if routed == 0 {
			t.Error("nothing was routed")
		}
	})
}

// In a ring of eight, the bit is set for the paths across one of its cables: d
// of those of d hops in each direction, and half of the eight that go halfway.
func TestBitSaysCrossing(t *testing.T) {
	f := build(t, gridtest.Torus(8), 5)
	tables := route(t, torus2qos.Engine{}, f)
	crossing := 0
	for s := range fabric.EndpointID(f.Switches()) {
		for d := range fabric.EndpointID(f.Switches()) {
			crossing += int(tables.Lanes.SL(s, f.Endpoint(d).LID))
		}
	}
	if want := 2*(1+2+3) + 4; crossing != want {
		t.Errorf("%d paths cross the dateline, want %d", crossing, want)
	}
}

func TestRefusals(t *testing.T) {
	five := gridtest.Torus(5, 5)
	f := build(t, five, 1)
	tooFew := (*routing.TooFewLanes)(nil)
	if _, err := (torus2qos.Engine{}).Route(context.Background(), f, routing.Budget{VLs: 1}, nil); !errors.As(err, &tooFew) || tooFew.Need != 2 {
		t.Errorf("one lane: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (torus2qos.Engine{}).Route(ctx, f, two, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	strange := build(t, five, 2)
	if _, err := (torus2qos.Engine{Before: strange}).Route(context.Background(), f, two, nil); err == nil {
		t.Error("coordinates of another fabric are taken")
	}
	refusal := (*routing.Refusal)(nil)
	tree, err := topology.Build("karytree:k=4,n=2")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (torus2qos.Engine{}).Route(context.Background(), tree, two, nil); !errors.As(err, &refusal) || refusal.Node == fabric.None {
		t.Errorf("a tree: %v", err)
	}
	wide := build(t, gridtest.Box{Size: []int{5, 5, 5, 5, 5}, Ring: []bool{true, true, true, true, true}}, 1)
	if _, err := (torus2qos.Engine{}).Route(context.Background(), wide, two, nil); !errors.As(err, &refusal) || !strings.Contains(refusal.Rule, "four") {
		t.Errorf("five dimensions: %v", err)
	}
	gone := without(t, f, nil, []fabric.NodeID{1, 9, 17})
	if _, err := (torus2qos.Engine{Before: f}).Route(context.Background(), gone, two, nil); !errors.As(err, &refusal) {
		t.Errorf("three switches gone: %v", err)
	}
}

func BenchmarkTorus(b *testing.B) {
	for _, k := range []int{8, 16} {
		b.Run(fmt.Sprint(k), func(b *testing.B) {
			f, err := topology.Build(fmt.Sprintf("torus:%dx%dx%d,hosts=2", k, k, k))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := (torus2qos.Engine{}).Route(context.Background(), f, two, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
