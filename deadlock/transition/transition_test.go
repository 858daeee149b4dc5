package transition_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

func route(t testing.TB, f *fabric.Fabric, engine string) *routing.Tables {
	t.Helper()
	e, err := engines.Named(engine)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := e.Route(t.Context(), f, engines.Options{}, routing.Budget{VLs: 8}, nil)
	if err != nil {
		t.Skipf("%s refuses: %v", engine, err)
	}
	return tables
}

func verify(t testing.TB, old, next *routing.Tables, c routing.Contract) *transition.Verdict {
	t.Helper()
	v, err := transition.Verify(t.Context(), old, next, deadlock.Options{Contract: c})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// withoutCables takes away some cables between switches.
func withoutCables(t testing.TB, f *fabric.Fabric, n int, r *rand.Rand) *fabric.Fabric {
	t.Helper()
	var gone []fabric.ChannelID
	for range n {
		gone = append(gone, fabric.ChannelID(r.IntN(f.Trunks())))
	}
	g, err := f.Without(gone, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Routing anew from scratch after a cable died passes through a credit loop on a
// torus, though both tables are free of them; and no pair is to blame but the two
// tables together.
func TestFromScratchIsNotSafe(t *testing.T) {
	f := testnet.Build(t, "torus:6x5x5,hosts=2")
	old := route(t, f, "weave-any")
	loops := 0
	for seed := range uint64(6) {
		next := route(t, withoutCables(t, f, 1, rand.New(rand.NewPCG(seed, 1))), "weave-any")
		v := verify(t, old, next, routing.Any)
		if v.CutAfter() != 0 || v.CutBefore() == 0 || v.Entries < v.Due || v.Due == 0 || v.Switches == 0 || v.Blocks < v.Switches {
			t.Errorf("seed %d: %d pairs cut before, %d after; %d entries differ, %d had to, in %d blocks of %d switches",
				seed, v.CutBefore(), v.CutAfter(), v.Entries, v.Due, v.Blocks, v.Switches)
		}
		if !v.Free() {
			loops++
		}
	}
	if loops < 4 {
		t.Errorf("%d of 6 changes have a credit loop; 6 of 6 were seen", loops)
	}
}

// Tables that do not change are judged as they are, and cost nothing.
func TestNoChange(t *testing.T) {
	for _, engine := range []string{"minhop", "weave", "dfsssp", "df-dn"} {
		f := testnet.Build(t, "torus:4x4,hosts=2")
		old := route(t, f, engine)
		want, err := deadlock.Verify(t.Context(), old, deadlock.Options{})
		if err != nil {
			t.Fatal(err)
		}
		v := verify(t, old, old, routing.Honored)
		if v.Free() != want.Free() || v.Dependencies != want.Dependencies || v.VLs != want.VLs || v.Pairs != want.Pairs ||
			v.Entries != 0 || v.SLs != 0 || v.Maps != 0 || v.Blocks != 0 || v.Due != 0 || v.Exposed != 0 {
			t.Errorf("%s: %+v %+v, want %+v", engine, v.MixtureVerdict, v.Cost, want)
		}
	}
}

// On another fabric, tables are what the hardware still holds.
func TestOnAnotherFabric(t *testing.T) {
	f := testnet.Build(t, "torus:4x4,hosts=2")
	old := route(t, f, "dfsssp")
	gone := f.Endpoint(routing.HCA.Endpoints(f)[3]).Node
	g, err := f.Without([]fabric.ChannelID{0}, []fabric.NodeID{5, gone})
	if err != nil {
		t.Fatal(err)
	}
	on, err := transition.On(g, old, route(t, g, "dfsssp"))
	if err != nil {
		t.Fatal(err)
	}
	if err := on.Check(); err != nil {
		t.Fatal(err)
	}
	for lid, e := range g.LIDs() {
		for s := range fabric.NodeID(g.Switches()) {
			if a, b := on.Forwarding.Port(s, lid), old.Forwarding.Port(f.NodeByGUID(g.Node(s).GUID), lid); a != b {
				t.Fatalf("%s, LID %d: port %d, was %d", g.Label(s), lid, a, b)
			}
		}
		was := f.Owner(lid)
		for _, x := range routing.HCA.Endpoints(g) {
			from := f.NodeByGUID(g.Node(g.Endpoint(x).Node).GUID)
			for _, y := range routing.HCA.Endpoints(f) {
				if f.Endpoint(y).Node == from && on.Lanes.SL(x, lid) != old.Lanes.SL(y, lid) {
					t.Fatalf("%s to LID %d: SL %d, was %d", g.Label(g.Endpoint(x).Node), lid, on.Lanes.SL(x, lid), old.Lanes.SL(y, lid))
				}
			}
		}
		if f.Node(f.Endpoint(was).Node).GUID != g.Node(g.Endpoint(e).Node).GUID {
			t.Fatalf("LID %d has another owner", lid)
		}
	}
	// And back: what was taken away is new there, and nobody knows it.
	back, err := transition.On(f, on, old)
	if err != nil {
		t.Fatal(err)
	}
	lid := f.Endpoint(routing.HCA.Endpoints(f)[3]).LID
	for s := range fabric.NodeID(f.Switches()) {
		if s == 5 && back.Forwarding.Port(s, 1) != routing.NoPort {
			t.Error("a switch that is new has entries")
		}
	}
	for e, ep := range f.Endpoints() {
		if ep.Switch != fabric.None && back.Lanes.SL(fabric.EndpointID(e), lid) != routing.NoSL {
			t.Error("a LID that is new has a service level")
		}
	}
}

// Where only a cable is gone, service levels stay as they are, without a copy.
func TestOnSharesLevels(t *testing.T) {
	f := testnet.Build(t, "torus:4x4,hosts=2")
	g, err := f.Without([]fabric.ChannelID{0}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, engine := range []string{"sssp", "dfsssp"} {
		old := route(t, f, engine)
		on, err := transition.On(g, old, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := on.Check(); err != nil {
			t.Error(err)
		}
		for lid := range g.LIDs() {
			if a, b := on.Lanes.SLRow(lid), old.Lanes.SLRow(lid); len(a) != len(b) || len(a) > 0 && &a[0] != &b[0] {
				t.Fatalf("%s: LID %d has a row of its own", engine, lid)
			}
		}
		if !slices.Equal(on.Lanes.Row, old.Lanes.Row) {
			t.Errorf("%s: endpoints have other rows", engine)
		}
	}
}

// A switch that tables do not know uses no lane that they do not use: it has the map that all others have, or
// lane 0 where these differ.
func TestNewSwitchKeepsToTheLanes(t *testing.T) {
	f := testnet.Build(t, "torus:4x4,hosts=2")
	less, err := f.Without(nil, []fabric.NodeID{5})
	if err != nil {
		t.Fatal(err)
	}
	two := routing.LanePerSL(2)
	byPort := two.PerPort(less)
	byPort.Set(0, 1, 2, 0, 1)
	for _, c := range []struct {
		maps *routing.SL2VL
		want uint8 // lane of SL 9
	}{{two, 1}, {byPort, 0}} {
		old := *route(t, less, "updn")
		old.Lanes = routing.OneSL(less, c.maps)
		on, err := transition.On(f, &old, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := on.Lanes.SL2VL.VL(5, 1, 2, 9); got != c.want {
			t.Errorf("the new switch sends SL 9 on lane %d, want %d", got, c.want)
		}
		if a, b := on.Lanes.SL2VL.VL(0, 1, 2, 0), c.maps.VL(0, 1, 2, 0); a != b {
			t.Errorf("a switch that stays sends on lane %d, before on %d", a, b)
		}
	}
}

// Service levels that differ count for every source of a row, also where only one that shares it had a row of its own.
func TestLevelsOfOneHostDiffer(t *testing.T) {
	f := testnet.Build(t, "ring:4,hosts=2")
	next := route(t, f, "dfsssp")
	hosts := f.Attached(0)
	if len(hosts) < 2 || next.Lanes.Row[hosts[0]] != next.Lanes.Row[hosts[1]] {
		t.Fatal("the hosts of a switch have no row in common")
	}
	lid := f.Endpoint(f.Attached(2)[0]).LID
	for _, other := range []fabric.EndpointID{hosts[0], hosts[1], 0} { // 0 is port 0 of the switch
		row := slices.Clone(next.Lanes.Row)
		row[other] = int32(next.Lanes.Rows)
		old := *next
		old.Lanes = routing.NewLanesByRow(f, next.Lanes.SL2VL, row, next.Lanes.Rows+1)
		for l := range f.TopLID() + 1 {
			for r := range next.Lanes.Rows {
				old.Lanes.SLRow(l)[r] = levelOf(next, l, r)
			}
			old.Lanes.SLRow(l)[next.Lanes.Rows] = levelOf(next, l, int(next.Lanes.Row[other]))
		}
		if c := transition.CostOf(&old, next); c.SLs != 0 {
			t.Errorf("%d service levels of the same tables differ", c.SLs)
		}
		old.Lanes.SLRow(lid)[next.Lanes.Rows]++
		if c := transition.CostOf(&old, next); c.SLs != 1 {
			t.Errorf("%d service levels differ, want the one of %s", c.SLs, f.EndpointLabel(other))
		}
	}
}

// levelOf is the service level of a row at a LID.
func levelOf(t *routing.Tables, lid fabric.LID, row int) uint8 {
	if levels := t.Lanes.SLRow(lid); levels != nil {
		return levels[row]
	}
	return 0
}

// Which switches look up lanes by lanes goes with the switches.
func TestOnByLane(t *testing.T) {
	f := testnet.Build(t, "torus:4x4,hosts=2")
	old := *route(t, f, "updn")
	maps := routing.LanePerSL(2).PerPort(f)
	for s := range fabric.NodeID(f.Switches()) {
		maps.SetByLane(s, uint16(s)+1)
	}
	old.Lanes = routing.OneSL(f, maps)
	g, err := f.Without(nil, []fabric.NodeID{5})
	if err != nil {
		t.Fatal(err)
	}
	on, err := transition.On(g, &old, nil)
	if err != nil {
		t.Fatal(err)
	}
	for s := range fabric.NodeID(g.Switches()) {
		if got, want := on.Lanes.SL2VL.LevelsByLane(s), uint16(f.NodeByGUID(g.Node(s).GUID))+1; got != want {
			t.Errorf("%s: service levels %b, were %b", g.Label(s), got, want)
		}
	}
}

// What packets choose from goes with the switches, by port numbers, and what has to be written of it is counted
// by ports, not by the numbers of groups.
func TestGroupsOnAnotherFabric(t *testing.T) {
	f := testnet.Build(t, "karytree:k=3,n=2")
	old := *route(t, f, "minhop")
	old.Groups = routing.NewGroups(f, 2)
	rng := rand.New(rand.NewPCG(7, 1))
	for s := range fabric.NodeID(f.Switches()) {
		old.Groups.SetLevels(s, uint16(s))
		for n := range 3 {
			old.Groups.Set(s, n, routing.PortSet{rng.Uint64()})
		}
		old.Groups.SetTable(s, 2, 3, uint8(s%2))
		for lid := range f.LIDs() {
			for table := range 2 {
				old.Groups.Row(table, lid)[s] = routing.ChoiceOf(rng.IntN(3), rng.IntN(2) == 0)
			}
			old.Groups.Static(1).Row(lid)[s] = uint8(rng.IntN(5))
		}
	}
	g, err := f.Without([]fabric.ChannelID{0}, []fabric.NodeID{4})
	if err != nil {
		t.Fatal(err)
	}
	on, err := transition.On(g, &old, nil)
	if err != nil {
		t.Fatal(err)
	}
	for s := range fabric.NodeID(g.Switches()) {
		w := f.NodeByGUID(g.Node(s).GUID)
		if on.Groups.Levels(s) != old.Groups.Levels(w) || !slices.Equal(on.Groups.Sets(s), old.Groups.Sets(w)) || on.Groups.Table(s, 2, 3) != old.Groups.Table(w, 2, 3) {
			t.Errorf("%s chooses otherwise", g.Label(s))
		}
		for lid := range g.LIDs() {
			if on.Groups.Row(1, lid)[s] != old.Groups.Row(1, lid)[w] || on.Groups.Static(1).Port(s, lid) != old.Groups.Static(1).Port(w, lid) {
				t.Errorf("%s, LID %d: another entry", g.Label(s), lid)
			}
		}
	}
	back, err := transition.On(f, on, nil)
	if err != nil {
		t.Fatal(err)
	}
	if back.Groups.Levels(4) != 0 {
		t.Error("a switch that is new chooses")
	}
	other := *on
	other.Groups = routing.NewGroups(g, 2)
	for s := range fabric.NodeID(g.Switches()) {
		sets := on.Groups.Sets(s)
		for n, ports := range []routing.PortSet{sets[1], sets[0], sets[2]} {
			other.Groups.Set(s, n, ports)
		}
		for lid := range g.LIDs() {
			for table := range 2 {
				c := on.Groups.Row(table, lid)[s]
				if n := c.Group(); n < 2 {
					c = routing.ChoiceOf(1-n, c.Hashed())
				}
				other.Groups.Row(table, lid)[s] = c
			}
		}
	}
	lid := g.Endpoint(routing.HCA.Endpoints(g)[0]).LID
	if n := transition.CostOf(on, &other).Choices; n != 0 {
		t.Errorf("%d entries choose otherwise though only the numbers of their groups do", n)
	}
	if !transition.SameEntry(on, on, 0, lid) || transition.SameEntry(on, &other, 0, lid) != (on.Groups.Static(1).Port(0, lid) == routing.NoPort) {
		t.Error("an entry is not the same as itself, or the same as another")
	}
	other.Groups.Row(0, lid)[0] = routing.NoChoice
	if n := transition.CostOf(on, &other).Choices; n != 1 {
		t.Errorf("%d entries choose otherwise; one does", n)
	}
}

// The facts of the package comment, on tables before and after a failure.
func TestFacts(t *testing.T) {
	networks := []string{"ring:6,hosts=2", "torus:4x4", "dragonfly:p=2", "karytree:k=2,n=3", "random:switches=12,links=30,hosts=2,seed=2"}
	names := []string{"minhop", "updn", "sssp", "lash", "dfsssp", "df-dn", "nue", "weave", "weave-any"}
	rapid.Check(t, func(r *rapid.T) {
		f := testnet.Build(t, rapid.SampledFrom(networks).Draw(r, "network"))
		engine := rapid.SampledFrom(names).Draw(r, "engine")
		contract := rapid.SampledFrom([]routing.Contract{routing.Honored, routing.Directed, routing.Any, routing.Single(0)}).Draw(r, "contract")
		g := withoutCables(t, f, rapid.IntRange(0, 3).Draw(r, "cables"), rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "which"), 1)))
		e, err := engines.Named(engine)
		if err != nil {
			r.Fatal(err)
		}
		before, err := e.Route(t.Context(), f, engines.Options{}, routing.Budget{VLs: 8}, nil)
		if err != nil {
			return
		}
		next, err := e.Route(t.Context(), g, engines.Options{}, routing.Budget{VLs: 8}, nil)
		if err != nil {
			return
		}
		old, err := transition.On(g, before, next)
		if err != nil {
			r.Fatal(err)
		}
		v := verify(t, old, next, contract)
		// An undo is as safe as the step.
		if u := verify(t, next, old, contract); u.Free() != v.Free() || u.Dependencies != v.Dependencies || u.Entries != v.Entries || u.Circles != v.Circles {
			r.Fatalf("there %+v, back %+v", v.MixtureVerdict, u.MixtureVerdict)
		}
		// An acyclic union has no forwarding loop.
		if v.Free() && v.Circles != 0 {
			r.Fatalf("free, and packets to %d LIDs circle", v.Circles)
		}
		// Both may stay as they were: service levels and maps.
		frozen := &routing.Tables{Fabric: g, Forwarding: next.Forwarding, Lanes: old.Lanes}
		if v.Free() && !verify(t, old, frozen, contract).Free() {
			r.Fatal("free with new service levels, not with the old ones")
		}
		// Where only dead entries change, the union is the graph of the new tables.
		patched := &routing.Tables{Fabric: g, Forwarding: patch(old, next), Lanes: old.Lanes}
		u := verify(t, old, patched, contract)
		alone, err := deadlock.Verify(t.Context(), patched, deadlock.Options{Contract: contract})
		if err != nil || len(g.Parts()) == 1 && u.Entries != u.Due || u.Dependencies != alone.Dependencies || u.Free() != alone.Free() {
			r.Fatalf("only dead entries: union %+v %+v, new %+v, %v", u.MixtureVerdict, u.Cost, alone, err)
		}
	})
}

// patch is the old entries, with new ones in place of those that lead into nothing.
func patch(old, next *routing.Tables) *routing.Forwarding {
	f := next.Fabric
	fw := routing.NewForwarding(f)
	for lid, owner := range f.LIDs() {
		e := f.Endpoint(owner)
		home := uint8(0)
		if e.Deliver != fabric.None {
			home = f.Channel(e.Deliver).FromPort
		}
		row := fw.Row(lid)
		copy(row, old.Forwarding.Row(lid))
		for s, port := range row {
			if c := f.Out(fabric.NodeID(s), port); fabric.NodeID(s) == e.Switch && port == home || c != fabric.None && int(c) < f.Trunks() {
				continue
			}
			row[s] = next.Forwarding.Port(fabric.NodeID(s), lid)
		}
	}
	return fw
}

// Fresh tables for another fabric are refused: their maps say nothing about this one.
func TestOnWithFreshTablesOfAnother(t *testing.T) {
	f, other := testnet.Build(t, "torus:4x4"), testnet.Build(t, "ring:5")
	tables := func(f *fabric.Fabric) *routing.Tables {
		return &routing.Tables{Fabric: f, Forwarding: routing.NewForwarding(f), Lanes: routing.OneSL(f, routing.UniformSL2VL([routing.SLs]uint8{}).PerPort(f))}
	}
	if _, err := transition.On(f, tables(other), tables(other)); err == nil {
		t.Error("no error")
	}
}
