package congestion

import "math"

// filler finds max-min fair rates by progressive filling: all flows grow at the same
// rate until a channel is full; the flows of that channel stop there, the others grow
// on. It is scratch space that fill uses again for every phase.
//
// A channel with a single flow only matters if it is slower than every shared channel
// of that flow, where the flow gets less than the channel's rate anyway. Channels that
// do not matter are left out, so that few remain.
type filler struct {
	slot  []int32   // [ChannelID] 1 + its slot; 0: the channel does not matter
	first []int32   // [slot, plus one] where its flows begin in users
	users []int32   // flows, slot by slot
	left  []float64 // [slot] rate not yet given to flows
	open  []uint64  // [slot] units of flows without a rate yet
	units float64   // that a flow has
	used  []uint32  // [slot] ChannelID
	heap  []offer   // a binary heap, smallest share first
}

// offer is the share that a channel could give each of its flows when it was last
// looked at. By now it may be more, but never less.
type offer struct {
	share float64
	place int32 // the channel's slot
}

// less orders offers by share, equal ones by slot.
func (o offer) less(p offer) bool {
	return o.share < p.share || o.share == p.share && o.place < p.place
}

// fill sets the rate of every flow, [flow], in the unit of capacity, 0 without a route.
// The channels of flow i are crossed[end[i-1]:end[i]], with share, as crossed, the units of it
// on each; empty: flows have one unit, on every channel. load is the units on each channel. It
// takes O(h·log C) for each flow of h channels, with C channels in all.
func (l *filler) fill(rate []float64, crossed, share []uint32, end []int32, load []uint64, capacity []float64) {
	l.units = 1
	list := l.listShared
	if len(share) > 0 {
		l.units, list = splitUnits, l.listAll
	}
	growing := list(rate, crossed, end, load, capacity)
	l.index(crossed, end)
	level := 0.0
	for growing > 0 {
		top := &l.heap[0]
		p := top.place
		if l.open[p] == 0 {
			l.pop()
			continue
		}
		if most := max(level, l.left[p]*l.units/float64(l.open[p])); most > top.share {
			top.share = most
			l.down(0)
			continue
		}
		level = top.share
		for _, flow := range l.users[l.first[p]:l.first[p+1]] {
			if rate[flow] != 0 {
				continue
			}
			rate[flow] = level
			growing--
			begin := int32(0)
			if flow > 0 {
				begin = end[flow-1]
			}
			if l.units != 1 {
				l.takeParts(level, crossed[begin:end[flow]], share[begin:end[flow]])
				continue
			}
			for _, c := range crossed[begin:end[flow]] {
				if q := l.slot[c] - 1; q >= 0 {
					l.left[q] = max(0, l.left[q]-level)
					l.open[q]--
				}
			}
		}
		l.pop()
	}
	for _, c := range l.used {
		l.slot[c] = 0
	}
}

// listShared gives the channels that matter slots, where flows are not split. It sets the rate of flows
// without a shared channel; growing is the number of the others, whose rate is 0 so far.
func (l *filler) listShared(rate []float64, crossed []uint32, end []int32, load []uint64, capacity []float64) (growing int) {
	l.empty(len(load))
	sum, first := int32(0), int32(0)
	for flow, e := range end {
		route := crossed[first:e]
		first = e
		shared, alone := math.Inf(1), math.Inf(1)
		for _, c := range route {
			if load[c] > 1 {
				shared = min(shared, capacity[c])
			} else {
				alone = min(alone, capacity[c])
			}
		}
		rate[flow] = 0
		if math.IsInf(shared, 1) {
			if len(route) > 0 {
				rate[flow] = alone
			}
			continue
		}
		growing++
		for _, c := range route {
			if l.slot[c] != 0 || load[c] == 1 && capacity[c] >= shared {
				continue
			}
			l.list(c, sum, load[c], capacity[c])
			sum += int32(load[c])
		}
	}
	l.users = resized(l.users, int(sum))
	return growing
}

// empty makes room for a phase over so many channels, none of which has a slot.
func (l *filler) empty(channels int) {
	l.slot = resized(l.slot, channels)
	l.first, l.left, l.open, l.used, l.heap = l.first[:0], l.left[:0], l.open[:0], l.used[:0], l.heap[:0]
}

// list gives a channel a slot, with its flows from a place in users on.
func (l *filler) list(c uint32, first int32, load uint64, capacity float64) {
	l.heap = append(l.heap, offer{share: capacity * l.units / float64(load), place: int32(len(l.used))})
	l.used = append(l.used, c)
	l.slot[c] = int32(len(l.used))
	l.first = append(l.first, first)
	l.left = append(l.left, capacity)
	l.open = append(l.open, load)
}

// listAll is listShared where flows are split: all channels get slots, because those with less than a
// flow may matter too where they are slow.
func (l *filler) listAll(rate []float64, crossed []uint32, end []int32, load []uint64, capacity []float64) (growing int) {
	l.empty(len(load))
	first := int32(0)
	for flow, e := range end {
		rate[flow] = 0
		if e > first {
			growing++
		}
		for _, c := range crossed[first:e] {
			if l.slot[c] == 0 {
				l.list(c, 0, load[c], capacity[c])
			}
			l.first[l.slot[c]-1]++ // for now, how many flows it has
		}
		first = e
	}
	sum := int32(0)
	for p, flows := range l.first {
		l.first[p] = sum
		sum += flows
	}
	l.users = resized(l.users, int(sum))
	return growing
}

// takeParts takes a flow of a rate off its channels, each with the units of the flow on it.
func (l *filler) takeParts(level float64, crossed, share []uint32) {
	for i, c := range crossed {
		q := l.slot[c] - 1
		l.left[q] = max(0, l.left[q]-level*float64(share[i])/splitUnits)
		l.open[q] -= uint64(share[i])
	}
}

// index sets users, the flows on the channels that matter, and builds the heap.
func (l *filler) index(crossed []uint32, end []int32) {
	first := int32(0)
	for flow, e := range end {
		for _, c := range crossed[first:e] {
			if p := l.slot[c] - 1; p >= 0 {
				l.users[l.first[p]] = int32(flow)
				l.first[p]++
			}
		}
		first = e
	}
	// Each slot now has the beginning of the next; shift them by one.
	l.first = append(l.first, 0)
	copy(l.first[1:], l.first)
	l.first[0] = 0
	for i := len(l.heap)/2 - 1; i >= 0; i-- {
		l.down(i)
	}
}

// pop takes the first offer off the heap.
func (l *filler) pop() {
	last := len(l.heap) - 1
	l.heap[0] = l.heap[last]
	l.heap = l.heap[:last]
	if last > 0 {
		l.down(0)
	}
}

// down moves the offer at a place of the heap to where it belongs, as far as that is farther down.
func (l *filler) down(i int) {
	h := l.heap
	moved := h[i]
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].less(h[child]) {
			child++
		}
		if !h[child].less(moved) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = moved
}
