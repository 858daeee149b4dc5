package deadlock_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// odd is a network and its tables in which seldom features meet, written so that changes of one leave the other as it is:
// everything by switch and LID, whatever their numbers in a fabric.
type odd struct {
	rng      *rand.Rand
	sw       []oddNode
	ad       []oddNode
	cables   []oddCable
	fw       [][oddLIDs]uint8
	rows     int
	sl       [oddLIDs][]uint8
	noTable  bool // SL 0 for all
	maps     *oddMaps
	uniform  [16]uint8
	groups   *oddGroups
	trees    []oddTree
	treeSLs  uint16
	rowMode  int
	lanes    int
	contract routing.Contract
	scope    routing.Scope
	what     string

	last   *routing.Tables
	shared bool // service levels are those of last
}

// oddLIDs is more than the highest LID.
const oddLIDs = 200

// oddNode is a switch or an adapter.
type oddNode struct {
	guid  fabric.GUID
	kind  fabric.Kind
	agg   bool
	ports int
	lid   []fabric.LID // [port]
	lmc   []uint8
	row   []int32
	gone  bool
}

// oddCable joins two nodes, which are numbered from the first switch to the last adapter: an adapter is its first.
type oddCable struct {
	a, z   int
	ap, zp uint8
	vls    uint8
	down   bool
}

// oddMaps is SL2VL maps by port.
type oddMaps struct {
	vl     [][][][16]uint8 // [switch][in][out]
	byLane []uint16
}

// oddGroups is what switches choose from.
type oddGroups struct {
	tables int
	sets   [][]routing.PortSet
	choice [][][oddLIDs]routing.Choice // [table][switch]
	static [][][oddLIDs]uint8          // [table][switch]; 0 unused
	levels []uint16
	table  [][][16]uint8 // [switch][in]
}

// oddTree is a tree of multicast, or what should be one.
type oddTree struct {
	mlid  fabric.LID
	ports []routing.PortSet
}

// node is a switch or an adapter by its number.
func (o *odd) node(i int) *oddNode {
	if i < len(o.sw) {
		return &o.sw[i]
	}
	return &o.ad[i-len(o.sw)]
}

// n is a number below another.
func (o *odd) n(n int) int { return o.rng.IntN(n) }

// one is true once in n times.
func (o *odd) one(n int) bool { return o.rng.IntN(n) == 0 }

// freePort is a port of a node without a cable, 0: none.
func (o *odd) freePort(i int) uint8 {
	taken := map[uint8]bool{}
	for _, c := range o.cables {
		if c.a == i {
			taken[c.ap] = true
		}
		if c.z == i {
			taken[c.zp] = true
		}
	}
	var free []uint8
	for p := range uint8(o.node(i).ports) {
		if !taken[p+1] {
			free = append(free, p+1)
		}
	}
	if len(free) == 0 {
		return 0
	}
	return free[o.n(len(free))]
}

// plug cables two nodes, if both have a port left.
func (o *odd) plug(a, z int) bool {
	ap := o.freePort(a)
	if ap == 0 {
		return false
	}
	o.cables = append(o.cables, oddCable{a: a, ap: ap, z: z})
	zp := o.freePort(z)
	if zp == 0 {
		o.cables = o.cables[:len(o.cables)-1]
		return false
	}
	o.cables[len(o.cables)-1].zp = zp
	if o.one(6) {
		o.cables[len(o.cables)-1].vls = []uint8{1, 2, 4, 8}[o.n(4)]
	}
	return true
}

// freshLID finds a free range.
func (o *odd) freshLID(lmc uint8) fabric.LID {
	used := map[fabric.LID]bool{}
	for i := range len(o.sw) + len(o.ad) {
		n := o.node(i)
		for p, lid := range n.lid {
			for k := range fabric.LID(1) << n.lmc[p] {
				used[lid+k] = true
			}
		}
	}
	w := fabric.LID(1) << lmc
	for range 200 {
		lid := fabric.LID(1+o.n((oddLIDs-10)/int(w)-1)) * w
		ok := true
		for k := range w {
			ok = ok && !used[lid+k]
		}
		if ok {
			return lid
		}
	}
	panic("no LID")
}

// addNode adds a node with LIDs, and returns its number.
func (o *odd) addNode(kind fabric.Kind, ports int, agg bool, lmc func() uint8) int {
	n := oddNode{kind: kind, ports: ports, agg: agg, guid: fabric.GUID(1000 + o.n(1<<40))}
	n.lid, n.lmc, n.row = make([]fabric.LID, ports+1), make([]uint8, ports+1), make([]int32, ports+1)
	if kind == fabric.Switch {
		o.sw = append(o.sw, n)
	} else {
		o.ad = append(o.ad, n)
	}
	var p *oddNode
	i := len(o.sw) - 1
	if kind == fabric.Switch {
		p = &o.sw[i]
		p.lmc[0] = 0
		if o.one(8) {
			p.lmc[0] = lmc()
		}
		p.lid[0] = o.freshLID(p.lmc[0])
	} else {
		i = len(o.sw) + len(o.ad) - 1
		p = &o.ad[len(o.ad)-1]
		for k := 1; k <= ports; k++ {
			p.lmc[k] = lmc()
			p.lid[k] = o.freshLID(p.lmc[k])
		}
	}
	return i
}

// newOdd draws a network with tables.
func newOdd(seed uint64, withGroups bool) *odd {
	o := &odd{rng: rand.New(rand.NewPCG(seed, 4711))}
	lmc := func() uint8 { return 0 }
	switch o.n(4) {
	case 0:
	case 1:
		lmc = func() uint8 { return 1 }
	default:
		lmc = func() uint8 { return uint8(o.n(3)) }
	}
	switches := 2 + o.n(5)
	for range switches {
		o.addNode(fabric.Switch, 5+o.n(5), false, lmc)
	}
	// a ring or a tree, and more
	for i := range switches {
		if i > 0 {
			to := i - 1
			if o.one(3) {
				to = o.n(i)
			}
			o.plug(i, to)
		}
	}
	if o.n(3) > 0 {
		o.plug(switches-1, 0)
	}
	for range o.n(switches + 1) {
		a, z := o.n(switches), o.n(switches)
		if a == z && !o.one(4) {
			continue
		}
		o.plug(a, z)
	}
	for i := range switches {
		hosts := []int{0, 1, 1, 2, 2, 3, 4}[o.n(7)]
		for range hosts {
			kind, agg := fabric.Adapter, false
			switch o.n(10) {
			case 0:
				kind = fabric.Router
			case 1:
				agg = true
			}
			ports := 1
			if o.one(4) {
				ports = 2
			}
			h := o.addNode(kind, ports, agg, lmc)
			o.plug(h, i)
			if ports == 2 {
				if o.one(2) {
					o.plug(h, i)
				} else {
					o.plug(h, o.n(switches))
				}
			}
		}
	}
	if o.one(10) && len(o.ad) > 1 {
		o.plug(len(o.sw), len(o.sw)+1) // adapter to adapter, if there is a free port
	}
	o.contract = []routing.Contract{routing.Honored, routing.Honored, routing.Honored, routing.Directed, routing.Any, routing.Single(uint8(o.n(3)))}[o.n(6)]
	o.scope = routing.Scope(o.n(3))
	// lanes
	o.lanes = 1 + o.n(3)
	o.rowMode = []int{0, 0, 1}[o.n(3)]
	o.rows = 1 + o.n(6)
	if o.rowMode == 0 {
		o.rows = switches
	}
	for i := range len(o.sw) + len(o.ad) {
		n := o.node(i)
		for p := range n.row {
			n.row[p] = int32(o.n(o.rows))
			if o.rowMode == 0 {
				n.row[p] = 0
				if i < switches {
					n.row[p] = int32(i)
				}
				for _, c := range o.cables {
					if c.a == i && int(c.ap) == p && c.z < switches {
						n.row[p] = int32(c.z)
					}
				}
			}
		}
	}
	o.noTable = o.one(6)
	kinds := 1 + o.n(6)
	noSL := 0
	if o.one(2) {
		noSL = 1 + o.n(30)
	}
	one := o.one(3)
	for lid := range o.sl {
		o.sl[lid] = make([]uint8, o.rows)
		for r := range o.sl[lid] {
			o.sl[lid][r] = uint8(o.n(kinds))
			if one && r > 0 {
				o.sl[lid][r] = o.sl[lid][0]
			}
			if o.n(100) < noSL {
				o.sl[lid][r] = routing.NoSL
			}
		}
	}
	for sl := range o.uniform {
		o.uniform[sl] = uint8(sl % o.lanes)
		if o.one(2) {
			o.uniform[sl] = uint8(o.n(o.lanes))
		}
		if o.one(20) {
			o.uniform[sl] = 15
		}
	}
	if o.one(4) {
		for sl := range o.uniform {
			o.uniform[sl] = o.uniform[0]
		}
	}
	if o.one(2) {
		o.randomMaps()
	}
	// forwarding
	o.fw = make([][oddLIDs]uint8, switches)
	for s := range o.fw {
		for lid := range o.fw[s] {
			o.fw[s][lid] = routing.NoPort
		}
	}
	o.route()
	if withGroups {
		o.randomGroups()
	}
	if o.one(4) {
		o.randomTrees()
	}
	if o.one(3) { // holes and nonsense
		for range 1 + o.n(6) {
			o.strayEntry()
		}
	}
	return o
}

// randomMaps draws maps by port.
func (o *odd) randomMaps() {
	m := &oddMaps{vl: make([][][][16]uint8, len(o.sw)), byLane: make([]uint16, len(o.sw))}
	drop := []int{0, 0, 25, 4}[o.n(4)]
	wild := o.one(2)
	for s := range m.vl {
		p := o.sw[s].ports + 1
		m.vl[s] = make([][][16]uint8, p)
		for in := range p {
			m.vl[s][in] = make([][16]uint8, p)
			for out := range p {
				m.vl[s][in][out] = o.uniform
				if wild || o.one(4) {
					for sl := range 16 {
						m.vl[s][in][out][sl] = uint8(o.n(o.lanes))
						if drop > 0 && o.one(drop) {
							m.vl[s][in][out][sl] = []uint8{15, 15, 16, 200}[o.n(4)]
						}
					}
				}
				if in > 1 && o.one(3) {
					m.vl[s][in][out] = m.vl[s][in-1][out]
				}
			}
		}
	}
	o.maps = m
}

// randomTrees draws trees along cables, or any ports.
func (o *odd) randomTrees() {
	o.trees = nil
	o.treeSLs = uint16(1 + o.n(7))
	for k := range 1 + o.n(2) {
		tree := oddTree{mlid: routing.FirstMLID + fabric.LID(k), ports: make([]routing.PortSet, len(o.sw))}
		for s := range tree.ports {
			if o.one(4) {
				continue
			}
			for p := range uint8(o.sw[s].ports + 1) {
				if o.one(3) {
					tree.ports[s].Add(p)
				}
			}
		}
		if o.one(2) { // a tree by the cables
			tree.ports = make([]routing.PortSet, len(o.sw))
			in := map[int]bool{0: true}
			for again := true; again; {
				again = false
				for _, c := range o.cables {
					if c.a < len(o.sw) && c.z < len(o.sw) && in[c.a] != in[c.z] && !c.down {
						in[c.a], in[c.z] = true, true
						tree.ports[c.a].Add(c.ap)
						tree.ports[c.z].Add(c.zp)
						again = true
					}
				}
			}
			for _, c := range o.cables {
				if c.a >= len(o.sw) && c.z < len(o.sw) && o.one(2) {
					tree.ports[c.z].Add(c.zp)
				}
			}
		}
		o.trees = append(o.trees, tree)
	}
}

// owners calls visit for all LIDs with the switch where they are, and the port.
func (o *odd) owners(visit func(lid fabric.LID, s int, port uint8)) {
	for i := range o.sw {
		for k := range fabric.LID(1) << o.sw[i].lmc[0] {
			visit(o.sw[i].lid[0]+k, i, 0)
		}
	}
	for _, c := range o.cables {
		if c.a >= len(o.sw) && c.z < len(o.sw) {
			n := o.node(c.a)
			for k := range fabric.LID(1) << n.lmc[c.ap] {
				visit(n.lid[c.ap]+k, c.z, c.zp)
			}
		}
	}
}

// hops to a switch by cables, -1: none.
func (o *odd) hops(to int) []int {
	d := slices.Repeat([]int{1 << 20}, len(o.sw))
	d[to] = 0
	for again := true; again; {
		again = false
		for _, c := range o.cables {
			if c.a >= len(o.sw) || c.z >= len(o.sw) || c.down {
				continue
			}
			if d[c.a]+1 < d[c.z] {
				d[c.z], again = d[c.a]+1, true
			}
			if d[c.z]+1 < d[c.a] {
				d[c.a], again = d[c.z]+1, true
			}
		}
	}
	return d
}

// nearer is the ports of a switch that lead nearer.
func (o *odd) nearer(s int, d []int) (ports []uint8) {
	for _, c := range o.cables {
		if c.a >= len(o.sw) || c.z >= len(o.sw) || c.down {
			continue
		}
		if c.a == s && d[c.z] < d[s] {
			ports = append(ports, c.ap)
		}
		if c.z == s && d[c.a] < d[s] {
			ports = append(ports, c.zp)
		}
	}
	return ports
}

// route makes entries, along shortest paths mostly, on a ring one way round.
func (o *odd) route() {
	mode := o.n(3)
	o.owners(func(lid fabric.LID, to int, port uint8) { o.routeOne(lid, to, port, mode) })
}

// routeOne makes the entries for a LID at a port of a switch.
func (o *odd) routeOne(lid fabric.LID, to int, port uint8, mode int) {
	d := o.hops(to)
	for s := range o.sw {
		if s == to {
			o.fw[s][lid] = port
			continue
		}
		ports := o.nearer(s, d)
		if len(ports) == 0 {
			o.fw[s][lid] = routing.NoPort
			continue
		}
		o.fw[s][lid] = ports[o.n(len(ports))]
		if mode == 1 { // to the one before it, whatever
			for _, c := range o.cables {
				if c.a == s && c.z == s-1 && !c.down {
					o.fw[s][lid] = c.ap
				}
				if s == 0 && c.z == 0 && c.a == len(o.sw)-1 && !c.down {
					o.fw[s][lid] = c.zp
				}
			}
		}
	}
}

// strayEntry makes an entry that leads anywhere or nowhere.
func (o *odd) strayEntry() {
	s := o.n(len(o.sw))
	o.fw[s][o.someLID()] = []uint8{routing.NoPort, 0, uint8(o.n(o.sw[s].ports + 1)), uint8(o.n(o.sw[s].ports + 1)), uint8(o.n(o.sw[s].ports + 4)), 254}[o.n(6)]
}

// someLID is the LID of any endpoint on a switch.
func (o *odd) someLID() fabric.LID {
	var all []fabric.LID
	o.owners(func(lid fabric.LID, _ int, _ uint8) { all = append(all, lid) })
	return all[o.n(len(all))]
}

// randomGroups draws groups of ports that lead nearer, or of any.
func (o *odd) randomGroups() {
	g := &oddGroups{tables: 1 + o.n(2)}
	n := len(o.sw)
	g.sets, g.levels, g.table = make([][]routing.PortSet, n), make([]uint16, n), make([][][16]uint8, n)
	g.choice, g.static = make([][][oddLIDs]routing.Choice, g.tables), make([][][oddLIDs]uint8, g.tables)
	for t := range g.tables {
		g.choice[t], g.static[t] = make([][oddLIDs]routing.Choice, n), slices.Clone(o.fw)
	}
	wild := o.one(3)
	for s := range n {
		g.levels[s] = 1<<16 - 1
		if o.one(4) {
			g.levels[s] = uint16(o.n(8))
		}
		g.table[s] = make([][16]uint8, o.sw[s].ports+1)
		if g.tables > 1 {
			for in := range g.table[s] {
				for sl := range 16 {
					g.table[s][in][sl] = uint8(o.n(g.tables))
				}
				if o.one(2) {
					for sl := range 16 {
						g.table[s][in][sl] = g.table[s][in][0]
					}
				}
			}
		}
		for range 3 {
			var set routing.PortSet
			for p := range uint8(o.sw[s].ports) {
				if o.one(3) && wild {
					set.Add(p + 1)
				}
			}
			g.sets[s] = append(g.sets[s], set)
		}
	}
	o.owners(func(lid fabric.LID, to int, port uint8) {
		d := o.hops(to)
		for s := range n {
			for t := range g.tables {
				if wild && o.one(6) {
					g.choice[t][s][lid] = routing.ChoiceOf(o.n(3), o.one(3))
				}
				if o.one(2) && s != to {
					var set routing.PortSet
					for _, p := range o.nearer(s, d) {
						set.Add(p)
					}
					g.choice[t][s][lid] = routing.ChoiceOf(len(g.sets[s]), o.one(3))
					g.sets[s] = append(g.sets[s], set)
				}
			}
		}
	})
	o.groups = g
}

// build makes a fabric and tables.
func (o *odd) build(t *testing.T) *routing.Tables {
	t.Helper()
	var b fabric.Builder
	refs := make([]fabric.Ref, len(o.sw)+len(o.ad))
	for i := range refs {
		n := o.node(i)
		if n.gone {
			continue
		}
		node := fabric.Node{GUID: n.guid, Kind: n.kind, Ports: n.ports, Name: fmt.Sprint(n.kind, i)}
		if n.agg {
			node.VendorID, node.DeviceID = fabric.AggregationVendor, fabric.AggregationDevice
		}
		refs[i] = b.Node(node, "")
		for p := range n.lid {
			if n.lid[p] != 0 {
				b.Port(refs[i], uint8(p), fabric.Port{LID: n.lid[p], LMC: n.lmc[p]})
			}
		}
	}
	for _, c := range o.cables {
		if c.down || o.node(c.a).gone || o.node(c.z).gone {
			continue
		}
		b.Cable(refs[c.a], c.ap, refs[c.z], c.zp, fabric.Rate{})
		if c.vls > 0 {
			b.DataVLs(refs[c.a], c.ap, c.vls)
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	// the same fabric again if nothing is different, as a daemon has it
	if o.last != nil && sameFabric(f, o.last.Fabric) {
		f = o.last.Fabric
	}
	at := make([]int, f.Switches())
	for i := range o.sw {
		if !o.sw[i].gone {
			at[f.NodeByGUID(o.sw[i].guid)] = i
		}
	}
	tables := &routing.Tables{Fabric: f, Forwarding: routing.NewForwarding(f)}
	for lid := range min(f.TopLID()+1, oddLIDs) {
		row := tables.Forwarding.Row(lid)
		for s := range row {
			row[s] = o.fw[at[s]][lid]
		}
	}
	maps := routing.UniformSL2VL(o.uniform)
	if o.maps != nil {
		maps = maps.PerPort(f)
		for s := range fabric.NodeID(f.Switches()) {
			for in := range o.maps.vl[at[s]] {
				for out, lanes := range o.maps.vl[at[s]][in] {
					maps.SetMap(s, uint8(in), uint8(out), lanes)
				}
			}
			if l := o.maps.byLane[at[s]]; l != 0 {
				maps.SetByLane(s, l)
			}
		}
	}
	rows := make([]int32, len(f.Endpoints()))
	for i, e := range f.Endpoints() {
		for k := range len(o.sw) + len(o.ad) {
			if n := o.node(k); n.guid == f.Node(e.Node).GUID {
				rows[i] = n.row[e.Port]
			}
		}
	}
	switch {
	case o.noTable:
		l := *routing.OneSL(f, maps)
		tables.Lanes = &l
	case o.shared && o.last != nil && o.last.Fabric.TopLID() == f.TopLID() && o.last.Lanes.Rows == o.rows && o.last.Lanes.SLRow(0) != nil:
		l := *o.last.Lanes
		l.SL2VL, l.Row = maps, rows
		tables.Lanes = &l
	default:
		tables.Lanes = routing.NewLanesByRow(f, maps, rows, o.rows)
		for lid := range f.LIDs() {
			copy(tables.Lanes.SLRow(lid), o.sl[lid])
		}
	}
	if g := o.groups; g != nil {
		to := routing.NewGroups(f, g.tables)
		for s := range fabric.NodeID(f.Switches()) {
			for n, set := range g.sets[at[s]] {
				to.Set(s, n, set)
			}
			to.SetLevels(s, g.levels[at[s]])
			for in := range g.table[at[s]] {
				for sl := range uint8(16) {
					if n := g.table[at[s]][in][sl]; n > 0 {
						to.SetTable(s, uint8(in), sl, n)
					}
				}
			}
		}
		for table := range g.tables {
			for lid := range min(f.TopLID()+1, oddLIDs) {
				for s := range at {
					to.Row(table, lid)[s] = g.choice[table][at[s]][lid]
					if table > 0 {
						to.Static(table).Row(lid)[s] = g.static[table][at[s]][lid]
					}
				}
			}
		}
		tables.Groups = to
	}
	if len(o.trees) > 0 {
		m := &routing.Multicast{SLs: o.treeSLs}
		for _, tree := range o.trees {
			mt := routing.MulticastTree{MLID: tree.mlid}
			for s := range fabric.NodeID(f.Switches()) {
				if p := tree.ports[at[s]]; p.Len() > 0 {
					mt.Nodes = append(mt.Nodes, routing.TreeNode{Switch: s, Ports: p})
				}
			}
			m.Trees = append(m.Trees, mt)
		}
		tables.Multicast = m
	}
	o.last, o.shared = tables, true
	return tables
}

// options is how they are judged.
func (o *odd) options() deadlock.Options {
	return deadlock.Options{Contract: o.contract, Scope: o.scope, Lost: -1}
}
