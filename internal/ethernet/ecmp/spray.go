package ecmp

import (
	"github.com/weft-fabric/weft/ethernet"
)

// sprayer divides packets evenly over next hops, class by class.
type sprayer struct {
	*Network
	demand  map[int][]demand // [class]
	classes []int            // those with demands, in the order in which they came
	amount  []float64        // [DeviceID] what is there to be sent on
	waiting []int32          // [DeviceID] links into it whose packets are not there yet; reached ones only
	reached []bool
	queue   []ethernet.DeviceID
}

type demand struct {
	at   ethernet.DeviceID
	size float64
}

func newSprayer(w *Network) *sprayer {
	return &sprayer{Network: w, demand: map[int][]demand{}, amount: make([]float64, w.devices), waiting: make([]int32, w.devices), reached: make([]bool, w.devices)}
}

// add has a pair's packets wait at the device of their source.
func (s *sprayer) add(class int, at ethernet.DeviceID, size float64) {
	if len(s.demand[class]) == 0 {
		s.classes = append(s.classes, class)
	}
	s.demand[class] = append(s.demand[class], demand{at, size})
}

// spread sends all that waits, and returns how many pairs have packets that do not all arrive.
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
	base := class * s.devices
	s.queue = s.queue[:0]
	reach := func(d ethernet.DeviceID) {
		if !s.reached[d] {
			s.reached[d] = true
			s.queue = append(s.queue, d)
		}
	}
	for _, d := range s.demand[class] {
		s.amount[d.at] += d.size
		reach(d.at)
	}
	whole := true
	for i := 0; i < len(s.queue); i++ {
		switch id := s.set[base+int(s.queue[i])]; id {
		case delivered:
		case none:
			whole = false
		default:
			h := s.sets[id]
			for _, l := range s.next[h.from : h.from+h.count] {
				s.waiting[s.to[l]]++
				reach(s.to[l])
			}
		}
	}
	all := s.queue
	ready := make([]ethernet.DeviceID, 0, len(all))
	for _, d := range all {
		if s.waiting[d] == 0 {
			ready = append(ready, d)
		}
	}
	done := 0
	for ; done < len(ready); done++ {
		d := ready[done]
		id := s.set[base+int(d)]
		if id < 0 {
			continue
		}
		h := s.sets[id]
		for i, l := range s.next[h.from : h.from+h.count] {
			part := s.amount[d] * s.share(h, uint32(i))
			load[l] += part
			s.amount[s.to[l]] += part
			if s.waiting[s.to[l]]--; s.waiting[s.to[l]] == 0 {
				ready = append(ready, s.to[l])
			}
		}
	}
	if !whole || done < len(all) {
		lost = s.losing(class, all)
	}
	for _, d := range all {
		s.amount[d], s.waiting[d], s.reached[d] = 0, 0, false
	}
	return lost
}

// losing counts the pairs of a class some of whose packets do not arrive, of whom there are at least some. all is the devices
// that packets come to.
func (s *sprayer) losing(class int, all []ethernet.DeviceID) (lost int64) {
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

// allArrive says whether packets arrive from every next hop of a set.
func (s *sprayer) allArrive(id int32, arrives []bool) bool {
	if id == delivered {
		return true
	}
	h := s.sets[id]
	for _, l := range s.next[h.from : h.from+h.count] {
		if !arrives[s.to[l]] {
			return false
		}
	}
	return true
}
