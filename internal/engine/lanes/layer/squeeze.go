package layer

import (
	"cmp"
	"context"
	"slices"

	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
)

// How hard squeeze tries, in work and not in time, so that it is deterministic:
// while there are too few lanes, mostRounds rounds or until it has looked at
// mostPaths paths; else until it has looked at freePaths, or idleRounds rounds in
// a row came to nothing, or few layers are left.
const (
	mostRounds = 24
	mostPaths  = 200_000_000
	idleRounds = 6
	freePaths  = 4_000_000
	few        = 3 // layers with which to be content, if there are lanes for them

	pathsOfBundle = 10 // as much work as that is a bundle of both ways: few of them find all their turns in a layer
)

// squeeze tries to make do with fewer layers, and returns how many are left. It is the
// iterated greedy of graph colouring (J. C. Culberson: Iterated Greedy Graph Coloring and
// the Difficulty Landscape, 1992), which holds for layers as for colours: take the paths layer by layer, the layers in
// any order, and put each path into the first layer that stays acyclic. The
// paths of the i-th old layer all fit into the i-th new one, if not before, since
// among themselves they close no cycle. So there are never more layers than
// before, and in another order often fewer.
//
// Two layers cannot become one: there are two because all paths together close a
// cycle. The receiver is left with the layers of the last round.
func (ff *firstFit) squeeze(ctx context.Context, layers, vls int) (int, error) {
	paths := max(1, ff.bundles())
	if ff.both {
		paths *= pathsOfBundle
	}
	last := 0 // round that came to something
	for round := 0; layers > 2; round++ {
		work := (round + 1) * paths
		if layers > vls && round > 1 && (round == mostRounds || work > mostPaths) ||
			layers <= vls && (layers <= few || round-last == idleRounds || work > freePaths) {
			break
		}
		order := layerOrder(ff.pathSet, layers, round)
		if ff.layers.Len() == layers {
			ff.layers.BeginAgain(order)
		} else { // others have made them
			ff.layers = acyclic.NewLayers(ff.Fabric)
		}
		ff.filled = [maxLayers]uint64{}
		if err := ff.placeAnew(ctx, order); err != nil {
			return layers, err
		}
		if ff.layers.Len() < layers {
			layers, last = ff.layers.Len(), round
		}
	}
	return layers, nil
}

// layerOrder is the order in which a round takes the old layers: from round to round, backwards, the
// fullest first, or the emptiest first.
func layerOrder(p *pathSet, layers, round int) []uint8 {
	order := make([]uint8, layers)
	for i := range order {
		order[i] = uint8(layers - 1 - i)
	}
	if round%3 == 0 {
		return order
	}
	weight := make([]int64, layers)
	for d, s := range p.all {
		weight[d.sl[s]] += int64(p.weight(d, s))
	}
	if round%3 == 1 {
		for i := range weight {
			weight[i] = -weight[i]
		}
	}
	slices.SortStableFunc(order, func(a, b uint8) int { return cmp.Compare(weight[a], weight[b]) })
	return order
}

// placeAnew puts all bundles into layers anew, those of one old layer after those of
// another. The receiver must be new, with the old layers in its destinations' sl.
func (ff *firstFit) placeAnew(ctx context.Context, order []uint8) error {
	const done = 1 << 7 // marks a service level as a new layer
	tried := 0
	for _, old := range order {
		for d, s := range ff.all {
			if d.sl[s] != old {
				continue
			}
			if tried++; tried%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			ff.turns = ff.appendTurns(ff.turns[:0], d, s)
			layer, ok := ff.layers.First(ff.turns, ff.limit)
			if !ok {
				panic("more layers than before")
			}
			ff.filled[layer] += uint64(ff.weight(d, s))
			d.sl[s] = uint8(layer) | done
		}
	}
	for d, s := range ff.all {
		d.sl[s] &^= done
	}
	return ctx.Err()
}
