package deadlock_test

import (
	"math/rand/v2"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// randomGroups is tables with groups that nobody would install: static ports along
// shortest paths or anywhere, groups of any ports, several private tables, service levels
// without adaptive routing, lanes at random.
func randomGroups(t *testing.T, rng *rand.Rand) *routing.Tables {
	f := testnet.Ring(t, 3+rng.IntN(3))
	if rng.IntN(2) == 0 {
		f = mesh(t, 2+rng.IntN(2), 2)
	}
	tables := 1 + rng.IntN(2)
	g := routing.NewGroups(f, tables)
	fw := routing.NewForwarding(f)
	wild := rng.IntN(3) == 0
	for s := range fabric.NodeID(f.Switches()) {
		for n := range 3 {
			var ports routing.PortSet
			for p := range uint8(f.Node(s).Ports) {
				if rng.IntN(2) == 0 {
					ports.Add(p + 1)
				}
			}
			g.Set(s, n, ports)
		}
		if rng.IntN(4) == 0 {
			g.SetLevels(s, 1)
		}
	}
	for lid, e := range f.LIDs() {
		to := f.Endpoint(e)
		far := f.Hops(to.Switch)
		for table := range tables {
			row := fw.Row(lid)
			if table > 0 {
				row = g.Static(table).Row(lid)
			}
			for s := range fabric.NodeID(f.Switches()) {
				if s == to.Switch {
					row[s] = f.LastPort(to)
					if wild && rng.IntN(4) == 0 {
						g.Row(table, lid)[s] = routing.ChoiceOf(rng.IntN(3), false)
					}
					continue
				}
				var near routing.PortSet
				first, end := f.TrunksFrom(s)
				for c := first; c < end; c++ {
					if far[f.Channel(c).To] < far[s] {
						row[s] = f.Channel(c).FromPort
						near.Add(row[s])
					}
				}
				if wild && rng.IntN(8) == 0 {
					row[s] = uint8(rng.IntN(f.Node(s).Ports + 1))
				}
				switch {
				case wild && rng.IntN(4) == 0:
					g.Row(table, lid)[s] = routing.ChoiceOf(rng.IntN(3), rng.IntN(3) == 0)
				case rng.IntN(2) == 0:
					g.Set(s, 3+int(lid), near)
					g.Row(table, lid)[s] = routing.ChoiceOf(3+int(lid), rng.IntN(3) == 0)
				}
			}
		}
	}
	lanes := routing.LanePerSL(1 + rng.IntN(3))
	if rng.IntN(2) == 0 {
		lanes = lanes.PerPort(f)
		top := uint8(1 + rng.IntN(3))
		for s := range fabric.NodeID(f.Switches()) {
			for in := range uint8(f.Node(s).Ports + 1) {
				for out := range uint8(f.Node(s).Ports + 1) {
					for sl := range uint8(routing.SLs) {
						lanes.Set(s, in, out, sl, uint8(rng.IntN(int(top))))
					}
					if wild && rng.IntN(10) == 0 {
						lanes.Set(s, in, out, 0, 15)
					}
				}
			}
		}
	}
	if tables > 1 {
		for s := range fabric.NodeID(f.Switches()) {
			for in := range uint8(f.Node(s).Ports + 1) {
				for sl := range uint8(routing.SLs) {
					g.SetTable(s, in, sl, uint8(rng.IntN(tables)))
				}
			}
		}
	}
	sls := routing.NewLanes(f, lanes)
	for lid := range f.LIDs() {
		row := sls.SLRow(lid)
		for i := range row {
			row[i] = uint8(rng.IntN(2))
		}
	}
	all := &routing.Tables{Fabric: f, Forwarding: fw, Lanes: sls, Groups: g}
	if rng.IntN(2) == 0 {
		all.Multicast = randomTrees(f, rng)
	}
	return all
}

// mesh is switches in rows and columns with a host each: port 1 is the host, 2 to 5 the
// neighbours; the first has another host on port 6.
func mesh(t *testing.T, x, y int) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	sw := make([]fabric.Ref, x*y)
	for i := range sw {
		sw[i] = b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Ports: 6}, "")
		h := b.Node(fabric.Node{GUID: fabric.GUID(100 + i), Kind: fabric.Adapter, Ports: 1}, "")
		b.Cable(h, 1, sw[i], 1, fabric.Rate{})
		b.DataVLs(h, 1, 1) // what they send is on lane 0, whatever the service level
	}
	b.Cable(b.Node(fabric.Node{GUID: 99, Kind: fabric.Adapter, Ports: 1}, ""), 1, sw[0], 6, fabric.Rate{})
	for i := range sw {
		if i%x+1 < x {
			b.Cable(sw[i], 2, sw[i+1], 3, fabric.Rate{})
		}
		if i+x < len(sw) {
			b.Cable(sw[i], 4, sw[i+x], 5, fabric.Rate{})
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// tally counts what tables came to.
type tally struct{ free, escapes, loops, cast int }

// agree holds the judge's verdict, proof or loop against the slow one's.
func (n *tally) agree(t *testing.T, seed uint64, tables *routing.Tables, contract routing.Contract) {
	t.Helper()
	all := *tables
	if all.Groups == nil { // the slow one looks for groups everywhere
		all.Groups = routing.NewGroups(all.Fabric, 1)
	}
	w := newSlow(&all, func(src fabric.EndpointID, lid fabric.LID) []uint8 {
		switch contract {
		case routing.Any:
			return []uint8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
		case routing.Single(1):
			return []uint8{1}
		case routing.Honored:
			back := tables.Lanes.SL(tables.Fabric.Owner(lid), tables.Fabric.Endpoint(src).LID)
			return []uint8{tables.Lanes.SL(src, lid), back}
		}
		return []uint8{tables.Lanes.SL(src, lid)}
	})
	v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: contract})
	if err != nil {
		t.Fatal(err)
	}
	if v.Pairs != w.pairs || v.Unreachable != w.unreachable || v.Free() != w.free() {
		t.Fatalf("seed %d: %d of %d pairs cut off, free %v; want %d of %d, %v", seed, v.Unreachable, v.Pairs, v.Free(), w.unreachable, w.pairs, w.free())
	}
	if contract != routing.Any && v.Dependencies != len(w.edges) {
		t.Fatalf("seed %d: %d dependencies, want %d", seed, v.Dependencies, len(w.edges))
	}
	switch {
	case v.Free():
		n.free++
		for e := range w.edges {
			if rankOf(v.Certificate.Rank, v.Certificate.Lanes, e[0]) >= rankOf(v.Certificate.Rank, v.Certificate.Lanes, e[1]) {
				t.Fatalf("seed %d: the ranks do not rise along %v", seed, e)
			}
		}
		return
	case tables.Groups == nil:
	case (v.Escape != nil) != w.escapes():
		t.Fatalf("seed %d: an escape %v, want %v", seed, v.Escape != nil, w.escapes())
	case v.Escape != nil:
		n.escapes++
		holds(t, w, v.Escape)
	}
	n.loops++
	for i, s := range v.Cycle {
		next := v.Cycle[(i+1)%len(v.Cycle)]
		one := &slow{t: &all, edges: map[[2]hop]bool{}, held: map[hop]bool{}}
		if s.Multicast {
			one.cast(&tables.Multicast.Trees[s.Dst-routing.FirstMLID], tables.Fabric.Endpoint(s.Src), s.SL)
			n.cast++
		}
		for _, chooses := range []bool{false, true} {
			if !s.Multicast {
				one.travel(s.Src, tables.Fabric.Owner(s.Dst), s.Dst, s.SL, chooses)
			}
		}
		if !one.edges[[2]hop{{Trunk: s.Trunk, Lane: s.VL}, {Trunk: next.Trunk, Lane: next.VL}}] {
			t.Fatalf("seed %d: no packet makes step %d, %+v", seed, i, s)
		}
	}
}

// anyContract is one of four.
func anyContract(rng *rand.Rand) routing.Contract {
	return []routing.Contract{routing.Any, routing.Directed, routing.Single(1), routing.Honored}[rng.IntN(4)]
}

// The judge agrees with the slow one, and its proofs and loops hold by what that has seen.
func TestGroupsAgree(t *testing.T) {
	var n tally
	for seed := range uint64(900) {
		rng := rand.New(rand.NewPCG(seed, 16))
		tables := randomGroups(t, rng)
		n.agree(t, seed, tables, anyContract(rng))
	}
	if n.free < 50 || n.escapes < 20 || n.loops-n.escapes < 50 || n.cast < 60 {
		t.Errorf("%+v: too few of a kind to be a test", n)
	}
}

// The same where switches look up lanes by lanes, with groups of ports and without.
func TestLanesByLanes(t *testing.T) {
	var n tally
	differ, mixtures := 0, 0
	for seed := range uint64(900) {
		rng := rand.New(rand.NewPCG(seed, 17))
		tables := randomGroups(t, rng)
		maps := tables.Lanes.SL2VL
		if _, uniform := maps.Uniform(); uniform {
			continue
		}
		if rng.IntN(2) == 0 {
			tables.Groups = nil
		}
		contract := anyContract(rng)
		plain, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: contract})
		if err != nil {
			t.Fatal(err)
		}
		for s := range fabric.NodeID(tables.Fabric.Switches()) {
			maps.SetByLane(s, uint16(rng.IntN(4)))
		}
		n.agree(t, seed, tables, contract)
		v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: contract})
		if err != nil {
			t.Fatal(err)
		}
		if v.Free() != plain.Free() || v.Dependencies != plain.Dependencies {
			differ++
		}
		if tables.Groups == nil {
			mixtures++
			mixed, err := deadlock.VerifyMixture(t.Context(), []*routing.Tables{tables}, deadlock.Options{Contract: contract})
			if err != nil {
				t.Fatal(err)
			}
			if mixed.Free() != v.Free() || mixed.Dependencies != v.Dependencies || mixed.VLs != v.VLs || (mixed.Dropped == 0) != (v.Dropped == 0) || len(mixed.Cycle) != len(v.Cycle) {
				t.Fatalf("seed %d: a mixture of the tables alone: %+v; the tables: %+v", seed, mixed, v)
			}
			for i, step := range mixed.Cycle {
				if !step.Multicast && len(step.Way) < 2 || step.Trunk != v.Cycle[i].Trunk || step.VL != v.Cycle[i].VL {
					t.Fatalf("seed %d, step %d: %+v as a mixture, %+v alone", seed, i+1, step, v.Cycle[i])
				}
			}
		}
		if v.Free() {
			if _, err := deadlock.CheckCertificate(t.Context(), tables, v.Certificate, nil); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
	}
	t.Logf("%+v; %d otherwise than by service levels, %d also as mixtures", n, differ, mixtures)
	if mixtures < 100 || n.free < 50 || n.escapes < 5 || n.loops-n.escapes < 50 || n.cast < 30 || differ < 20 {
		t.Errorf("%+v, %d otherwise than by service levels: too few of a kind to be a test", n, differ)
	}
}

// The last port drops packets by the lane that they came on too, and sends them on lanes that its
// cable may not run.
func TestLastLaneByLane(t *testing.T) {
	f := mesh(t, 2, 1) // switch 0, port 2, to switch 1, port 3; the hosts, with a lane each, at ports 1
	for _, c := range []struct {
		last            uint8
		dropped, absent int
	}{{15, 1, 0}, {0, 0, 0}, {2, 0, 1}} {
		maps := routing.UniformSL2VL([routing.SLs]uint8{}).PerPort(f)
		maps.Set(0, 1, 2, 0, 1)      // SL 0 is on lane 1 between the switches
		maps.Set(1, 3, 1, 1, c.last) // and goes by that from there
		fw := routing.NewForwarding(f)
		for lid, e := range f.LIDs() {
			to := f.Endpoint(e)
			for s, port := range []uint8{2, 3} {
				if fw.Row(lid)[s] = port; fabric.NodeID(s) == to.Switch {
					fw.Row(lid)[s] = f.LastPort(to)
				}
			}
		}
		tables := &routing.Tables{Fabric: f, Forwarding: fw, Lanes: routing.OneSL(f, maps)}
		for _, byLane := range []uint16{0, 1} {
			maps.SetByLane(1, byLane)
			v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: routing.Single(0)})
			if err != nil {
				t.Fatal(err)
			}
			if dropped, absent := c.dropped*int(byLane), c.absent*int(byLane); int(v.Dropped) != dropped || len(v.Absent) != absent {
				t.Errorf("to lane %d, by lanes %d: %d dropped, absent %v; want %d and %d", c.last, byLane, v.Dropped, v.Absent, dropped, absent)
			}
		}
	}
}

func rankOf(rank []int32, lanes int, h hop) int32 {
	return rank[int(h.Trunk)*lanes+int(h.Lane)]
}

// holds checks the ranks of an escape packet by packet.
func holds(t *testing.T, w *slow, e *deadlock.Escape) {
	t.Helper()
	for _, p := range w.waiting {
		any, all := p.out, true
		for _, n := range p.on {
			below := rankOf(e.Rank, e.Lanes, n) < rankOf(e.Rank, e.Lanes, p.holds)
			any, all = any || below, all && below
		}
		if !all && !(p.choose && any) {
			t.Fatalf("a packet at %v has no way on of lower rank: %+v", p.holds, p)
		}
	}
}

// randomTrees is trees of groups: some of them trees, others any ports.
func randomTrees(f *fabric.Fabric, rng *rand.Rand) *routing.Multicast {
	m := &routing.Multicast{SLs: uint16(1 + rng.IntN(3))}
	for n := range 1 + rng.IntN(2) {
		tree := routing.MulticastTree{MLID: routing.FirstMLID + fabric.LID(n)}
		ports := make([]routing.PortSet, f.Switches())
		hops := f.Hops(fabric.NodeID(rng.IntN(f.Switches())))
		whole := rng.IntN(2) == 0
		for s := range ports {
			ports[s].Add(1)
			first, end := f.TrunksFrom(fabric.NodeID(s))
			for c := first; c < end; c++ {
				ch := f.Channel(c)
				if whole && hops[ch.To] < hops[s] {
					ports[s].Add(ch.FromPort)
					ports[ch.To].Add(ch.ToPort)
					break
				}
				if !whole && rng.IntN(3) == 0 {
					ports[s].Add(ch.FromPort)
				}
			}
		}
		for s := range ports {
			if whole || rng.IntN(5) > 0 {
				tree.Nodes = append(tree.Nodes, routing.TreeNode{Switch: fabric.NodeID(s), Ports: ports[s]})
			}
		}
		m.Trees = append(m.Trees, tree)
	}
	return m
}
