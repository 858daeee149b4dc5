package deadlock_test

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// slow judges tables with groups packet by packet: every source, LID, service level and
// kind by itself, sets as maps.
// hop is a lane of a trunk.
type hop struct {
	Trunk fabric.ChannelID
	Lane  uint8
}

type slow struct {
	t                  *routing.Tables
	pairs, unreachable int64
	edges              map[[2]hop]bool
	held               map[hop]bool
	waiting            []waiter
}

// waiter is a packet that holds a hop: what it may go on to.
type waiter struct {
	holds  hop
	on     []hop
	out    bool // it may leave the switches, or be dropped
	choose bool
}

// offer is what a switch offers a packet.
func (w *slow) offer(s fabric.NodeID, in, sl uint8, lid fabric.LID, chooses bool) (ports []uint8, choose bool) {
	t := w.t
	table := t.Groups.Table(s, in, sl)
	static := t.Forwarding.Port(s, lid)
	if table > 0 {
		static = t.Groups.Static(table).Port(s, lid)
	}
	choice := t.Groups.Row(table, lid)[s]
	if !chooses || choice == routing.NoChoice || t.Groups.Levels(s)>>sl&1 == 0 {
		return []uint8{static}, false
	}
	alive := []uint8{}
	for p := range t.Groups.Sets(s)[choice.Group()].All() {
		if t.Fabric.Out(s, p) != fabric.None {
			alive = append(alive, p)
		}
	}
	down := static == routing.NoPort || static != 0 && t.Fabric.Out(s, static) == fabric.None
	if !down || len(alive) == 0 {
		alive = append(alive, static)
	}
	return alive, !choice.Hashed()
}

// travel follows one packet along everything that can happen to it, and says whether it
// is sure to arrive.
func (w *slow) travel(src, dst fabric.EndpointID, lid fabric.LID, sl uint8, chooses bool) bool {
	f := w.t.Fabric
	to := f.Endpoint(dst)
	from := f.Endpoint(src)
	sure := true
	type where struct {
		s  fabric.NodeID
		in uint8
		h  hop
	}
	seen := map[hop]bool{}
	after := map[fabric.ChannelID]map[fabric.ChannelID]bool{}
	todo := []where{{from.Switch, f.LastPort(from), hop{Trunk: fabric.None}}}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		ports, choose := w.offer(at.s, at.in, sl, lid, chooses)
		wait := waiter{holds: at.h, choose: choose}
		for _, p := range ports {
			c := f.Out(at.s, p)
			switch {
			case p == routing.NoPort || p != 0 && c == fabric.None:
				sure, wait.out = false, true
				continue
			case p == f.LastPort(to) && at.s == to.Switch:
				wait.out = true
				continue
			case p == 0 || int(c) >= f.Trunks():
				sure, wait.out = false, true
				continue
			}
			if after[at.h.Trunk] == nil {
				after[at.h.Trunk] = map[fabric.ChannelID]bool{}
			}
			after[at.h.Trunk][c] = true
			next := hop{Trunk: c, Lane: w.lane(at.s, at.in, p, sl, at.h)}
			if at.h.Lane == dropped || next.Lane == 15 { // only the way counts from here on
				wait.out, next.Lane = true, dropped
			} else {
				w.held[next] = true
				wait.on = append(wait.on, next)
				if at.h.Trunk != fabric.None {
					w.edges[[2]hop{at.h, next}] = true
				}
			}
			if !seen[next] {
				seen[next] = true
				todo = append(todo, where{f.Channel(c).To, f.Channel(c).ToPort, next})
			}
		}
		if at.h.Trunk != fabric.None && at.h.Lane != dropped {
			w.waiting = append(w.waiting, wait)
		}
	}
	return sure && !circular(after)
}

// lane is that of a packet which holds a hop, or comes from a source, and leaves a switch.
func (w *slow) lane(s fabric.NodeID, in, out, sl uint8, holds hop) uint8 {
	switch maps := w.t.Lanes.SL2VL; {
	case holds.Lane == dropped:
		return dropped
	case maps.ByLane(s, sl) && holds.Trunk == fabric.None:
		lanes := uint8(15) // where nobody says how many the cable runs
		if c := w.t.Fabric.Out(s, in); in > 0 && w.t.Fabric.Channel(c).DataVLs > 0 {
			lanes = w.t.Fabric.Channel(c).DataVLs
		}
		return maps.VL(s, in, out, sl%lanes)
	case maps.ByLane(s, sl):
		return maps.VL(s, in, out, holds.Lane)
	default:
		return maps.VL(s, in, out, sl)
	}
}

// dropped is the lane of a packet that was dropped.
const dropped = 99

func circular(after map[fabric.ChannelID]map[fabric.ChannelID]bool) bool {
	for len(after) > 0 {
		gone := false
		for c, next := range after {
			for n := range next {
				if after[n] == nil {
					delete(next, n)
				}
			}
			if len(next) == 0 {
				delete(after, c)
				gone = true
			}
		}
		if !gone {
			return true
		}
	}
	return false
}

func newSlow(t *routing.Tables, sls func(src fabric.EndpointID, lid fabric.LID) []uint8) *slow {
	w := &slow{t: t, edges: map[[2]hop]bool{}, held: map[hop]bool{}}
	for lid, dst := range routing.HCA.LIDs(t.Fabric) {
		for _, src := range routing.HCA.Endpoints(t.Fabric) {
			if src == dst {
				continue
			}
			w.pairs++
			sure := true
			for _, sl := range sls(src, lid) {
				for _, chooses := range []bool{false, true} {
					sure = w.travel(src, dst, lid, sl, chooses) && sure
				}
			}
			if !sure {
				w.unreachable++
			}
		}
	}
	if t.Multicast != nil {
		for i := range t.Multicast.Trees {
			for e := range t.Fabric.Endpoints() {
				for sl := range uint8(routing.SLs) {
					if t.Multicast.SLs>>sl&1 == 1 {
						w.cast(&t.Multicast.Trees[i], t.Fabric.Endpoint(fabric.EndpointID(e)), sl)
					}
				}
			}
		}
	}
	return w
}

// cast follows all copies of a packet to a multicast group.
func (w *slow) cast(tree *routing.MulticastTree, from *fabric.Endpoint, sl uint8) {
	f := w.t.Fabric
	seen := map[hop]bool{}
	todo := []hop{{Trunk: fabric.None}}
	for len(todo) > 0 {
		h := todo[0]
		todo = todo[1:]
		at, in := from.Switch, f.LastPort(from)
		if h.Trunk != fabric.None {
			at, in = f.Channel(h.Trunk).To, f.Channel(h.Trunk).ToPort
		}
		wait := waiter{holds: h}
		ports := tree.At(at)
		for p := range ports.All() {
			c := f.Out(at, p)
			if p == in || c == fabric.None || int(c) >= f.Trunks() {
				continue
			}
			next := hop{Trunk: c, Lane: w.lane(at, in, p, sl, h)}
			if next.Lane == 15 {
				continue
			}
			w.held[next] = true
			wait.on = append(wait.on, next)
			if h.Trunk != fabric.None {
				w.edges[[2]hop{h, next}] = true
			}
			if !seen[next] {
				seen[next] = true
				todo = append(todo, next)
			}
		}
		if h.Trunk != fabric.None {
			w.waiting = append(w.waiting, wait)
		}
	}
}

// free reports whether the dependencies have no cycle.
func (w *slow) free() bool {
	drained := map[hop]bool{}
	for more := true; more; {
		more = false
		for h := range w.held {
			if drained[h] {
				continue
			}
			free := true
			for e := range w.edges {
				free = free && (e[0] != h || drained[e[1]])
			}
			if free {
				drained[h], more = true, true
			}
		}
	}
	return len(drained) == len(w.held)
}

// escapes reports whether packets cannot wait for ever if they choose again.
func (w *slow) escapes() bool {
	drained := map[hop]bool{}
	for more := true; more; {
		more = false
	next:
		for h := range w.held {
			if drained[h] {
				continue
			}
			for _, p := range w.waiting {
				if p.holds != h {
					continue
				}
				any, all := p.out, true
				for _, n := range p.on {
					any, all = any || drained[n], all && drained[n]
				}
				if !all && !(p.choose && any) {
					continue next
				}
			}
			drained[h], more = true, true
		}
	}
	return len(drained) == len(w.held)
}
