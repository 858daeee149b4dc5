package packets

import "github.com/weft-fabric/weft/fabric"

// reader reads ahead: what the events of some nanoseconds will need, before they
// happen one after the other. Each of its passes reads what does not depend on
// anything else in the pass, so that a core waits for many lines of memory at once
// where events would wait for one. It changes nothing.
type reader struct {
	heads   []passing // packets that may ask, and where
	waiting []int32   // requests that may be granted, then their queues, then their packets
	sum     int32     // of all that was read, so that it is
}

// passing is the head of a queue in a switch; then the port that it will ask for.
type passing struct {
	at, index int32
}

// readsAhead is the buffers from which on a network is so much larger than the cache
// of a core that reading ahead is worth its time.
const readsAhead = 32768

// ahead reads what events will need.
func (s *region) ahead(events []event) {
	a := &s.reader
	sum := int32(0)
	for _, e := range events {
		index := int32(uint32(e.what))
		switch e.what >> 60 << 60 {
		case evReady, evDeliver:
			sum += s.packets[index].into
		case evTail:
			sum += s.near[index<<s.shift].source
		case evCredit:
			sum += s.near[index].source
		case evSource:
			sum += s.load.sources[index].ready
		}
	}
	heads, waiting := a.heads[:0], a.waiting[:0]
	for _, e := range events {
		index := int32(uint32(e.what))
		switch e.what >> 60 << 60 {
		case evReady, evDeliver:
			heads = append(heads, passing{s.far[s.packets[index].into].at, index})
		case evTail:
			p := &s.near[index<<s.shift]
			if b := &s.far[p.source]; b.head != none {
				heads = append(heads, passing{b.at, b.head})
			}
			if p.first != none {
				waiting = append(waiting, p.first)
			}
		case evCredit:
			if r := s.near[index].first; r != none {
				waiting = append(waiting, r)
			}
		}
	}
	a.heads, a.waiting = heads, waiting
	for i, r := range waiting {
		waiting[i] = s.requests[r].queue
	}
	for i, q := range waiting {
		waiting[i] = s.far[q].head
	}
	for _, index := range waiting {
		sum += s.packets[index].into
	}
	if s.adaptive == nil {
		sum += s.waysAhead(heads)
	}
	a.sum += sum
}

// waysAhead reads the tables, and the ports to which they send.
func (s *region) waysAhead(heads []passing) int32 {
	n := 0
	for _, p := range heads {
		if p.at >= 0 {
			port := s.tables.Forwarding.Port(fabric.NodeID(p.at), fabric.LID(s.packets[p.index].address))
			heads[n] = passing{p.at, int32(port)}
			n++
		}
	}
	for i, p := range heads[:n] {
		heads[i].index = int32(s.Fabric.Out(fabric.NodeID(p.at), uint8(p.index)))
	}
	sum := int32(0)
	for _, p := range heads[:n] {
		if p.index != int32(fabric.None) {
			sum += s.port(p.index + s.ports - s.channels).source
		}
	}
	return sum
}
