package layer

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// discarding assigns layers to the paths that fit into the lanes there are, and
// sees to it that every source keeps an address of every endpoint.
func (ff *firstFit) discarding(ctx context.Context, o FirstFit, b routing.Budget, p routing.Progress) (*routing.Lanes, error) {
	ff.limit, ff.discard = b.VLs, true
	if o.Escape > 0 {
		ff.limit--
		ff.leaveOut(o.Escape)
	}
	if err := ff.assign(ctx, o.Order, p); err != nil {
		return nil, err
	}
	ff.lanes.Needed = max(1, len(ff.layers))
	escaped := false
	for _, id := range b.Scope.Endpoints(ff.f) {
		e := ff.f.Endpoint(id)
		for s := range ff.sources {
			switch used, ok := ff.settle(e, fabric.NodeID(s), o.Escape, uint8(b.VLs-1)); {
			case !ok && ff.sources[s] > 0:
				return nil, &routing.TooFewLanes{Need: b.VLs + 1, AtLeast: true, Have: b.VLs}
			case used:
				escaped = true
			}
		}
	}
	if escaped {
		ff.lanes.Needed = b.VLs
	}
	if !o.Unbalanced {
		if err := ff.balance(ctx); err != nil {
			return nil, err
		}
	}
	return ff.lanes, nil
}

// leaveOut takes an address of every endpoint out of the set of paths.
func (ff *firstFit) leaveOut(address int) {
	kept := ff.dests[:0]
	for _, d := range ff.dests {
		if int(d.lid-ff.f.Endpoint(ff.f.Owner(d.lid)).LID) != address {
			kept = append(kept, d)
		}
	}
	ff.dests = kept
}

// settle gives a source that has no address left of an endpoint the escape layer,
// and all others no way to it. It says whether the escape is used, and whether
// the source has an address at all.
func (ff *firstFit) settle(e *fabric.Endpoint, s fabric.NodeID, escape int, lane uint8) (used, ok bool) {
	has := false
	for a := range 1 << e.LMC {
		if escape == 0 || a != escape {
			has = has || ff.lanes.SLRow(e.LID + fabric.LID(a))[s] != routing.NoSL
		}
	}
	if escape == 0 || escape >= 1<<e.LMC {
		return false, has
	}
	sl := &ff.lanes.SLRow(e.LID + fabric.LID(escape))[s]
	if has {
		*sl = routing.NoSL
		return false, true
	}
	*sl = lane
	return ff.sources[s] > 0, true
}
