package balance

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/levels"
	"github.com/weft-fabric/weft/internal/engine/steps/orient"
	"github.com/weft-fabric/weft/internal/par"
	"github.com/weft-fabric/weft/routing"
)

// tree is a network with levels in which shortest paths between hosts will not do.
//
// Some go down and up again, as by an odd tail or between pods that share a leaf. Such paths
// close credit loops, and whoever breaks these afterwards spoils what was balanced. So paths
// go up and then down, a little longer where need be, and free of loops on one lane from the
// beginning.
//
// And where two leaves of a pod share few of its mids, since their cables go on where those
// of the leaf before ended, all shortest paths between them share the cables to these. So a
// switch may go up by its other cables, too, and come down from farther up.
type tree struct {
	*levels.Levels
	*orient.Orientation
	on []uint32 // [switch] hosts
}

// narrow says whether few of the cables up from a switch lead to the nearest: fewer than half,
// and fewer than hosts may send to the root at once. Of twenty of the sixty networks of
// test/bench/patchwork it makes phases of eight shorter by more than a fiftieth, and of none longer.
func (t *tree) narrow(u, root fabric.NodeID, near, all int) bool {
	return 2*near <= all && near < int(min(t.on[u], t.on[root]))
}

// joined is the part of the pairs of hosts that must have a switch above both. The others
// share few turns from down to up, on which nothing balances them: where a twentieth of all
// hosts' pairs is so, phases take three times as long as with shortest paths. Of the sixty
// networks of test/bench/patchwork 55 are taken for trees, and two of the others have fewer.
const joined = 0.98

// findTree is nil where levels are not found, where too many pairs of hosts have no switch
// above both, or where all shortest paths between switches with endpoints go up and then
// down anyway and none of them are narrow.
func (n *network) findTree(ctx context.Context) *tree {
	if n.tier != nil {
		return nil
	}
	l, refusal := levels.Find(n.f)
	if refusal != nil || l.Joined() < joined {
		return nil
	}
	t := &tree{l, orient.New(n.f, l.Order), routing.HCA.PerSwitch(n.f)}
	n.levelled = true
	up := t.cablesUp(n.f)
	var odd atomic.Bool
	scratch := make([][]uint8, par.Workers(len(n.roots)))
	// Whoever called looks whether the context has ended.
	_ = par.For(ctx, len(n.roots), func(worker, i int) {
		if r := &n.roots[i]; !odd.Load() && (r.narrow(t, up) || r.turnsUp(t.Orientation, n.src, &scratch[worker])) {
			odd.Store(true)
		}
	})
	if !odd.Load() {
		return nil
	}
	return t
}

// cablesUp counts the cables up from every switch, [switch].
func (t *tree) cablesUp(f *fabric.Fabric) []int {
	up := make([]int, f.Switches())
	for c, is := range t.Up {
		if is {
			up[f.Channel(fabric.ChannelID(c)).From]++
		}
	}
	return up
}

// narrow says whether the shortest ways from a switch are narrow.
func (r *root) narrow(t *tree, up []int) bool {
	for j, u := range r.order {
		if near := int(r.first[j+1] - r.first[j]); j > 0 && t.narrow(u, r.order[0], near, up[u]) && t.Up[r.ways[r.first[j]].trunk] {
			return true
		}
	}
	return false
}

// turnsUp reports whether a way from a switch that sends goes down and then up.
func (r *root) turnsUp(o *orient.Orientation, src []int64, scratch *[]uint8) bool {
	const sent, fromAbove = 1, 2
	*scratch = slices.Grow((*scratch)[:0], len(r.order))[:len(r.order)]
	state := *scratch // [position] whose packets come through
	clear(state)
	for j := len(r.order) - 1; j > 0; j-- { // whoever sends by way of a switch comes after it
		if src[r.order[j]] > 0 {
			state[j] |= sent
		}
		if state[j] == 0 {
			continue
		}
		for _, w := range r.ways[r.first[j]:r.first[j+1]] {
			switch {
			case !o.Up[w.trunk]:
				state[w.head] |= fromAbove
			case state[j]&fromAbove != 0:
				return true
			default:
				state[w.head] |= sent
			}
		}
	}
	return false
}

// join completes paths that go up and then down: by turns that close no cycle, and where there are none
// for some hosts, as fat trees are routed, by other paths to some destinations. Addresses
// that no host needs from somewhere may stay without a path (Forwarding.Apart).
func (n *network) join(ctx context.Context, fw *routing.Forwarding) error {
	return n.tree.Complete(ctx, n.tree.Orientation, fw)
}
