package deadlock

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// flowCounter counts pairs and flows, destination by destination.
type flowCounter struct {
	d    *adaptiveDerivation
	dest fabric.NodeID // None before the first
	hops []int32       // [switch] the fewest to dest; -1: no way
	has  []bool        // [switch] has a flow to dest
	sure []bool        // [switch] has one that is sure to arrive
	fates

	reached []fabric.NodeID // scratch: switches by their distance from dest
}

func newFlowCounter(d *adaptiveDerivation) *flowCounter {
	n := d.t.Fabric.Switches()
	return &flowCounter{d: d, dest: fabric.None, hops: make([]int32, n), has: make([]bool, n), sure: make([]bool, n)}
}

// newDestination ends the destination before and begins with another.
func (c *flowCounter) newDestination(dest fabric.NodeID) {
	c.endDestination()
	c.dest = dest
	clear(c.has)
	clear(c.sure)
	for s := range c.hops {
		c.hops[s] = -1
	}
	f := c.d.t.Fabric
	c.hops[dest] = 0
	c.reached = append(c.reached[:0], dest)
	for i := 0; i < len(c.reached); i++ {
		first, end := f.TrunksFrom(c.reached[i])
		for t := first; t < end; t++ {
			if v := f.Heads()[t]; c.hops[v] < 0 {
				c.hops[v] = c.hops[c.reached[i]] + 1
				c.reached = append(c.reached, v)
			}
		}
	}
}

// endDestination settles the pairs of the destination at hand.
func (c *flowCounter) endDestination() {
	if c.dest == fabric.None {
		return
	}
	for s, end := range c.d.ends {
		if !end || fabric.NodeID(s) == c.dest || c.sure[s] {
			continue
		}
		c.d.verdict.Unreachable++
		if !c.has[s] {
			c.list(LostFlow{fabric.NodeID(s), c.dest, NoFlow, NotAddressed})
		}
	}
}

// group counts the flows whose packets were let loose.
func (c *flowCounter) group(w *roam) {
	v := &c.d.verdict
	channels := c.d.t.Fabric.Channels()
	for _, s := range w.states {
		in, _ := w.split(s)
		v.Minimal = v.Minimal && c.hops[channels[in].To] < c.hops[channels[in].From]
	}
	c.settle(w)
	for _, s := range w.sources {
		c.has[s] = true
		v.Flows++
		open, sure, stranded := uint16(0), true, false
		longest := int32(0)
		w.fromSource(s, func(u int32) {
			i := w.index[u]
			open |= w.lanesOf(i)
			sure, stranded = sure && c.arrives[i], stranded || c.strands[i]
			longest = max(longest, c.longest[i]+1)
		})
		if sure = sure && open != 0; sure {
			c.sure[s] = true
			v.Hops = max(v.Hops, int(longest))
		} else {
			v.Astray++
			c.list(LostFlow{s, w.dest, w.address, c.why(w, s)})
		}
		if stranded || open&w.relied == 0 {
			v.Stranded++
			if sure {
				c.list(LostFlow{s, w.dest, w.address, Unrelied})
			}
		}
	}
}

// list adds to the list of lost flows while it is short.
func (c *flowCounter) list(l LostFlow) {
	if v := &c.d.verdict; len(v.Lost) < maxLost {
		v.Lost = append(v.Lost, l)
	}
}

// fates is what becomes of packets let loose, by state.
type fates struct {
	arrives []bool  // whatever is chosen, in bounded hops
	longest []int32 // the most trunks it can take from there, where it arrives
	strands []bool  // it can get to where the routing subfunction offers nothing

	left      []int32 // successors not yet known to arrive
	before    []int32 // predecessors, by state
	beforeEnd []int32 // [state] where its predecessors end in before
	queue     []int32
}

// settle carries what becomes of packets from the ends of all ways back.
func (c *fates) settle(w *roam) {
	n := len(w.states)
	c.arrives, c.strands = sized(c.arrives, n), sized(c.strands, n)
	c.longest, c.left = sized(c.longest, n), sized(c.left, n)
	c.findPredecessors(w)
	c.queue = c.queue[:0]
	for i := range n {
		c.left[i] = int32(len(w.successors(i)))
		if w.arrived(i) {
			c.arrives[i] = true
			c.queue = append(c.queue, int32(i))
		}
	}
	for q := 0; q < len(c.queue); q++ {
		u := c.queue[q]
		for _, i := range c.predecessors(u) {
			c.longest[i] = max(c.longest[i], c.longest[u]+1)
			if c.left[i]--; c.left[i] == 0 {
				c.arrives[i] = true
				c.queue = append(c.queue, i)
			}
		}
	}
	c.queue = c.queue[:0]
	for i := range n {
		if c.strands[i] = !w.arrived(i) && w.canStrand(i); c.strands[i] {
			c.queue = append(c.queue, int32(i))
		}
	}
	for q := 0; q < len(c.queue); q++ {
		for _, i := range c.predecessors(c.queue[q]) {
			if !c.strands[i] {
				c.strands[i] = true
				c.queue = append(c.queue, i)
			}
		}
	}
}

// canStrand says whether some lane of a state relies on none by which a packet can
// go on.
func (w *roam) canStrand(i int) bool {
	offered := w.offered(i)
	for l := range lanesIn(w.lanesOf(int32(i))) {
		if w.t.Lanes[l].Rely&offered == 0 {
			return true
		}
	}
	return false
}

// sized is a slice of n zeros, in the old one's place if that is large enough.
func sized[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// findPredecessors turns the successors round.
func (c *fates) findPredecessors(w *roam) {
	c.beforeEnd = sized(c.beforeEnd, len(w.states)+1)
	c.before = sized(c.before, len(w.next))
	for _, u := range w.next {
		c.beforeEnd[u+1]++
	}
	for i := range w.states {
		c.beforeEnd[i+1] += c.beforeEnd[i]
	}
	// Now beforeEnd is where they begin; filling them in makes it the end.
	for i := range w.states {
		for _, u := range w.successors(i) {
			c.before[c.beforeEnd[u]] = int32(i)
			c.beforeEnd[u]++
		}
	}
}

func (c *fates) predecessors(u int32) []int32 {
	begin := int32(0)
	if u > 0 {
		begin = c.beforeEnd[u-1]
	}
	return c.before[begin:c.beforeEnd[u]]
}

// why follows a packet of a flow that is not sure to arrive, always to the first
// place from which it is not sure either: to a dead end, or round in a circle.
func (c *fates) why(w *roam, s fabric.NodeID) LossOfFlow {
	at := int32(-1)
	w.fromSource(s, func(v int32) {
		if i := w.index[v]; at < 0 && !c.arrives[i] {
			at = i
		}
	})
	for range w.states {
		if at < 0 {
			break
		}
		next := int32(-1)
		for _, u := range w.successors(int(at)) {
			if next < 0 && !c.arrives[u] {
				next = u
			}
		}
		at = next
	}
	if at < 0 {
		return DeadEnd
	}
	return Wanders
}
