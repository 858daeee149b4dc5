package packets

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/routing"
)

// sourceQueue is how many packets a source keeps ready. It creates further messages,
// with the time at which they were due, when there is room: so a network that does not
// keep up needs no more memory.
const sourceQueue = 64

// Message is one message to be sent.
type Message struct {
	At       Time
	From, To fabric.EndpointID
	Bytes    int64      // payload; zero: one full packet
	LID      fabric.LID // the address and service level to use; 0: as the tables say
	SL       uint8
}

// source is an endpoint that sends.
type source struct {
	at        Time       // when the next message is due
	exact     float64    // the same, not rounded to ps
	createdAt Time       // of the current message
	left      int64      // bytes of it not yet cut into packets
	dst       int32      // endpoint it goes to
	lid       fabric.LID // address of the current message, and
	sl        uint8      // its service level; 0: as the tables say
	again     int32      // messages left in its burst
	ready     int32      // packets created that have not left
	armed     bool       // an event will call refill
	created   uint32     // packets so far, for addresses round robin
	stream    rand.PCG   // its own random stream, independent of other sources
	script    []Message
}

// sending is what is sent in a run: either a script, phase by phase, or the messages of
// a generator.
type sending struct {
	random  *rand.Rand // for what is drawn before the run
	sources []source   // [EndpointID]
	gen     *generator
	phases  [][]Message
	open    int64 // packets of the phase that have not arrived
}

const never = Time(math.MaxInt64)

// begin makes the sources and random streams of a run; nothing is sent yet.
func (s *sim) begin(seed, run uint64) {
	s.sending.random = rand.New(rand.NewPCG(seed, run))
	own := scramble(scramble(seed) + run)
	for _, r := range s.regions {
		r.seed = own
	}
	s.sending.sources = make([]source, len(s.Fabric.Endpoints()))
	for e := range s.sending.sources {
		s.sending.sources[e].at = never
		s.sending.sources[e].stream.Seed(scramble(own+uint64(2*e)), scramble(own+uint64(2*e+1)))
	}
}

// play starts scripts: each phase when the one before has arrived. Times are relative
// to the beginning of the phase. A network of several regions can play one phase only,
// because the next would have to begin in all of them at once.
func (s *sim) play(phases [][]Message) {
	s.sending.phases = phases
	s.nextPhase()
}

// nextPhase starts the next phase that has messages.
func (s *sim) nextPhase() {
	for len(s.sending.phases) > 0 && s.sending.open == 0 {
		now := s.regions[0].wheel.now
		messages := slices.Clone(s.sending.phases[0])
		s.sending.phases = s.sending.phases[1:]
		slices.SortStableFunc(messages, func(a, b Message) int {
			return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.At, b.At))
		})
		for len(messages) > 0 {
			from := messages[0].From
			n := 0
			for ; n < len(messages) && messages[n].From == from; n++ {
				m := &messages[n]
				if m.Bytes == 0 {
					m.Bytes = int64(s.Config.MTU)
				}
				m.At += now
				s.noteShortest(m.Bytes)
				s.sending.open += (m.Bytes + int64(s.Config.MTU) - 1) / int64(s.Config.MTU)
			}
			src := &s.sending.sources[from]
			src.script, messages = messages[:n], messages[n:]
			src.at = src.script[0].At
			if home := s.homeOf(from); home.running && src.at <= now {
				home.fill(int32(from), src)
			} else {
				home.arm(int32(from), src)
			}
		}
	}
}

// arrived counts a packet of the phase that was delivered or dropped.
func (s *region) arrived() {
	if len(s.sending.phases) == 0 {
		return
	}
	if s.sending.open--; s.sending.open == 0 {
		s.whole.nextPhase()
	}
}

// arm schedules the refill of a source for when its next message is due.
func (s *region) arm(e int32, src *source) {
	if !src.armed && src.at != never {
		src.armed = true
		s.wheel.push(src.at, code(evSource, e, 0))
	}
}

// left is called when a packet has left its source.
func (s *region) left(e int32) {
	src := &s.sending.sources[e]
	src.ready--
	if src.ready == sourceQueue/2 && (src.left > 0 || src.at <= s.wheel.now) {
		s.fill(e, src)
	}
}

// refill is called when the next message of a source is due.
func (s *region) refill(e int32) {
	src := &s.sending.sources[e]
	src.armed = false
	s.fill(e, src)
}

// fill creates the packets that are due, up to sourceQueue.
func (s *region) fill(e int32, src *source) {
	for src.ready < sourceQueue {
		if src.left == 0 {
			if src.at > s.wheel.now {
				s.arm(e, src)
				return
			}
			s.message(e, src)
		}
		payload := min(src.left, int64(s.Config.MTU))
		src.left -= payload
		s.create(e, src, s.Config.wire(payload))
	}
}

// message takes the next message of a source from its script or generator.
func (s *region) message(e int32, src *source) {
	src.createdAt = src.at
	if s.sending.gen != nil {
		s.sending.gen.next(s.drawing(src), e, src)
		return
	}
	m := &src.script[0]
	src.dst, src.left, src.lid, src.sl = int32(m.To), m.Bytes, m.LID, m.SL
	src.script, src.at = src.script[1:], never
	if len(src.script) > 0 {
		src.at = src.script[0].At
	}
}

// create puts a packet into the queue of a source.
func (s *region) create(e int32, src *source, bytes int32) {
	index := s.allot()
	p := &s.packets[index]
	*p = packet{
		bytes: bytes, size: uint16(blocksOf(int(bytes))), src: e, dst: src.dst, created: src.createdAt, injected: waiting,
	}
	if src.lid < routing.FirstMLID {
		p.number = s.flows.send(e, src.dst)
	}
	lane := s.address(p, src)
	if s.Config.AnyLane {
		lane = 0
	}
	src.created++
	src.ready++
	s.count.created++
	s.count.atSource++
	p.into = s.source(fabric.EndpointID(e))<<s.shift | int32(lane)
	s.append(p.into, index)
}

// address sets where a packet goes and its service level or lanes, and returns the lane
// on which it leaves the endpoint.
func (s *region) address(p *packet, src *source) uint8 {
	from, to := s.Fabric.Endpoint(fabric.EndpointID(p.src)), s.Fabric.Endpoint(fabric.EndpointID(p.dst))
	if s.adaptive != nil {
		return s.adaptiveAddress(p, src, from, to)
	}
	at := int32(to.LID)
	if src.lid != 0 {
		p.address, p.sl = int32(src.lid), src.sl
		return s.firstLane(from, p.sl)
	}
	if to.LMC > 0 {
		at += s.pickAddress(1<<to.LMC, src, func(i int32) bool {
			return s.tables.Lanes.SL(fabric.EndpointID(p.src), to.LID+fabric.LID(i)) != routing.NoSL
		})
	}
	p.address = at
	p.sl = s.tables.Lanes.Class(s.trafficClass(p), s.tables.Lanes.SL(fabric.EndpointID(p.src), fabric.LID(at)))
	return s.firstLane(from, p.sl)
}

// trafficClass is the class of traffic of a packet, where the tables have lanes for several:
// any that source and destination settle between them, as a connection does.
func (n *Network) trafficClass(p *packet) int {
	if n.tables.Lanes.Classes <= 1 {
		return 0
	}
	return int(scramble(uint64(p.src)<<32|uint64(p.dst)) % uint64(n.tables.Lanes.Classes))
}

// firstLane is the lane on which an adapter sends a service level. Adapters have no
// SL2VL map by ports.
func (n *Network) firstLane(e *fabric.Endpoint, sl uint8) uint8 {
	switch {
	case n.byLane: // it decides the lanes that follow
		return routing.SourceLane(n.Fabric.Channel(e.Deliver).DataVLs, sl)
	case n.perPort:
		return sl % uint8(n.lanes)
	}
	return n.uniform[sl]
}

// adaptiveAddress sets the address and lanes of a packet, one of the addresses that the source may use,
// and returns the lane on which it leaves the endpoint. Where its switch chooses the address, that is
// for the time being (firstSwitch).
func (s *region) adaptiveAddress(p *packet, src *source, from, to *fabric.Endpoint) uint8 {
	if from.Switch == to.Switch {
		return uint8(src.created % uint32(s.lanes))
	}
	own := s.addresses.of(from.Switch, to.Switch)
	p.address = own[s.choice(int32(len(own)), src)]
	p.lanes = s.adaptive.Allowed(from.Switch, adaptive.Address(p.address))
	count := uint32(bits.OnesCount16(p.lanes))
	skip := src.created % count
	if s.Config.LaneChoice == BySource && count > 1 {
		skip = s.drawing(src).Uint32N(count)
	}
	lanes := p.lanes
	for range skip {
		lanes &= lanes - 1
	}
	if s.Config.LaneChoice == BySource {
		p.lanes = lanes & -lanes
	}
	return uint8(bits.TrailingZeros16(lanes))
}

// choice is which of count addresses a source uses, as the Config says.
func (s *region) choice(count int32, src *source) int32 {
	if s.Config.AddressChoice == AtRandom && count > 1 {
		return s.drawing(src).Int32N(count)
	}
	return int32(src.created % uint32(max(1, count)))
}

// pickAddress is one of the first n addresses, of those that are usable. There must be
// one.
func (s *region) pickAddress(n int32, src *source, usable func(int32) bool) int32 {
	count := int32(0)
	for i := range n {
		if usable(i) {
			count++
		}
	}
	k := s.choice(count, src)
	for i := range n {
		if usable(i) {
			if k == 0 {
				return i
			}
			k--
		}
	}
	return 0
}
