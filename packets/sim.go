package packets

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

const none = -1

// packet is one in the network or at its source. It is as long as a line of cache.
type packet struct {
	bytes    int32  // on the wire
	src, dst int32  // endpoints
	next     int32  // packet behind it in its queue
	address  int32  // LID, or routing.Address
	number   uint32 // in its flow
	into     int32  // buffer it is in or on the way to; none: the packet is free
	size     uint16 // blocks
	lanes    uint16
	sl       uint8
	hops     uint16
	created  Time
	injected Time // it began to leave its source; waiting: it is there
	entered  Time // it began to enter the buffer it is in
}

const waiting = Time(-1)

func (p *packet) blocks() int32 { return int32(p.size) }

// buffer is a lane of a port: the packets at its far end, and the space that the
// near end knows of. It is as long as a line of cache, and holds what is known of
// the port too, in its lane 0.
type buffer struct {
	head, tail  int32  // queue of packets whose head has arrived
	asked       int32  // the request of the head of the queue; none: it has not asked
	first, last int32  // requests to send into this buffer, oldest first
	sent, limit uint16 // blocks sent and allowed in all, as FCTBS and FCCL count them: they wrap
	returning   uint16 // blocks whose packets have begun to leave, and whose credits are not back
	peak        uint16 // most blocks in it
	leaving     bool   // a packet is leaving it; the next asks when its tail is gone

	sending  bool   // the port sends a packet, from the buffer source
	dirty    bool   // the port is to be looked at
	skipped  bool   // requests of packets behind the port wait because it is being read
	reading  uint8  // packets that leave the buffers behind the port just now
	lastLane uint8  // of the port
	wanted   uint16 // lanes of the port with requests, as bits
	source   int32

	changed Time  // sent or limit last changed
	area    int64 // blocks × ps of packets that were in it
	busy    Time  // spent sending into it
}

// free is the blocks that may be sent into it.
func (b *buffer) free() int32 { return int32(b.limit - b.sent) }

// request is the head of a queue that wants to be sent into a buffer.
type request struct {
	queue      int32 // buffer whose head it is
	into       int32
	next, prev int32 // in the list of into
	sibling    int32 // another request of the same packet
	since      Time
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
	serials  []uint32  // [buffer] heads of its queue so far; nil: packets live for ever
	arbiters []arbiter // [port]; nil: lanes take turns
	fresh    []int32   // buffers with a new head
	dirty    []int32   // ports to look at
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
	s.buffers = make([]buffer, len(n.links)<<n.shift)
	for b := range s.buffers {
		s.buffers[b] = buffer{head: none, tail: none, asked: none, first: none, last: none, limit: uint16(n.kinds[n.links[b>>n.shift].kind].blocks), lastLane: uint8(n.lanes - 1)}
	}
	if s.lifetime {
		s.serials = make([]uint32, len(s.buffers))
	}
	if n.Config.Arbitration != nil {
		s.arbiters = make([]arbiter, len(n.links))
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
		p := s.port(o)
		p.dirty = false
		if !p.sending {
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
		b.limit += uint16(number)
		b.returning -= uint16(number)
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
	if p := s.port(o); !p.dirty && !p.sending {
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
	p := s.port(o)
	p.sending = false
	if p.wanted != 0 {
		s.mark(o)
	}
	q := p.source
	in := q >> s.shift
	behind := s.port(in)
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

// port is where what is known of a port lies.
func (s *sim) port(o int32) *buffer { return &s.buffers[o<<s.shift] }

// endpointOf is the endpoint of a source port.
func (s *sim) endpointOf(port int32) fabric.EndpointID { return fabric.EndpointID(port - s.ports) }
