package pfc

import (
	"context"

	"github.com/weft-fabric/weft/ethernet"
)

// Flow is packets that go one way.
type Flow struct {
	Class int
	Key   uint64            // by which devices pick next hops
	Path  []ethernet.LinkID // from where it enters the network to where it leaves
	Start Time
	Count int
	mark  uint8 // with which its packets enter

	tunnel  int // that it takes, by its place in the class; None: none
	wrapped int // hops that its packets take before they are wrapped
}

// Result is what became of a run.
type Result struct {
	Sent, Delivered, Dropped int
	Overflows                int // packets beyond the headroom
	End                      Time
	Stuck                    int // packets that will never move; with hosts waiting to send
	Cycle                    []Held
}

// Held is a priority of a link that is paused for ever.
type Held struct {
	Link    ethernet.LinkID
	Lane    int
	Packets int // behind it, in the group whose pause it heeds
}

// Deadlocked reports whether packets are stuck.
func (r *Result) Deadlocked() bool { return r.Stuck > 0 }

// lossyQueue is the queue of lossy packets, behind those of the lanes.
const lossyQueue = ethernet.MaxPriorities

// packet is a packet of a flow in the network.
type packet struct {
	flow int32
	hop  int32 // of the flow's path that it takes next, or takes
}

// port is the end of a link that sends.
type port struct {
	queues [lossyQueue + 1][]packet // [lane, or lossyQueue]
	paused [lossyQueue + 1]bool
	busy   bool // it sends a packet
	turn   int  // queue that is served next
}

// group is a priority group of the port at a link's end.
type group struct {
	bytes  int
	pauses bool // it has sent a pause, and not yet the end of it
}

// kind is what happens in an event.
type kind uint8

const (
	inject  kind = iota // the host of p's flow may send the next packet
	sent                // p has left the device by a link
	arrive              // p is at the other end of a link
	deliver             // p is with the host that it was sent to
	pause               // a pause for a lane is heeded by the port of a link
	resume              // likewise its end
)

// event is something that happens at a time; which of link, lane and p count depends on the kind.
type event struct {
	at   Time
	seq  int64 // the order in which events were made
	kind kind
	link ethernet.LinkID
	lane int8
	p    packet
}

// queue is the events to come, a heap by time and then by the order in which they were made.
type queue []event

func (q queue) before(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].seq < q[j].seq
}

func (q *queue) push(e event) {
	*q = append(*q, e)
	h := *q
	for i := len(h) - 1; i > 0 && h.before(i, (i-1)/2); i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
}

func (q *queue) pop() event {
	h := *q
	first, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	for i := 0; 2*i+1 < len(h); {
		child := 2*i + 1
		if child+1 < len(h) && h.before(child+1, child) {
			child++
		}
		if !h.before(child, i) {
			break
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
	*q = h
	return first
}

// sim is a run.
type sim struct {
	n       *ethernet.Network
	c       Config
	flows   []Flow
	marks   [][]uint8                       // [flow][hop]
	ports   []port                          // [LinkID]
	groups  [][ethernet.MaxPriorities]group // [LinkID][lane]
	atHost  []int                           // [flow] packets of it that its first device has not sent on
	blocked []bool                          // [flow] its host waits for space
	left    []int                           // [flow] packets to send
	events  queue
	seq     int64
	now     Time
	r       Result
}

// Run simulates flows until nothing moves.
func Run(ctx context.Context, n *ethernet.Network, c Config, flows []Flow) (*Result, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &sim{n: n, c: c, flows: flows, ports: make([]port, len(n.Links)), groups: make([][ethernet.MaxPriorities]group, len(n.Links)),
		atHost: make([]int, len(flows)), blocked: make([]bool, len(flows)), left: make([]int, len(flows))}
	for i, f := range flows {
		s.left[i] = f.Count
		s.marks = append(s.marks, marksOf(n, f))
		s.push(f.Start, event{kind: inject, p: packet{flow: int32(i)}})
	}
	for i := 0; len(s.events) > 0; i++ {
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e := s.events.pop()
		s.now = e.at
		s.step(e)
	}
	s.r.End = s.now
	for i := range flows {
		s.r.Sent += flows[i].Count - s.left[i]
	}
	s.r.Stuck = s.r.Sent - s.r.Delivered - s.r.Dropped
	if s.r.Stuck > 0 {
		s.r.Cycle = s.circle()
	}
	return &s.r, nil
}

// marksOf is the mark of a flow's packets on each link of its path.
func marksOf(n *ethernet.Network, f Flow) []uint8 {
	marks := make([]uint8, len(f.Path))
	in, mark := ethernet.LinkID(ethernet.None), f.mark
	for i, out := range f.Path {
		mark = f.next(n, i, in, mark)
		marks[i], in = mark, out
	}
	return marks
}

// push puts an event among those to come.
func (s *sim) push(at Time, e event) {
	e.at, e.seq = at, s.seq
	s.seq++
	s.events.push(e)
}

// step does what an event says.
func (s *sim) step(e event) {
	switch e.kind {
	case inject:
		s.inject(e.p.flow)
	case sent:
		s.ports[e.link].busy = false
		s.release(e.p, e.p.hop)
		s.push(s.now+s.c.cable(), event{kind: arrive, link: e.link, p: e.p})
		s.send(e.link)
	case arrive:
		s.arrive(e.link, e.p)
	case deliver:
		s.r.Delivered++
		s.release(e.p, e.p.hop)
	case pause:
		s.ports[e.link].paused[e.lane] = true
	case resume:
		s.ports[e.link].paused[e.lane] = false
		s.send(e.link)
	}
}

// inject lets a host send its next packet if its device has space for it.
func (s *sim) inject(flow int32) {
	if s.left[flow] == 0 {
		return
	}
	if (s.atHost[flow]+1)*s.c.Packet > s.c.Xoff {
		s.blocked[flow] = true
		return
	}
	s.left[flow]--
	s.atHost[flow]++
	s.push(s.now+s.c.serial(), event{kind: inject, p: packet{flow: flow}})
	s.enqueue(packet{flow, 0})
}

// lane is the queue of a packet on a hop of its path.
func (s *sim) lane(p packet, hop int32) int {
	f := &s.flows[p.flow]
	if lane := s.n.Priorities.Of(s.marks[p.flow][hop], f.Path[hop]); lane != ethernet.Lossy {
		return int(lane)
	}
	return lossyQueue
}

// enqueue puts a packet into the queue of the link that it takes next.
func (s *sim) enqueue(p packet) {
	l := s.flows[p.flow].Path[p.hop]
	lane := s.lane(p, p.hop)
	q := &s.ports[l].queues[lane]
	if lane == lossyQueue && (len(*q)+1)*s.c.Packet > s.c.Queue {
		s.r.Dropped++
		s.release(p, p.hop)
		return
	}
	*q = append(*q, p)
	s.send(l)
}

// send starts the next packet of a port that is idle.
func (s *sim) send(l ethernet.LinkID) {
	o := &s.ports[l]
	if o.busy {
		return
	}
	for i := range o.queues {
		lane := (o.turn + i) % len(o.queues)
		if len(o.queues[lane]) == 0 || o.paused[lane] {
			continue
		}
		p := o.queues[lane][0]
		o.queues[lane] = o.queues[lane][1:]
		o.turn = (lane + 1) % len(o.queues)
		o.busy = true
		s.push(s.now+s.c.serial(), event{kind: sent, link: l, p: p})
		return
	}
}

// release gives back the space that a packet took at the device which it leaves by a hop (len(Path): to its host), and ends the pause
// of its group, or lets its host go on, if there is space again.
func (s *sim) release(p packet, hop int32) {
	if hop == 0 {
		s.atHost[p.flow]--
		if s.blocked[p.flow] {
			s.blocked[p.flow] = false
			s.push(s.now, event{kind: inject, p: packet{flow: p.flow}})
		}
		return
	}
	in := s.flows[p.flow].Path[hop-1]
	lane := s.lane(p, hop-1)
	if lane == lossyQueue {
		return
	}
	g := &s.groups[in][lane]
	g.bytes -= s.c.Packet
	if g.pauses && g.bytes <= s.c.Xon {
		g.pauses = false
		s.push(s.now+s.c.cable()+s.c.React, event{kind: resume, link: in, lane: int8(lane)})
	}
}

// arrive counts a packet that came by a link against its group, which may send a pause, and sends the packet on.
func (s *sim) arrive(l ethernet.LinkID, p packet) {
	if lane := s.lane(p, p.hop); lane != lossyQueue {
		g := &s.groups[l][lane]
		g.bytes += s.c.Packet
		if g.bytes > s.c.Xoff+s.c.Headroom() {
			s.r.Overflows++
		}
		if !g.pauses && g.bytes >= s.c.Xoff {
			g.pauses = true
			s.push(s.now+s.c.cable()+s.c.React, event{kind: pause, link: l, lane: int8(lane)})
		}
	}
	p.hop++
	if int(p.hop) == len(s.flows[p.flow].Path) {
		s.push(s.now+s.c.serial(), event{kind: deliver, p: p})
		return
	}
	s.enqueue(p)
}
