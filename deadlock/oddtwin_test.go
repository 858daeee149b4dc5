package deadlock_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// dumb follows every packet by itself, by any of some tables at each visit.
type dumb struct {
	f        *fabric.Fabric
	ts       []*routing.Tables
	contract routing.Contract
	scope    routing.Scope

	pairs, unreachable, stray, loops int64
	drops                            bool
	lost                             map[[3]int]int64 // switch, LID, why
	edges                            map[[2]hop]bool
	held                             map[hop]bool
	levels                           uint16 // that tables give to pairs
	absent                           map[[2]int]bool
	waiting                          []waiter
	cut                              []int64
	exposed, circles                 int64
	castCircling, castSplit          map[fabric.LID]bool
}

// newDumb follows nothing yet.
func newDumb(contract routing.Contract, scope routing.Scope, ts ...*routing.Tables) *dumb {
	return &dumb{f: ts[0].Fabric, ts: ts, contract: contract, scope: scope, lost: map[[3]int]int64{}, edges: map[[2]hop]bool{}, held: map[hop]bool{},
		absent: map[[2]int]bool{}, cut: make([]int64, len(ts)), castCircling: map[fabric.LID]bool{}, castSplit: map[fabric.LID]bool{}}
}

// levelsOf is the service levels of packets from one endpoint to a LID: of their own, and of answers.
func (w *dumb) levelsOf(src, dst fabric.EndpointID, lid fabric.LID) (own, answers uint16) {
	if mask, fixed := w.contract.FixedMask(); fixed {
		return mask, 0
	}
	for _, t := range w.ts {
		if sl := t.Lanes.SL(src, lid); sl < 16 {
			own |= 1 << sl
		}
		if w.contract == routing.Honored {
			for l := range w.f.Endpoint(src).LIDs() {
				if sl := t.Lanes.SL(dst, l); sl < 16 {
					answers |= 1 << sl
				}
			}
		}
	}
	if own == 0 {
		return 0, 0
	}
	return own, answers &^ own
}

// offers is the ports that a packet may leave a switch by, and whether it may wait for any of them.
func (w *dumb) offers(s fabric.NodeID, in, sl uint8, lid fabric.LID, chooses bool) (ports map[uint8]bool, choose bool) {
	ports = map[uint8]bool{}
	for _, private := range w.ts {
		n := 0
		if private.Groups != nil {
			n = private.Groups.Table(s, in, sl)
		}
		for _, t := range w.ts {
			static, choice := t.Forwarding.Port(s, lid), routing.NoChoice
			switch {
			case t.Groups == nil && n > 0 || t.Groups != nil && n >= t.Groups.Tables():
				continue
			case t.Groups != nil:
				choice = t.Groups.Row(n, lid)[s]
				if n > 0 {
					static = t.Groups.Static(n).Port(s, lid)
				}
			}
			for _, levels := range w.ts {
				for _, sets := range w.ts {
					if !chooses || choice == routing.NoChoice || levels.Groups == nil || levels.Groups.Levels(s)>>sl&1 == 0 ||
						sets.Groups == nil || choice.Group() >= len(sets.Groups.Sets(s)) {
						ports[static] = true
						continue
					}
					alive := false
					for p := range sets.Groups.Sets(s)[choice.Group()].All() {
						if w.f.Out(s, p) != fabric.None {
							alive, ports[p] = true, true
						}
					}
					if down := static == routing.NoPort || static != 0 && w.f.Out(s, static) == fabric.None; !down || !alive {
						ports[static] = true
					}
					choose = !choice.Hashed()
				}
			}
		}
	}
	return ports, choose
}

// laneBy is the lane by some tables.
func (w *dumb) laneBy(t *routing.Tables, s fabric.NodeID, in, out, sl uint8, came hop) uint8 {
	m := t.Lanes.SL2VL
	by := sl
	if m.ByLane(s, sl) {
		if by = came.Lane; came.Trunk == fabric.None {
			runs := uint8(15)
			if in > 0 && w.f.Channel(w.f.Out(s, in)).DataVLs > 0 {
				runs = min(15, w.f.Channel(w.f.Out(s, in)).DataVLs)
			}
			by = sl % runs
		}
	}
	if vl := m.Map(s, in, out)[by]; vl < 15 {
		return vl
	}
	return dropped
}

// worst fates, in the order of the judge's.
const (
	fine = iota
	hole
	dead
	wrong
	circling
)

// way is what becomes of a packet by its way alone.
func (w *dumb) way(src, dst fabric.EndpointID, lid fabric.LID, sl uint8, chooses bool) int {
	f := w.f
	return w.wayFrom(f.Endpoint(src).Switch, f.LastPort(f.Endpoint(src)), dst, lid, sl, chooses)
}

// wayFrom is that of a packet at a switch.
func (w *dumb) wayFrom(at fabric.NodeID, in uint8, dst fabric.EndpointID, lid fabric.LID, sl uint8, chooses bool) int {
	f := w.f
	to := f.Endpoint(dst)
	worst := fine
	open := map[fabric.ChannelID]bool{}
	done := map[fabric.ChannelID]bool{}
	var visit func(at fabric.NodeID, in uint8)
	visit = func(at fabric.NodeID, in uint8) {
		ports, _ := w.offers(at, in, sl, lid, chooses)
		for p := range ports {
			c := f.Out(at, p)
			switch {
			case p == routing.NoPort:
				worst = max(worst, hole)
			case at == to.Switch && (to.Class == fabric.SwitchPort && p == 0 || to.Class != fabric.SwitchPort && c == to.Deliver && c != fabric.None):
			case p == 0:
				worst = max(worst, wrong)
			case c == fabric.None:
				worst = max(worst, dead)
			case f.Node(f.Channel(c).To).Kind != fabric.Switch || f.Channel(c).To == at:
				worst = max(worst, wrong)
			case open[c]:
				worst = circling
			case !done[c]:
				open[c] = true
				visit(f.Channel(c).To, f.Channel(c).ToPort)
				open[c] = false
				done[c] = true
			}
		}
	}
	visit(at, in)
	return worst
}

// travel notes what a packet holds and waits for.
func (w *dumb) travel(src, dst fabric.EndpointID, lid fabric.LID, sl uint8, chooses bool) {
	f := w.f
	to := f.Endpoint(dst)
	type where struct {
		s  fabric.NodeID
		in uint8
		h  hop
	}
	seen := map[hop]bool{}
	todo := []where{{f.Endpoint(src).Switch, f.LastPort(f.Endpoint(src)), hop{Trunk: fabric.None}}}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		ports, choose := w.offers(at.s, at.in, sl, lid, chooses)
		wait := waiter{holds: at.h, choose: choose}
		for p := range ports {
			c := f.Out(at.s, p)
			if c == fabric.None || p == 0 || p == routing.NoPort {
				wait.out = true
				continue
			}
			if f.Node(f.Channel(c).To).Kind != fabric.Switch || f.Channel(c).To == at.s {
				wait.out = true
				if c == to.Deliver {
					for _, t := range w.ts {
						w.drops = w.drops || w.laneBy(t, at.s, at.in, p, sl, at.h) == dropped
					}
				}
				continue
			}
			for _, t := range w.ts {
				next := hop{c, w.laneBy(t, at.s, at.in, p, sl, at.h)}
				if next.Lane == dropped {
					w.drops, wait.out = true, true
					continue
				}
				w.held[next] = true
				wait.on = append(wait.on, next)
				if runs := f.Channel(c).DataVLs; runs > 0 && next.Lane >= runs {
					w.absent[[2]int{int(c), int(next.Lane)}] = true
				}
				if at.h.Trunk != fabric.None {
					w.edges[[2]hop{at.h, next}] = true
				}
				if !seen[next] {
					seen[next] = true
					todo = append(todo, where{f.Channel(c).To, f.Channel(c).ToPort, next})
				}
			}
		}
		if at.h.Trunk != fabric.None {
			w.waiting = append(w.waiting, wait)
		}
	}
}

// kinds is whether packets choose.
func (w *dumb) kinds() []bool {
	for _, t := range w.ts {
		if t.Groups != nil {
			return []bool{false, true}
		}
	}
	return []bool{false}
}

// bitsOf is the service levels of a mask.
func bitsOf(mask uint16) (list []uint8) {
	for sl := range uint8(16) {
		if mask>>sl&1 == 1 {
			list = append(list, sl)
		}
	}
	return list
}

// in reports whether an endpoint is in scope.
func (w *dumb) in(e fabric.EndpointID) bool {
	ep := w.f.Endpoint(e)
	if ep.Switch == fabric.None {
		return false
	}
	switch ep.Class {
	case fabric.HostAdapter:
		return true
	case fabric.SwitchPort:
		return w.scope == routing.All
	}
	return w.scope != routing.HCA
}

// judge follows all packets of all pairs.
func (w *dumb) judge() *dumb {
	f := w.f
	for lid := range f.TopLID() + 1 {
		dst := f.Owner(lid)
		if dst == fabric.None || !w.in(dst) {
			continue
		}
		senders := make([]int64, f.Switches())
		circle := false
		sls := uint16(0)
		loopAt := map[fabric.NodeID]bool{}
		for e := range f.Endpoints() {
			src := fabric.EndpointID(e)
			if src == dst || !w.in(src) {
				continue
			}
			for _, t := range w.ts {
				if sl := t.Lanes.SL(src, lid); sl < 16 {
					w.levels |= 1 << sl
				}
			}
			at := f.Endpoint(src).Switch
			own, answers := w.levelsOf(src, dst, lid)
			if own == 0 {
				if len(w.ts) == 1 && lid == f.Endpoint(dst).LID {
					none := true
					for l := range f.Endpoint(dst).LIDs() {
						none = none && w.ts[0].Lanes.SL(src, l) == routing.NoSL
					}
					if none {
						w.pairs++
						w.unreachable++
						w.lost[[3]int{int(at), int(lid), 5}]++
					}
				}
				continue
			}
			w.pairs++
			sls |= own | answers
			senders[at]++
			worst := fine
			alone := make([]int, len(w.ts))
			for _, sl := range bitsOf(own | answers) {
				for _, kind := range w.kinds() {
					worst = max(worst, w.way(src, dst, lid, sl, kind))
					if len(w.ts) > 1 {
						for i, t := range w.ts {
							alone[i] = max(alone[i], newDumb(w.contract, w.scope, t).way(src, dst, lid, sl, kind))
						}
					}
					w.travel(src, dst, lid, sl, kind)
				}
			}
			circle = circle || worst == circling
			if worst != fine {
				w.unreachable++
				w.lost[[3]int{int(at), int(lid), worst}]++
			}
			if worst == circling {
				loopAt[at] = true
			}
			for i := range alone {
				if alone[i] != fine {
					w.cut[i]++
				}
			}
			if alone[len(alone)-1] == fine && worst != fine {
				w.exposed++
			}
		}
		if circle {
			w.circles++
		}
		if len(w.ts) == 1 {
			if sls == 0 {
				sls = 1
			}
			for s := range fabric.NodeID(f.Switches()) {
				worst := fine
				for _, sl := range bitsOf(sls) {
					if senders[s] == 0 {
						worst = max(worst, w.wayFrom(s, 0, dst, lid, sl, false))
					}
				}
				if worst != fine {
					w.stray++
					if worst == circling {
						loopAt[s] = true
						w.lost[[3]int{int(s), int(lid), worst}] += 0
					}
				}
			}
		}
		w.loops += int64(len(loopAt))
	}
	w.castAll()
	return w
}

// castAll follows packets of groups.
func (w *dumb) castAll() {
	f := w.f
	sls := uint16(0)
	trees := map[fabric.LID]map[fabric.NodeID]map[uint8]bool{}
	for _, t := range w.ts {
		if t.Multicast == nil {
			continue
		}
		sls |= t.Multicast.SLs
		for _, tree := range t.Multicast.Trees {
			if trees[tree.MLID] == nil {
				trees[tree.MLID] = map[fabric.NodeID]map[uint8]bool{}
			}
			for _, n := range tree.Nodes {
				if trees[tree.MLID][n.Switch] == nil {
					trees[tree.MLID][n.Switch] = map[uint8]bool{}
				}
				for p := range n.Ports.All() {
					trees[tree.MLID][n.Switch][p] = true
				}
			}
		}
	}
	for mlid, tree := range trees {
		for i, sl := range bitsOf(sls) {
			after := map[fabric.ChannelID]map[fabric.ChannelID]bool{}
			members := map[fabric.NodeID]bool{}
			for s, ports := range tree {
				for p := range ports {
					if c := f.Out(s, p); p == 0 || c != fabric.None && (f.Node(f.Channel(c).To).Kind != fabric.Switch || f.Channel(c).To == s) {
						members[s] = true
					}
				}
			}
			for e := range f.Endpoints() {
				ep := f.Endpoint(fabric.EndpointID(e))
				if ep.Switch == fabric.None {
					continue
				}
				w.cast(tree, ep.Switch, f.LastPort(ep), sl, after)
			}
			if (i == 0 || len(w.ts) > 1) && circular(after) {
				w.castCircling[mlid] = true
			}
			for s := range members {
				if i > 0 {
					continue
				}
				at := newDumb(w.contract, w.scope, w.ts...).cast(tree, s, 0, sl, map[fabric.ChannelID]map[fabric.ChannelID]bool{})
				for m := range members {
					if !at[m] {
						w.castSplit[mlid] = true
					}
				}
			}
		}
	}
}

// cast follows the copies of a packet, and says to which switches they come.
func (w *dumb) cast(tree map[fabric.NodeID]map[uint8]bool, s fabric.NodeID, in uint8, sl uint8, after map[fabric.ChannelID]map[fabric.ChannelID]bool) map[fabric.NodeID]bool {
	f := w.f
	type where struct {
		s  fabric.NodeID
		in uint8
		h  hop
	}
	comes := map[fabric.NodeID]bool{s: true}
	seen := map[hop]bool{}
	todo := []where{{s, in, hop{Trunk: fabric.None}}}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		wait := waiter{holds: at.h}
		for p := range tree[at.s] {
			c := f.Out(at.s, p)
			if p == at.in || c == fabric.None || f.Node(f.Channel(c).To).Kind != fabric.Switch || f.Channel(c).To == at.s {
				continue
			}
			for _, t := range w.ts {
				next := hop{c, w.laneBy(t, at.s, at.in, p, sl, at.h)}
				if next.Lane == dropped {
					continue
				}
				w.held[next] = true
				if runs := f.Channel(c).DataVLs; runs > 0 && next.Lane >= runs {
					w.absent[[2]int{int(c), int(next.Lane)}] = true
				}
				comes[f.Channel(c).To] = true
				wait.on = append(wait.on, next)
				if at.h.Trunk != fabric.None {
					w.edges[[2]hop{at.h, next}] = true
				}
				if after[at.h.Trunk] == nil {
					after[at.h.Trunk] = map[fabric.ChannelID]bool{}
				}
				after[at.h.Trunk][c] = true
				if !seen[next] {
					seen[next] = true
					todo = append(todo, where{f.Channel(c).To, f.Channel(c).ToPort, next})
				}
			}
		}
		if at.h.Trunk != fabric.None {
			w.waiting = append(w.waiting, wait)
		}
	}
	return comes
}

// shortest is the length of a shortest cycle of dependencies, 0: there is none.
func (w *dumb) shortest() int {
	next := map[hop][]hop{}
	for e := range w.edges {
		next[e[0]] = append(next[e[0]], e[1])
	}
	best := 0
	for root := range next {
		dist := map[hop]int{root: 0}
		queue := []hop{root}
	search:
		for i := 0; i < len(queue); i++ {
			for _, u := range next[queue[i]] {
				if u == root {
					if d := dist[queue[i]] + 1; best == 0 || d < best {
						best = d
					}
					break search
				}
				if _, known := dist[u]; !known {
					dist[u] = dist[queue[i]] + 1
					queue = append(queue, u)
				}
			}
		}
	}
	return best
}

// escapes is whether packets cannot wait for ever if they choose again.
func (w *dumb) escapes() bool {
	s := &slow{held: w.held, waiting: w.waiting}
	return s.escapes()
}

// lanesUsed is the lanes that any packet holds, as bits.
func (w *dumb) lanesUsed() (mask uint16) {
	for h := range w.held {
		mask |= 1 << h.Lane
	}
	return mask
}

// lostText is who is cut off as text.
func (w *dumb) lostText() string {
	text := ""
	for _, k := range slices.SortedFunc(maps.Keys(w.lost), func(a, b [3]int) int { return slices.Compare([]int{a[1], a[0], a[2]}, []int{b[1], b[0], b[2]}) }) {
		text += fmt.Sprintf("LID %d switch %d why %d: %d; ", k[1], k[0], k[2]-1, w.lost[k])
	}
	return text
}
