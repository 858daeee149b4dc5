package repair

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/packetset"
)

// mend makes the step of an attempt: it mends every destination in scope as far as possible, and sets left to
// what it cannot, and the others with them. If orders is set and some are left, it tries other orders.
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

// destination mends the entries for a LID, writes the new ones into its row, and counts them in the step. It adds
// to left if some sources have no path after that.
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
	unused := a.unused
	if switches := a.missing(); switches != nil {
		a.left = append(a.left, Left{LID: lid, Switches: switches})
		unused = a.passedByNone // which may help them in the next step
	}
	const patient = true
	a.attachUnused(row, unused, patient)
}

// isBroken reports whether a LID has dead entries in force that can be mended. If so, it is the one at hand, and
// roots, dist and best are set.
func (a *attempt) isBroken(lid fabric.LID) bool {
	if !a.problem.dead.has(a.old(lid), lid, packetset.Home(a.f, lid)) {
		return false
	}
	a.begin(lid)
	return a.findRoots()
}
