package repair

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/packetset"
	"github.com/weft-fabric/weft/routing"
)

// ripUpDepths is how many levels deep destinations make way for destinations that make way: in the first
// search, and in the one after it if that leaves some.
var ripUpDepths = []int{2, 4}

const (
	ripUpAttempts = 12             // to give a switch an entry, each for another cut
	ripUpRounds   = 3              // over destinations that found no row: others may have moved in the meantime
	ripUpWork     = 6_000_000      // switches of rows that are read, times service levels, after which no destination is begun
	ripUpDeeper   = ripUpWork / 4  // of the deeper search, if the one before took more: it hardly comes to an end, but may have luck
	ripUpBetween  = ripUpWork / 20 // for what rows around one root leave, before the next is tried
)

// ripUp is rip-up and reroute, as routers of circuit boards do it: it looks for tables that reach the
// destinations which are left, at the expense of few others that lost nothing, with the service levels
// and SL2VL maps of the tables in force.
//
//	1 ── 2 ── 3    The cable 1–5 has failed. By 2, the packets of 1 to a LID on 5 would hold 1→2
//	│ ×  │    │    and wait for 2→5: a cycle with the dependencies 2→5→4, 5→4→1 and 4→1→2 of
//	4 ── 5    │    packets to other LIDs. Two LIDs cause the first two, one alone, on 2, the
//	└─────────┘    last: the least cut. That LID is ripped up and rerouted, from 4 by 3 to 2.
//	               Then 4→1→2 is gone from the graph, and 1→2→5 comes in.
//
// The graph is that of the new tables alone, free of cycles. Where a new entry needs a
// dependency that would close a cycle, a least cut tells which dependencies have to go, by
// the number of destinations whose packets cause each. Of the trunks of a switch the one
// is taken for which the fewest destinations have to make way. Each of these gets another
// entry where the dependency arises, or else a new row, which keeps to the old one where
// it can; or others make way for it in turn. What one destination waits for, no other is
// moved onto.
//
// Complexity: a least cut for each trunk that is tried, and O(S) for each destination that
// makes way; it ends after a number of these.
type ripUp struct {
	base    *attempt // with the new tables and their graph
	routers []*router
	users   *users // which destinations cause which dependencies by the tables in force
	ledger  ledger
	deepest int // routers of lower depth may have others make way
	work    int // done so far, as ripUpWork counts it
	most    int // work after which no destination is begun
}

// router gives one destination entries. There is one for each depth: where a destination of depth n needs
// others to make way, it waits in router n while router n+1 moves these, one after another.
type router struct {
	a     *attempt
	ripUp *ripUp
	depth int

	causedBefore, causesNow set    // dependencies that its packets caused before, and those that they cause now
	stayed                  []bool // [of causedBefore.list] whether ledger.stays said so before

	// Of the entry that is being tried.
	most  int                  // number of destinations that may have to make way for it
	price int                  // number that have to
	cut   []acyclic.Dependency // taken out of the graph for it
}

// newRipUp begins with the tables in force, without entries for hosts that are gone. Plan.ripUp makes one
// for each search, calls routeAll, and has steps planned towards base.step.Tables.
func newRipUp(ctx context.Context, in *problem, tables *routing.Tables, deepest, most int) (*ripUp, error) {
	r := &ripUp{base: in.newAttempt(tables), deepest: deepest, most: most}
	var err error
	if r.users, err = r.base.countUsers(ctx, tables.Forwarding); err != nil {
		return nil, err
	}
	r.base.graph = &acyclic.Journal{Lanes: acyclic.NewLanes(in.f, in.sources.Lanes, in.withTrees(r.users.each))}
	if r.base.graph.Lanes == nil {
		return nil, ErrLoop
	}
	r.base.clearGone()
	r.ledger = ledger{graph: r.base.graph, tables: r.base.step.Tables.Forwarding, count: r.users.counts(), stays: make([]bool, r.users.numbers.Count())}
	for _, d := range in.turns {
		n := r.users.numbers.Number(d)
		r.ledger.stays[n] = true
		r.ledger.count[n]++
	}
	return r, nil
}

// routeAll looks for rows for the destinations that are left, and writes those that it finds into the tables
// of base, with the rows of those that make way. Where one finds none, its twins find none either until
// others have moved.
func (r *ripUp) routeAll(ctx context.Context, left []Left) error {
	for range ripUpRounds {
		var again []Left
		failed, since := newTwins(r.base.problem), r.ledger.checkpoint() // those that found no row since the tables last changed
		for _, l := range left {
			if err := ctx.Err(); err != nil {
				return err
			}
			if now := r.ledger.checkpoint(); now != since {
				failed, since = newTwins(r.base.problem), now
			}
			if failed.of(l.LID, r.base.step.Tables.Forwarding) != l.LID || !r.reroute(l.LID, 0, true, nothing, everything) {
				again = append(again, l)
			}
		}
		if len(again) == 0 || len(again) == len(left) {
			break
		}
		left = again
	}
	return nil
}

// What of a row is given up before it is routed anew: the entry of a switch, or one of these.
const (
	nothing    fabric.NodeID = -1 - iota // except dead entries
	everything                           // all entries
)

// reroute gives a destination a new row in the tables of base and reports whether it found one; if not, all
// is as before. It tries in turn to give up the entry of each switch in without, nothing or everything, and
// takes the first that leads to a row. If cuts is set, others may make way for it.
func (r *ripUp) reroute(lid fabric.LID, depth int, cuts bool, without ...fabric.NodeID) bool {
	for len(r.routers) <= depth {
		r.routers = append(r.routers, &router{a: r.base.fork(), ripUp: r, depth: len(r.routers), causedBefore: r.users.newSet(), causesNow: r.users.newSet()})
	}
	t := r.routers[depth]
	t.read(lid)
	for _, at := range without {
		from := r.ledger.checkpoint()
		if r.work > r.most {
			return false
		}
		r.work += r.rowWork()
		if t.route(lid, at, cuts) {
			return true
		}
		r.ledger.rollback(from)
	}
	return false
}

// rowWork is the work of reading a row.
func (r *ripUp) rowWork() int { return r.base.f.Switches() * len(r.base.problem.sources.SLs) }

// route is one try of reroute: it gives up the entry of a switch, nothing or everything, and gives switches
// new entries in place of it and of dead ones. read(lid) has to come first. It reports whether all
// sources have a path; if not, reroute rolls back what it did.
func (t *router) route(lid fabric.LID, without fabric.NodeID, cuts bool) bool {
	a, p := t.a, t.a.packets
	by := a.forTraffic()
	by.take = func(s fabric.NodeID, c fabric.ChannelID) bool { return t.settle(s, c, 0) } // nobody makes way
	t.forget()
	t.most = 0
	p.Begin(a.row(lid), lid)
	switch without {
	case nothing:
	case everything:
		by.keep = append(by.keep, p.Entry...)
		for s := range p.Entry {
			p.Entry[s] = fabric.None
		}
	default:
		p.Entry[without] = fabric.None
	}
	if !p.Start(t.admit) {
		return false
	}
	if a.findRoots() {
		a.reattachAll(&by)
		for _, s := range a.roots {
			if cuts {
				t.attach(s, &by)
			}
		}
		if a.missing() != nil {
			return false
		}
	}
	changed := p.Added()
	if without == everything {
		changed = fabric.All[fabric.NodeID](a.f.Switches())
	}
	for _, s := range changed {
		if c := p.Last(s); c != fabric.None {
			t.ripUp.ledger.edit(lid, s, a.f.TailPorts()[c])
		} else if s != p.Home {
			t.ripUp.ledger.edit(lid, s, routing.NoPort)
		}
	}
	t.release(lid)
	return true
}

// forget uncounts what the packets of a destination cause by its row, which read has found, remembers in
// stayed which of it had to stay, and empties causesNow.
func (t *router) forget() {
	t.stayed = t.stayed[:0]
	t.causesNow.clear()
	for _, d := range t.causedBefore.list {
		t.stayed = append(t.stayed, t.ripUp.ledger.stays[d.number])
		t.ripUp.ledger.uncount(d)
	}
}

// read sets causedBefore to what the packets of a destination cause by its row in the tables of base.
func (t *router) read(lid fabric.LID) {
	t.causedBefore.clear()
	t.a.packets.Begin(t.a.row(lid), lid)
	t.a.packets.Start(func(in, out fabric.ChannelID) bool { t.causedBefore.add(t.ripUp.users.member(in, out)); return true })
}

// release ends route for a destination that has its new row: what its packets caused before and still cause
// has to stay no longer, unless it had to before. What it causes anew stays: others may have made way for it, and
// users does not have it. What only entries cause that it gave up on the way is uncounted.
func (t *router) release(lid fabric.LID) {
	for i, d := range t.causedBefore.list {
		if t.causesNow.has[d.number] && !t.stayed[i] {
			t.ripUp.ledger.free(d.number)
		}
	}
	t.read(lid)
	for _, d := range t.causesNow.list {
		if t.causesNow.has[d.number] && !t.causedBefore.has[d.number] {
			t.causesNow.has[d.number] = false
			t.ripUp.ledger.uncount(d)
		}
	}
}

// attach gives a switch whose path is broken the entry for which the fewest destinations make way, and has
// them do so. If there is none, it tries the switches that forward to it.
func (t *router) attach(s fabric.NodeID, by *rules) {
	a := t.a
	if a.dist[s] != unknown || !by.wanted(s) {
		return
	}
	for range ripUpAttempts {
		best, least := fabric.ChannelID(fabric.None), len(t.ripUp.users.lids)
		for _, c := range a.trunksToTry(s, by, int32(a.problem.o.Slack)) {
			packets, ledger := a.packets.Mark(), t.ripUp.ledger.checkpoint()
			if t.try(s, c, least-1) {
				best, least = c, t.price
			}
			t.rollback(packets, ledger)
		}
		if best == fabric.None {
			break
		}
		if t.settle(s, best, least) {
			a.attached(s, best)
			return
		}
	}
	for c := a.child[s]; c != fabric.None; c = a.sibling[c] {
		t.attach(c, by)
	}
}

// settle gives a switch an entry, if at most so many others have to make way, and moves these. It reports
// whether all of them could; if not, all is as before, except that the dependency that could not be freed
// has to stay from now on, so that no other try cuts it.
func (t *router) settle(s fabric.NodeID, c fabric.ChannelID, most int) bool {
	r := t.ripUp
	packets, ledger := t.a.packets.Mark(), r.ledger.checkpoint()
	if !t.try(s, c, most) {
		t.rollback(packets, ledger)
		return false
	}
	for _, d := range t.cut {
		for _, lid := range r.users.causing(d) {
			if !r.move(lid, d, t.depth+1) {
				t.rollback(packets, ledger)
				r.ledger.stays[r.users.numbers.Number(d)] = true
				return false
			}
		}
	}
	return true
}

// try gives a switch an entry and takes out of the graph what is in its way: cut, which price destinations
// cause. It fails if these would be more than so many, and then the caller has to roll back.
func (t *router) try(s fabric.NodeID, c fabric.ChannelID, most int) bool {
	t.most, t.price, t.cut = most, 0, t.cut[:0]
	return t.a.packets.Add(s, c, t.admit)
}

// rollback undoes what was tried since these two checkpoints.
func (t *router) rollback(packets packetset.Mark, ledger ledgerCheckpoint) {
	t.a.packets.TakeBack(packets)
	t.ripUp.ledger.rollback(ledger)
}

// move has a destination make way: it gives it a row that does not cause a dependency, and reports whether
// there is one, or it no longer causes it. depth is that of the router that does it.
func (r *ripUp) move(lid fabric.LID, d acyclic.Dependency, depth int) bool {
	f, lanes, row := r.base.f, fabric.ChannelID(r.base.problem.sources.Lanes), r.base.row(lid)
	in, out := f.Channel(d.In/lanes), f.Channel(d.Out/lanes)
	if row[in.From] != in.FromPort || row[out.From] != out.FromPort {
		return true // it did make way already
	}
	for _, t := range r.routers[:depth] {
		if t.a.packets.LID == lid {
			return true // it waits in router t: what it causes now has to stay and is not cut, so d is not among it
		}
	}
	return r.reroute(lid, depth, false, in.From, out.From, everything) ||
		depth < r.deepest && r.reroute(lid, depth, true, in.From, out.From, everything)
}

// admit adds a dependency to the graph and counts it for the destination that is routed. If it closes a cycle,
// a least cut of what is in its way is taken out of the graph first, as far as most allows: try and settle
// see to it that its destinations make way. It reports whether the dependency is in.
func (t *router) admit(in, out fabric.ChannelID) bool {
	r, d := t.ripUp, t.ripUp.users.member(in, out)
	if t.causesNow.has[d.number] {
		return true
	}
	graph := r.base.graph
	if !graph.Admit(in, out) {
		if in == out || t.price >= t.most {
			return false
		}
		if r.work += r.rowWork(); r.work > r.most {
			return false
		}
		cut, price, ok := graph.Cut(out, in, t.most-t.price, r.weight)
		if !ok {
			return false
		}
		t.price += price
		t.cut = append(t.cut, cut...)
		for _, c := range cut {
			graph.Remove(c)
		}
		graph.Admit(in, out)
	}
	r.ledger.cause(&t.causesNow, d)
	return true
}

// weight is how many destinations have to make way for a dependency to be gone, or -1 if it has to stay: what
// a least cut counts.
func (r *ripUp) weight(d acyclic.Dependency) int {
	n := r.users.numbers.Number(d)
	if r.ledger.stays[n] {
		return -1
	}
	return int(r.ledger.count[n])
}
