package balance

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/levels"
	"github.com/weft-fabric/weft/internal/engine/steps/orient"
	"github.com/weft-fabric/weft/internal/par"
	"github.com/weft-fabric/weft/routing"
)

// tree is a network with levels in which some shortest paths between hosts go down and up
// again, as by an odd tail or between pods that share a leaf. Such paths close credit loops,
// and whoever breaks these afterwards spoils what was balanced. So paths go up and then
// down, a little longer where need be, and free of loops on one lane from the beginning.
type tree struct {
	*levels.Levels
	*orient.Orientation
}

// joined is the part of the pairs of hosts that must have a switch above both. The others
// share few turns from down to up, on which nothing balances them: where a twentieth of all
// hosts' pairs is so, phases take three times as long as with shortest paths. Of the sixty
// networks of test/bench/patchwork 55 are taken for trees, and two of the others have fewer.
const joined = 0.98

// findTree is nil where levels are not found, where too many pairs of hosts have no switch
// above both, or where all shortest paths between switches with endpoints go up and then
// down anyway.
func (n *network) findTree(ctx context.Context) *tree {
	if n.tier != nil {
		return nil
	}
	l, refusal := levels.Find(n.f)
	if refusal != nil || l.Joined() < joined {
		return nil
	}
	n.levelled = true
	o := orient.New(n.f, l.Order)
	var turns atomic.Bool
	scratch := make([][]uint8, par.Workers(len(n.roots)))
	// Whoever called looks whether the context has ended.
	_ = par.For(ctx, len(n.roots), func(worker, i int) {
		if !turns.Load() && n.roots[i].turnsUp(o, n.src, &scratch[worker]) {
			turns.Store(true)
		}
	})
	if !turns.Load() {
		return nil
	}
	return &tree{l, o}
}

// turnsUp says whether a way from a switch that sends goes down and then up.
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

// join completes paths that go up and then down: by turns that close no cycle and, where
// there are none, by shortest paths. Those are for addresses that no host needs from there, or,
// in few trees, for hosts too: whoever assigns lanes has to see to them.
func (n *network) join(ctx context.Context, fw *routing.Forwarding) error {
	err := n.tree.Join(ctx, n.tree.Orientation, fw)
	if err == nil && !fw.Apart {
		return nil
	}
	if no := (*routing.Refusal)(nil); err != nil && !errors.As(err, &no) {
		return err
	}
	fw.Apart = false
	channels := n.f.Channels()
	return dag.InOrder(ctx, n.f, fabric.All[fabric.NodeID](n.f.Switches()), dag.Shortest, func(d *dag.DAG, lids []fabric.LID) {
		for _, lid := range lids {
			row := fw.Row(lid)
			for i, s := range d.Order[1:] {
				if row[s] == routing.NoPort {
					row[s] = channels[d.Choices(i + 1)[0]].FromPort
				}
			}
		}
	})
}
