package repair

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/packetset"
	"github.com/weft-fabric/weft/routing"
)

// Entries that no packet in scope uses follow those that were mended: of switches that no
// packet in scope passes by the tables in force nor by the new ones, and for LIDs out of
// scope. They add no dependency, so they need no check against the graph, only paths that
// arrive and do not circle while the step is written. Most are part of the step that mends the
// others. A spine that leaves avoid has to wait: with a new entry in the same step it would
// send what still comes by their old entries back up.

// mendUnused makes the last step of Mend, or the last two, with the entries that could not follow before. Where
// packets would circle, the first of the two removes the old entries, which lead into nothing, and the last
// has the new ones; last says which it is. Entries that remain and lead to no switch are
// removed, so that they do nothing unexpected when a cable comes back.
func (a *attempt) mendUnused(ctx context.Context, last bool) error {
	for lid, owner := range a.f.LIDs() {
		ep := a.f.Endpoint(owner)
		if ep.Switch == fabric.None {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		row := a.row(lid)
		a.step.Follow += a.deliver(lid, row)
		if !a.problem.dead.has(a.old(lid), lid, ep.Switch) {
			continue
		}
		a.begin(lid)
		if !a.findRoots() {
			a.step.Follow += a.clearDead(row)
			continue
		}
		unused, all := a.anywhere, anywhere
		if a.problem.o.Scope.Includes(ep.Class) {
			a.packets.Start(packetset.Any)
			unused, all = a.unused, a.passedByNone
		}
		const patient = false
		a.attachUnused(row, unused, patient)
		if a.isCut(unused) { // where all cables lead to empty entries, these do not stay so
			unused = all
			a.attachUnused(row, unused, patient)
			a.emptyAgain(row)
		}
		if last || !a.makeRoom(row, unused) {
			a.step.Follow += a.clearDead(row)
		}
	}
	return nil
}

// mendOutside mends the entries for LIDs out of scope as far as one step can.
func (a *attempt) mendOutside(ctx context.Context) error {
	for lid, owner := range a.f.LIDs() {
		ep := a.f.Endpoint(owner)
		if ep.Switch == fabric.None || a.problem.o.Scope.Includes(ep.Class) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		row := a.row(lid)
		a.step.Follow += a.deliver(lid, row)
		if a.isBroken(lid) {
			a.attachUnused(row, a.anywhere, ep.Class == fabric.SwitchPort) // adapters out of scope have traffic, too
		}
	}
	return nil
}

// passedByNone reports whether no packet in scope passes a switch on its way to the LID at hand, in any
// mixture of the entries in force and the new ones.
func (a *attempt) passedByNone(s fabric.NodeID) bool { return !a.packets.Visit(s) }

// unused is passedByNone without entries that stay empty; anywhere is the same for LIDs out of scope.
func (a *attempt) unused(s fabric.NodeID) bool   { return a.passedByNone(s) && !a.staysEmpty(s) }
func (a *attempt) anywhere(s fabric.NodeID) bool { return !a.staysEmpty(s) }

func anywhere(fabric.NodeID) bool { return true }

// attachUnused gives switches that are unused, for the LID at hand, new entries that do not circle, writes them
// into row and counts them in the step. If patient, a switch whose trunks all lead to switches that forward
// to it waits for one of these to change, and goes by that one in the next step: the others can keep
// their entries.
func (a *attempt) attachUnused(row []uint8, unused func(s fabric.NodeID) bool, patient bool) {
	by := rules{wanted: unused, patient: patient, take: func(at fabric.NodeID, c fabric.ChannelID) bool {
		if a.packets.Pass(a.f.Heads()[c], at) {
			return false
		}
		a.packets.Allow(at, c)
		return true
	}}
	a.reattachAll(&by)
	a.reattachRoots(&by, int32(a.f.Switches())) // of any length: it delays nobody in scope
	a.step.Follow += a.write(row)
}

// isCut reports whether any of the switches that are unused has no working path to the LID at hand, although cables
// lead there.
func (a *attempt) isCut(unused func(s fabric.NodeID) bool) bool {
	for s, hops := range a.dist {
		if hops == unknown && a.best[s] != unknown && unused(fabric.NodeID(s)) {
			return true
		}
	}
	return false
}

// emptyAgain removes from row the new entries of switches that stay empty unless others forward to them.
func (a *attempt) emptyAgain(row []uint8) {
	passed := make([]bool, len(row))
	for removed := true; removed; {
		removed = false
		clear(passed)
		for s, port := range row {
			if c := a.f.Trunk(fabric.NodeID(s), port); c != fabric.None {
				passed[a.f.Heads()[c]] = true
			}
		}
		for _, s := range a.packets.Added() {
			if row[s] != routing.NoPort && !passed[s] && a.staysEmpty(s) {
				row[s], removed = routing.NoPort, true
				a.step.Follow--
			}
		}
	}
}

// makeRoom removes from row the entries of unused switches whose paths are still broken, and counts them in the
// step. It reports whether there is any such switch, also one without an entry.
func (a *attempt) makeRoom(row []uint8, unused func(s fabric.NodeID) bool) bool {
	any := false
	for s, c := range a.packets.Entry {
		at := fabric.NodeID(s)
		if a.dist[s] != unknown || a.best[s] == unknown || !unused(at) {
			continue
		}
		any = true
		if c != fabric.None {
			row[s] = routing.NoPort
			a.step.Follow++
		}
	}
	return any
}

// clearDead removes the entries of a row that lead to no switch, except that of the destination's switch, and
// returns how many these were.
func (a *attempt) clearDead(row []uint8) int {
	n := 0
	for s, port := range row {
		at := fabric.NodeID(s)
		if at != a.packets.Home && port != routing.NoPort && a.f.Trunk(at, port) == fabric.None {
			row[at] = routing.NoPort
			n++
		}
	}
	return n
}
