package repair

import (
	"cmp"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/packetset"
	"github.com/weft-fabric/weft/routing"
)

// attempt is a step under construction: of a repair, a migration, a rebuilding. Switches get new entries, one
// destination after another; what does not work out is rolled back to a checkpoint.
type attempt struct {
	problem *problem
	f       *fabric.Fabric
	before  *routing.Tables // in force when the step begins
	step    Step
	graph   *acyclic.Journal // of all mixtures of the tables in force and those of the step; nil before derive
	load    []int64          // [trunk] pairs in scope that pass it
	left    []Left
	later   []Left // destinations that have moved to another switch: the next step leads packets there

	// Per LID, all [switch].
	packets        *packetset.Packets
	child, sibling []fabric.NodeID // lists of the switches that forward to a switch by the entries in force; None ends a list
	dist           []int32         // hops to the destination along a working path; unknown: the path is broken
	best           []int32         // hops of a shortest path; unknown, which is None: the cables do not reach the destination

	fresh      bool            // no switch has an entry for the LID: its owner is new
	bestTo     fabric.NodeID   // the destination switch for which best was computed
	queue      []fabric.NodeID // the switches that markReached has reached last
	roots      []fabric.NodeID // switches with dead entries, see findRoots; none of Up*/Down*
	candidates []fabric.ChannelID
}

// newAttempt begins a step from the tables in force, with a copy of their entries and no graph.
func (p *problem) newAttempt(tables *routing.Tables) *attempt {
	p.attempts++
	a := &attempt{problem: p, f: p.f, before: tables, load: make([]int64, p.f.Trunks())}
	a.step.Tables = &routing.Tables{Fabric: p.f, Forwarding: p.entriesOf(tables), Lanes: tables.Lanes, Multicast: tables.Multicast}
	return a.fork()
}

// fork is an attempt at the same step, whose graph, loads and tables it shares, with its own destination at
// hand.
func (a *attempt) fork() *attempt {
	b, n := *a, a.f.Switches()
	b.packets = packetset.New(a.problem.sources)
	b.packets.Absent = a.problem.lacks
	b.child, b.sibling, b.dist = make([]fabric.NodeID, n), make([]fabric.NodeID, n), make([]int32, n)
	b.bestTo, b.queue, b.roots, b.candidates = fabric.None, nil, nil, nil
	return &b
}

// checkpoint is what an attempt can be rolled back to while it is at a destination.
type checkpoint struct {
	packets packetset.Mark
	graph   int
}

func (a *attempt) checkpoint() checkpoint {
	return checkpoint{a.packets.Mark(), a.graph.Checkpoint()}
}

func (a *attempt) rollback(to checkpoint) {
	a.packets.TakeBack(to.packets)
	a.graph.Rollback(to.graph)
}

// row is the entries for a LID after the step, in which changes are written; old is those in force.
func (a *attempt) row(lid fabric.LID) []uint8 { return a.step.Tables.Forwarding.Row(lid) }
func (a *attempt) old(lid fabric.LID) []uint8 { return a.before.Forwarding.Row(lid) }

// begin makes a LID the one at hand, with its entries in force.
func (a *attempt) begin(lid fabric.LID) { a.packets.Begin(a.old(lid), lid) }

// take gives a switch a new entry, by trunk c, if all packets that arrive there, in any mixture of tables, can
// go on by it without closing a cycle. It reports whether they can; if not, all is as before.
func (a *attempt) take(s fabric.NodeID, c fabric.ChannelID) bool {
	at := a.checkpoint()
	if a.packets.Add(s, c, a.graph.Admit) {
		return true
	}
	a.rollback(at)
	return false
}

// rules is how switches with broken paths get entries.
type rules struct {
	wanted   func(s fabric.NodeID) bool                     // reports whether a switch needs an entry
	take     func(s fabric.NodeID, c fabric.ChannelID) bool // gives a switch an entry, if that is safe, and reports whether it is
	patient  bool                                           // a switch waits for the next step if it has a trunk, but may not take it in this one
	shortest bool                                           // slack is counted from shortest paths only, not from those before the failure
	keep     []fabric.ChannelID                             // [switch] preferred to trunks as near to the destination; empty: none
}

// forTraffic is the rules for packets in scope: switches need an entry where such packets arrive or start.
// In a new row all do: it grows from its destination, although no packets arrive there yet.
func (a *attempt) forTraffic() rules {
	return rules{wanted: func(s fabric.NodeID) bool { return a.fresh || a.packets.Visit(s) && !a.startsEmpty(s) }, take: a.take}
}

// reattachAll gives new entries to the switches in roots, which findRoots has found, or to those that forward
// to them: once for each number of hops by which paths may be longer, and each time those nearest to the
// destination first. What it changes are packets, graph, loads and dist; write puts it into a row.
func (a *attempt) reattachAll(by *rules) {
	for slack := range int32(a.problem.o.Slack + 1) {
		a.reattachRoots(by, slack)
	}
}

func (a *attempt) reattachRoots(by *rules, slack int32) {
	for _, r := range a.roots {
		a.reattach(r, by, slack)
	}
}

// reattach gives a switch whose path is broken a new entry. If no trunk works, it tries
// the switches that forward to it.
func (a *attempt) reattach(s fabric.NodeID, by *rules, slack int32) {
	if a.dist[s] != unknown || !by.wanted(s) || a.attach(s, by, slack) {
		return
	}
	for c := a.child[s]; c != fabric.None; c = a.sibling[c] {
		if by.patient && len(a.trunksToTry(s, by, slack)) > 0 {
			return
		}
		a.reattach(c, by, slack)
	}
}

// attach gives a switch a new entry, also if it has a working path, and reports whether one of its trunks
// works.
func (a *attempt) attach(s fabric.NodeID, by *rules, slack int32) bool {
	for _, c := range a.trunksToTry(s, by, slack) {
		if by.take(s, c) {
			a.attached(s, c)
			return true
		}
	}
	return false
}

// attached notes that a switch, and all that forward to it, have working paths by trunk c, and adds their load.
func (a *attempt) attached(s fabric.NodeID, c fabric.ChannelID) {
	a.markReached(s, a.dist[a.f.Heads()[c]]+1)
	a.addLoad(s)
}

// trunksToTry is the trunks from a switch to switches with working paths that make its
// path at most slack hops longer than it was or than a shortest one; the shortest
// first, of these the least loaded.
func (a *attempt) trunksToTry(s fabric.NodeID, by *rules, slack int32) []fabric.ChannelID {
	heads := a.f.Heads()
	most := a.best[s] + slack
	if !by.shortest {
		most = max(a.problem.was.hops(s, a.packets.LID)+slack, most)
	}
	a.candidates = a.candidates[:0]
	first, end := a.f.TrunksFrom(s)
	for c := first; c < end; c++ {
		if d := a.dist[heads[c]]; d != unknown && d+1 <= most && !a.problem.mustLeave(s, c, a.packets.Home) {
			a.candidates = append(a.candidates, c)
		}
	}
	kept := func(c fabric.ChannelID) int {
		if len(by.keep) > 0 && by.keep[s] == c {
			return 1
		}
		return 0
	}
	slices.SortFunc(a.candidates, func(x, y fabric.ChannelID) int {
		return cmp.Or(cmp.Compare(a.dist[heads[x]], a.dist[heads[y]]), cmp.Compare(kept(y), kept(x)), cmp.Compare(a.load[x], a.load[y]), cmp.Compare(x, y))
	})
	return a.candidates
}

// findRoots sets roots to the switches whose own entry is dead, or has to be left, and from which the cables
// reach the destination, those nearest to it first. It reports whether there are any. It sets dist, best
// and fresh, too.
func (a *attempt) findRoots() bool {
	a.roots = a.roots[:0]
	a.markWhole()
	entry, home := a.packets.Entry, a.packets.Home
	a.fresh = !slices.ContainsFunc(entry, func(c fabric.ChannelID) bool { return c != fabric.None })
	for s, c := range entry {
		if (c == fabric.None || a.problem.mustLeave(fabric.NodeID(s), c, home)) && a.dist[s] == unknown {
			a.roots = append(a.roots, fabric.NodeID(s))
		}
	}
	if len(a.roots) == 0 {
		return false
	}
	a.measure()
	a.roots = slices.DeleteFunc(a.roots, func(s fabric.NodeID) bool { return a.best[s] == unknown })
	a.sortByHops(a.roots)
	return len(a.roots) > 0
}

// sortByHops puts those switches first that are nearest to the destination.
func (a *attempt) sortByHops(list []fabric.NodeID) {
	slices.SortFunc(list, func(x, y fabric.NodeID) int { return cmp.Or(cmp.Compare(a.best[x], a.best[y]), cmp.Compare(x, y)) })
}

// measure sets best, the hops of shortest paths to the destination at hand.
func (a *attempt) measure() {
	if a.bestTo != a.packets.Home {
		a.bestTo = a.packets.Home
		a.best = a.f.Hops(a.bestTo)
	}
}

// markWhole sets dist, child and sibling by the entries in force: dist is known of switches whose paths are
// whole.
func (a *attempt) markWhole() {
	heads, home := a.f.Heads(), a.packets.Home
	for s := range a.dist {
		a.dist[s], a.child[s] = unknown, fabric.None
	}
	for s, c := range a.packets.Entry {
		if c != fabric.None && fabric.NodeID(s) != home && !a.problem.mustLeave(fabric.NodeID(s), c, home) {
			u := heads[c]
			a.sibling[s], a.child[u] = a.child[u], fabric.NodeID(s)
		}
	}
	a.markReached(home, 0)
}

// markReached sets dist for a switch and for all that forward to it by entries that do
// not change.
func (a *attempt) markReached(s fabric.NodeID, hops int32) {
	a.dist[s] = hops
	a.queue = append(a.queue[:0], s)
	for i := 0; i < len(a.queue); i++ {
		at := a.queue[i]
		for c := a.child[at]; c != fabric.None; c = a.sibling[c] {
			if a.dist[c] == unknown {
				a.dist[c] = a.dist[at] + 1
				a.queue = append(a.queue, c)
			}
		}
	}
}

// addLoad counts the pairs of switch s, for which markReached was called last, and of all that forward to it
// on the new path of s.
func (a *attempt) addLoad(s fabric.NodeID) {
	pairs := int64(0)
	for _, at := range a.queue {
		pairs += a.packets.Count(at)
	}
	for s != a.packets.Home {
		c := a.packets.Last(s)
		a.load[c] += pairs
		s = a.f.Heads()[c]
	}
}

// missing is the switches with sources that have no path to the LID at hand, although cables lead there; nil
// if all have one.
func (a *attempt) missing() []fabric.NodeID {
	var list []fabric.NodeID
	for s, hops := range a.dist {
		if hops == unknown && a.best[s] != unknown && a.packets.Send(fabric.NodeID(s), a.packets.LID) && !a.startsEmpty(fabric.NodeID(s)) {
			list = append(list, fabric.NodeID(s))
		}
	}
	return list
}

// inForce makes a LID the one at hand, sends its packets by the entries in force, and sets dist and best.
func (a *attempt) inForce(lid fabric.LID) {
	a.begin(lid)
	a.packets.Start(packetset.Any) // these dependencies are in the graph already
	a.markWhole()
	a.measure()
}

// deliver has the destination's switch deliver, by its entry in row, and returns how many entries that
// changes, 0 or 1.
func (a *attempt) deliver(lid fabric.LID, row []uint8) int {
	e := a.f.Endpoint(a.f.Owner(lid))
	port := a.f.LastPort(e)
	if row[e.Switch] == port {
		return 0
	}
	row[e.Switch] = port
	return 1
}

// write puts the entries that switches were given for the LID at hand into row, and returns how many that
// changes.
func (a *attempt) write(row []uint8) int {
	n := 0
	for _, s := range a.packets.Added() {
		if port := a.f.TailPorts()[a.packets.Last(s)]; row[s] != port {
			row[s] = port
			n++
		}
	}
	return n
}

// clearGone removes the entries for hosts that are gone: packets that are still sent there are dropped
// by their first switch.
func (a *attempt) clearGone() {
	for _, lid := range a.problem.gone {
		for at := range a.row(lid) {
			a.row(lid)[at] = routing.NoPort
		}
	}
}
