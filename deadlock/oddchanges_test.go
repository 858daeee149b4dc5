package deadlock_test

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// sameFabric reports whether networks are the same, number by number.
func sameFabric(a, b *fabric.Fabric) bool {
	return slices.Equal(a.Nodes(), b.Nodes()) && slices.Equal(a.Channels(), b.Channels()) && slices.Equal(a.Endpoints(), b.Endpoints())
}

// change changes one thing.
func (o *odd) change() {
	switches := len(o.sw)
	live := func() (list []int) {
		for i, c := range o.cables {
			if c.a < switches && c.z < switches {
				list = append(list, i)
			}
		}
		return list
	}
	host := func() (list []int) {
		for i, c := range o.cables {
			if c.a >= switches && c.z < switches {
				list = append(list, i)
			}
		}
		return list
	}
	pick := func(list []int) *oddCable {
		if len(list) == 0 {
			return &oddCable{}
		}
		return &o.cables[list[o.n(len(list))]]
	}
	switch kind := o.n(23); kind {
	case 0:
		o.what = "a cable down or up"
		c := &o.cables[o.n(len(o.cables))]
		c.down = !c.down
	case 1:
		o.what = "all cables up"
		for i := range o.cables {
			o.cables[i].down = false
		}
	case 2, 3:
		o.what = "cables exchanged"
		a, z := pick(live()), pick(live())
		if o.one(4) {
			a, z = pick(host()), pick(host())
		}
		if o.one(8) {
			a, z = pick(live()), pick(host())
		}
		if a.ap != 0 && z.ap != 0 {
			a.z, a.zp, z.z, z.zp = z.z, z.zp, a.z, a.zp
		}
	case 4:
		o.what = "a cable to another port"
		i := o.n(len(o.cables))
		c := o.cables[i]
		if o.one(2) {
			c.zp = o.freePort(c.z)
			if c.z == c.a && c.zp == c.ap {
				c.zp = 0
			}
		} else {
			c.z = o.n(switches)
			c.zp = o.freePort(c.z)
		}
		if c.zp != 0 {
			o.cables[i] = c
		}
	case 5:
		o.what = "a switch re-plugged: its ports exchanged"
		s := o.n(switches)
		p, q := uint8(1+o.n(o.sw[s].ports)), uint8(1+o.n(o.sw[s].ports))
		swap := func(x *uint8) {
			switch *x {
			case p:
				*x = q
			case q:
				*x = p
			}
		}
		for i := range o.cables {
			if c := &o.cables[i]; c.a == s {
				swap(&c.ap)
			}
			if c := &o.cables[i]; c.z == s {
				swap(&c.zp)
			}
		}
	case 6:
		o.what = "LIDs reassigned"
		if len(o.ad) > 0 {
			n := &o.ad[o.n(len(o.ad))]
			p := 1 + o.n(n.ports)
			if o.one(3) {
				n.lmc[p] = uint8(o.n(3))
			}
			n.lid[p] = 0
			n.lid[p] = o.freshLID(n.lmc[p])
			if o.one(2) { // exchanged with another
				m := &o.ad[o.n(len(o.ad))]
				q := 1 + o.n(m.ports)
				if m.lmc[q] == n.lmc[p] {
					m.lid[q], n.lid[p] = n.lid[p], m.lid[q]
				}
			}
		}
		o.shared = o.shared && o.one(2)
		if o.one(2) {
			o.route()
		}
	case 7:
		o.what = "a host moved"
		list := host()
		if len(list) > 0 {
			i := list[o.n(len(list))]
			s := o.n(switches)
			if p := o.freePort(s); p != 0 {
				o.cables[i].z, o.cables[i].zp = s, p
				n := o.node(o.cables[i].a)
				for k := range fabric.LID(1) << n.lmc[o.cables[i].ap] {
					if o.n(3) > 0 {
						o.routeOne(n.lid[o.cables[i].ap]+k, s, p, 0)
					}
				}
			}
		}
	case 8:
		if o.noTable {
			o.noTable = o.one(2)
		}
		o.what = "service levels"
		o.shared = false
		for range 1 + o.n(3) {
			o.sl[o.someLID()][o.n(o.rows)] = []uint8{0, 1, 2, 3, routing.NoSL}[o.n(5)]
		}
	case 9:
		o.what = "service levels exchanged"
		o.shared = false
		a, b, r, q := o.someLID(), o.someLID(), o.n(o.rows), o.n(o.rows)
		if o.one(2) {
			q = r
		}
		o.sl[a][r], o.sl[b][q] = o.sl[b][q], o.sl[a][r]
	case 10:
		o.what = "rows"
		i := o.n(switches + len(o.ad))
		n := o.node(i)
		n.row[o.n(len(n.row))] = int32(o.n(o.rows))
	case 11:
		o.what = "maps"
		if o.maps == nil {
			o.uniform[o.n(4)] = uint8(o.n(o.lanes))
		} else {
			s := o.n(switches)
			in, out := o.n(o.sw[s].ports+1), o.n(o.sw[s].ports+1)
			o.maps.vl[s][in][out][o.n(4)] = uint8(o.n(o.lanes))
		}
	case 12:
		o.what = "a switch gone or back"
		s := o.n(switches)
		o.sw[s].gone = !o.sw[s].gone && switches > 2
		left := 0
		for i := range o.sw {
			if !o.sw[i].gone {
				left++
			}
		}
		if left == 0 {
			o.sw[s].gone = false
		}
	case 13:
		o.what = "a host gone or back"
		if len(o.ad) > 0 {
			n := &o.ad[o.n(len(o.ad))]
			n.gone = !n.gone
		}
	case 14:
		o.what = "groups"
		if o.groups != nil {
			if o.one(4) {
				o.groups = nil
			} else {
				s := o.n(switches)
				for lid := range fabric.LID(oddLIDs) {
					if o.one(3) {
						o.groups.choice[o.n(o.groups.tables)][s][lid] = routing.ChoiceOf(o.n(len(o.groups.sets[s])), o.one(3))
					}
				}
				o.groups.levels[s] = uint16(o.n(8))
			}
		} else if o.one(6) {
			o.randomGroups()
		}
	case 15:
		o.what = "trees"
		if o.one(2) {
			o.trees = nil
		} else {
			o.randomTrees()
		}
	case 16:
		o.what = "stray entries"
		for range 1 + o.n(4) {
			o.strayEntry()
		}
	case 17:
		o.what = "entries by another way"
		lid := o.someLID()
		o.owners(func(l fabric.LID, to int, port uint8) {
			if l == lid {
				o.routeOne(l, to, port, o.n(2))
			}
		})
	case 20, 21:
		o.what = "answers exchanged"
		o.shared = false
		at := o.n(switches)
		var here []fabric.LID
		var rows []int32
		o.owners(func(lid fabric.LID, s int, port uint8) {
			if s == at {
				here = append(here, lid)
			}
		})
		for _, c := range o.cables {
			if c.a >= switches && c.z == at {
				rows = append(rows, o.node(c.a).row[c.ap])
			}
		}
		rows = append(rows, o.sw[at].row[0])
		r := rows[o.n(len(rows))]
		a, b := here[o.n(len(here))], here[o.n(len(here))]
		o.sl[a][r], o.sl[b][r] = o.sl[b][r], o.sl[a][r]
	case 22:
		o.what = "entries of a LID at its own switch"
		lid := o.someLID()
		o.owners(func(l fabric.LID, to int, port uint8) {
			if l == lid {
				o.fw[to][lid] = uint8(o.n(o.sw[to].ports + 1))
			}
		})
	case 18:
		o.what = "routed anew"
		o.route()
	default:
		o.what = "an entry"
		lid := o.someLID()
		o.owners(func(l fabric.LID, to int, port uint8) {
			if l == lid {
				s := o.n(switches)
				if ports := o.nearer(s, o.hops(to)); len(ports) > 0 {
					o.fw[s][lid] = ports[o.n(len(ports))]
				}
			}
		})
	}
	if o.groups != nil {
		for s := range o.sw { // sets may be fewer
			for t := range o.groups.tables {
				for lid := range fabric.LID(oddLIDs) {
					if c := o.groups.choice[t][s][lid]; c != routing.NoChoice && c.Group() >= len(o.groups.sets[s]) {
						o.groups.choice[t][s][lid] = routing.NoChoice
					}
				}
			}
		}
	}
}
