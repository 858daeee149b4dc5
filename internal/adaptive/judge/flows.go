package judge

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// flowCounter counts pairs and flows, destination by destination.
type flowCounter struct {
	Verdict // the counts so far
	d       *derivation
	dest    fabric.NodeID
	hops    []int32 // [switch] the fewest trunks to dest; -1: no way
	has     []bool  // [switch] has a flow to dest
	sure    []bool  // [switch] has a flow to dest that is sure to arrive
	fates

	reached []fabric.NodeID // scratch: switches by their distance from dest
}

func newFlowCounter(d *derivation) *flowCounter {
	n := d.t.Fabric.Switches()
	return &flowCounter{Verdict: Verdict{Minimal: true}, d: d, hops: make([]int32, n), has: make([]bool, n), sure: make([]bool, n)}
}

// begin finds the hops of every switch to a destination by the cables, -1 where none lead there, and forgets the one before.
func (c *flowCounter) begin(dest fabric.NodeID) {
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

// end counts the pairs of the destination that are unreachable.
func (c *flowCounter) end() {
	for _, s := range c.d.dests {
		if s == c.dest || c.sure[s] {
			continue
		}
		c.Unreachable++
		if !c.has[s] {
			c.list(Lost{Source: s, Dest: c.dest, Address: NoFlow, Why: NotAddressed})
		}
	}
}

// group counts the flows of a flowSet, whose places w has found.
func (c *flowCounter) group(w *reach) {
	for i, p := range w.places {
		for _, next := range w.successors(i) {
			c.Minimal = c.Minimal && c.hops[w.places[next].at] < c.hops[p.at]
		}
	}
	c.propagate(w)
	for i, s := range w.sources {
		c.has[s] = true
		c.Flows++
		sure := c.arrives[i]
		if sure {
			c.sure[s] = true
			c.Hops = max(c.Hops, int(c.longest[i]))
		} else {
			c.MayNotArrive++
			c.list(Lost{Source: s, Dest: w.dest, Address: w.address, Why: c.why(w, int32(i))})
		}
		if c.strands[i] {
			c.Stranded++
			if sure {
				c.list(Lost{Source: s, Dest: w.dest, Address: w.address, Why: NoEscape})
			}
		}
	}
}

// list adds to the list of lost flows while it is short.
func (c *flowCounter) list(l Lost) {
	if len(c.Lost) < mostLost {
		c.Lost = append(c.Lost, l)
	}
}

// fates is what becomes of packets, by the place where they are.
type fates struct {
	arrives []bool  // [place] arrives in bounded hops, whatever is chosen
	longest []int32 // [place] the most trunks that it can take from there, where it arrives
	strands []bool  // [place] can get to where the routing subfunction offers no way on

	left      []int32 // [place] successors not yet known to arrive
	before    []int32 // predecessors of all places, place after place
	beforeEnd []int32 // [place] where its predecessors end in before
	queue     []int32
}

// propagate sets arrives, longest and strands of all places of w, from the ends of all ways back to the
// sources.
func (c *fates) propagate(w *reach) {
	n := len(w.places)
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

// sized returns n zeros, in the memory of s if that is large enough.
func sized[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// findPredecessors fills before and beforeEnd from the successors.
func (c *fates) findPredecessors(w *reach) {
	c.beforeEnd = sized(c.beforeEnd, len(w.places)+1)
	c.before = sized(c.before, len(w.next))
	for _, u := range w.next {
		c.beforeEnd[u+1]++
	}
	for i := range w.places {
		c.beforeEnd[i+1] += c.beforeEnd[i]
	}
	// beforeEnd now says where each list begins; filling the lists moves it to the end.
	for i := range w.places {
		for _, u := range w.successors(i) {
			c.before[c.beforeEnd[u]] = int32(i)
			c.beforeEnd[u]++
		}
	}
}

// predecessors is the places from which packets can come to a place.
func (c *fates) predecessors(u int32) []int32 {
	begin := int32(0)
	if u > 0 {
		begin = c.beforeEnd[u-1]
	}
	return c.before[begin:c.beforeEnd[u]]
}

// why is how a packet can be lost of a flow that is not sure to arrive, which is at a place. At each
// place it takes the first way whose arrival is not sure either, until it comes to a dead end, or has
// gone on so often that it must circle.
func (c *fates) why(w *reach, at int32) Loss {
	for range w.places {
		next := int32(-1)
		for _, u := range w.successors(int(at)) {
			if next < 0 && !c.arrives[u] {
				next = u
			}
		}
		if next < 0 {
			return DeadEnd
		}
		at = next
	}
	return Circling
}
