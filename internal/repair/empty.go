package repair

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/packetset"
	"github.com/weft-fabric/weft/routing"
)

// emptyEntries says which entries are empty because the path finder left them so, and stay: ftree, for
// instance, leaves those of a top switch for another one, between which no path goes first up and then
// down. New ones are changes that no packet in scope needs, and may close a credit loop once ports 0 of
// switches send. An entry that is empty because its switch was cut off, or that a step of the plan
// removed, is not one of them.
type emptyEntries struct {
	f     *fabric.Fabric
	was   *history
	scope routing.Scope
	ends  []bool  // [switch] it has endpoints in scope
	part  []int32 // [switch of the fabric before the failure] its connected component; nil until read is called
	led   []bool  // [switch of the fabric before the failure] some entry of it led to another switch

	lid  fabric.LID // the one that stay was asked about last; 0: none yet
	row  []uint8    // its entries before the failure; nil: none of them stays empty
	home fabric.NodeID
}

func newEmptyEntries(f *fabric.Fabric, was *history, scope routing.Scope) *emptyEntries {
	return &emptyEntries{f: f, was: was, scope: scope, ends: scope.Ends(f)}
}

// read sets part and led, once the first empty entry is met: most tables have none.
func (e *emptyEntries) read() {
	before := e.was.tables.Fabric
	e.part, e.led = before.PartOf(before.Parts()), make([]bool, before.Switches())
	for lid := range before.LIDs() {
		for s, port := range e.was.tables.Forwarding.Row(lid) {
			e.led[s] = e.led[s] || port != routing.NoPort && before.Trunk(fabric.NodeID(s), port) != fabric.None
		}
	}
}

// stay reports whether the entry of a switch for a LID, which is empty now, was so before the failure, although
// cables led from there to the destination and the row had other entries, and whether no packet in scope
// starts there.
func (e *emptyEntries) stay(s fabric.NodeID, lid fabric.LID) bool {
	if e.was.tables == nil || e.was.counterpart[s] == fabric.None {
		return false
	}
	if e.ends[s] && e.scope.Includes(e.f.Endpoint(e.f.Owner(lid)).Class) {
		return false
	}
	if e.part == nil {
		e.read()
	}
	if lid != e.lid {
		e.find(lid)
	}
	at := e.was.counterpart[s]
	return e.row != nil && e.row[at] == routing.NoPort && e.part[at] == e.part[e.home] && e.led[at]
}

// find sets row and home for a LID. None of its entries stays empty if the LID belonged to nobody on a switch before
// the failure, or if no other switch had an entry.
func (e *emptyEntries) find(lid fabric.LID) {
	before := e.was.tables.Fabric
	e.lid, e.row = lid, nil
	if lid > before.TopLID() {
		return
	}
	if e.home = packetset.Home(before, lid); e.home == fabric.None {
		return
	}
	row := e.was.tables.Forwarding.Row(lid)[:before.Switches()]
	for s, port := range row {
		if port != routing.NoPort && fabric.NodeID(s) != e.home {
			e.row = row
			return
		}
	}
}

// staysEmpty reports whether the entry in force of a switch, for the LID at hand, is empty and stays so.
func (a *attempt) staysEmpty(s fabric.NodeID) bool {
	return a.packets.Entry[s] == fabric.None && a.problem.dead.empty.stay(s, a.packets.LID)
}

// startsEmpty is staysEmpty for a switch that no other forwards to: what starts there had no path before either.
func (a *attempt) startsEmpty(s fabric.NodeID) bool {
	return a.child[s] == fabric.None && a.staysEmpty(s)
}
