package packets

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

const none = -1

// packet is one in the network or at its source.
type packet struct {
	bytes    int32 // on the wire
	blocks   int32
	src, dst int32 // endpoints
	next     int32 // packet behind it in its queue
	address  int32 // LID, or routing.Address
	lanes    uint16
	sl       uint8
	hops     uint8
	number   uint32 // in its flow
	into     int32  // buffer it is in or on the way to
	created  Time
	injected Time // it began to leave its source
	entered  Time // it began to enter the buffer it is in
	whole    Time // its tail has its first chance to leave the buffer it is in
}

// buffer is a lane of a port: the packets at its far end, and the space that the
// near end knows of.
type buffer struct {
	head, tail  int32  // queue of packets whose head has arrived
	asked       int32  // the request of the head of the queue; none: it has not asked
	leaving     bool   // a packet is leaving it; the next asks when its tail is gone
	first, last int32  // requests to send into this buffer, oldest first
	sent, limit uint32 // blocks sent and allowed in all, as FCTBS and FCCL count them
	returning   int32  // blocks whose packets have begun to leave, and whose credits are not back
	serial      uint32 // heads of the queue so far
	changed     Time   // sent or limit last changed
	area        int64  // blocks × ps of packets that were in it
	busy        Time   // spent sending into it
	peak        int32  // most blocks in it
}

func (b *buffer) free() int32 { return int32(b.limit - b.sent) }

// request is the head of a queue that wants to be sent into a buffer.
type request struct {
	queue      int32 // buffer whose head it is
	into       int32
	next, prev int32 // in the list of into
	sibling    int32 // another request of the same packet
	since      Time
}

// port is something that sends.
type port struct {
	asked    uint16 // lanes with requests, as bits
	busy     bool
	dirty    bool  // to be looked at
	skipped  bool  // requests of packets behind this port wait because it is being read
	reading  uint8 // packets that leave the buffers behind it just now
	lastLane uint8
	from     int32 // buffer whose packet it is sending
	arbiter  arbiter
}

// sim is one run.
type sim struct {
	*Network
	wheel    wheel
	packets  []packet
	unused   int32 // free packets
	requests []request
	spare    int32 // free requests
	buffers  []buffer
	portsOf  []port
	fresh    []int32 // buffers with a new head
	dirty    []int32 // ports to look at
	flows    flows
	load     load
	count    counters
	watch    watch
	lifetime bool
	running  bool            // the first event has happened
	observe  func(p *packet) // tests: told of each delivery
}

// counters is what happened so far, in packets.
type counters struct {
	created, delivered, dropped int64
	atSource, inside            int64
	blockHops                   int64
}

// The kinds of event, in the highest bits.
const (
	evReady   uint64 = iota << 60 // a packet (index) may leave its buffer
	evTail                        // a port (index) has sent its packet
	evCredit                      // a buffer (index) has so many blocks (number) back
	evDeliver                     // a packet (index) has arrived whole
	evSource                      // an endpoint (index) has something to send
	evHead                        // the head of a buffer (index) may ask
	evExpire                      // the lifetime of a head (number) of a buffer (index) ends
)

const (
	numberBits = 28
	numberMask = 1<<numberBits - 1
)

func code(kind uint64, index int32, number uint32) uint64 {
	return kind | uint64(number&numberMask)<<32 | uint64(uint32(index))
}

func newSim(n *Network) *sim {
	s := &sim{Network: n, unused: none, spare: none, lifetime: n.Config.Lifetime > 0}
	s.portsOf = make([]port, len(n.links))
	for i := range s.portsOf {
		s.portsOf[i].lastLane = uint8(n.lanes - 1)
	}
	s.buffers = make([]buffer, len(n.links)<<n.shift)
	for b := range s.buffers {
		s.buffers[b] = buffer{head: none, tail: none, asked: none, first: none, last: none, limit: uint32(n.links[b>>n.shift].blocks)}
	}
	several := n.adaptive != nil || n.Fabric.Addresses() > 1
	s.flows = newFlows(s.lifetime, several)
	return s
}

// step goes to the next time at which something happens, and does it all; false if
// nothing happens any more. What happens first does not depend on the order of
// events: all that arrives at a time is noted, then all new heads of queues ask, by
// number, then all ports that could send choose, by number.
func (s *sim) step() bool {
	events := s.wheel.next()
	if events == nil {
		return false
	}
	s.running = true
	for _, e := range events {
		s.happen(e.what)
	}
	sorted(s.fresh)
	for _, q := range s.fresh {
		s.ask(q)
	}
	s.fresh = s.fresh[:0]
	sorted(s.dirty)
	for _, o := range s.dirty {
		p := &s.portsOf[o]
		p.dirty = false
		if !p.busy {
			s.choose(o, p)
		}
	}
	s.dirty = s.dirty[:0]
	return true
}

// sorted sorts what is mostly very short.
func sorted(list []int32) {
	if len(list) > 12 {
		slices.Sort(list)
		return
	}
	for i := 1; i < len(list); i++ {
		for j := i; j > 0 && list[j] < list[j-1]; j-- {
			list[j], list[j-1] = list[j-1], list[j]
		}
	}
}

func (s *sim) happen(what uint64) {
	index, number := int32(uint32(what)), uint32(what>>32)&numberMask
	switch what >> 60 << 60 {
	case evReady:
		s.append(s.packets[index].into, index)
	case evTail:
		s.tailLeft(index)
	case evCredit:
		b := &s.buffers[index]
		b.limit += number
		b.returning -= int32(number)
		b.changed = s.wheel.now
		if b.first != none {
			s.mark(index >> s.shift)
		}
	case evDeliver:
		s.deliver(index)
	case evSource:
		s.refill(index)
	case evHead:
		s.fresh = append(s.fresh, index)
	case evExpire:
		s.expire(index, number)
	}
}

// mark notes that a port may have something to do.
func (s *sim) mark(o int32) {
	if p := &s.portsOf[o]; !p.dirty && !p.busy {
		p.dirty = true
		s.dirty = append(s.dirty, o)
	}
}

// append puts a packet whose head is there into the queue of a buffer.
func (s *sim) append(q, index int32) {
	b := &s.buffers[q]
	s.packets[index].next = none
	if b.head != none {
		s.packets[b.tail].next = index
	} else {
		b.head = index
		if !b.leaving {
			s.fresh = append(s.fresh, q)
		}
	}
	b.tail = index
}

// tailLeft ends the sending of a packet.
func (s *sim) tailLeft(o int32) {
	p := &s.portsOf[o]
	p.busy = false
	if p.asked != 0 {
		s.mark(o)
	}
	q := p.from
	in := q >> s.shift
	behind := &s.portsOf[in]
	behind.reading--
	b := &s.buffers[q]
	b.leaving = false
	if b.head != none {
		s.fresh = append(s.fresh, q)
	}
	if behind.skipped {
		behind.skipped = false
		s.markAsked(in)
	}
	if in >= s.ports {
		s.left(in - s.ports)
	}
}

// markAsked marks every port that packets behind a port ask for.
func (s *sim) markAsked(in int32) {
	for lane := range int32(s.lanes) {
		for r := s.buffers[in<<s.shift|lane].asked; r != none; r = s.requests[r].sibling {
			s.mark(s.requests[r].into >> s.shift)
		}
	}
}

// choose lets a port send the packet whose turn it is, if there is any.
func (s *sim) choose(o int32, p *port) {
	if s.shift == 0 {
		if r := s.candidate(o); r != none {
			s.start(r)
		}
		return
	}
	var candidates [16]int32
	ready := uint16(0)
	for lane := range int32(s.lanes) {
		if p.asked>>lane&1 == 1 {
			if r := s.candidate(o<<s.shift | lane); r != none {
				candidates[lane] = r
				ready |= 1 << lane
			}
		}
	}
	if ready == 0 {
		return
	}
	lane := s.turn(p, ready, &candidates)
	s.start(candidates[lane])
}

// turn is the lane that goes next.
func (s *sim) turn(p *port, ready uint16, candidates *[16]int32) uint8 {
	if a := s.Config.Arbitration; a != nil {
		lane, high := a.pick(&p.arbiter, ready)
		q := s.requests[candidates[lane]].queue
		p.arbiter.sent(high, s.packets[s.buffers[q].head].blocks)
		return lane
	}
	lane := p.lastLane
	for {
		if lane++; int(lane) >= s.lanes {
			lane = 0
		}
		if ready>>lane&1 == 1 {
			p.lastLane = lane
			return lane
		}
	}
}

// candidate is the oldest request for a buffer that can be granted now. What lacks
// credits is not overtaken on its lane; what waits for its own port, which sends
// another packet, is.
func (s *sim) candidate(into int32) int32 {
	b := &s.buffers[into]
	drawn, of := int32(none), 0
	for r := b.first; r != none; r = s.requests[r].next {
		q := s.requests[r].queue
		if s.packets[s.buffers[q].head].blocks > b.free() {
			return drawn
		}
		in := &s.portsOf[q>>s.shift]
		switch {
		case int(in.reading) >= s.readers(q):
			in.skipped = true
		case !s.Config.Lottery:
			return r
		default:
			if of++; of == 1 || s.load.random.IntN(of) == 0 {
				drawn = r
			}
		}
	}
	return drawn
}

// readers is how many packets may leave the lanes of a port at once.
func (s *sim) readers(q int32) int {
	if s.Config.OutBuffer > 0 {
		return 1 // the speed-up is in the way through the switch
	}
	return s.Config.Speedup
}

// start sends the packet of a request.
func (s *sim) start(r int32) {
	now := s.wheel.now
	q, into := s.requests[r].queue, s.requests[r].into
	s.forget(q)
	b := &s.buffers[q]
	index := b.head
	p := &s.packets[index]
	b.head, b.leaving = p.next, true
	b.serial++

	o := into >> s.shift
	l := &s.links[o]
	takes := serial(p.bytes, l.perByte)
	port, behind := &s.portsOf[o], &s.portsOf[q>>s.shift]
	port.busy, port.from = true, q
	behind.reading++
	s.wheel.push(now+takes+s.Config.Gap, code(evTail, o, 0))
	if q>>s.shift < s.ports {
		b.returning += p.blocks
		b.area += int64(p.blocks) * int64(now+takes-p.entered)
		s.wheel.push(now+takes+s.links[q>>s.shift].credit, code(evCredit, q, uint32(p.blocks)))
	} else {
		p.injected = now
		s.count.atSource--
		s.count.inside++
	}
	next := &s.buffers[into]
	next.sent += uint32(p.blocks)
	next.changed = now
	next.busy += takes
	next.peak = max(next.peak, s.links[o].blocks-next.free())
	p.into, p.entered, p.whole = into, now, now+takes+l.latency
	if int(o) < s.Fabric.Trunks() {
		p.hops++
	}
	s.count.blockHops += int64(p.blocks)
	switch {
	case l.to < 0 && o < s.channels:
		s.wheel.push(p.whole, code(evDeliver, index, 0))
	case s.Config.StoreWhole && o < s.channels:
		s.wheel.push(p.whole, code(evReady, index, 0))
	default:
		s.wheel.push(now+l.latency, code(evReady, index, 0))
	}
}

// deliver ends a packet's way. Endpoints take what arrives at once.
func (s *sim) deliver(index int32) {
	p := &s.packets[index]
	b := &s.buffers[p.into]
	b.area += int64(p.blocks) * int64(s.wheel.now-p.entered)
	b.returning += p.blocks
	s.wheel.push(s.wheel.now+s.links[p.into>>s.shift].credit, code(evCredit, p.into, uint32(p.blocks)))
	s.count.inside--
	s.count.delivered++
	s.flows.arrive(p.src, p.dst, p.number)
	if s.observe != nil {
		s.observe(p)
	}
	s.watch.delivered(s.wheel.now, p)
	s.release(index)
	s.load.arrived(s)
}

// expire drops a packet that has headed its queue for too long.
func (s *sim) expire(q int32, number uint32) {
	b := &s.buffers[q]
	if b.asked == none || b.serial&numberMask != number {
		return
	}
	s.forget(q)
	index := b.head
	p := &s.packets[index]
	b.head = p.next
	b.serial++
	b.returning += p.blocks
	b.area += int64(p.blocks) * int64(s.wheel.now-p.entered)
	s.wheel.push(s.wheel.now+s.links[q>>s.shift].credit, code(evCredit, q, uint32(p.blocks)))
	s.count.inside--
	s.count.dropped++
	s.flows.drop(p.src, p.dst)
	s.release(index)
	if b.head != none {
		s.fresh = append(s.fresh, q)
	}
	s.load.arrived(s)
}

// allot is a packet from the free ones.
func (s *sim) allot() int32 {
	if s.unused == none {
		s.packets = append(s.packets, packet{})
		return int32(len(s.packets) - 1)
	}
	index := s.unused
	s.unused = s.packets[index].next
	return index
}

func (s *sim) release(index int32) {
	s.packets[index].next, s.packets[index].into = s.unused, none
	s.unused = index
}

// run steps until a time, or until nothing happens any more.
func (s *sim) run(ctx context.Context, until Time) error {
	const steps = 1 << 12
	for n := 1; s.wheel.now < until; n++ {
		if n%steps == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if !s.step() || s.flows.broken != nil {
			break
		}
	}
	return s.flows.broken
}

// endpointOf is the endpoint of a source port.
func (s *sim) endpointOf(port int32) fabric.EndpointID { return fabric.EndpointID(port - s.ports) }
