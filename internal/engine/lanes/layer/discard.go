package layer

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// discarding is FirstFit.Lanes with Discard or Escape: it assigns layers to the paths that fit into
// the lanes there are, and sees to it that every source keeps an address of every endpoint.
func (ff *firstFit) discarding(ctx context.Context, o FirstFit, b routing.Budget, p routing.Progress) (*routing.Lanes, error) {
	ff.limit, ff.discard = b.VLs, true
	ff.layers.ResetRefused() // paths that do not fit are taken out again
	if ff.both {
		ff.addresses = ff.Fabric.Addresses()
	}
	if o.Escape > 0 {
		ff.limit--
		ff.leaveOut(o.Escape)
	}
	if _, err := ff.assign(ctx, o.Order, p); err != nil {
		return nil, err
	}
	lanes := ff.giveOut()
	lanes.Needed = max(1, ff.layers.Len())
	escaped := false
	for _, id := range b.Scope.Endpoints(ff.Fabric) {
		e := ff.Fabric.Endpoint(id)
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
		lanes.Needed = b.VLs
	}
	if !o.Unbalanced {
		if err := ff.balance(ctx); err != nil {
			return nil, err
		}
	}
	return ff.giveOut(), nil
}

// placeSome puts as many paths of a bundle into one layer as it can, and marks the
// others with NoSL as not to be used. Where bundles are both ways these are all paths to one of the
// addresses of each endpoint; unless every endpoint keeps one, no path of the bundle is used. ok: some
// path of the bundle is in the layer.
func (ff *firstFit) placeSome(d *destination, s fabric.NodeID) (layer int, ok bool) {
	if !ff.both {
		ff.turns = ff.appendTurns(ff.turns[:0], d, s)
		if layer, ok = ff.layers.First(ff.turns, ff.limit); !ok {
			d.sl[s] = routing.NoSL
		}
		return layer, ok
	}
	for a := range ff.addresses {
		ff.turns = ff.appendAddress(ff.turns[:0], d, s, a)
		if ok && !ff.layers.Into(layer, ff.turns) {
			ff.leave(d, s, a)
		} else if !ok {
			if layer, ok = ff.layers.First(ff.turns, ff.limit); !ok {
				ff.leave(d, s, a)
			}
		}
	}
	if ok && ff.covered(d, s) && ff.covered(&ff.dests[ff.at[s]], d.root) {
		return layer, true
	}
	if ok {
		ff.turns = ff.appendTurns(ff.turns[:0], d, s)
		ff.layers.Remove(layer, ff.turns)
	}
	d.sl[s] = routing.NoSL
	return 0, false
}

// leave marks an address as not to be used between two switches.
func (ff *firstFit) leave(d *destination, s fabric.NodeID, address int) {
	ff.eachOf(d, s, address, func(lid fabric.LID, s, _ fabric.NodeID) { ff.lanes.SLRow(lid)[s] = routing.NoSL })
}

// covered reports whether a switch may use an address of every endpoint that has LIDs
// among those of a destination.
func (ff *firstFit) covered(d *destination, s fabric.NodeID) bool {
	owner, has := fabric.EndpointID(fabric.None), true
	for _, lid := range d.lids {
		if e := ff.Fabric.Owner(lid); e != owner {
			if !has {
				return false
			}
			owner, has = e, false
		}
		has = has || ff.lanes.SLRow(lid)[s] != routing.NoSL
	}
	return has
}

// leaveOut takes the paths to one address of every endpoint out of ff.dests.
func (ff *firstFit) leaveOut(address int) {
	kept := ff.dests[:0]
	for _, d := range ff.dests {
		d.lids = slices.DeleteFunc(slices.Clone(d.lids), func(lid fabric.LID) bool { return ff.Fabric.Address(lid) == address })
		if len(d.lids) > 0 {
			kept = append(kept, d)
		}
	}
	ff.dests = kept
}

// settle decides on the escape address of endpoint e for the sources on switch s: if they have no other
// address of e left, it gets the escape's lane, else NoSL. It returns whether the escape is used, and
// whether these sources have an address of e at all. escape 0: there is none to decide on.
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
