// Package packetset follows the packets of finished tables, destination by destination: which trunks
// they may take, which lanes they hold there, and which lane they wait for next. Whoever adds to tables
// asks it what that would cause: another port to choose from, a tree for multicast, an entry in place
// of a dead one.
//
//	1 ──► 2 ──► 5    The entries for a LID on 5: packets of 1 hold 1→2 and wait for 2→5, those
//	│           ▲    of 3 hold 3→4 and wait for 4→5. Add lets 1 go on by 1→3 as well: then its
//	▼           │    packets hold 1→3, too, and wait for 3→4. That dependency is new, and Admit
//	3 ────────► 4    is asked about it; if it is refused, TakeBack leads back to the Mark.
//
// Complexity: O(S + k) for a destination, S switches and k lanes of trunks that its packets
// hold.
package packetset

import (
	"context"
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/marks"
	"github.com/weft-fabric/weft/routing"
)

// Packets is the packets to one destination after another: Begin reads its entries, Start sends
// packets by them, Add lets them take further trunks.
type Packets struct {
	*Sources
	Absent []uint16 // [trunk] lanes, as bits, that Add brings no packets to; nil: none

	// Of the destination that Begin was called for.
	LID   fabric.LID
	Home  fabric.NodeID        // the switch of its owner; None: nobody has it
	Entry []fabric.ChannelID   // [switch] the trunk of its entry; None: it delivers or is dead. Home has one where the LID moved there: until that entry changes, packets pass through
	More  [][]fabric.ChannelID // [switch] further trunks that packets may take

	held    []uint16        // [trunk × SLs + index into SLs] lanes of the packets on a trunk, as bits
	arrived []arrival       // at lanes of held, in order
	added   []fabric.NodeID // the switches that got a trunk in More, in order
	seen    *marks.Set      // switches, scratch of Passes
	queue   []fabric.NodeID // scratch of Passes
}

// arrival is an entry of held to which packets came, on further lanes.
type arrival struct {
	at    int32  // into held
	lanes uint16 // as bits
}

// Admit is asked about each dependency between two vertices (trunk × Sources.Lanes + lane), and may
// refuse it by false.
type Admit func(in, out fabric.ChannelID) bool

// Any admits every dependency.
func Any(_, _ fabric.ChannelID) bool { return true }

// New is packets from some sources.
func New(s *Sources) *Packets {
	n := s.f.Switches()
	return &Packets{
		Sources: s, Entry: make([]fabric.ChannelID, n), More: make([][]fabric.ChannelID, n),
		held: make([]uint16, s.f.Trunks()*len(s.SLs)), seen: marks.New(n),
	}
}

// Begin takes back all packets and further trunks, and reads the entries for a LID: its row.
func (p *Packets) Begin(row []uint8, lid fabric.LID) {
	p.TakeBack(Mark{})
	p.LID, p.Home = lid, Home(p.f, lid)
	for s, port := range row {
		p.Entry[s] = p.f.Trunk(fabric.NodeID(s), port)
	}
}

// Home is the switch of the owner of a LID; None: nobody on a switch has it.
func Home(f *fabric.Fabric, lid fabric.LID) fabric.NodeID {
	if e := f.Owner(lid); e != fabric.None {
		return f.Endpoint(e).Switch
	}
	return fabric.None
}

// Start sends the packets of all sources. It fails if a dependency is refused.
func (p *Packets) Start(admit Admit) bool {
	if p.laneZero && len(p.added) == 0 {
		return p.startOnLaneZero(admit)
	}
	w := walk{Packets: p, admit: admit}
	for s, c := range p.Entry {
		if c != fabric.None && !w.start(fabric.NodeID(s), c) {
			return false
		}
		for _, c := range p.More[s] {
			if !w.start(fabric.NodeID(s), c) {
				return false
			}
		}
	}
	return true
}

// startOnLaneZero is Start where all packets are on lane 0, and have one way each: from each source up
// to where others were.
func (p *Packets) startOnLaneZero(admit Admit) bool {
	heads, n := p.f.Heads(), fabric.ChannelID(p.Lanes)
	for _, s := range p.ends {
		if p.pairs(s, p.LID) == 0 {
			continue
		}
		holds := fabric.ChannelID(fabric.None)
		for c := p.Entry[s]; c != fabric.None; c = p.Entry[heads[c]] {
			if holds != fabric.None && !admit(holds*n, c*n) {
				return false
			}
			if p.held[c] != 0 {
				break
			}
			p.arrive(int(c), 1)
			holds = c
		}
	}
	return true
}

// Allow lets packets at a switch go on by a further trunk, without sending any.
func (p *Packets) Allow(s fabric.NodeID, c fabric.ChannelID) {
	p.More[s] = append(p.More[s], c)
	p.added = append(p.added, s)
}

// Add sends the packets that start or arrive at a switch on by a further trunk. It fails if a
// dependency is refused, and where packets would come to a lane in Absent or be dropped; TakeBack then
// undoes what it did.
func (p *Packets) Add(s fabric.NodeID, c fabric.ChannelID, admit Admit) bool {
	p.Allow(s, c)
	w := walk{Packets: p, admit: admit, adds: true}
	if !w.start(s, c) {
		return false
	}
	first, end := p.f.TrunksFrom(s)
	for out := first; out < end; out++ {
		in := p.f.Reverses()[out]
		for level := range p.SLs {
			if lanes := p.held[int(in)*len(p.SLs)+level]; lanes != 0 && !w.pass(in, c, level, lanes) {
				return false
			}
		}
	}
	return true
}

// Mark is how far packets have come, for TakeBack: numbers of Packets.arrived and Packets.added.
type Mark struct{ arrived, added int }

// Mark is how far packets have come by now.
func (p *Packets) Mark() Mark { return Mark{arrived: len(p.arrived), added: len(p.added)} }

// TakeBack undoes what was allowed and sent since a mark; the zero Mark is that of Begin.
func (p *Packets) TakeBack(to Mark) {
	for _, a := range p.arrived[to.arrived:] {
		p.held[a.at] &^= a.lanes
	}
	for _, s := range p.added[to.added:] {
		p.More[s] = p.More[s][:len(p.More[s])-1]
	}
	p.arrived, p.added = p.arrived[:to.arrived], p.added[:to.added]
}

// Added is the switches that were allowed further trunks, in order.
func (p *Packets) Added() []fabric.NodeID { return p.added }

// Last is the trunk that a switch was allowed last, or that of its entry.
func (p *Packets) Last(s fabric.NodeID) fabric.ChannelID {
	if n := len(p.More[s]); n > 0 {
		return p.More[s][n-1]
	}
	return p.Entry[s]
}

// walk sends packets on, from trunk to trunk.
type walk struct {
	*Packets
	admit Admit
	adds  bool // it is that of Add, which neither drops packets nor brings them to lanes that trunks lack
}

// start sends the packets of the sources on a switch by a trunk. It fails if a dependency is refused.
func (w *walk) start(s fabric.NodeID, c fabric.ChannelID) bool {
	out, maps := w.f.TailPorts()[c], w.lanes.SL2VL
	var lanes [routing.SLs]uint16 // by the index into SLs
	for g := w.first[s]; g < w.first[s+1]; g++ {
		levels := w.Sources.levels(g, w.LID)
		if levels == 0 {
			continue
		}
		for level, sl := range w.SLs {
			if levels>>sl&1 == 1 {
				lanes[level] |= 1 << maps.VL(s, w.groups[g].port, out, sl)
			}
		}
	}
	for level := range w.SLs {
		if lanes[level] != 0 && !w.put(c, level, lanes[level]) {
			return false
		}
	}
	return true
}

// put adds lanes, as bits, of packets of a service level (an index into SLs) on a trunk, and sends
// them on from those that are new there. It fails if a dependency is refused, or Add must not go there.
func (w *walk) put(c fabric.ChannelID, level int, lanes uint16) bool {
	at := int(c)*len(w.SLs) + level
	fresh := lanes &^ (w.held[at] | 1<<routing.MaxDataVLs)
	if fresh == 0 {
		return true
	}
	if w.adds && w.Absent != nil && fresh&w.Absent[c] != 0 {
		return false
	}
	w.arrive(at, fresh)
	s := w.f.Heads()[c]
	if out := w.Entry[s]; out != fabric.None && !w.pass(c, out, level, fresh) {
		return false
	}
	for _, out := range w.More[s] {
		if !w.pass(c, out, level, fresh) {
			return false
		}
	}
	return true
}

// arrive notes that packets have come to lanes, as bits, of an index of held.
func (p *Packets) arrive(at int, lanes uint16) {
	p.held[at] |= lanes
	p.arrived = append(p.arrived, arrival{int32(at), lanes})
}

// pass sends packets that came by trunk in, on lanes given as bits, on by trunk out. It fails as put.
func (w *walk) pass(in, out fabric.ChannelID, level int, lanes uint16) bool {
	ports := w.f.TailPorts()
	vl := w.lanes.SL2VL.VL(w.f.Heads()[in], ports[w.f.Reverses()[in]], ports[out], w.SLs[level])
	if vl >= routing.MaxDataVLs {
		return !w.adds
	}
	n := fabric.ChannelID(w.Lanes)
	for m := lanes; m != 0; m &= m - 1 {
		if !w.admit(in*n+fabric.ChannelID(bits.TrailingZeros16(m)), out*n+fabric.ChannelID(vl)) {
			return false
		}
	}
	return w.put(out, level, 1<<vl)
}

// Visit reports whether any packet arrives at a switch by a trunk, or starts there.
func (p *Packets) Visit(s fabric.NodeID) bool {
	if p.Send(s, p.LID) {
		return true
	}
	first, end := p.f.TrunksFrom(s)
	for c := first; c < end; c++ {
		in := int(p.f.Reverses()[c]) * len(p.SLs)
		for _, lanes := range p.held[in : in+len(p.SLs)] {
			if lanes != 0 {
				return true
			}
		}
	}
	return false
}

// Pass reports whether packets that are at one switch, sent by it or not, can come to another.
func (p *Packets) Pass(from, s fabric.NodeID) bool {
	heads := p.f.Heads()
	p.seen.Empty()
	p.queue = append(p.queue[:0], from)
	visit := func(c fabric.ChannelID) {
		if c != fabric.None && p.seen.Add(int(heads[c])) {
			p.queue = append(p.queue, heads[c])
		}
	}
	for i := 0; i < len(p.queue); i++ {
		at := p.queue[i]
		if at == s {
			return true
		}
		visit(p.Entry[at])
		for _, c := range p.More[at] {
			visit(c)
		}
	}
	return false
}

// Graph is the dependencies of the packets to some LIDs by forwarding tables, whichever of them each
// switch goes by; nil if they have a cycle.
func (p *Packets) Graph(ctx context.Context, scope routing.Scope, fw ...*routing.Forwarding) (*acyclic.Lanes, error) {
	var err error
	n := p.Dependencies()
	seen := make([]uint64, (n.Count()+63)/64) // most dependencies come again and again
	graph := acyclic.NewLanes(p.f, p.Lanes, func(yield func(in, out fabric.ChannelID)) {
		for lid := range scope.LIDs(p.f) {
			if err = ctx.Err(); err != nil {
				return
			}
			p.Begin(fw[0].Row(lid), lid)
			for _, other := range fw[1:] {
				for s, port := range other.Row(lid) {
					if c := p.f.Trunk(fabric.NodeID(s), port); c != fabric.None && c != p.Last(fabric.NodeID(s)) {
						p.Allow(fabric.NodeID(s), c)
					}
				}
			}
			p.Start(func(in, out fabric.ChannelID) bool {
				i := n.Number(acyclic.Dependency{In: in, Out: out})
				if seen[i/64]>>(i%64)&1 == 0 {
					seen[i/64] |= 1 << (i % 64)
					yield(in, out)
				}
				return true
			})
		}
	})
	return graph, err
}
