package ecmp

import (
	"github.com/weft-fabric/weft/ethernet"
)

// Speed is how fast a link is, the fastest adapter being 1.
func (w *Network) Speed(l ethernet.LinkID) float64 { return w.speed[l] }

// Loads is how much crosses each link, [LinkID], where every adapter sends as much to every other and packets are divided over
// next hops by their weights; the unit is what one sends another. demand is how many such pairs there are between devices,
// lost how many of them have packets that do not all arrive.
func (w *Network) Loads() (load []float64, demand, lost float64) {
	load = make([]float64, len(w.Links))
	at := make([]float64, w.devices) // [DeviceID] adapters there
	of := map[int]float64{}          // [class] adapters of it
	for _, nic := range w.NICs {
		at[nic.Device]++
		of[nic.Class]++
	}
	s := newSprayer(w)
	for class := range len(w.set) / max(w.devices, 1) {
		for d, adapters := range at {
			if adapters > 0 && of[class] > 0 && w.set[class*w.devices+d] != delivered {
				pairs := adapters * of[class]
				demand += pairs
				s.add(class, ethernet.DeviceID(d), pairs)
			}
		}
		if s.spread(load) > 0 {
			lost += w.lostPairs(s, class, at, of[class])
		}
	}
	return load, demand, lost
}

// lostPairs counts the pairs of adapters some of whose packets to a class do not arrive: at is adapters by device, adapters how many the
// class has. s has no demands, and is used for each device by itself.
func (w *Network) lostPairs(s *sprayer, class int, at []float64, adapters float64) (lost float64) {
	for d, n := range at {
		if n > 0 && w.set[class*w.devices+d] != delivered {
			s.add(class, ethernet.DeviceID(d), 0)
			if s.spread(make([]float64, len(w.Links))) > 0 {
				lost += n * adapters
			}
		}
	}
	return lost
}
