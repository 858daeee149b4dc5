// Package ecmp counts flows on the links of an Ethernet network: how long the traffic of a pattern takes
// where each device picks, for every flow, one of its next hops by a hash.
//
// A flow is what the header says that devices hash, the five-tuple: source, destination, and a port that is the
// queue pair's own. So Options.QueuePairs queue pairs between two adapters are as many flows, which may take
// different ways, each with its part of the bytes. What no hash sees is how full a link is. The time of a
// phase is that of its fullest link, in the time that an adapter takes to send what a pair sends: 1 if
// no flow is in another's way. That is the model of package congestion, whose routes are fixed by
// destination; links are taken to be alike.
//
// Beside hashing there is spraying: each device divides what it has evenly over its next hops, packet by
// packet, which is what no ordering allows and adaptive switches come close to. Bound is what no
// choice of ways can beat: the adapters, and the cut between each device with adapters and the rest.
//
// A link that is known to be slower or faster than others takes longer for the same load, or less long. The unit is the fastest
// adapter. Adapters of which nothing is known are as fast as most links of their device, and links of which nothing is
// known as most of all links, or as most adapters where nothing is known of any link.
//
// Devices hash with seeds of their own. With Options.Polarized all use one, as switches come from their
// makers: a device that was picked by a hash finds all its flows with that hash, and uses a part of
// its links only.
//
// Complexity: O(F·H) for F flows and H hops a run, whatever the number of next hops; memory O(C·D + L)
// for C classes of prefixes, D devices and L links.
package ecmp

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/ethernet"
)

// NIC is a network adapter: the device that it is plugged into, and the class of its address.
type NIC struct {
	Device ethernet.DeviceID
	Class  int
	Pins   []int  // classes of addresses of its own, which queue pairs take round robin; nil: all take Class
	Speed  uint32 // Mb/s; 0: not known
}

// Network is the next hops of every class at every device, ready to be walked.
type Network struct {
	*ethernet.Cabling
	NICs []NIC

	devices int
	set     []int32   // [class × devices + device] into sets, or delivered or none
	sets    []hops    // the first are of one link each, [LinkID]
	next    []nextHop // those of each set, one after the other
	upto    []uint32  // [as next] the sum of the weights of its set up to there; 0 in sets without weights
	uplinks []float64 // [DeviceID] the speed of all links that leave it, that of the fastest adapter being 1

	Alike bool      // all links and adapters are as fast as each other, as far as is known
	speed []float64 // [LinkID] likewise
	nic   []float64 // [adapter] likewise

	anywhere []bool // [class] its packets leave at several devices
}

// nextHop is a link with the device that it leads to.
type nextHop struct {
	link ethernet.LinkID
	to   ethernet.DeviceID
}

// hops is a set of next hops: next[from:from+count].
type hops struct {
	from  uint32
	count uint32
	total uint32  // of the weights; 0: all are alike
	even  float64 // the part that each gets where they are
}

// What a device does with a class in place of a set of next hops.
const (
	delivered = -1 // packets leave there
	none      = -2 // it has no route
)

// New prepares a network for adapters.
func New(n *ethernet.Network, nics []NIC) (*Network, error) {
	d := len(n.Names)
	w := &Network{Cabling: n.Cabling, NICs: nics, devices: d, set: make([]int32, len(n.Classes)*d)}
	for i, nic := range nics {
		if nic.Device < 0 || int(nic.Device) >= d || nic.Class < 0 || nic.Class >= len(n.Classes) || !n.Classes[nic.Class].Leaves(nic.Device) {
			return nil, fmt.Errorf("adapter %d is not at a device of its class", i)
		}
		for _, class := range nic.Pins {
			if class < 0 || class >= len(n.Classes) || !n.Classes[class].Leaves(nic.Device) {
				return nil, fmt.Errorf("adapter %d is not at the device of its pin", i)
			}
		}
	}
	for l := range n.Links { // a set of one link has the number of the link
		w.sets = append(w.sets, hops{from: uint32(l), count: 1, even: 1})
		w.next = append(w.next, nextHop{ethernet.LinkID(l), n.Links[l].To})
		w.upto = append(w.upto, 0)
	}
	w.speeds(n)
	several := make([]map[string]int32, d) // sets of more than one link, by what they consist of
	for c := range n.Classes {
		class := &n.Classes[c]
		for device := range ethernet.DeviceID(d) {
			w.set[c*d+int(device)] = w.setOf(class, device, several)
		}
		w.anywhere = append(w.anywhere, len(class.At) > 1)
		for _, device := range class.At {
			w.set[c*d+int(device)] = delivered
		}
	}
	return w, nil
}

// speeds fills in how fast links and adapters are: a cable as its slower end, what is not known as most of its like.
func (w *Network) speeds(n *ethernet.Network) {
	mbps := make([]uint32, len(n.Links))
	for l := range mbps {
		if n.Speeds != nil {
			mbps[l] = n.Speeds[l]
			if other := n.Speeds[n.Reverse[l]]; mbps[l] == 0 || other > 0 && other < mbps[l] {
				mbps[l] = other
			}
		}
	}
	ofNICs := make([]uint32, len(w.NICs))
	for i, nic := range w.NICs {
		ofNICs[i] = nic.Speed
	}
	usual := cmp.Or(MostSpeed(mbps), MostSpeed(ofNICs), 1)
	for l := range mbps {
		if mbps[l] == 0 {
			mbps[l] = usual
		}
	}
	ofDevice := make([]uint32, w.devices)
	for d := range ethernet.DeviceID(w.devices) {
		first, end := n.LinksFrom(d)
		ofDevice[d] = max(MostSpeed(mbps[first:end]), 1)
		if first == end {
			ofDevice[d] = usual
		}
	}
	nics, unit := make([]uint32, len(w.NICs)), uint32(1)
	for i, nic := range w.NICs {
		if nics[i] = nic.Speed; nics[i] == 0 {
			nics[i] = ofDevice[nic.Device]
		}
		unit = max(unit, nics[i])
	}
	w.Alike = true
	parts := func(list []uint32) []float64 {
		all := make([]float64, len(list))
		for i, speed := range list {
			all[i] = float64(speed) / float64(unit)
			w.Alike = w.Alike && speed == unit
		}
		return all
	}
	w.speed, w.nic, w.uplinks = parts(mbps), parts(nics), make([]float64, w.devices)
	for l := range mbps {
		w.uplinks[n.Links[l].From] += w.speed[l]
	}
}

// MostSpeed is the speed that most have of those that are known, of equals the fastest; 0 if none is.
func MostSpeed(list []uint32) (speed uint32) {
	count := map[uint32]int{}
	for _, s := range list {
		if s > 0 {
			count[s]++
		}
	}
	for s, n := range count {
		if n > count[speed] || n == count[speed] && s > speed {
			speed = s
		}
	}
	return speed
}

// setOf finds or makes the set of next hops of a class at a device. several is [DeviceID] the sets of more than one link made so far, by
// what they consist of; it grows.
func (w *Network) setOf(class *ethernet.Class, d ethernet.DeviceID, several []map[string]int32) int32 {
	words := w.Words(class.Next, d)
	count := 0
	for _, word := range words {
		count += bits.OnesCount64(word)
	}
	switch count {
	case 0:
		return none
	case 1:
		for i, word := range words {
			if word != 0 {
				return int32(w.FirstOf(d, i, word))
			}
		}
	}
	key := make([]byte, 0, 64)
	for _, word := range words {
		for ; word != 0; word &= word - 1 {
			key = append(key, byte(bits.TrailingZeros64(word)))
		}
		key = append(key, 64)
	}
	var weights []uint32
	if class.Weights != nil {
		w.Each(words, d, func(l ethernet.LinkID) { weights = append(weights, uint32(class.Weights[l])) })
		if slices.Max(weights) == slices.Min(weights) {
			weights = nil
		}
		for _, weight := range weights {
			key = append(key, byte(weight), byte(weight>>8))
		}
	}
	if several[d] == nil {
		several[d] = map[string]int32{}
	}
	if id, ok := several[d][string(key)]; ok {
		return id
	}
	id := int32(len(w.sets))
	several[d][string(key)] = id
	h := hops{from: uint32(len(w.next)), count: uint32(count), even: 1 / float64(count)}
	w.Each(words, d, func(l ethernet.LinkID) {
		if weights != nil {
			h.total += max(weights[len(w.next)-int(h.from)], 1)
		}
		w.next, w.upto = append(w.next, nextHop{l, w.Links[l].To}), append(w.upto, h.total)
	})
	w.sets = append(w.sets, h)
	return id
}

// reduced is a number below n that follows from the upper half of a hash.
func reduced(hash uint64, n uint32) uint32 { return uint32(hash >> 32 * uint64(n) >> 32) }

// weighted is the next hop of a set with weights that a hash picks.
func (w *Network) weighted(s *hops, hash uint64) nextHop {
	at := reduced(hash, s.total)
	i := s.from
	for w.upto[i] <= at {
		i++
	}
	return w.next[i]
}

// share is the part of the packets of a set with weights that go by its i-th next hop.
func (w *Network) share(s *hops, i uint32) float64 {
	weight := w.upto[s.from+i]
	if i > 0 {
		weight -= w.upto[s.from+i-1]
	}
	return float64(weight) / float64(s.total)
}

// mix is a hash of 64 bits (splitmix64's last steps: G. L. Steele, D. Lea, C. H. Flood, Fast Splittable
// Pseudorandom Number Generators, OOPSLA 2014).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}
