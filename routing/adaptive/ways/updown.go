package ways

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/internal/dag"
)

// The phases of a packet under Up*/Down*.
const (
	May    = iota // it may go up or down
	Down          // it went down: it may not go up any more
	phases        // how many there are
)

// Orientation says which trunks go up: towards the root of their part of the
// network by breadth-first rank, at equal rank towards the lower GUID. No circle
// of trunks goes only up, or only down.
type Orientation struct {
	f     *fabric.Fabric
	roots []fabric.NodeID // one in each part of the network
	order []fabric.NodeID // every switch by rank, then GUID: up leads to an earlier one
	up    []bool          // [trunk]

	// Scratch, per destination, [switch]: the hops of the shortest legal way
	// that only goes down, and of any; dag.NoPath without.
	down, hops []int32
	queue      []fabric.NodeID
}

// Orient chooses a root for every part of the network: the one given, if it is
// there, or else the switch with the smallest eccentricity, of several the
// nearest to all others, then the one with the lowest GUID. A root of zero is
// none. It refuses a root that is no switch of the fabric.
func Orient(f *fabric.Fabric, root fabric.GUID) (*Orientation, error) {
	given := fabric.NodeID(fabric.None)
	if root != 0 {
		if given = f.NodeByGUID(root); given == fabric.None {
			return nil, fmt.Errorf("updown: root %s is no node of this fabric", root)
		}
		if node := f.Node(given); node.Kind != fabric.Switch {
			return nil, fmt.Errorf("updown: root %s is a %s; roots are switches", f.Label(given), node.Kind)
		}
	}
	n := f.Switches()
	o := &Orientation{f: f, up: make([]bool, f.Trunks()), down: make([]int32, n), hops: make([]int32, n)}
	var d dag.DAG
	rank := make([]int32, n)
	for _, part := range f.Parts() {
		r := given
		if !slices.Contains(part, r) {
			r = centre(&d, f, part)
		}
		o.roots = append(o.roots, r)
		dag.Shortest(&d, f, r)
		for _, s := range part {
			rank[s] = d.Hops[s]
		}
		o.order = append(o.order, part...)
	}
	slices.SortFunc(o.order, func(a, b fabric.NodeID) int { return cmp.Or(cmp.Compare(rank[a], rank[b]), cmp.Compare(a, b)) })
	channels := f.Channels()
	for c := range o.up {
		from, to := channels[c].From, channels[c].To
		o.up[c] = rank[to] < rank[from] || rank[to] == rank[from] && to < from
	}
	return o, nil
}

func centre(d *dag.DAG, f *fabric.Fabric, part []fabric.NodeID) fabric.NodeID {
	best, bestEcc, bestSum := part[0], int32(0), int64(0)
	for i, s := range part {
		dag.Shortest(d, f, s)
		ecc, sum := d.Hops[d.Order[len(d.Order)-1]], int64(0)
		for _, u := range d.Order {
			sum += int64(d.Hops[u])
		}
		if i == 0 || ecc < bestEcc || ecc == bestEcc && sum < bestSum {
			best, bestEcc, bestSum = s, ecc, sum
		}
	}
	return best
}

// Note names the root of the largest part for people.
func (o *Orientation) Note() string {
	if len(o.roots) == 0 {
		return "root: none, there are no switches"
	}
	return "root: " + o.f.Label(o.roots[0])
}

// Choices is Choices of some addresses, without any yet, whose phases are those
// of Up*/Down*.
func (o *Orientation) Choices(addresses int) *routing.Choices {
	phase := make([]uint8, len(o.up))
	for c, up := range o.up {
		if !up {
			phase[c] = Down
		}
	}
	return routing.NewChoices(o.f, addresses, phases, phase)
}

// Legal gives an address of switch d, in both phases, every trunk that begins a
// shortest way on which is still legal.
func (o *Orientation) Legal(choices *routing.Choices, a routing.Address, d fabric.NodeID) {
	o.measure(d)
	set := choices.Fresh(a, May)
	o.each(func(c fabric.ChannelID, from, to fabric.NodeID) {
		on := o.down[to]
		if o.up[c] {
			on = o.hops[to]
		}
		if on != dag.NoPath && from != d && on+1 == o.hops[from] {
			set.Add(c)
		}
	})
	set = choices.Fresh(a, Down)
	o.each(func(c fabric.ChannelID, from, to fabric.NodeID) {
		if !o.up[c] && o.down[to] != dag.NoPath && from != d && o.down[to]+1 == o.down[from] {
			set.Add(c)
		}
	})
}

func (o *Orientation) each(visit func(c fabric.ChannelID, from, to fabric.NodeID)) {
	heads := o.f.Heads()
	for s := range fabric.NodeID(o.f.Switches()) {
		first, end := o.f.TrunksFrom(s)
		for c := first; c < end; c++ {
			visit(c, s, heads[c])
		}
	}
}

// measure finds the hops of all legal ways to d.
func (o *Orientation) measure(d fabric.NodeID) {
	for s := range o.down {
		o.down[s] = dag.NoPath
	}
	heads, reverse := o.f.Heads(), o.f.Reverses()
	// Down all the way: breadth first from d against the down trunks.
	o.down[d] = 0
	o.queue = append(o.queue[:0], d)
	for i := 0; i < len(o.queue); i++ {
		u := o.queue[i]
		first, end := o.f.TrunksFrom(u)
		for c := first; c < end; c++ {
			if v := heads[c]; !o.up[reverse[c]] && o.down[v] == dag.NoPath {
				o.down[v] = o.down[u] + 1
				o.queue = append(o.queue, v)
			}
		}
	}
	// Up first: an up trunk leads to a switch earlier in the order.
	copy(o.hops, o.down)
	for _, u := range o.order {
		first, end := o.f.TrunksFrom(u)
		for c := first; c < end; c++ {
			if h := o.hops[heads[c]]; o.up[c] && h != dag.NoPath && (o.hops[u] == dag.NoPath || h+1 < o.hops[u]) {
				o.hops[u] = h + 1
			}
		}
	}
}
