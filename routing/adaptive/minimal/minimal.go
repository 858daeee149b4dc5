// Package minimal gives the entries of finished tables groups of ports to choose from:
// beside the static port, every port that leads nearer to the destination and keeps the
// tables free of credit loops, whatever the switches choose.
//
// Nearer is by the hops that the static ports take from there on. So where these are
// shortest paths the groups are those of all shortest paths that the proof admits, and no
// choice makes a packet circle.
//
// Guarantee. All choices together have no cycle of dependencies, on the service levels in
// use, so a switch may choose once or again as it likes. It needs no lane beyond those of
// the tables. A port is left out whose dependencies, together with those admitted before,
// would close a cycle; switches far from the destination come first, ports of one switch
// in ascending order.
//
// Complexity: O(D·C·k) dependencies to look up for D destinations, C trunks and k trunks
// that packets come by; those that are new cost a search in the graph of those admitted
// (routing/internal/acyclic).
package minimal

import (
	"cmp"
	"context"
	"errors"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/internal/acyclic"
)

// Groups computes the groups of tables for packets of endpoints of a scope, on the service
// levels that a contract allows them. It fails if the tables have a credit loop already.
func Groups(ctx context.Context, t *routing.Tables, c routing.Contract, scope routing.Scope, p routing.Progress) (*routing.Groups, error) {
	w := newWidener(t, c, scope)
	lids := slices.Collect(func(yield func(fabric.LID) bool) {
		for lid := range scope.LIDs(t.Fabric) {
			if !yield(lid) {
				return
			}
		}
	})
	w.graph = acyclic.NewLanes(t.Fabric, w.lanes, func(yield func(in, out fabric.ChannelID)) {
		for _, lid := range lids {
			w.begin(lid)
			w.eachDependency(yield)
		}
	})
	if w.graph == nil {
		return nil, errors.New("routing: the tables have a credit loop before any port is added to them")
	}
	for n, lid := range lids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		w.begin(lid)
		w.widen()
		w.store(lid)
		p.Report(n+1, len(lids))
	}
	return w.groups, nil
}

// widener adds ports for one destination after another.
type widener struct {
	t       *routing.Tables
	f       *fabric.Fabric
	c       routing.Contract
	alike   bool             // all service levels are treated alike, so that one stands for all
	sls     []uint8          // those in use
	index   [routing.SLs]int // [SL] its place in sls
	lanes   int
	graph   *acyclic.Lanes // the dependencies admitted
	groups  *routing.Groups
	numbers []map[routing.PortSet]int // [switch] of its groups
	sources [][]sources               // [switch]

	// Per destination.
	lid    fabric.LID
	levels [][]uint16           // [switch][source] the service levels of its packets, as bits
	static []fabric.ChannelID   // [switch] the trunk of its entry, or None
	hops   []int32              // [switch] trunks on the static path; far: it has none
	out    [][]fabric.ChannelID // [switch] the trunks admitted
	held   [][]uint16           // [index of the service level][trunk] lanes of the packets on it, as bits
	order  []fabric.NodeID      // the switches with a path, far ones first
	queue  []arrival
	added  []dependency
}

const far = 1<<31 - 1

// sources is endpoints of a switch whose packets are treated alike.
type sources struct {
	row  int32
	port uint8
	from []fabric.EndpointID
}

// arrival is lanes of a trunk that packets were not followed from yet.
type arrival struct {
	trunk fabric.ChannelID
	level int
	lanes uint16
}

// dependency is a pair of vertices of the graph.
type dependency struct{ in, out fabric.ChannelID }

func newWidener(t *routing.Tables, c routing.Contract, scope routing.Scope) *widener {
	f := t.Fabric
	sls, fixed := c.FixedMask()
	if !fixed {
		sls = t.Levels()
	}
	alike := t.Lanes.SL2VL.IgnoresSL()
	if alike {
		sls &= -sls
	}
	w := &widener{
		t: t, f: f, c: c, alike: alike, levels: make([][]uint16, f.Switches()), groups: routing.NewGroups(f, 1), numbers: make([]map[routing.PortSet]int, f.Switches()), sources: make([][]sources, f.Switches()),
		static: make([]fabric.ChannelID, f.Switches()), hops: make([]int32, f.Switches()), out: make([][]fabric.ChannelID, f.Switches()),
	}
	for m := sls; m != 0; m &= m - 1 {
		w.index[bits.TrailingZeros16(m)] = len(w.sls)
		w.sls = append(w.sls, uint8(bits.TrailingZeros16(m)))
		w.held = append(w.held, make([]uint16, f.Trunks()))
	}
	for s := range w.numbers {
		w.numbers[s] = map[routing.PortSet]int{}
		for _, e := range f.Attached(fabric.NodeID(s)) {
			if scope.Includes(f.Endpoint(e).Class) {
				w.addSource(fabric.NodeID(s), e)
			}
		}
		w.levels[s] = make([]uint16, len(w.sources[s]))
	}
	w.lanes = w.countLanes()
	return w
}

// countLanes is one more than the highest lane that packets are mapped to.
func (w *widener) countLanes() int {
	top := uint8(0)
	for s := range fabric.NodeID(w.f.Switches()) {
		ports := uint8(w.f.Node(s).Ports)
		for in := range ports + 1 {
			for out := range ports + 1 {
				for _, sl := range w.sls {
					if vl := w.t.Lanes.SL2VL.VL(s, in, out, sl); vl < routing.MaxDataVLs {
						top = max(top, vl)
					}
				}
			}
		}
	}
	return int(top) + 1
}

// addSource adds an endpoint to those treated alike, or to none.
func (w *widener) addSource(s fabric.NodeID, e fabric.EndpointID) {
	row, port := w.t.Lanes.Row[e], w.f.LastPort(w.f.Endpoint(e))
	for i := range w.sources[s] {
		if other := &w.sources[s][i]; other.row == row && w.t.Lanes.SL2VL.SameFrom(s, port, other.port) {
			other.from = append(other.from, e)
			return
		}
	}
	w.sources[s] = append(w.sources[s], sources{row, port, []fabric.EndpointID{e}})
}

// findLevels finds the service levels on which each source sends to the destination.
func (w *widener) findLevels() {
	owner := w.f.Owner(w.lid)
	fixed, isFixed := w.c.FixedMask()
	for s := range w.sources {
		for i := range w.sources[s] {
			from := &w.sources[s][i]
			mask := fixed
			if !isFixed {
				mask = level(w.t.Lanes.SL(from.from[0], w.lid))
			}
			if mask != 0 && w.c.EitherWay() && !w.alike {
				for _, e := range from.from {
					for back := range w.f.Endpoint(e).LIDs() {
						mask |= level(w.t.Lanes.SL(owner, back))
					}
				}
			}
			if mask != 0 && w.alike {
				mask = 1 << w.sls[0]
			}
			w.levels[s][i] = mask
		}
	}
}

// level is a service level as a bit; 0 for routing.NoSL.
func level(sl uint8) uint16 { return 1 << sl }

// begin follows the static ports to a destination.
func (w *widener) begin(lid fabric.LID) {
	w.lid = lid
	w.findLevels()
	row := w.t.Forwarding.Row(lid)
	home := w.f.Endpoint(w.f.Owner(lid)).Switch
	for s, port := range row {
		w.hops[s], w.out[s], w.static[s] = far, w.out[s][:0], fabric.None
		if c := w.f.Out(fabric.NodeID(s), port); fabric.NodeID(s) != home && port != routing.NoPort && c != fabric.None && int(c) < w.f.Trunks() {
			w.static[s] = c
			w.out[s] = append(w.out[s], c)
		}
	}
	w.hops[home] = 0
	w.order = w.order[:0]
	for s := range fabric.NodeID(len(row)) {
		if w.measure(s) != far {
			w.order = append(w.order, s)
		}
	}
	slices.SortFunc(w.order, func(a, b fabric.NodeID) int { return cmp.Or(cmp.Compare(w.hops[b], w.hops[a]), cmp.Compare(a, b)) })
	for level := range w.held {
		clear(w.held[level])
	}
	for _, s := range w.order {
		w.queue = w.queue[:0]
		if w.static[s] != fabric.None {
			w.send(s, w.static[s])
			w.follow(nil)
		}
	}
}

// measure counts the hops of the static path of a switch.
func (w *widener) measure(s fabric.NodeID) int32 {
	length, at := int32(0), s
	for ; w.hops[at] == far; length++ {
		c := w.static[at]
		if c == fabric.None || int(length) > w.f.Switches() {
			return far
		}
		at = w.f.Heads()[c]
	}
	total := length + w.hops[at]
	for at = s; w.hops[at] == far; length-- {
		w.hops[at] = total
		total--
		at = w.f.Heads()[w.static[at]]
	}
	return w.hops[s]
}

// eachDependency visits those of the static ports of the destination.
func (w *widener) eachDependency(visit func(in, out fabric.ChannelID)) {
	for c := range fabric.ChannelID(w.f.Trunks()) {
		out := w.static[w.f.Heads()[c]]
		if out == fabric.None {
			continue
		}
		for level, sl := range w.sls {
			for m := w.held[level][c]; m != 0; m &= m - 1 {
				if next := w.next(c, out, sl); next != fabric.None {
					visit(w.vertex(c, bits.TrailingZeros16(m)), next)
				}
			}
		}
	}
}

func (w *widener) vertex(c fabric.ChannelID, lane int) fabric.ChannelID {
	return c*fabric.ChannelID(w.lanes) + fabric.ChannelID(lane)
}

// next is the vertex that packets of a service level go on to by a turn; None: they are
// dropped.
func (w *widener) next(in, out fabric.ChannelID, sl uint8) fabric.ChannelID {
	a, b := w.f.Channel(in), w.f.Channel(out)
	vl := w.t.Lanes.SL2VL.VL(a.To, a.ToPort, b.FromPort, sl)
	if vl >= routing.MaxDataVLs {
		return fabric.None
	}
	return w.vertex(out, int(vl))
}

// send puts the packets of a switch's own sources, and those that come to it, on a trunk.
func (w *widener) send(s fabric.NodeID, out fabric.ChannelID) {
	port := w.f.Channel(out).FromPort
	for i := range w.sources[s] {
		for m := w.levels[s][i]; m != 0; m &= m - 1 {
			sl := uint8(bits.TrailingZeros16(m))
			if vl := w.t.Lanes.SL2VL.VL(s, w.sources[s][i].port, port, sl); vl < routing.MaxDataVLs {
				w.arrive(out, w.index[sl], 1<<vl)
			}
		}
	}
}

// arrive notes lanes of a trunk that packets have come to.
func (w *widener) arrive(c fabric.ChannelID, level int, lanes uint16) {
	if lanes &^= w.held[level][c]; lanes != 0 {
		w.held[level][c] |= lanes
		w.queue = append(w.queue, arrival{c, level, lanes})
	}
}

// follow passes on what has arrived, along all trunks admitted. try is asked about every
// dependency, and false from it ends the walk; nil: none is asked.
func (w *widener) follow(try func(in, out fabric.ChannelID) bool) bool {
	for i := 0; i < len(w.queue); i++ {
		a := w.queue[i]
		for _, out := range w.out[w.f.Heads()[a.trunk]] {
			next := w.next(a.trunk, out, w.sls[a.level])
			if next == fabric.None {
				continue
			}
			for m := a.lanes; m != 0 && try != nil; m &= m - 1 {
				if !try(w.vertex(a.trunk, bits.TrailingZeros16(m)), next) {
					return false
				}
			}
			w.arrive(out, a.level, 1<<(int(next)%w.lanes))
		}
	}
	return true
}

// widen adds every port that leads nearer and fits.
func (w *widener) widen() {
	for _, s := range w.order {
		if w.static[s] == fabric.None {
			continue
		}
		first, end := w.f.TrunksFrom(s)
		for c := first; c < end; c++ {
			if c != w.static[s] && w.hops[w.f.Heads()[c]] < w.hops[s] && !w.try(s, c) {
				w.undo()
			}
		}
	}
}

// try adds a trunk to those of a switch, unless its dependencies close a cycle.
func (w *widener) try(s fabric.NodeID, out fabric.ChannelID) bool {
	w.queue, w.added = w.queue[:0], w.added[:0]
	w.send(s, out)
	admit := func(in, out fabric.ChannelID) bool {
		if w.graph.Has(in, out) {
			return true
		}
		if !w.graph.Add(in, out) {
			return false
		}
		w.added = append(w.added, dependency{in, out})
		return true
	}
	first, end := w.f.TrunksFrom(s)
	for back := first; back < end; back++ {
		in := w.f.Reverses()[back]
		for level, sl := range w.sls {
			next := w.next(in, out, sl)
			for m := w.held[level][in]; m != 0 && next != fabric.None; m &= m - 1 {
				if !admit(w.vertex(in, bits.TrailingZeros16(m)), next) {
					return false
				}
				w.arrive(out, level, 1<<(int(next)%w.lanes))
			}
		}
	}
	if !w.follow(admit) {
		return false
	}
	w.out[s] = append(w.out[s], out)
	return true
}

// undo takes back what a port under trial added.
func (w *widener) undo() {
	for _, d := range w.added {
		w.graph.Remove(d.in, d.out)
	}
	for _, a := range w.queue {
		w.held[a.level][a.trunk] &^= a.lanes
	}
}

// store writes the groups of the destination.
func (w *widener) store(lid fabric.LID) {
	row := w.groups.Row(0, lid)
	for _, s := range w.order {
		if len(w.out[s]) < 2 {
			continue
		}
		var ports routing.PortSet
		for _, c := range w.out[s] {
			ports.Add(w.f.Channel(c).FromPort)
		}
		number, known := w.numbers[s][ports]
		if !known {
			number = len(w.numbers[s])
			w.numbers[s][ports] = number
			w.groups.Set(s, number, ports)
		}
		row[s] = routing.ChoiceOf(number, false)
	}
}
