package congestion

// filler finds max-min fair rates by progressive filling: all flows grow alike
// until a channel is full, its flows stop there, and so on. It is scratch space
// that fill uses again and again.
type filler struct {
	slot  []int32   // [ChannelID] 1 + the channel's place in what follows; 0: no flow on it
	first []int32   // [place, plus one] where its flows begin in users
	users []int32   // flows by place
	left  []float64 // [place] rate not given away yet
	open  []int32   // [place] flows without a rate yet
	used  []uint32  // [place] ChannelID
	heap  []offer   // a binary heap, least share first
}

// offer is what a channel had for each of its flows when last looked at; it may
// have more by now, never less.
type offer struct {
	share float64
	place int32
}

// fill sets the rate of every flow, [flow], in the unit of capacity. The channels
// of flow i are crossed[end[i-1]:end[i]]; load is the flows on each channel.
// O(h·log C) a flow for h channels each and C in all.
func (l *filler) fill(rate []float64, crossed []uint32, end []int32, load []uint32, capacity []float64) {
	l.index(crossed, end, load, capacity)
	clear(rate)
	level, crossings := 0.0, len(crossed)
	for crossings > 0 {
		top := &l.heap[0]
		p := top.place
		if l.open[p] == 0 {
			l.pop()
			continue
		}
		if share := max(level, l.left[p]/float64(l.open[p])); share > top.share {
			top.share = share
			l.down(0)
			continue
		}
		level = top.share
		for _, flow := range l.users[l.first[p]:l.first[p+1]] {
			if rate[flow] != 0 {
				continue
			}
			rate[flow] = level
			begin := int32(0)
			if flow > 0 {
				begin = end[flow-1]
			}
			crossings -= int(end[flow] - begin)
			for _, c := range crossed[begin:end[flow]] {
				q := l.slot[c] - 1
				l.left[q] = max(0, l.left[q]-level)
				l.open[q]--
			}
		}
		l.pop()
	}
	for _, c := range l.used {
		l.slot[c] = 0
	}
}

// index lists the channels in use and the flows on each.
func (l *filler) index(crossed []uint32, end []int32, load []uint32, capacity []float64) {
	l.slot = grow(l.slot, len(load))
	l.first, l.left, l.open, l.used, l.heap = l.first[:0], l.left[:0], l.open[:0], l.used[:0], l.heap[:0]
	sum := int32(0)
	for _, c := range crossed {
		if l.slot[c] != 0 {
			continue
		}
		l.used = append(l.used, c)
		l.slot[c] = int32(len(l.used))
		l.first = append(l.first, sum)
		sum += int32(load[c])
		l.left = append(l.left, capacity[c])
		l.open = append(l.open, int32(load[c]))
		l.heap = append(l.heap, offer{capacity[c] / float64(load[c]), int32(len(l.used) - 1)})
	}
	l.users = grow(l.users, len(crossed))
	first := int32(0)
	for flow, e := range end {
		for _, c := range crossed[first:e] {
			p := l.slot[c] - 1
			l.users[l.first[p]] = int32(flow)
			l.first[p]++
		}
		first = e
	}
	// What was the beginning of each is now that of the next.
	l.first = append(l.first, 0)
	copy(l.first[1:], l.first)
	l.first[0] = 0
	for i := len(l.heap)/2 - 1; i >= 0; i-- {
		l.down(i)
	}
}

func (l *filler) pop() {
	last := len(l.heap) - 1
	l.heap[0] = l.heap[last]
	l.heap = l.heap[:last]
	l.down(0)
}

// down moves an offer down to where it belongs.
func (l *filler) down(i int) {
	h := l.heap
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if h[child].share < h[least].share || h[child].share == h[least].share && h[child].place < h[least].place {
				least = child
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
