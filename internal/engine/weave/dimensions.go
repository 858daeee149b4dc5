package weave

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/grid"
	"github.com/weft-fabric/weft/internal/engine/steps/turnlanes"
	"github.com/weft-fabric/weft/routing"
)

// barring is the size of rings from which on shortest paths between all points bar each other, on however many lanes:
// those halfway round it pass three channels in a row everywhere. Smaller rings may do with shortest paths.
const barring = 7

// byDimensions is an attempt on tori: dimension order on rings that are open (grid.Grid.Open). A packet rises by
// a lane where it goes straight on in a ring, so that within a lane the turns along a ring close no cycle where it is
// open; dimensions are passed in one order, and lanes never fall. Where a ring is so large that shortest paths bar each
// other, further attempts would only search for what this one knows: it is final then, unless bandwidth goes before all.
func (t *trial) byDimensions(ctx context.Context, fw *routing.Forwarding, paths *turnlanes.Paths) (final bool, err error) {
	grids, err := grid.FindAll(t.f, nil, nil)
	if err != nil {
		return false, nil // no grid is as good a reason to go on as any
	}
	largest := 0
	for _, g := range grids {
		if len(g.Holes()) > 0 || g.Joined(t.f) != nil {
			return false, nil
		}
		largest = max(largest, g.LargestRing())
	}
	if largest < barring {
		return false, nil
	}
	turns, lanes := inDimensionOrder(t.f, grids)
	if lanes > t.budget.VLs {
		return false, nil
	}
	open := routing.NewForwarding(t.f)
	for _, g := range grids {
		if err := g.Route(ctx, t.f, open, g.OpenWays().Next, func(int, []fabric.LID) {}); err != nil {
			return false, err
		}
	}
	open.Notes = append(open.Notes, "dimension order on a "+grid.Describe(grids)+", every whole ring of five or more open at one place")
	r := newRerouting(t.f, open, paths.LIDs(), t.budget)
	failed, err := r.route(ctx, turnlanes.AssignReserved(t.f, turns, lanes))
	if err != nil || failed > 0 {
		return false, err
	}
	if !t.bandwidth {
		t.best = r
		return true, nil
	}
	t.work += placementCost * paths.Len()
	t.goal = newRerouting(t.f, fw, paths.LIDs(), t.budget).before
	err = t.offer(ctx, r)
	return t.done(), err
}

// inDimensionOrder is the turns of dimension order on rings that are open, with their lanes, and how many lanes these are.
func inDimensionOrder(f *fabric.Fabric, grids []*grid.Grid) (all []turnlanes.Reserved, lanes int) {
	for _, g := range grids {
		lane := make([]uint8, len(g.Dims)+1) // [dimension] on which packets turn into it
		for d, dim := range g.Dims {
			lane[d+1] = lane[d]
			if dim.Dateline() {
				lane[d+1]++
			}
		}
		lanes = max(lanes, int(lane[len(g.Dims)])+1)
		for p := range g.Switch {
			g.EachTurnInOrder(p, func(from, to grid.Dir) {
				d := to.Dim()
				r := turnlanes.Reserved{Lane: lane[d], Within: true}
				if from == to {
					r.Lane, r.Within = lane[d+1], !g.Open(p, to)
				}
				for _, back := range g.Links(p, from.Reverse()) {
					for _, out := range g.Links(p, to) {
						in := f.Reverses()[back]
						r.Turn = acyclic.Turn{ID: int32(f.Turn(in, out)), In: in, Out: out}
						all = append(all, r)
					}
				}
			})
		}
	}
	return all, lanes
}
