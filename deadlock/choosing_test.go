package deadlock_test

import (
	"math/rand/v2"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// randomGroups is tables with groups that nobody would install: static ports along
// shortest paths or anywhere, groups of any ports, several private tables, service levels
// without adaptive routing, lanes at random.
func randomGroups(t *testing.T, rng *rand.Rand) *routing.Tables {
	f := ring(t, 3+rng.IntN(3))
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

// The judge agrees with the slow one, and its proofs and loops hold by what that has seen.
func TestGroupsAgree(t *testing.T) {
	free, escapes, loops, cast := 0, 0, 0, 0
	for seed := range uint64(900) {
		rng := rand.New(rand.NewPCG(seed, 16))
		tables := randomGroups(t, rng)
		contract := []routing.Contract{routing.Any, routing.Directed, routing.Single(1), routing.Honored}[rng.IntN(4)]
		w := newSlow(tables, func(src fabric.EndpointID, lid fabric.LID) []uint8 {
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
			free++
			for e := range w.edges {
				if rankOf(v.Certificate.Rank, v.Certificate.Lanes, e[0]) >= rankOf(v.Certificate.Rank, v.Certificate.Lanes, e[1]) {
					t.Fatalf("seed %d: the ranks do not rise along %v", seed, e)
				}
			}
			continue
		case (v.Escape != nil) != w.escapes():
			t.Fatalf("seed %d: an escape %v, want %v", seed, v.Escape != nil, w.escapes())
		case v.Escape != nil:
			escapes++
			holds(t, w, v.Escape)
		}
		loops++
		for i, s := range v.Cycle {
			next := v.Cycle[(i+1)%len(v.Cycle)]
			one := &slow{t: tables, edges: map[[2]deadlock.Hop]bool{}, held: map[deadlock.Hop]bool{}}
			if s.Multicast {
				one.cast(&tables.Multicast.Trees[s.Dst-routing.FirstMLID], tables.Fabric.Endpoint(s.Src), s.SL)
			}
			for _, chooses := range []bool{false, true} {
				if s.Multicast {
					break
				}
				one.travel(s.Src, tables.Fabric.Owner(s.Dst), s.Dst, s.SL, chooses)
			}
			if s.Multicast {
				cast++
			}
			if !one.edges[[2]deadlock.Hop{{Trunk: s.Trunk, Lane: s.VL}, {Trunk: next.Trunk, Lane: next.VL}}] {
				t.Fatalf("seed %d: no packet makes step %d, %+v", seed, i, s)
			}
		}
	}
	if free < 50 || escapes < 20 || loops-escapes < 50 || cast < 60 {
		t.Errorf("%d free, %d free by escape, %d loops without, %d steps of multicast: too few of a kind to be a test", free, escapes, loops-escapes, cast)
	}
}

func rankOf(rank []int32, lanes int, h deadlock.Hop) int32 {
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
