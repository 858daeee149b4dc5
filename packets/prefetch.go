package packets

import "github.com/weft-fabric/weft/fabric"

// prefetcher brings into the cache what the events of the next nanoseconds will read.
// The events happen one after the other and each would wait for its own cache misses;
// the reads of one pass here do not depend on each other, so that a core waits for many
// of them at once. It changes nothing.
type prefetcher struct {
	heads   []queueHead // packets that may ask for a port, and the switches they are in
	waiting []int32     // requests that may be granted; replaced by their queues, then by the heads of those
	sum     int32       // of all values read, so that the compiler keeps the reads
}

// queueHead is the head of a queue in a switch.
type queueHead struct {
	at    int32 // the switch
	index int32 // the packet; after prefetchTables the channel that it will ask for
}

// prefetchFrom is the number of buffers above which a network exceeds the cache of a
// core by so much that prefetching pays. Measured.
const prefetchFrom = 32768

// prefetch reads what events will need.
func (s *region) prefetch(events []event) {
	a := &s.prefetcher
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
			sum += s.sending.sources[index].ready
		}
	}
	heads, waiting := a.heads[:0], a.waiting[:0]
	for _, e := range events {
		index := int32(uint32(e.what))
		switch e.what >> 60 << 60 {
		case evReady, evDeliver:
			heads = append(heads, queueHead{at: s.far[s.packets[index].into].at, index: index})
		case evTail:
			p := &s.near[index<<s.shift]
			if b := &s.far[p.source]; b.head != none {
				heads = append(heads, queueHead{at: b.at, index: b.head})
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
		sum += s.prefetchTables(heads)
	}
	a.sum += sum
}

// prefetchTables reads the forwarding entries of some packets, and the ports that these name. It returns
// the sum of what it read, and writes over heads.
func (s *region) prefetchTables(heads []queueHead) int32 {
	n := 0
	for _, p := range heads {
		if p.at >= 0 {
			port := s.tables.Forwarding.Port(fabric.NodeID(p.at), fabric.LID(s.packets[p.index].address))
			heads[n] = queueHead{p.at, int32(port)}
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
