package routing

import "github.com/weft-fabric/weft/fabric"

// Tree is the in-tree of one destination LID, in breadth-first order from the
// destination. In reverse order every switch comes before the one it forwards to, so
// that a load is a sum over a subtree. A Tree is scratch space: Build can fill it again
// without allocating.
type Tree struct {
	Order []fabric.NodeID    // switches with a path, the destination's first
	Out   []fabric.ChannelID // [switch] the trunk it forwards to; None at the destination's switch and without a path
	depth []int32            // [switch] hops to the destination's switch; -1 unknown, -2 being computed
	count []int32            // scratch: switches by depth
}

// Build makes the tree of a LID whose endpoint is on switch root. It leaves out
// switches whose entries loop or end elsewhere.
func (t *Tree) Build(f *fabric.Fabric, row []uint8, root fabric.NodeID) {
	n := f.Switches()
	if len(t.Out) != n {
		t.Out, t.depth = make([]fabric.ChannelID, n), make([]int32, n)
		t.Order, t.count = make([]fabric.NodeID, n), make([]int32, n+1)
	}
	trunks := fabric.ChannelID(f.Trunks())
	for s := range n {
		t.depth[s], t.count[s] = -1, 0
		t.Out[s] = fabric.None
		if c := f.Out(fabric.NodeID(s), row[s]); c >= 0 && c < trunks && fabric.NodeID(s) != root {
			t.Out[s] = c
		}
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

// unreached marks a switch from which the destination cannot be reached.
const unreached = -3

// measure follows the tree from s to a switch of known depth and sets the depth of all
// switches passed.
func (t *Tree) measure(heads []fabric.NodeID, s fabric.NodeID) int32 {
	steps := int32(0)
	at := s
	for t.depth[at] == -1 {
		if t.Out[at] == fabric.None {
			t.depth[at] = unreached
			break
		}
		t.depth[at] = -2
		at = heads[t.Out[at]]
		steps++
	}
	base := t.depth[at]
	if base == -2 { // a loop
		base = unreached
	}
	for at = s; t.depth[at] == -2; at = heads[t.Out[at]] {
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
