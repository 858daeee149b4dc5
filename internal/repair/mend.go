package repair

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/packetset"
)

// mend mends every destination in scope as far as possible, and those out of scope with
// them. If some are left, and orders, it tries other orders.
func (a *attempt) mend(ctx context.Context, orders bool) error {
	load := slices.Clone(a.load)
	if err := a.inOrder(ctx, nil); err != nil {
		return err
	}
	if orders && len(a.left) > 0 {
		if err := a.otherOrders(ctx, load); err != nil {
			return err
		}
	}
	a.left = append(a.left, a.later...)
	if a.step.Mended == 0 {
		return nil
	}
	return a.mendOutside(ctx)
}

// destination mends the entries for a LID and writes the new ones into its row.
func (a *attempt) destination(lid fabric.LID) {
	row := a.row(lid)
	if a.hasMoved(lid) {
		a.clearMoved(lid, row)
		return
	}
	a.step.Mended += a.deliver(lid, row)
	if !a.isBroken(lid) {
		return
	}
	a.packets.Start(packetset.Any) // these dependencies are in the graph already
	by := a.forTraffic()
	a.reattachAll(&by)
	a.step.Mended += a.write(row)
	if switches := a.missing(); switches != nil {
		a.left = append(a.left, Left{LID: lid, Switches: switches})
	}
	a.attachUnused(row, a.unused, true)
}

// isBroken reads the entries in force for a LID, and finds the dead ones that can be mended. It
// reports whether there are any.
func (a *attempt) isBroken(lid fabric.LID) bool {
	if !a.problem.dead.has(a.old(lid), lid, packetset.Home(a.f, lid)) {
		return false
	}
	a.begin(lid)
	return a.findRoots()
}
