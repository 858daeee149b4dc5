// Package follow follows the packets of finished tables, destination by destination: which
// lanes they hold on which trunks, and which lane they wait for next. So one can add to
// tables what somebody else made: more ports to choose from, a tree for multicast.
//
// Complexity: O(S + k) for a destination, S switches and k lanes of trunks that its packets
// hold.
package follow

import (
	"context"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/routing"
)

// Packets is the packets to one destination after another, of the endpoints in a scope, on
// the service levels that a contract allows them.
type Packets struct {
	SLs   []uint8 // those in use; one stands for all where the packets on each do the same
	Lanes int     // one more than the highest lane that packets are mapped to

	// Of the destination that To was called for.
	Out     [][]fabric.ChannelID // [switch] the trunks that packets may take from there
	Held    [][]uint16           // [index into SLs][trunk] lanes of the packets on it, as bits
	Arrived []Step               // the lanes of Held, in the order in which packets came to them

	t       *routing.Tables
	f       *fabric.Fabric
	c       routing.Contract
	scope   routing.Scope
	plain   bool             // all packets are on lane 0, wherever they are
	alike   bool             // the packets on every service level do the same, if on lanes of their own
	index   [routing.SLs]int // [SL] its place in SLs
	sources [][]sources      // [switch]
	levels  [][]uint16       // [switch][source] the service levels of its packets, as bits
}

// sources is endpoints of a switch whose packets are treated alike.
type sources struct {
	row  int32
	port uint8
	from []fabric.EndpointID
}

// Step is lanes of a trunk that packets came to.
type Step struct {
	Trunk fabric.ChannelID
	Level int // index into Packets.SLs
	Lanes uint16
}

// New prepares for following the packets of tables. Lanes are counted over further service
// levels too, given as bits.
func New(t *routing.Tables, c routing.Contract, scope routing.Scope, further uint16) *Packets {
	f := t.Fabric
	sls, fixed := c.FixedMask()
	if !fixed {
		sls = t.Levels()
	}
	lane, uniform := t.Lanes.SL2VL.Uniform()
	alike := t.Lanes.SL2VL.IgnoresSL() || uniform && fixed
	if alike {
		for sls&(sls-1) != 0 && uniform && lane[bits.TrailingZeros16(sls)] >= routing.MaxDataVLs {
			sls &= sls - 1 // dropped everywhere
		}
		sls &= -sls
	}
	w := &Packets{
		t: t, f: f, c: c, scope: scope, alike: alike,
		Out: make([][]fabric.ChannelID, f.Switches()), levels: make([][]uint16, f.Switches()), sources: make([][]sources, f.Switches()),
	}
	for m := sls; m != 0; m &= m - 1 {
		w.index[bits.TrailingZeros16(m)] = len(w.SLs)
		w.SLs = append(w.SLs, uint8(bits.TrailingZeros16(m)))
		w.Held = append(w.Held, make([]uint16, f.Trunks()))
	}
	for s := range w.sources {
		for _, e := range f.Attached(fabric.NodeID(s)) {
			if scope.Includes(f.Endpoint(e).Class) {
				w.addSource(fabric.NodeID(s), e)
			}
		}
		w.levels[s] = make([]uint16, len(w.sources[s]))
	}
	w.Lanes = w.countLanes(sls | further)
	w.plain = uniform && len(w.SLs) == 1 && lane[w.SLs[0]] == 0
	return w
}

// countLanes is one more than the highest lane that packets of some service levels are
// mapped to.
func (w *Packets) countLanes(sls uint16) int {
	top := uint8(0)
	count := func(lane [routing.SLs]uint8) {
		for m := sls; m != 0; m &= m - 1 {
			if vl := lane[bits.TrailingZeros16(m)]; vl < routing.MaxDataVLs {
				top = max(top, vl)
			}
		}
	}
	if lane, uniform := w.t.Lanes.SL2VL.Uniform(); uniform {
		count(lane)
		return int(top) + 1
	}
	for s := range fabric.NodeID(w.f.Switches()) {
		ports := uint8(w.f.Node(s).Ports)
		for in := range ports + 1 {
			for out := range ports + 1 {
				count(w.t.Lanes.SL2VL.Map(s, in, out))
			}
		}
	}
	return int(top) + 1
}

// addSource adds an endpoint to those treated alike, or to none.
func (w *Packets) addSource(s fabric.NodeID, e fabric.EndpointID) {
	row, port := w.t.Lanes.Row[e], w.f.LastPort(w.f.Endpoint(e))
	for i := range w.sources[s] {
		if other := &w.sources[s][i]; other.row == row && w.t.Lanes.SL2VL.SameFrom(s, port, other.port) {
			other.from = append(other.from, e)
			return
		}
	}
	w.sources[s] = append(w.sources[s], sources{row, port, []fabric.EndpointID{e}})
}

// findLevels finds the service levels on which each source sends to a destination.
func (w *Packets) findLevels(lid fabric.LID) {
	owner := w.f.Owner(lid)
	fixed, isFixed := w.c.FixedMask()
	for s := range w.sources {
		for i := range w.sources[s] {
			from := &w.sources[s][i]
			mask := fixed
			if !isFixed {
				mask = level(w.t.Lanes.SL(from.from[0], lid))
			}
			if mask != 0 && w.c.EitherWay() && !w.alike {
				for _, e := range from.from {
					for back := range w.f.Endpoint(e).LIDs() {
						mask |= level(w.t.Lanes.SL(owner, back))
					}
				}
			}
			if mask != 0 && w.alike {
				mask = 1 << w.SLs[0]
			}
			w.levels[s][i] = mask
		}
	}
}

// level is a service level as a bit; 0 for routing.NoSL.
func level(sl uint8) uint16 { return 1 << sl }

// To follows the packets to a LID from all sources, by the tables and by other forwarding
// tables of the same fabric, whichever of them each switch goes by.
func (w *Packets) To(lid fabric.LID, others ...*routing.Forwarding) {
	for _, a := range w.Arrived {
		w.Held[a.Level][a.Trunk] = 0
	}
	w.Arrived = w.Arrived[:0]
	w.findLevels(lid)
	home := w.f.Endpoint(w.f.Owner(lid)).Switch
	for s := range w.Out {
		w.Out[s] = w.Out[s][:0]
	}
	w.add(w.t.Forwarding.Row(lid), home)
	for _, o := range others {
		w.add(o.Row(lid), home)
	}
	if w.plain && len(others) == 0 {
		w.walk()
		return
	}
	for s := range w.Out {
		for _, c := range w.Out[s] {
			first := len(w.Arrived)
			w.Start(fabric.NodeID(s), c)
			w.Pass(first, nil)
		}
	}
}

// walk is for packets that are all on lane 0: from each source up to where others were.
func (w *Packets) walk() {
	heads, held := w.f.Heads(), w.Held[0]
	for s := range w.levels {
		if !slices.ContainsFunc(w.levels[s], func(sls uint16) bool { return sls != 0 }) {
			continue
		}
		for at := fabric.NodeID(s); len(w.Out[at]) > 0 && held[w.Out[at][0]] == 0; {
			c := w.Out[at][0]
			held[c] = 1
			w.Arrived = append(w.Arrived, Step{c, 0, 1})
			at = heads[c]
		}
	}
}

// Graph is the dependencies of the packets to all LIDs in scope; nil if they have a cycle. The
// packets go by other forwarding tables too, as in To.
func (w *Packets) Graph(ctx context.Context, others ...*routing.Forwarding) (*acyclic.Lanes, error) {
	var err error
	lanes := fabric.ChannelID(w.Lanes)
	seen := make([]uint64, (w.f.Turns()*w.Lanes*w.Lanes+63)/64) // most dependencies come again and again
	graph := acyclic.NewLanes(w.f, w.Lanes, func(yield func(in, out fabric.ChannelID)) {
		for lid := range w.scope.LIDs(w.f) {
			if err = ctx.Err(); err != nil {
				return
			}
			w.To(lid, others...)
			w.dependencies(func(in, out fabric.ChannelID) {
				i := (w.f.Turn(in/lanes, out/lanes)*w.Lanes+int(in%lanes))*w.Lanes + int(out%lanes)
				if seen[i/64]>>(i%64)&1 == 0 {
					seen[i/64] |= 1 << (i % 64)
					yield(in, out)
				}
			})
		}
	})
	if err != nil {
		return nil, err
	}
	return graph, nil
}

// add adds the trunks of a row to those that packets may take.
func (w *Packets) add(row []uint8, home fabric.NodeID) {
	for s, port := range row {
		c := w.f.Trunk(fabric.NodeID(s), port)
		if fabric.NodeID(s) == home || c == fabric.None {
			continue
		}
		known := false
		for _, other := range w.Out[s] {
			known = known || other == c
		}
		if !known {
			w.Out[s] = append(w.Out[s], c)
		}
	}
}

// dependencies visits those of the packets to the destination, some more than once.
func (w *Packets) dependencies(visit func(in, out fabric.ChannelID)) {
	for _, a := range w.Arrived {
		for _, out := range w.Out[w.f.Heads()[a.Trunk]] {
			next := w.Next(a.Trunk, out, w.SLs[a.Level])
			for m := a.Lanes; m != 0 && next != fabric.None; m &= m - 1 {
				visit(w.Vertex(a.Trunk, bits.TrailingZeros16(m)), next)
			}
		}
	}
}

// Vertex is a lane of a trunk as a vertex of acyclic.Lanes.
func (w *Packets) Vertex(c fabric.ChannelID, lane int) fabric.ChannelID {
	return c*fabric.ChannelID(w.Lanes) + fabric.ChannelID(lane)
}

// Next is the vertex that packets of a service level go on to by a turn; None: they are
// dropped.
func (w *Packets) Next(in, out fabric.ChannelID, sl uint8) fabric.ChannelID {
	a, b := w.f.Channel(in), w.f.Channel(out)
	vl := w.t.Lanes.SL2VL.VL(a.To, a.ToPort, b.FromPort, sl)
	if vl >= routing.MaxDataVLs {
		return fabric.None
	}
	return w.Vertex(out, int(vl))
}

// Start puts the packets of a switch's own sources on a trunk.
func (w *Packets) Start(s fabric.NodeID, out fabric.ChannelID) {
	port := w.f.Channel(out).FromPort
	for i := range w.sources[s] {
		for m := w.levels[s][i]; m != 0; m &= m - 1 {
			sl := uint8(bits.TrailingZeros16(m))
			if vl := w.t.Lanes.SL2VL.VL(s, w.sources[s][i].port, port, sl); vl < routing.MaxDataVLs {
				w.Arrive(out, w.index[sl], 1<<vl)
			}
		}
	}
}

// Arrive notes lanes of a trunk that packets have come to.
func (w *Packets) Arrive(c fabric.ChannelID, level int, lanes uint16) {
	if lanes &^= w.Held[level][c]; lanes != 0 {
		w.Held[level][c] |= lanes
		w.Arrived = append(w.Arrived, Step{c, level, lanes})
	}
}

// Pass passes on what has arrived, from a place in Arrived on. try is asked about every
// dependency, and false from it ends the walk; nil: nobody is asked.
func (w *Packets) Pass(from int, try func(in, out fabric.ChannelID) bool) bool {
	for ; from < len(w.Arrived); from++ {
		a := w.Arrived[from]
		for _, out := range w.Out[w.f.Heads()[a.Trunk]] {
			next := w.Next(a.Trunk, out, w.SLs[a.Level])
			if next == fabric.None {
				continue
			}
			for m := a.Lanes; m != 0 && try != nil; m &= m - 1 {
				if !try(w.Vertex(a.Trunk, bits.TrailingZeros16(m)), next) {
					return false
				}
			}
			w.Arrive(out, a.Level, 1<<(int(next)%w.Lanes))
		}
	}
	return true
}

// TakeBack takes back what has arrived, from a place in Arrived on.
func (w *Packets) TakeBack(from int) {
	for _, a := range w.Arrived[from:] {
		w.Held[a.Level][a.Trunk] &^= a.Lanes
	}
	w.Arrived = w.Arrived[:from]
}
