package plugin_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/wire"
)

// smallNet is a fabric of a few switches. Ports of switches are numbered from 0, which is the switch itself.
type smallNet struct {
	ports []int             // of each switch, port 0 not counted
	guids []int             // of each switch, ascending
	peer  map[[2]int][2]int // cables between switches, both ways
	flat  [][][2]int        // the same, [switch][port]; zero: none
	vls   map[[2]int]int    // of the ports of these
	ends  []smallEnd
	lids  int // one more than the highest
}

// smallEnd is what sends and receives.
type smallEnd struct {
	at    [2]int // switch and port; port 0: the switch itself
	kind  int    // 0 a host, 1 another adapter, 2 a router, 3 a switch
	lid   int
	lmc   int
	needs int // the scope in which it counts
}

func (e *smallEnd) has(lid int) bool { return lid >= e.lid && lid < e.lid+1<<e.lmc }

// smallTables is an answer, with nothing packed.
type smallTables struct {
	out, sl  [][]int // [switch][LID]
	lanes    int
	maps     [][16]int
	mapOf    [][][]uint8 // [switch][in-port][out-port] number of a map; nil: the first for all
	adapters [16]int
	rank     map[[3]int]int // switch, out-port, lane; else unused
	scope    int
	contract uint16
	directed bool
	step     bool
	drops    bool
	newTree  bool
	more     int
	groups   uint16
	tree     []int // [switch] port towards the root; 0: the root
	number   uint64
}

func (t *smallTables) lane(s, in, out, sl int) int {
	if t.mapOf == nil {
		return t.maps[0][sl]
	}
	return t.maps[t.mapOf[s][in][out]][sl]
}

// smallCase is tables to be proven, those that they replace, if any, and those before them.
type smallCase struct {
	net    []*smallNet // of each
	tables []*smallTables
	qos    bool
	filled bool
	maxVLs int
	blocks map[int][]int // [switch] out-ports that it has confirmed otherwise
	kept   bool          // the tables are proven for the second network, and are to stay in the first

	rows [][]int      // [k][switch of the first network] where it is in network k; -1: nowhere
	used [][wide]bool // [switch][port] some entry leads there
}

// draw is the dice of a case.
type draw struct{ *rand.Rand }

func (d draw) once(in int) bool          { return d.IntN(in) == 0 }
func (d draw) pick(from ...int) int      { return from[d.IntN(len(from))] }
func (d draw) between(low, high int) int { return low + d.IntN(high-low+1) }

func (d draw) network() *smallNet {
	n := &smallNet{peer: map[[2]int][2]int{}, vls: map[[2]int]int{}}
	switches, long := d.pick(1, 2, 2, 3, 3, 3, 4, 4, 5), d.once(600)
	if long { // more than there are LIDs in a block
		switches = d.between(65, 70)
	}
	n.ports = make([]int, switches)
	for s := range switches {
		n.guids = append(n.guids, 100+10*s)
	}
	port := func(s int) [2]int { n.ports[s]++; return [2]int{s, n.ports[s]} }
	var hosts []smallEnd
	plug := func() {
		for range d.pick(1, 2, 2, 3, 3, 4, 5, 8) {
			hosts = append(hosts, smallEnd{at: port(d.IntN(switches)), kind: d.pick(0, 0, 0, 0, 0, 0, 0, 1, 2)})
		}
	}
	early := d.once(2)
	if early {
		plug()
	}
	if d.once(1500) && !long {
		n.ports[d.IntN(switches)] = d.between(200, 230)
	}
	join := func(a, b int) {
		x := port(a)
		y := port(b)
		n.peer[x], n.peer[y] = y, x
		n.vls[x], n.vls[y] = d.pick(2, 4, 4, 4, 8, 15), d.pick(1, 2, 4, 4, 4, 8, 0)
		if d.once(4) {
			n.vls[y] = 15
		}
	}
	for s := 1; s < switches; s++ {
		switch {
		case long: // by several cables each, so that there are a great many ways
			join(s, s-1)
			join(s, s-1)
		case !d.once(80): // else it is by itself
			join(s, d.IntN(s))
		}
	}
	for range d.IntN(4) {
		if a, b := d.IntN(switches), d.IntN(switches); a != b {
			join(a, b)
		}
	}
	if !early {
		plug()
	}
	for s := range switches {
		n.ends = append(n.ends, smallEnd{at: [2]int{s, 0}, kind: 3})
	}
	n.ends = append(n.ends, hosts...)
	n.address(d)
	for s := range switches {
		if d.once(4) {
			n.ports[s]++ // a port without a cable
		}
	}
	n.count()
	return n
}

// address gives out LIDs.
func (n *smallNet) address(d draw) {
	next := 1
	if d.once(12) {
		next = d.pick(d.between(55, 140), d.between(57, 64), d.between(116, 128)) // not all in the first blocks of 64
	}
	order := make([]int, len(n.ends))
	for i := range order {
		order[i] = i
	}
	if d.once(3) {
		order = d.Perm(len(n.ends))
	}
	for _, i := range order {
		e := &n.ends[i]
		e.lid, e.needs = next, []int{0, 1, 1, 2}[e.kind]
		if e.kind != 3 && d.once(6) {
			e.lmc = d.pick(1, 1, 1, 1, 1, 1, 1, 1, 2)
		}
		next += 1 << e.lmc
		if d.once(10) {
			next++
		}
	}
	if d.once(20_000) { // up to the last LID that there is for unicast
		for i := range n.ends {
			n.ends[i].lid += 0xC000 - next
		}
	}
}

// wide is one more than the ports that a switch of such a network has at most.
const wide = 256

// trunk is the other end of a cable between switches.
func (n *smallNet) trunk(x [2]int) (far [2]int, is bool) {
	if x[1] >= len(n.flat[x[0]]) {
		return far, false
	}
	far = n.flat[x[0]][x[1]]
	return far, far != [2]int{}
}

// count finds how many LIDs there are, and where cables lead.
func (n *smallNet) count() {
	n.flat = make([][][2]int, len(n.ports))
	for s, ports := range n.ports {
		n.flat[s] = make([][2]int, ports+1)
	}
	for x, y := range n.peer {
		n.flat[x[0]][x[1]] = y
	}
	n.lids = 0
	for _, e := range n.ends {
		n.lids = max(n.lids, e.lid+1<<e.lmc)
	}
}

// owner is the end that has a LID; nil: nobody.
func (n *smallNet) owner(lid int) *smallEnd {
	for i := range n.ends {
		if n.ends[i].has(lid) {
			return &n.ends[i]
		}
	}
	return nil
}

// damaged is the network after something has happened to it.
func (d draw) damaged(n *smallNet) *smallNet {
	m := &smallNet{
		ports: slices.Clone(n.ports), guids: slices.Clone(n.guids), peer: map[[2]int][2]int{}, vls: map[[2]int]int{}, ends: slices.Clone(n.ends),
	}
	for x, y := range n.peer {
		m.peer[x], m.vls[x] = y, n.vls[x]
	}
	for range d.pick(0, 1, 1, 1, 2) {
		m.count()
		switch d.IntN(9) {
		case 4: // a switch comes, by one cable
			m.insert(d.IntN(len(m.ports)+1), d)
		case 5: // a switch goes
			if len(m.ports) > 1 {
				m.drop(d.IntN(len(m.ports)))
			}
		case 6: // a switch has fewer ports
			s := d.IntN(len(m.ports))
			for range d.pick(1, 1, m.ports[s]) {
				if m.ports[s] > 0 {
					m.unplug([2]int{s, m.ports[s]})
					m.ports[s]--
				}
			}
		case 7: // a port has another LID; where nothing was, ports are exchanged
			if e := &m.ends[d.IntN(len(m.ends))]; d.once(2) {
				e.lid = m.lids
			} else if s := d.IntN(len(m.ports)); m.ports[s] > 0 && s != e.at[0] {
				if x := [2]int{s, m.ports[s]}; m.free(x) {
					m.ports[s]--
					m.ports[e.at[0]]++
				}
			}
		case 0, 1: // a cable breaks
			if cables := slices.SortedFunc(keysOf(m.peer), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }); len(cables) > 0 {
				m.unplug(cables[d.IntN(len(cables))])
			}
		case 2: // an adapter is gone, or plugged in elsewhere
			i := d.IntN(len(m.ends))
			if m.ends[i].kind == 3 {
				continue
			}
			if d.once(2) {
				s := d.IntN(len(m.ports))
				m.ports[s]++
				m.ends[i].at = [2]int{s, m.ports[s]}
			} else {
				m.ends = slices.Delete(m.ends, i, i+1)
			}
		case 3: // another comes
			s := d.IntN(len(m.ports))
			m.ports[s]++
			m.ends = append(m.ends, smallEnd{at: [2]int{s, m.ports[s]}, lid: m.lids})
		}
	}
	m.count()
	return m
}

// free reports whether nothing is plugged into a port.
func (n *smallNet) free(x [2]int) bool {
	_, trunk := n.peer[x]
	return !trunk && !slices.ContainsFunc(n.ends, func(e smallEnd) bool { return e.at == x })
}

// unplug takes away what is at a port.
func (n *smallNet) unplug(x [2]int) {
	if y, trunk := n.peer[x]; trunk {
		delete(n.peer, x)
		delete(n.peer, y)
	}
	n.ends = slices.DeleteFunc(n.ends, func(e smallEnd) bool { return e.at == x })
}

// number gives switches other numbers; negative: it goes, with all that is plugged into it.
func (n *smallNet) number(of func(s int) int) {
	peer, vls := map[[2]int][2]int{}, map[[2]int]int{}
	for x, y := range n.peer {
		if of(x[0]) >= 0 && of(y[0]) >= 0 {
			at := [2]int{of(x[0]), x[1]}
			peer[at], vls[at] = [2]int{of(y[0]), y[1]}, n.vls[x]
		}
	}
	n.peer, n.vls = peer, vls
	n.ends = slices.DeleteFunc(n.ends, func(e smallEnd) bool { return of(e.at[0]) < 0 })
	for i := range n.ends {
		n.ends[i].at[0] = of(n.ends[i].at[0])
	}
}

// drop takes a switch away.
func (n *smallNet) drop(gone int) {
	n.number(func(s int) int {
		switch {
		case s == gone:
			return -1
		case s > gone:
			return s - 1
		}
		return s
	})
	n.ports, n.guids = slices.Delete(n.ports, gone, gone+1), slices.Delete(n.guids, gone, gone+1)
}

// insert adds a switch.
func (n *smallNet) insert(at int, d draw) {
	around := slices.Concat([]int{n.guids[0] - 10}, n.guids, []int{n.guids[len(n.guids)-1] + 10})
	guid := (around[at] + around[at+1]) / 2
	n.number(func(s int) int {
		if s >= at {
			return s + 1
		}
		return s
	})
	n.ports, n.guids = slices.Insert(n.ports, at, 2), slices.Insert(n.guids, at, guid)
	to := d.IntN(len(n.ports) - 1)
	if to >= at {
		to++
	}
	n.ports[to]++
	x, y := [2]int{to, n.ports[to]}, [2]int{at, 1}
	n.peer[x], n.peer[y], n.vls[x], n.vls[y] = y, x, 4, 4
	n.ends = append(n.ends, smallEnd{at: [2]int{at, 0}, kind: 3, lid: n.lids, needs: 2})
}

func keysOf[K comparable, V any](m map[K]V) func(func(K) bool) {
	return func(yield func(K) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// route is tables of some kind for a network; near: most of it is as there, where switch s is the one that at says.
func (d draw) route(n *smallNet, near *smallTables, at []int) *smallTables {
	t := &smallTables{
		lanes: d.pick(1, 1, 2, 2, 3, 4), rank: map[[3]int]int{}, scope: d.pick(0, 0, 0, 1, 1, 2), number: uint64(d.between(1, 1000)),
	}
	if d.once(20) {
		t.lanes = d.pick(8, 14, 15)
	}
	switch d.IntN(6) {
	case 0:
		t.contract = 0xFFFF
	case 1:
		t.contract = 1 << d.pick(0, 1, 2, 0, 1, 2, 15)
	case 2:
		t.contract = uint16(d.IntN(8))
	case 3:
		t.directed = true
	}
	for range d.between(1, 4) {
		var m [16]int
		for sl := range m {
			m[sl] = d.IntN(t.lanes)
			if d.once(60) {
				m[sl] = d.pick(15, 15, 14, t.lanes)
			}
		}
		if d.once(2) {
			for sl := 4; sl < 16; sl++ {
				m[sl] = m[sl%4]
			}
		}
		t.maps = append(t.maps, m)
	}
	if !d.once(4) {
		t.mapOf = make([][][]uint8, len(n.ports))
		few, all := d.once(4), uint8(d.IntN(len(t.maps))) // most ports treat what comes alike
		for s, ports := range n.ports {
			t.mapOf[s] = make([][]uint8, ports+1)
			for in := range ports + 1 {
				t.mapOf[s][in] = make([]uint8, ports+1)
				for out := range ports + 1 {
					t.mapOf[s][in][out] = all
					if !few || d.once(12) {
						t.mapOf[s][in][out] = uint8(d.IntN(len(t.maps)))
					}
				}
			}
			if d.once(2) { // what does not come by a trunk is treated alike
				first := -1
				for in := range ports + 1 {
					if _, trunk := n.trunk([2]int{s, in}); trunk {
						continue
					}
					if first < 0 {
						first = in
					}
					copy(t.mapOf[s][in], t.mapOf[s][first])
				}
			}
		}
	}
	for sl := range t.adapters {
		if d.once(200) {
			t.adapters[sl] = 15
		}
	}
	levels, up := d.pick(1, 2, 2, 3, 4), 0
	if d.once(16) {
		up = 16 - levels // the highest service levels
	}
	t.out, t.sl = make([][]int, len(n.ports)), make([][]int, len(n.ports))
	for s := range n.ports {
		t.out[s], t.sl[s] = slices.Repeat([]int{255}, n.lids), make([]int, n.lids)
	}
	for lid := range n.lids {
		e := n.owner(lid)
		if e == nil {
			continue
		}
		whole := d.once(2)
		level := up + d.IntN(levels)
		t.out[e.at[0]][lid] = e.at[1]
		reached := []int{e.at[0]}
		for i := 0; i < len(reached); i++ { // in an order drawn by lot
			j := i + d.IntN(len(reached)-i)
			reached[i], reached[j] = reached[j], reached[i]
			s := reached[i]
			for _, p := range d.Perm(n.ports[s] + 1) {
				y, trunk := n.trunk([2]int{s, p})
				if trunk && t.out[y[0]][lid] == 255 {
					t.out[y[0]][lid] = y[1]
					reached = append(reached, y[0])
				}
			}
		}
		for s := range n.ports {
			t.sl[s][lid] = level
			if !whole {
				t.sl[s][lid] = up + d.IntN(levels)
			}
			if near != nil && at[s] >= 0 && lid < len(near.out[at[s]]) && !d.once(8) {
				port := near.out[at[s]][lid]
				if _, trunk := n.trunk([2]int{s, port}); trunk {
					t.out[s][lid] = port
				}
				t.sl[s][lid] = near.sl[at[s]][lid]
			}
		}
	}
	if d.once(5) {
		t.groups = uint16(d.pick(1, 1, 2, 3, 5, 1, 2, 3, 0x8001, 0xC000, 0xFFFE, 0xFFFF))
		t.tree = d.tree(n)
	}
	return t
}

// tree is a spanning tree, as ports towards its root; where the network has parts, no tree.
func (d draw) tree(n *smallNet) []int {
	t := make([]int, len(n.ports))
	root := d.IntN(len(n.ports))
	seen, reached := map[int]bool{root: true}, []int{root}
	for i := 0; i < len(reached); i++ {
		for _, p := range d.Perm(n.ports[reached[i]] + 1) {
			if y, trunk := n.trunk([2]int{reached[i], p}); trunk && !seen[y[0]] {
				seen[y[0]] = true
				t[y[0]] = y[1]
				reached = append(reached, y[0])
			}
		}
	}
	return t
}

// spoil changes a thing or two.
func (d draw) spoil(c *smallCase) {
	n, t := c.net[0], c.tables[0]
	if c.kept {
		n = c.net[1] // for which they were made
	}
	s, lid := d.IntN(len(n.ports)), d.IntN(n.lids)
	switch d.IntN(12) {
	case 0, 1:
		if n.owner(lid) != nil || d.once(10) {
			t.out[s][lid] = d.pick(255, d.IntN(n.ports[s]+2), d.IntN(n.ports[s]+1))
		}
	case 2:
		if n.owner(lid) != nil || d.once(10) {
			t.sl[s][lid] = d.pick(d.IntN(4), d.IntN(4), d.IntN(18))
		}
	case 3:
		m := &t.maps[d.IntN(len(t.maps))]
		m[d.IntN(4)] = d.pick(15, 15, d.IntN(t.lanes+1))
	case 4:
		t.adapters[d.IntN(4)] = 15
	case 5:
		t.lanes = max(1, t.lanes-1)
	case 6:
		c.qos = false
		if d.once(2) { // one lane, but for an entry
			for i := range t.maps {
				t.maps[i] = [16]int{}
			}
			t.maps[d.IntN(len(t.maps))][d.pick(0, 0, d.IntN(16))] = 1
		}
	case 7:
		if t.groups != 0 {
			t.tree[s] = d.IntN(n.ports[s] + 2)
		}
	default: // ranks
		all := slices.SortedFunc(keysOf(t.rank), func(a, b [3]int) int { return slices.Compare(a[:], b[:]) })
		if len(all) == 0 {
			return
		}
		at := all[d.IntN(len(all))]
		t.rank[at] += d.pick(-1, -1, 1, 1, 3)
		if d.once(4) {
			delete(t.rank, at)
		}
	}
}

// small draws a case.
func (d draw) small() *smallCase {
	c := &smallCase{qos: true, maxVLs: d.pick(4, 8, 8, 15), blocks: map[int][]int{}}
	base := d.network()
	c.net, c.tables = []*smallNet{base}, []*smallTables{d.route(base, nil, nil)}
	switch {
	case d.once(16): // tables that are to stay
		c.net, c.tables, c.kept = []*smallNet{d.damaged(base), base}, []*smallTables{c.tables[0], c.tables[0]}, true
	case d.once(2):
		was := c.tables[0]
		c.net = []*smallNet{d.damaged(base), base}
		c.place()
		now := d.route(c.net[0], d.near(was), c.rows[1])
		if d.once(2) && slices.Equal(c.net[0].guids, base.guids) && slices.Equal(c.net[0].ports, base.ports) { // the maps stay
			now.maps, now.mapOf, now.lanes = slices.Clone(was.maps), was.mapOf, max(was.lanes, now.lanes)
		}
		now.step = !d.once(8)
		now.drops = now.step && d.once(2)
		if now.groups != 0 {
			now.newTree = now.step && d.once(4)
			if was.groups != 0 && d.once(2) {
				now.groups |= was.groups
				for s, old := range c.rows[1] {
					if _, trunk := c.net[0].peer[[2]int{s, max(0, c.treeOf(old, was))}]; trunk {
						now.tree[s] = was.tree[old]
					}
				}
			}
		}
		c.tables = []*smallTables{now, was}
		d.wander(c, base)
		if d.once(4) {
			c.net, c.tables = append(c.net, base), append(c.tables, d.route(base, was, c.straight(base)))
		}
		for s := range c.net[0].ports {
			if d.once(8) {
				c.blocks[s] = make([]int, c.net[0].lids)
				for lid := range c.blocks[s] {
					c.blocks[s][lid] = d.pick(255, 255, d.IntN(c.net[0].ports[s]+2))
				}
				for from := 0; from < c.net[0].lids; from += 64 {
					if block := c.blocks[s][from:min(from+64, c.net[0].lids)]; d.once(4) { // of these it confirmed nothing else
						copy(block, slices.Repeat([]int{255}, len(block)))
					}
				}
			}
		}
	case d.once(12):
		c.filled, c.tables[0].step, c.tables[0].more = true, true, d.pick(0, 1, 1, 1)
		if d.once(2) {
			c.net[0] = d.damaged(base) // with entries that lead nowhere
			c.tables[0] = d.route(c.net[0], nil, nil)
			c.tables[0].step, c.tables[0].more = true, 1
		}
	}
	c.place()
	for k := 1; k < len(c.tables) && !c.kept; k++ {
		if was := c.tables[k]; was.groups != 0 && c.cablesOfTree(k) == nil { // the network has parts
			was.groups = 0
		}
	}
	c.rankAll(d)
	for range d.pick(0, 0, 0, 1, 1, 2) {
		d.spoil(c)
	}
	return c
}

// treeOf is the port of a tree at a switch; -1: no such switch, or no tree.
func (c *smallCase) treeOf(s int, t *smallTables) int {
	if s < 0 || t.groups == 0 {
		return -1
	}
	return t.tree[s]
}

// straight is the places of switches of a network in itself.
func (c *smallCase) straight(n *smallNet) []int {
	all := make([]int, len(n.ports))
	for s := range all {
		all[s] = s
	}
	return all
}

// place finds the switches of the first network in the others.
func (c *smallCase) place() {
	c.rows = make([][]int, len(c.net))
	for k, n := range c.net {
		for _, guid := range c.net[0].guids {
			c.rows[k] = append(c.rows[k], slices.Index(n.guids, guid))
		}
	}
}

// wander changes tables of before, of which nothing is proven here: packets may have circled.
func (d draw) wander(c *smallCase, base *smallNet) {
	now, was := c.tables[0], c.tables[1]
	for d.once(3) {
		s, lid := d.IntN(len(base.ports)), d.IntN(base.lids)
		if base.owner(lid) != nil {
			was.out[s][lid] = d.pick(d.IntN(base.ports[s]+1), d.IntN(base.ports[s]+1), base.ports[s]+1, 254)
		}
	}
	if !d.once(8) || len(base.peer) == 0 {
		return
	}
	e := base.ends[d.IntN(len(base.ends))] // packets to it circle
	cables := slices.SortedFunc(keysOf(base.peer), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	x := cables[d.IntN(len(cables))]
	y := base.peer[x]
	was.out[x[0]][e.lid], was.out[y[0]][e.lid] = x[1], y[1]
	for s, old := range c.rows[1] { // and are cut now
		if (old == x[0] || old == y[0]) && e.lid < c.net[0].lids && c.net[0].owner(e.lid) != nil {
			now.out[s][e.lid] = 255
		}
	}
}

// near is sometimes the tables that others are to be like.
func (d draw) near(t *smallTables) *smallTables {
	if d.once(3) {
		return nil
	}
	return t
}

var le = binary.LittleEndian

// request is what asks for the tables of a case.
func (c *smallCase) request(i int) *wire.Request {
	n := c.net[i]
	q := &wire.Request{Sweep: 7, MaxVLs: c.maxVLs, QoS: c.qos || i > 0 && !c.kept, Filled: i == 0 && c.filled}
	if i == 0 && len(c.tables) > 1 && !c.kept {
		q.InUse = c.tables[1].number
		for s, ports := range c.blocks {
			for from := 0; from < len(ports); from += 64 {
				if slices.Min(ports[from:min(from+64, len(ports))]) == 255 {
					continue
				}
				b := wire.Block{Switch: s, Number: from / 64, Ports: bytes.Repeat([]byte{255}, 64)}
				for lid := from; lid < min(from+64, len(ports)); lid++ {
					b.Ports[lid-from] = byte(ports[lid])
				}
				q.Blocks = append(q.Blocks, b)
			}
		}
		slices.SortFunc(q.Blocks, func(a, b wire.Block) int { return (a.Switch-b.Switch)*1000 + a.Number - b.Number })
	}
	at := map[[2]int]int{} // adapters by the port that they are cabled to
	for s, ports := range n.ports {
		q.Nodes = append(q.Nodes, wire.Node{GUID: fabric.GUID(n.guids[s]), Kind: fabric.Switch, Ports: ports, Has: []wire.Port{{GUID: fabric.GUID(n.guids[s]), Peer: -1}}})
	}
	for i := range n.ends {
		e := &n.ends[i]
		if e.kind == 3 {
			q.Nodes[e.at[0]].Has[0].LID, q.Nodes[e.at[0]].Has[0].LMC = fabric.LID(e.lid), uint8(e.lmc)
			continue
		}
		at[e.at] = len(q.Nodes)
		node := wire.Node{GUID: fabric.GUID(5000 + i), Kind: fabric.Adapter, Ports: 1}
		switch e.kind {
		case 1:
			node.VendorID, node.DeviceID = fabric.AggregationVendor, fabric.AggregationDevice
		case 2:
			node.Kind = fabric.Router
		}
		node.Has = []wire.Port{{GUID: fabric.GUID(5000 + i), Peer: e.at[0], PeerPort: uint8(e.at[1]), Number: 1, VLs: 8, LID: fabric.LID(e.lid), LMC: uint8(e.lmc)}}
		q.Nodes = append(q.Nodes, node)
	}
	for s, ports := range n.ports {
		for p := 1; p <= ports; p++ {
			if y, trunk := n.trunk([2]int{s, p}); trunk {
				q.Nodes[s].Has = append(q.Nodes[s].Has, wire.Port{Peer: y[0], PeerPort: uint8(y[1]), Number: uint8(p), VLs: uint8(n.vls[[2]int{s, p}])})
			} else if a, ok := at[[2]int{s, p}]; ok {
				q.Nodes[s].Has = append(q.Nodes[s].Has, wire.Port{Peer: a, PeerPort: 1, Number: uint8(p), VLs: 8})
			}
		}
	}
	return q
}

// answer is the message with the tables.
func (c *smallCase) answer(i int) []byte {
	n, t := c.net[i], c.tables[i]
	slots, pairs := 0, 0
	for _, ports := range n.ports {
		slots += ports + 1
		if t.mapOf != nil {
			pairs += (ports + 1) * (ports + 1)
		}
	}
	flags := byte(0)
	for bit, set := range []bool{false, t.directed && t.contract == 0, t.step, t.drops, t.newTree} {
		if set {
			flags |= 1 << bit
		}
	}
	m := append([]byte("WEFT"), 4, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	m = le.AppendUint64(m, 7)
	for _, v := range []int{len(n.ports), n.lids, slots, pairs} {
		m = le.AppendUint32(m, uint32(v))
	}
	m = le.AppendUint16(m, uint16(len(t.maps)))
	m = append(m, byte(t.lanes), byte(t.scope))
	m = le.AppendUint16(m, t.contract)
	m = append(m, flags, byte(t.more))
	for _, lane := range t.adapters {
		m = append(m, byte(lane))
	}
	m = append(m, make([]byte, 32)...)
	m = le.AppendUint64(m, t.number)
	m = le.AppendUint64(m, uint64(t.groups))
	for _, of := range [][][]int{t.out, t.sl} {
		for _, row := range of {
			for _, v := range row {
				m = append(m, byte(v))
			}
		}
	}
	for _, row := range t.maps {
		for _, v := range row {
			m = append(m, byte(v))
		}
	}
	for s, ports := range n.ports {
		for k := 0; t.mapOf != nil && k < (ports+1)*(ports+1); k++ {
			m = le.AppendUint16(m, uint16(t.mapOf[s][k/(ports+1)][k%(ports+1)]))
		}
	}
	for s, ports := range n.ports {
		for k := range (ports + 1) * t.lanes {
			rank, ok := t.rank[[3]int{s, k / t.lanes, k % t.lanes}]
			if !ok {
				rank = -1
			}
			m = le.AppendUint32(m, uint32(int32(rank)))
		}
	}
	if t.groups != 0 {
		for _, p := range t.tree {
			m = append(m, byte(p))
		}
	}
	le.PutUint64(m[8:], uint64(len(m)-16))
	return m
}

// message is the case as weft-core reads it.
func (c *smallCase) message(b *bytes.Buffer) error {
	if c.kept {
		b.WriteByte(0x80 | 1)
		if err := c.request(1).Write(b); err != nil {
			return err
		}
		b.Write(c.answer(1))
		return c.request(0).Write(b)
	}
	b.WriteByte(byte(len(c.tables)))
	for i := range c.tables {
		if err := c.request(i).Write(b); err != nil {
			return err
		}
		b.Write(c.answer(i))
	}
	return nil
}

// known reports whether tables of before know a switch of the network: as it is, with as many ports.
func (c *smallCase) known(k, s int) bool {
	return k == 0 || c.rows[k][s] >= 0 && c.net[k].ports[c.rows[k][s]] == c.net[0].ports[s]
}

// outs is what a switch may forward a LID by, in tables that may be in force at once.
func (c *smallCase) outOf(k, s, lid int) int {
	if !c.known(k, s) || lid >= c.net[k].lids {
		return 255
	}
	return c.tables[k].out[c.rows[k][s]][lid]
}

// level is the service level of tables from a switch to a LID; 255: they do not know it.
func (c *smallCase) level(k, s, lid int) int {
	if !c.known(k, s) || lid >= c.net[k].lids || c.net[k].owner(lid) == nil {
		return 255
	}
	return c.tables[k].sl[c.rows[k][s]][lid]
}

// laneOf is the lane by the maps of tables; those that do not know the switch have no say.
func (c *smallCase) laneOf(k, s, in, out, sl int) int {
	if !c.known(k, s) {
		k = 0
	}
	return c.tables[k].lane(c.rows[k][s], in, out, sl)
}

// mixed is how many tables packets may meet: of a step all, else the new ones.
func (c *smallCase) mixed() int {
	if c.tables[0].step {
		return len(c.tables)
	}
	return 1
}

func appendInts(b []byte, of ...int) []byte {
	for _, v := range of {
		b = strconv.AppendInt(append(b, ' '), int64(v), 10)
	}
	return b
}

// lanesOf is how many lanes of a trunk there are.
func (c *smallCase) lanesOf(x [2]int) int {
	n := c.net[0]
	return max(1, min(n.vls[x], n.vls[n.flat[x[0]][x[1]]], c.maxVLs))
}
