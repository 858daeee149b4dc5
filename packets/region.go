package packets

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// region is some switches and their endpoints, simulated independently of other regions
// for the length of a window. All events at one switch happen in one region, and what
// crosses from one region to another takes at least the time of a window.
type region struct {
	*Network
	whole    *sim
	number   uint8
	lifetime bool       // packets have one (Config.Lifetime)
	running  bool       // the first event was handled
	near     []near     // [buffer] of all regions; this one changes those of ports that send from here
	far      []far      // [buffer] of all regions; this one changes those of ports that end here
	serials  []uint32   // as far
	arbiters []arbiter  // as near
	counting []counting // likewise
	flows    flows      // of the sources in this region
	sending  *sending
	flits    *flits // nil: packets move as a whole

	wheel      wheel
	packets    []packet
	unused     []int32 // indices of free packets: a separate list, so that taking one does not read the packet before
	requests   []request
	spare      []int32 // indices of free requests, likewise
	prefetcher prefetcher
	prefetches bool    // prefetch the memory of events
	fresh      []int32 // buffers with a new head
	dirty      []int32 // ports that may be able to send
	count      counters
	tally      tally
	seed       uint64 // of random choices at ports
	stream     *rand.PCG
	random     *rand.Rand      // draws from stream
	failure    error           // the first internal error
	observe    func(p *packet) // tests only: called at each delivery

	homes  []uint8 // [EndpointID] its region
	outbox []mail  // [region] what this one has for it
}

func newRegion(s *sim, number uint8) *region {
	r := &region{
		Network: s.Network, whole: s, number: number, lifetime: s.Config.Lifetime > 0,
		near: s.near, far: s.far, serials: s.serials, arbiters: s.arbiters, counting: s.counting, sending: &s.sending,
		flows:      newFlows(s.Config.Lifetime > 0 || s.rewrites != nil, s.adaptive != nil || s.rewrites != nil || s.tables.Groups != nil || s.Fabric.Addresses() > 1 || s.Config.AnyLane),
		prefetches: len(s.near) > prefetchFrom, homes: s.homes, outbox: make([]mail, s.Network.regions),
	}
	if s.Config.Flits {
		r.flits = newFlits(s.Network)
	}
	r.random = rand.New((*randomSource)(r))
	return r
}

// randomSource is a region as a rand.Source.
type randomSource region

// Uint64 draws from the stream of the endpoint at hand (drawing).
func (d *randomSource) Uint64() uint64 { return d.stream.Uint64() }

// drawing is the region's random numbers, drawn from the stream of a source until the next call.
func (s *region) drawing(src *source) *rand.Rand {
	s.stream = &src.stream
	return s.random
}

// lot is a random number below n, for the n-th request for a buffer that candidate looks at
// now. It depends only on seed, place and time, so that regions need not agree on what
// was drawn.
func (s *region) lot(into int32, n int) int {
	high, _ := bits.Mul64(scramble(s.seed^scramble(uint64(s.wheel.now)^scramble(uint64(into)<<32|uint64(n)))), uint64(n))
	return int(high)
}

// scramble is the finaliser of SplitMix64.
func scramble(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// step handles all events of the next time at which something happens, if it is before
// a given time; it returns false if there is none. The result does not depend on the
// order of the events: first all arrivals are noted, then all new heads of queues
// request their buffers, by number, then all ports that could send choose, by number.
func (s *region) step(before Time) bool {
	events := s.wheel.next(before)
	if s.prefetches && len(s.wheel.moved) > 0 {
		s.prefetch(s.wheel.moved)
		s.wheel.moved = nil
	}
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
		if !p.sending && s.flits == nil {
			s.choose(o, p)
		}
	}
	if s.flits != nil {
		s.moveFlits(s.dirty)
	}
	s.dirty = s.dirty[:0]
	return true
}

// fail records an internal error, if it is the first.
func (s *region) fail(format string, args ...any) {
	if s.failure == nil {
		s.failure = fmt.Errorf("internal error: "+format, args...)
	}
}

// sorted sorts lists that are mostly very short.
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

// happen handles an event, by its code.
func (s *region) happen(what uint64) {
	index, number := int32(uint32(what)), uint32(what>>32)&numberMask
	switch what >> 60 << 60 {
	case evReady:
		s.append(s.packets[index].into, index)
	case evTail:
		if s.flits != nil {
			s.flitLeft(index)
		} else {
			s.tailLeft(index)
		}
	case evCredit:
		b := &s.near[index]
		b.limit += uint16(number)
		b.changed = s.wheel.now
		if b.first != none || s.flits != nil {
			s.mark(index >> s.shift)
		}
	case evDeliver:
		s.deliver(index)
	case evSource:
		s.refill(index)
	case evHead:
		s.fresh = append(s.fresh, index)
	case evFlit:
		s.flitCame(index)
	case evLane:
		s.freeLane(index)
	case evExpire:
		s.expire(index, number)
	}
}

// mark puts a port on the list of those that may be able to send.
func (s *region) mark(o int32) {
	if p := s.port(o); !p.dirty && !p.sending {
		p.dirty = true
		s.dirty = append(s.dirty, o)
	}
}

// append adds a packet whose head has arrived to the queue of a buffer.
func (s *region) append(q, index int32) {
	b := &s.far[q]
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

// tailLeft handles the end of sending a packet.
func (s *region) tailLeft(o int32) {
	p := s.port(o)
	p.sending = false
	if p.wanted != 0 {
		s.mark(o)
		s.noteWait(o)
	}
	q := p.source
	in := q >> s.shift
	inPort := &s.far[in<<s.shift]
	inPort.reading--
	if b := &s.far[q]; !p.copying {
		b.leaving = false
		if b.head != none {
			s.fresh = append(s.fresh, q)
		}
	}
	if inPort.skipped {
		inPort.skipped = false
		s.markAsked(in)
	}
	if s.isSource(in) {
		s.left(in - s.ports)
	}
}

// markAsked marks every port that packets in the buffers of an in-port request.
func (s *region) markAsked(in int32) {
	for lane := range int32(s.lanes) {
		for r := s.far[in<<s.shift|lane].asked; r != none; r = s.requests[r].sibling {
			s.mark(s.requests[r].into >> s.shift)
		}
	}
}

// allot takes a free packet.
func (s *region) allot() int32 {
	last := len(s.unused) - 1
	if last < 0 {
		s.packets = append(s.packets, packet{})
		return int32(len(s.packets) - 1)
	}
	index := s.unused[last]
	s.unused = s.unused[:last]
	return index
}

// release makes a packet free again.
func (s *region) release(index int32) {
	s.packets[index].into = none
	s.unused = append(s.unused, index)
}

// port is the state of a port, which is stored with its lane 0.
func (s *region) port(o int32) *near { return &s.near[o<<s.shift] }

func (s *region) endpointOf(port int32) fabric.EndpointID { return fabric.EndpointID(port - s.ports) }
