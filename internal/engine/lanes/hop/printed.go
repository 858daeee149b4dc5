package hop

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/forest"
	"github.com/weft-fabric/weft/routing"
)

// Printed is DF-DN as figure 6 prints it, to compare DN with: path after path, by source
// and then by destination, takes the first service level in which the lane rises by one
// at each of its turns, or can be made to by setting entries that are not set yet.
//
// The misprints of figure 6 are mended as the package says: an entry that is not set is
// told from lane 0, and each hop sets the entry of its own pair of channels. The switches
// that inject and deliver need no entry, as in the text and figure 5.
//
// Under contract honored, which the paper does not know, all paths between two switches,
// both ways, take the first service level that holds them all.
//
// Lanes needed: the hops of the longest path. Refuses as DN, where the 16 service levels
// do not suffice in this order.
//
// Complexity: O(P·h·16) for P paths of h hops. Memory: 16 bytes a turn.
type Printed struct{}

// Lanes implements routing.LaneAssigner.
func (Printed) Lanes(ctx context.Context, f *fabric.Fabric, fw *routing.Forwarding, b routing.Budget, p routing.Progress) (*routing.Lanes, error) {
	b, err := b.WithDefaults()
	if err != nil {
		return nil, err
	}
	all := forest.Of(f, fw, b.Scope)
	longest, err := all.Longest(ctx, nil)
	if err != nil {
		return nil, err
	}
	lanes := max(1, longest.Hops)
	if lanes > b.VLs {
		return nil, &routing.TooFewLanes{Need: lanes, Have: b.VLs}
	}
	t := table{turns: f.Turns()}
	l := routing.NewLanes(f, nil)
	if b.Contract.EitherWay() {
		err = t.givePairs(ctx, all, l, p)
	} else {
		err = t.givePaths(ctx, all, l, p)
	}
	if err != nil {
		return nil, err
	}
	l.SL2VL, l.Needed = mapLanes(f, longest.Hops, t.lane), lanes
	return l, nil
}

// table is the lanes of the turns so far.
type table struct {
	turns int
	lane  [][]uint8 // [service level][turn] from 1; 0: not set

	// The paths at hand, which need the same service level.
	path   []acyclic.Turn // scratch: the turns of one
	wanted []entry        // all that they need
}

// entry is the lane that a turn must have for a path to rise by one at every hop.
type entry struct {
	turn int32
	lane uint8
}

// givePaths gives every path a service level, by source, then by LID.
func (t *table) givePaths(ctx context.Context, all *forest.Paths, l *routing.Lanes, p routing.Progress) error {
	for i := range all.Ends {
		if err := ctx.Err(); err != nil {
			return err
		}
		from := all.Ends[i].Switch
		for k := range all.Ends {
			for _, lid := range all.Ends[k].LIDs {
				t.wanted = t.wanted[:0]
				t.want(all, from, lid, all.Ends[k].Switch)
				sl, ok := t.setInFirst()
				if !ok {
					return refuseLevels(all.Fabric, from, all.Ends[k].Switch)
				}
				l.SLRow(lid)[from] = sl
			}
		}
		p.Report(i+1, len(all.Ends))
	}
	return nil
}

// givePairs gives all paths between two switches, both ways, one service level.
func (t *table) givePairs(ctx context.Context, all *forest.Paths, l *routing.Lanes, p routing.Progress) error {
	for i := range all.Ends {
		if err := ctx.Err(); err != nil {
			return err
		}
		for k := range i {
			ends := [2]*forest.End{&all.Ends[i], &all.Ends[k]}
			t.wanted = t.wanted[:0]
			for way, to := range ends {
				for _, lid := range to.LIDs {
					t.want(all, ends[1-way].Switch, lid, to.Switch)
				}
			}
			sl, ok := t.setInFirst()
			if !ok {
				return refuseLevels(all.Fabric, ends[0].Switch, ends[1].Switch)
			}
			for way, to := range ends {
				for _, lid := range to.LIDs {
					l.SLRow(lid)[ends[1-way].Switch] = sl
				}
			}
		}
		p.Report(i+1, len(all.Ends))
	}
	return nil
}

// want adds the entries that a path needs to wanted.
func (t *table) want(all *forest.Paths, from fabric.NodeID, lid fabric.LID, to fabric.NodeID) {
	t.path = all.AppendTurns(t.path[:0], from, lid, to)
	for j, turn := range t.path {
		t.wanted = append(t.wanted, entry{turn.ID, uint8(j + 1)})
	}
}

// setInFirst sets the entries wanted in the first service level that has them all or can be given
// them. ok: there is one.
func (t *table) setInFirst() (sl uint8, ok bool) {
	for sl := range routing.SLs {
		if sl == len(t.lane) {
			t.lane = append(t.lane, make([]uint8, t.turns))
		}
		if t.set(t.lane[sl]) {
			return uint8(sl), true
		}
	}
	return 0, false
}

// set sets the entries wanted in a service level, [turn], all or none, and reports which.
func (t *table) set(lane []uint8) bool {
	for i, e := range t.wanted {
		if lane[e.turn] == 0 {
			lane[e.turn] = e.lane | fresh
		}
		if lane[e.turn]&^fresh != e.lane {
			for _, e := range t.wanted[:i] {
				if lane[e.turn]&fresh != 0 {
					lane[e.turn] = 0
				}
			}
			return false
		}
	}
	for _, e := range t.wanted {
		lane[e.turn] &^= fresh
	}
	return true
}

// fresh marks a lane that the paths at hand have set.
const fresh = 1 << 7

func refuseLevels(f *fabric.Fabric, from, to fabric.NodeID) error {
	return routing.Refuse(f, ruleLevels, from, 0, "taken in the order of the paper, its paths to %s find none in which their lanes rise by one at every hop", f.Label(to))
}
