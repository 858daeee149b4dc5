package layer

import (
	"cmp"
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// squeeze tries this often at the most, and until it has looked at so many
// paths: a limit in work, not in time, keeps it deterministic.
const (
	mostRounds = 24
	mostPaths  = 200_000_000
)

// squeeze tries to make do with fewer layers, down to want, and returns how many
// are left. It is the iterated greedy of graph colouring (J. C. Culberson:
// Iterated Greedy Graph Coloring and the Difficulty Landscape, 1992), which holds
// for layers as it does for colours: take the paths layer by layer, the layers in
// any order, and put each path into the first layer that stays acyclic. The
// paths of the i-th old layer all fit into the i-th new one, if not before, since
// among themselves they close no cycle. So there are never more layers than
// before, and in another order often fewer.
//
// The receiver is left with the layers of the last round.
func (ff *firstFit) squeeze(ctx context.Context, layers, want int) (int, error) {
	rounds := max(2, min(mostRounds, mostPaths/max(1, len(ff.dests)*len(ff.sources))))
	for round := 0; round < rounds && layers > want; round++ {
		order := layerOrder(ff.pathSet, ff.lanes, layers, round)
		*ff = *newFirstFit(ff.pathSet, ff.lanes)
		if err := ff.again(ctx, order); err != nil {
			return layers, err
		}
		layers = len(ff.layers)
	}
	return layers, nil
}

// layerOrder is the order in which a round takes the layers: backwards, the
// fullest first, the emptiest first in turns.
func layerOrder(p *pathSet, lanes *routing.Lanes, layers, round int) []uint8 {
	order := make([]uint8, layers)
	for i := range order {
		order[i] = uint8(layers - 1 - i)
	}
	if round%3 == 0 {
		return order
	}
	weight := make([]int64, layers)
	p.each(lanes, func(s fabric.NodeID, sl *uint8) { weight[*sl] += int64(p.sources[s]) })
	if round%3 == 1 {
		for i := range weight {
			weight[i] = -weight[i]
		}
	}
	slices.SortStableFunc(order, func(a, b uint8) int { return cmp.Compare(weight[a], weight[b]) })
	return order
}

// again puts all paths into layers anew, those of one old layer after those of
// another.
func (ff *firstFit) again(ctx context.Context, order []uint8) error {
	const done = 1 << 7 // marks a service level as a new layer
	for _, old := range order {
		for _, d := range ff.dests {
			if err := ctx.Err(); err != nil {
				return err
			}
			sl := ff.lanes.SLRow(d.lid)
			for s := range sl {
				if ff.sources[s] == 0 || sl[s] != old {
					continue
				}
				ff.turns = ff.appendTurns(ff.turns[:0], ff.fw.Row(d.lid), d, fabric.NodeID(s))
				layer, ok := ff.firstLayer()
				if !ok {
					panic("layer: more layers than before")
				}
				ff.weight[layer] += uint64(ff.sources[s])
				sl[s] = uint8(layer) | done
			}
		}
	}
	ff.each(ff.lanes, func(_ fabric.NodeID, sl *uint8) { *sl &^= done })
	return nil
}
