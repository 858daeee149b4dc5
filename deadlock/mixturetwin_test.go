package deadlock_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// blend judges a change between tables with groups packet by packet: at every visit each thing that a switch goes by
// is of any of the tables.
type blend struct {
	tables                  []*routing.Tables
	edges                   map[[2]hop]bool
	held                    map[hop]bool
	pairs, exposed, circles int64
	cut                     []int64
}

// ports is all that a switch may offer a packet; by: one of the tables for each of the things that it goes by, private
// table, entry, service levels that choose and ports of the group.
func ports(by [4]*routing.Tables, s fabric.NodeID, in, sl uint8, lid fabric.LID, chooses bool) []uint8 {
	var g [4]*routing.Groups
	for i, t := range by {
		if g[i] = t.Groups; g[i] == nil {
			g[i] = routing.NewGroups(t.Fabric, 1)
			g[i].SetLevels(s, 0)
		}
	}
	table := g[0].Table(s, in, sl)
	if table >= g[1].Tables() {
		return nil
	}
	static := by[1].Forwarding.Port(s, lid)
	if table > 0 {
		static = g[1].Static(table).Port(s, lid)
	}
	choice := g[1].Row(table, lid)[s]
	if !chooses || choice == routing.NoChoice || g[2].Levels(s)>>sl&1 == 0 || choice.Group() >= len(g[3].Sets(s)) {
		return []uint8{static}
	}
	var alive []uint8
	for p := range g[3].Sets(s)[choice.Group()].All() {
		if by[0].Fabric.Out(s, p) != fabric.None {
			alive = append(alive, p)
		}
	}
	if down := static == routing.NoPort || static != 0 && by[0].Fabric.Out(s, static) == fabric.None; !down || len(alive) == 0 {
		alive = append(alive, static)
	}
	return alive
}

// offers is all ports that any of the tables offer.
func (w *blend) offers(s fabric.NodeID, in, sl uint8, lid fabric.LID, chooses bool) []uint8 {
	all := map[uint8]bool{}
	for i := range len(w.tables) * len(w.tables) * len(w.tables) * len(w.tables) {
		var by [4]*routing.Tables
		for j := range by {
			by[j] = w.tables[i%len(w.tables)]
			i /= len(w.tables)
		}
		for _, p := range ports(by, s, in, sl, lid, chooses) {
			all[p] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// travel follows one packet along everything that can happen to it, and says whether it is sure to arrive, and whether it
// can circle.
func (w *blend) travel(src, dst fabric.EndpointID, lid fabric.LID, sl uint8, chooses bool) (sure, circles bool) {
	f := w.tables[0].Fabric
	from, to := f.Endpoint(src), f.Endpoint(dst)
	type where struct {
		s  fabric.NodeID
		in uint8
		h  hop
	}
	sure = true
	seen := map[hop]bool{}
	after := map[fabric.ChannelID]map[fabric.ChannelID]bool{}
	todo := []where{{from.Switch, f.LastPort(from), hop{Trunk: fabric.None}}}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		for _, p := range w.offers(at.s, at.in, sl, lid, chooses) {
			c := f.Out(at.s, p)
			if p == f.LastPort(to) && at.s == to.Switch {
				continue
			}
			if p == 0 || c == fabric.None || int(c) >= f.Trunks() {
				sure = false
				continue
			}
			if after[at.h.Trunk] == nil {
				after[at.h.Trunk] = map[fabric.ChannelID]bool{}
			}
			after[at.h.Trunk][c] = true
			for _, t := range w.tables {
				one := &slow{t: t}
				next := hop{Trunk: c, Lane: one.lane(at.s, at.in, p, sl, at.h)}
				if at.h.Lane == dropped || next.Lane == 15 { // only the way counts from here on
					next.Lane = dropped
				} else {
					w.held[next] = true
					if at.h.Trunk != fabric.None {
						w.edges[[2]hop{at.h, next}] = true
					}
				}
				if !seen[next] {
					seen[next] = true
					todo = append(todo, where{f.Channel(c).To, f.Channel(c).ToPort, next})
				}
			}
		}
	}
	circles = circular(after)
	return sure && !circles, circles
}

// newBlend follows the packets of all pairs, on service levels that any of the tables give them (contract directed).
func newBlend(tables []*routing.Tables) *blend {
	w := &blend{tables: tables, edges: map[[2]hop]bool{}, held: map[hop]bool{}, cut: make([]int64, len(tables))}
	for lid, dst := range routing.HCA.LIDs(tables[0].Fabric) {
		circling := false
		for _, src := range routing.HCA.Endpoints(tables[0].Fabric) {
			if src == dst {
				continue
			}
			w.pairs++
			arrive := func(b *blend) bool {
				all := true
				for _, t := range tables {
					for _, chooses := range []bool{false, true} {
						sure, circles := b.travel(src, dst, lid, t.Lanes.SL(src, lid), chooses)
						all = all && sure
						circling = circling || circles && b == w
					}
				}
				return all
			}
			last := false
			for i := range tables {
				alone := &blend{tables: tables[i : i+1], edges: map[[2]hop]bool{}, held: map[hop]bool{}}
				if last = arrive(alone); !last {
					w.cut[i]++
				}
			}
			if !arrive(w) && last {
				w.exposed++
			}
		}
		if circling {
			w.circles++
		}
	}
	return w
}

// changed is other tables for the same network: entries, groups, their ports, service levels and maps differ here and there.
func changed(t *routing.Tables, rng *rand.Rand) *routing.Tables {
	f := t.Fabric
	to := &routing.Tables{Fabric: f, Forwarding: routing.NewForwarding(f), Lanes: t.Lanes, Groups: routing.NewGroups(f, t.Groups.Tables())}
	few := 1 << rng.IntN(8)
	for s := range fabric.NodeID(f.Switches()) {
		to.Groups.SetLevels(s, t.Groups.Levels(s))
		if rng.IntN(few) == 0 {
			to.Groups.SetLevels(s, uint16(rng.IntN(4)))
		}
		for n, set := range t.Groups.Sets(s) {
			if rng.IntN(few) == 0 {
				set = t.Groups.Sets(s)[rng.IntN(len(t.Groups.Sets(s)))]
			}
			to.Groups.Set(s, n, set)
		}
		for in := range uint8(f.Node(s).Ports + 1) {
			for sl := range uint8(routing.SLs) {
				table := uint8(t.Groups.Table(s, in, sl))
				if table > 0 && rng.IntN(few) == 0 {
					table = 0
				}
				if t.Groups.Tables() > 1 {
					to.Groups.SetTable(s, in, sl, table)
				}
			}
		}
	}
	for lid := range f.LIDs() {
		for table := range t.Groups.Tables() {
			from, row := t.Forwarding.Row(lid), to.Forwarding.Row(lid)
			if table > 0 {
				from, row = t.Groups.Static(table).Row(lid), to.Groups.Static(table).Row(lid)
			}
			copy(row, from)
			choices := to.Groups.Row(table, lid)
			copy(choices, t.Groups.Row(table, lid))
			for s := range row {
				if rng.IntN(few) == 0 {
					row[s] = uint8(rng.IntN(f.Node(fabric.NodeID(s)).Ports + 1))
				}
				if n := len(t.Groups.Sets(fabric.NodeID(s))); rng.IntN(few) == 0 && n > 0 {
					choices[s] = routing.ChoiceOf(rng.IntN(n), false)
				}
			}
		}
	}
	if _, uniform := t.Lanes.SL2VL.Uniform(); !uniform && rng.IntN(2) == 0 {
		lanes := routing.LanePerSL(2).PerPort(f)
		to.Lanes = routing.NewLanes(f, lanes)
		for lid := range f.LIDs() {
			copy(to.Lanes.SLRow(lid), t.Lanes.SLRow(lid))
		}
	}
	if rng.IntN(8) == 0 {
		to.Groups = nil
	}
	return to
}

// The judge of changes agrees with the slow one where tables have groups, and its proofs and loops hold by what that
// has seen.
func TestMixturesOfGroupsAgree(t *testing.T) {
	free, loops, exposed, circles := 0, 0, 0, 0
	for seed := range uint64(testnet.Of(400, 100)) {
		rng := rand.New(rand.NewPCG(seed, 18))
		tables := []*routing.Tables{randomGroups(t, rng)}
		tables[0].Multicast = nil
		for range 1 + rng.IntN(2) {
			tables = append(tables, changed(tables[0], rng))
		}
		if rng.IntN(2) == 0 {
			slices.Reverse(tables)
		}
		w := newBlend(tables)
		v, err := deadlock.VerifyMixture(t.Context(), tables, deadlock.Options{Contract: routing.Directed})
		if err != nil {
			t.Fatal(err)
		}
		simple := &slow{edges: w.edges, held: w.held}
		if v.Pairs != w.pairs || !slices.Equal(v.Cut, w.cut) || v.Exposed != w.exposed || v.Circles != w.circles || v.Free() != simple.free() || v.Dependencies != len(w.edges) {
			t.Fatalf("seed %d: %+v\nwant %d pairs, cut %v, exposed %d, circles %d, free %v, %d dependencies", seed, v, w.pairs, w.cut, w.exposed, w.circles, simple.free(), len(w.edges))
		}
		exposed += int(v.Exposed)
		circles += int(v.Circles)
		if !v.Free() {
			loops++
			w.checkLoop(t, seed, v)
			continue
		}
		free++
		for e := range w.edges {
			if rankOf(v.Certificate.Rank, v.Certificate.Lanes, e[0]) >= rankOf(v.Certificate.Rank, v.Certificate.Lanes, e[1]) {
				t.Fatalf("seed %d: the ranks do not rise along %v", seed, e)
			}
		}
		if _, err := deadlock.CheckMixture(t.Context(), tables, v.Certificate, nil); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if free < testnet.Of(30, 10) || loops < testnet.Of(100, 40) || exposed < 200 || circles < 100 {
		t.Errorf("%d free, %d with loops, %d pairs exposed, %d LIDs circle: too few of a kind to be a test", free, loops, exposed, circles)
	}
}

// checkLoop follows the way of every step by the choices that it names.
func (w *blend) checkLoop(t *testing.T, seed uint64, v *deadlock.MixtureVerdict) {
	f := w.tables[0].Fabric
	for i, step := range v.Cycle {
		next := v.Cycle[(i+1)%len(v.Cycle)]
		at, in := f.Endpoint(step.Src).Switch, f.LastPort(f.Endpoint(step.Src))
		var way []hop
		hold := hop{Trunk: fabric.None}
		for _, c := range step.Way {
			offered := false
			for _, levels := range w.tables {
				by := [4]*routing.Tables{w.tables[c.Private], w.tables[c.Entry], levels, w.tables[max(c.Group, 0)]}
				offered = offered || slices.Contains(ports(by, at, in, step.SL, step.Dst, c.Group >= 0), c.Port)
			}
			if c.Switch != at || !offered {
				t.Fatalf("seed %d, step %d: at switch %d: %+v", seed, i, at, c)
			}
			out := f.Channel(f.Out(at, c.Port))
			hold = hop{Trunk: f.Out(at, c.Port), Lane: (&slow{t: w.tables[c.Map]}).lane(at, in, c.Port, step.SL, hold)}
			way = append(way, hold)
			at, in = out.To, out.ToPort
		}
		if n := len(way); n < 2 || way[n-2] != (hop{Trunk: step.Trunk, Lane: step.VL}) || way[n-1] != (hop{Trunk: next.Trunk, Lane: next.VL}) {
			t.Fatalf("seed %d, step %d: %+v ends in %v", seed, i, step, way)
		}
	}
}

// Whatever the switches hold while they are written, each switch, block of 64 LIDs and group by itself, the judge of
// changes has its dependencies, and if nothing circles it has no other: every snapshot is judged by itself.
func TestSnapshotsAreTheMixture(t *testing.T) {
	whole, all := 0, 0
	for seed := uint64(0); all < 60; seed++ {
		rng := rand.New(rand.NewPCG(seed, 19))
		a := randomGroups(t, rng)
		if a.Fabric.Switches() > 4 || a.Groups.Tables() > 1 || a.Lanes.SL2VL.AnyByLane() {
			continue
		}
		a.Multicast = nil
		b := changed(a, rng)
		if b.Groups == nil {
			continue
		}
		all++
		b.Lanes = a.Lanes
		for s := range fabric.NodeID(a.Fabric.Switches()) { // they stay: a snapshot changes entries and ports only
			b.Groups.SetLevels(s, a.Groups.Levels(s))
		}
		w := newBlend([]*routing.Tables{a, b})
		edges := map[[2]hop]bool{}
		n := a.Fabric.Switches()
		for bits := range 1 << (2 * n) {
			x := newSlow(snapshot(a, b, bits), func(src fabric.EndpointID, lid fabric.LID) []uint8 {
				return []uint8{a.Lanes.SL(src, lid)}
			})
			maps.Copy(edges, x.edges)
		}
		for e := range edges {
			if !w.edges[e] {
				t.Fatalf("seed %d: a snapshot has %v, the mixture has not", seed, e)
			}
		}
		if w.circles == 0 {
			whole++
			if len(edges) != len(w.edges) {
				t.Fatalf("seed %d: %d dependencies of all snapshots, %d of the mixture", seed, len(edges), len(w.edges))
			}
		}
	}
	if whole < 20 {
		t.Errorf("%d of %d without circles", whole, all)
	}
}

// snapshot is tables of which each switch has the entries of either, and the ports of the groups of either, by the bits.
func snapshot(a, b *routing.Tables, bits int) *routing.Tables {
	f := a.Fabric
	t := &routing.Tables{Fabric: f, Forwarding: routing.NewForwarding(f), Lanes: a.Lanes, Groups: routing.NewGroups(f, 1)}
	for s := range fabric.NodeID(f.Switches()) {
		entries, sets := a, a
		if bits>>(2*s)&1 == 1 {
			entries = b
		}
		if bits>>(2*s+1)&1 == 1 {
			sets = b
		}
		t.Groups.SetLevels(s, a.Groups.Levels(s))
		for n, set := range sets.Groups.Sets(s) {
			t.Groups.Set(s, n, set)
		}
		for lid := range f.LIDs() {
			t.Forwarding.Row(lid)[s] = entries.Forwarding.Row(lid)[s]
			t.Groups.Row(0, lid)[s] = entries.Groups.Row(0, lid)[s]
		}
	}
	return t
}
