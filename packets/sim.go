package packets

import (
	"github.com/weft-fabric/weft/fabric"
)

// none is no packet, buffer, port or request.
const none = -1

// packet is a packet in the network or at its source. Its size is one cache line.
type packet struct {
	bytes    int32  // on the wire
	src, dst int32  // endpoints
	next     int32  // the packet behind it in its queue
	address  int32  // LID, or adaptive.Address
	number   uint32 // position in its flow
	into     int32  // buffer it is in or on the way to; none: this packet is free
	size     uint16 // blocks
	lanes    uint16 // of adaptive routing: those that it may use, as bits
	sl       uint8
	hops     uint16 // trunks so far
	created  Time
	injected Time // when it began to leave its source; waiting: it is still there
	entered  Time // when it began to enter the buffer it is in
}

const waiting = Time(-1)

func (p *packet) blocks() int32 { return int32(p.size) }

// A buffer is a lane of a port. It has two ends: the sender, at the near end of the
// cable, knows the free space; the packets are at the far end. The ends belong to two
// switches, which may be in two regions.

// near is the near end of a buffer; that of lane 0 also has the state of the port.
type near struct {
	changed     Time   // when sent or limit last changed
	busy        Time   // time spent sending into it
	first, last int32  // requests to send into this buffer, oldest first
	source      int32  // buffer from which the port sends a packet
	sent, limit uint16 // blocks sent and allowed in total, as FCTBS and FCCL count them; they wrap
	peak        uint16 // most blocks in it
	wanted      uint16 // lanes of the port with requests, as bits
	lastLane    uint8  // of the port
	kind        uint8  // index of the port's portKind
	region      uint8  // of the far end
	ends        bool   // the far end is an endpoint
	sending     bool   // the port sends a packet
	dirty       bool   // the port is on the list of those that may be able to send
	copying     bool   // the packet that it sends is a copy of one that stays in source
}

// far is the far end of a buffer. Two fit into a cache line.
type far struct {
	area       int64  // blocks × ps of packets that have left it
	head, tail int32  // queue of packets whose heads have arrived
	asked      int32  // first request of the head of the queue; none: it has made no request
	at         int32  // the switch that it is in; -1: an endpoint, or an output buffer
	freed      uint16 // what limit of the near end will be when all credits have arrived
	kind       uint8  // index of the port's portKind
	region     uint8  // of the near end
	leaving    bool   // a packet is leaving it; the next makes its request when the tail is gone
	skipped    bool   // lane 0: a request of a packet of this port was passed over because the port was being read
	reading    uint8  // lane 0: number of packets that are leaving the buffers of the port
}

// free is the number of blocks that may be sent into it.
func (b *near) free() int32 { return int32(b.limit - b.sent) }

// request asks that the head of a queue be sent into a buffer.
type request struct {
	queue      int32 // the buffer whose head it is
	into       int32 // the buffer
	next, prev int32 // in the list of the buffer into
	sibling    int32 // next request of the same packet
	blocks     int32 // of the packet
	since      Time  // when it was made
}

// sim is a run of a network.
type sim struct {
	*Network
	now      Time // all events before it have been handled
	near     []near
	far      []far
	serials  []uint32   // [buffer] number of heads its queue has had; nil: packets live for ever
	arbiters []arbiter  // [port]; nil: lanes are served round robin
	counting []counting // [port]; nil: ports do not count
	sending  sending
	watch    watch
	regions  []*region
	homes    []uint8 // [EndpointID] its region
	shortest int32   // bytes of the shortest packet that may be sent
	many     int     // number of pending events above which all cores are used
}

// counters is what a region counts in the whole run.
type counters struct {
	created, delivered, dropped int64 // packets
	atSource, inside            int64 // packets at their sources and in the network now
	blockHops                   int64 // blocks sent, counted once for each channel
}

// The kinds of event, in the highest bits of its code.
const (
	evReady   uint64 = iota << 60 // a packet (index) may leave its buffer
	evTail                        // a port (index) has sent its packet
	evCredit                      // a buffer (index) gets back some blocks (number)
	evDeliver                     // a packet (index) has arrived whole
	evSource                      // an endpoint (index) has something to send
	evHead                        // the head of a buffer (index) may make its request
	evFlit                        // a flit may leave a buffer (index)
	evLane                        // the lane of a buffer (index) is free for another packet
	evExpire                      // the lifetime of a head (number) of a buffer (index) ends
)

const (
	numberBits = 28
	numberMask = 1<<numberBits - 1
)

// code is an event without its time.
func code(kind uint64, index int32, number uint32) uint64 {
	return kind | uint64(number&numberMask)<<32 | uint64(uint32(index))
}

func newSim(n *Network) *sim {
	s := &sim{Network: n, near: make([]near, len(n.links)<<n.shift), far: make([]far, len(n.links)<<n.shift), many: manyEvents, shortest: n.Config.wire(int64(n.Config.MTU))}
	for b := range s.near {
		port := int32(b >> n.shift)
		l := &n.links[port]
		k := &n.kinds[l.kind]
		from, to := n.regionsOf(port)
		s.near[b] = near{first: none, last: none, limit: uint16(k.blocks), kind: l.kind, region: to, ends: l.to < 0 && port < n.channels, lastLane: uint8(n.lanes - 1)}
		s.far[b] = far{head: none, tail: none, asked: none, at: l.to, freed: uint16(k.blocks), kind: l.kind, region: from}
	}
	if n.Config.Lifetime > 0 {
		s.serials = make([]uint32, len(s.near))
	}
	if n.Config.Arbitration != nil {
		s.arbiters = make([]arbiter, len(n.links))
	}
	if n.Config.Counters {
		s.counting = newCounting(len(n.links))
	}
	s.homes = make([]uint8, len(n.Fabric.Endpoints()))
	for e := range s.homes {
		_, s.homes[e] = n.regionsOf(n.source(fabric.EndpointID(e)))
	}
	for i := range n.regions {
		s.regions = append(s.regions, newRegion(s, uint8(i)))
	}
	return s
}

// counted is the sum over all regions.
func (s *sim) counted() counters {
	var all counters
	for _, r := range s.regions {
		c := &r.count
		all.created += c.created
		all.delivered += c.delivered
		all.dropped += c.dropped
		all.atSource += c.atSource
		all.inside += c.inside
		all.blockHops += c.blockHops
	}
	return all
}

// homeOf is the region of an endpoint.
func (s *sim) homeOf(e fabric.EndpointID) *region { return s.regions[s.homes[e]] }

// noteShortest updates shortest for a message of some bytes.
func (s *sim) noteShortest(bytes int64) {
	mtu := int64(s.Config.MTU)
	if rest := bytes % mtu; rest > 0 {
		s.shortest = min(s.shortest, s.Config.wire(rest))
	}
}
