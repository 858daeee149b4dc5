package choices

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/orient"
)

// The phases of a packet under Up*/Down*.
const (
	May    = iota // it may go up or down
	Down          // it went down: it may not go up any more
	phases        // how many there are
)

// UpDown is Up*/Down* for switches that choose. Up is towards the root of a part of the
// network by breadth-first rank, at equal rank towards the lower GUID.
type UpDown struct {
	f    *fabric.Fabric
	root fabric.NodeID // of the largest part; None: there are no switches
	up   *orient.Orientation

	// Scratch, per destination.
	down dag.DAG // the shortest paths that only go down
	hops []int32 // [switch] of the shortest path that goes up, then down; dag.NoPath
}

// NewUpDown chooses a root for every part of the network: the one given, if it is
// there, or else the centre. A root of zero is none. It refuses a root that is no switch
// of the fabric.
func NewUpDown(f *fabric.Fabric, root fabric.GUID) (*UpDown, error) {
	roots := orient.Centres(f)
	if root != 0 {
		given, err := orient.Roots(f, root)
		if err != nil {
			return nil, err
		}
		distance := f.Hops(given...)
		for i := range roots {
			if distance[roots[i]] != dag.NoPath {
				roots[i] = given[0]
			}
		}
	}
	u := &UpDown{f: f, root: fabric.None, up: orient.New(f, orient.ByRank(f, roots)), hops: make([]int32, f.Switches())}
	if len(roots) > 0 {
		u.root = roots[0]
	}
	return u, nil
}

// Note names the root of the largest part for people.
func (u *UpDown) Note() string {
	if u.root == fabric.None {
		return "root: none, there are no switches"
	}
	return "root: " + u.f.Label(u.root)
}

// Choices is adaptive.Choices for so many addresses, with empty sets, whose phases are those
// of Up*/Down*.
func (u *UpDown) Choices(addresses int) *adaptive.Choices {
	phase := make([]uint8, len(u.up.Up))
	for c, up := range u.up.Up {
		if !up {
			phase[c] = Down
		}
	}
	return adaptive.NewChoices(u.f, addresses, phases, phase)
}

// Legal fills the sets of an address of switch root in choices: for packets in each phase, every trunk
// that begins a shortest path among those that are still legal for them.
func (u *UpDown) Legal(choices *adaptive.Choices, a adaptive.Address, root fabric.NodeID) {
	u.measure(root)
	heads, down := u.f.Heads(), u.down.Hops
	set := choices.Fresh(a, May)
	for s := range fabric.NodeID(u.f.Switches()) {
		if s == root {
			continue
		}
		for c, end := u.f.TrunksFrom(s); c < end; c++ {
			on := down[heads[c]]
			if u.up.Up[c] {
				on = u.hops[heads[c]]
			}
			if on != dag.NoPath && on+1 == u.hops[s] {
				set.Add(c)
			}
		}
	}
	Add(choices.Fresh(a, Down), &u.down)
}

// measure sets down and hops, of the legal paths to a switch.
func (u *UpDown) measure(root fabric.NodeID) {
	u.up.Descents(&u.down, u.f, root)
	copy(u.hops, u.down.Hops)
	heads := u.f.Heads()
	for _, s := range u.up.Order { // who is above comes before
		for c, end := u.f.TrunksFrom(s); c < end; c++ {
			if h := u.hops[heads[c]]; u.up.Up[c] && h != dag.NoPath && (u.hops[s] == dag.NoPath || h+1 < u.hops[s]) {
				u.hops[s] = h + 1
			}
		}
	}
}
