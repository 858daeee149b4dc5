package ecmp

import (
	"github.com/weft-fabric/weft/ethernet"
)

// sprayer divides packets over next hops by their weights, class by class: callers add demands, and then spread them all.
type sprayer struct {
	*Network
	demand  [][]demand          // [class] what waits to be spread
	classes []int               // those with demands, in the order in which they came
	at      []share             // [DeviceID] of the class at hand
	reached []ethernet.DeviceID // that packets of the class come to
	ready   []ethernet.DeviceID // of those reached, whose packets are all there, in the order in which that came about
}

// share is what a device has of the packets of a class.
type share struct {
	amount  float64 // what is there to be sent on
	waiting int32   // links into it whose packets are not there yet; reached ones only
	reached bool
}

// demand is what a pair sends, and the device of its source.
type demand struct {
	at   ethernet.DeviceID
	size float64
}

func newSprayer(w *Network) *sprayer {
	return &sprayer{Network: w, demand: make([][]demand, len(w.anywhere)), at: make([]share, w.devices)}
}

// add has a pair's packets wait at the device of their source.
func (s *sprayer) add(class int, at ethernet.DeviceID, size float64) {
	if len(s.demand[class]) == 0 {
		s.classes = append(s.classes, class)
	}
	s.demand[class] = append(s.demand[class], demand{at, size})
}

// spread sends all that waits, adds it to the load of links, and returns how many pairs have packets that do not all arrive.
func (s *sprayer) spread(load []float64) (lost int64) {
	for _, class := range s.classes {
		lost += s.class(class, load)
		s.demand[class] = s.demand[class][:0]
	}
	s.classes = s.classes[:0]
	return lost
}

// class sends the packets of a class: each device when all that it gets is there. Devices on a
// forwarding loop never are. It returns how many pairs have packets that do not all arrive.
func (s *sprayer) class(class int, load []float64) (lost int64) {
	set := s.set[class*s.devices : (class+1)*s.devices]
	s.reached, s.ready = s.reached[:0], s.ready[:0]
	for _, d := range s.demand[class] {
		at := &s.at[d.at]
		at.amount += d.size
		if !at.reached {
			at.reached = true
			s.reached = append(s.reached, d.at)
		}
	}
	whole := true
	for i := 0; i < len(s.reached); i++ {
		switch id := set[s.reached[i]]; id {
		case delivered:
		case none:
			whole = false
		default:
			h := &s.sets[id]
			for _, hop := range s.next[h.from : h.from+h.count] {
				at := &s.at[hop.to]
				at.waiting++
				if !at.reached {
					at.reached = true
					s.reached = append(s.reached, hop.to)
				}
			}
		}
	}
	for _, d := range s.reached {
		if s.at[d].waiting == 0 {
			s.ready = append(s.ready, d)
		}
	}
	for i := 0; i < len(s.ready); i++ {
		if id := set[s.ready[i]]; id >= 0 {
			s.send(&s.sets[id], s.at[s.ready[i]].amount, load)
		}
	}
	if !whole || len(s.ready) < len(s.reached) {
		lost = s.lostPairs(class, s.reached)
	}
	for _, d := range s.reached {
		s.at[d] = share{}
	}
	return lost
}

// send divides an amount over next hops, each of which may be ready then.
func (s *sprayer) send(h *hops, amount float64, load []float64) {
	part := amount * h.even
	for i, hop := range s.next[h.from : h.from+h.count] {
		if h.total > 0 {
			part = amount * s.share(h, uint32(i))
		}
		load[hop.link] += part
		at := &s.at[hop.to]
		at.amount += part
		if at.waiting--; at.waiting == 0 {
			s.ready = append(s.ready, hop.to)
		}
	}
}

// lostPairs counts the demands of a class some of whose packets do not arrive. all is the devices that packets come to.
func (s *sprayer) lostPairs(class int, all []ethernet.DeviceID) (lost int64) {
	arrives := make([]bool, s.devices)
	for settled := false; !settled; {
		settled = true
		for _, d := range all {
			if id := s.set[class*s.devices+int(d)]; !arrives[d] && id != none && s.allArrive(id, arrives) {
				arrives[d], settled = true, false
			}
		}
	}
	for _, d := range s.demand[class] {
		if !arrives[d.at] {
			lost++
		}
	}
	return lost
}

// allArrive reports whether packets arrive by every next hop of a set, or are delivered; arrives is what is known so far.
func (s *sprayer) allArrive(id int32, arrives []bool) bool {
	if id == delivered {
		return true
	}
	h := &s.sets[id]
	for _, hop := range s.next[h.from : h.from+h.count] {
		if !arrives[hop.to] {
			return false
		}
	}
	return true
}
