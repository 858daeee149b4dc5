package routing

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// Tree is the in-tree of one destination LID, in breadth-first order from the
// destination. In reverse order every switch comes before the one it forwards to, so
// that a load is a sum over a subtree. A Tree is scratch space: Build can fill it again
// without allocating.
type Tree struct {
	Order []fabric.NodeID    // switches with a path, the destination's first
	Out   []fabric.ChannelID // [switch] the trunk it forwards to; None at the destination's switch and without a path
	depth []int32            // [switch] hops to the destination's switch, or why there are none
	count []int32            // scratch: switches by depth
}

// Build makes the tree of a LID whose endpoint is on switch root. It leaves out
// switches whose entries loop or end elsewhere.
//
// Most trees to LIDs of one switch have the same depths, for most paths are shortest: then Build looks
// at each entry just once (read), and Order stays.
func (t *Tree) Build(f *fabric.Fabric, row []uint8, root fabric.NodeID) {
	n := f.Switches()
	if len(t.Out) != n {
		t.Out, t.depth = make([]fabric.ChannelID, n), slices.Repeat([]int32{unknown}, n)
		t.Order, t.count = make([]fabric.NodeID, n), make([]int32, n+1)
	}
	if t.read(f, row, root) {
		return
	}
	for s := range n {
		t.depth[s], t.count[s] = unknown, 0
	}
	t.depth[root] = 0
	heads := f.Heads()
	placed := 0
	for s := range n {
		if d := t.measure(heads, fabric.NodeID(s)); d >= 0 {
			t.count[d]++
			placed++
		}
	}
	sum := int32(0)
	for d := range t.count {
		t.count[d], sum = sum, sum+t.count[d]
	}
	t.Order = t.Order[:placed]
	for s := range n {
		if d := t.depth[s]; d >= 0 {
			t.Order[t.count[d]] = fabric.NodeID(s)
			t.count[d]++
		} else {
			t.Out[s] = fabric.None
		}
	}
	t.count[n] = 0
}

// Depths of switches without a path, and of those not measured yet.
const (
	unknown   = -1
	passing   = -2 // on the path at hand
	unreached = -3
)

// read sets Out, also where packets do not arrive, and reports whether the depths of the tree
// before are those of this one too: then so is Order.
func (t *Tree) read(f *fabric.Fabric, row []uint8, root fabric.NodeID) bool {
	heads, out, depth := f.Heads(), t.Out, t.depth[:len(t.Out)]
	same := depth[root] == 0
	for s := range out {
		c, below := f.Out(fabric.NodeID(s), row[s]), int32(unreached)
		switch {
		case fabric.NodeID(s) == root:
			c, below = fabric.None, 0
		case uint(c) < uint(len(heads)):
			below = depth[heads[c]] + 1
		default:
			c = fabric.None
		}
		out[s] = c
		same = same && depth[s] == below
	}
	return same
}

// measure follows Out from s to a switch of known depth, sets the depth of all switches passed, and
// returns that of s.
func (t *Tree) measure(heads []fabric.NodeID, s fabric.NodeID) int32 {
	steps := int32(0)
	at := s
	for t.depth[at] == unknown {
		if t.Out[at] == fabric.None {
			t.depth[at] = unreached
			break
		}
		t.depth[at] = passing
		at = heads[t.Out[at]]
		steps++
	}
	base := t.depth[at]
	if base == passing { // a loop
		base = unreached
	}
	for at = s; t.depth[at] == passing; at = heads[t.Out[at]] {
		if base == unreached {
			t.depth[at] = unreached
		} else {
			t.depth[at] = base + steps
			steps--
		}
	}
	return t.depth[s]
}

// Depth is the hops from switch s to the destination's switch; negative if there is no
// path.
func (t *Tree) Depth(s fabric.NodeID) int { return int(t.depth[s]) }
