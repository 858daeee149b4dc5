package repair

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/packetset"
	"github.com/weft-fabric/weft/routing"
)

// ripUpDepths is how deep destinations make way for destinations that make way, first and if
// that does not help.
var ripUpDepths = []int{2, 4}

const (
	ripUpAttempts = 12             // to give a switch an entry, each for another cut
	ripUpRounds   = 3              // for destinations that found no row, since others may have moved
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
	users   *users // of the tables in force
	ledger  ledger
	deepest int // of routers for which others make way
	work    int // see ripUpWork
	most    int // work after which no destination is begun
}

// router gives a destination entries, one router for each depth: a destination waits there until
// others have made way.
type router struct {
	a     *attempt
	ripUp *ripUp
	depth int

	caused, causes set    // dependencies that its packets caused before, and those that they cause now
	stayed         []bool // [of caused.list] whether it has to stay

	// Of the attempt at hand.
	most  int                  // number of destinations that may have to make way
	price int                  // those that have to
	cut   []acyclic.Dependency // taken out of the graph
}

// newRipUp begins with the tables in force, without entries for hosts that are gone.
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

// routeAll looks for rows for destinations. Its new tables have entries of all for which
// it finds one. Where one finds none, its twins find none either until others have moved.
func (r *ripUp) routeAll(ctx context.Context, left []Left) error {
	for range ripUpRounds {
		var again []Left
		same, failed := newTwins(r.base.problem), r.ledger.checkpoint() // of those since the last that found a row
		for _, l := range left {
			if err := ctx.Err(); err != nil {
				return err
			}
			if now := r.ledger.checkpoint(); now != failed {
				same, failed = newTwins(r.base.problem), now
			}
			if same.of(l.LID, r.base.step.Tables.Forwarding) != l.LID || !r.reroute(l.LID, 0, true, nothing, everything) {
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

// Beside a switch: what of a row is given up at first.
const (
	nothing    fabric.NodeID = -1 - iota // but dead entries
	everything                           // all entries
)

// reroute gives a destination a row without the entry of a switch, nothing or everything: the
// first of several that can be had. It reports whether one can.
func (r *ripUp) reroute(lid fabric.LID, depth int, cuts bool, without ...fabric.NodeID) bool {
	for len(r.routers) <= depth {
		r.routers = append(r.routers, &router{a: r.base.fork(), ripUp: r, depth: len(r.routers), caused: r.users.newSet(), causes: r.users.newSet()})
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

// route gives a destination, whose packets cause what read has found, entries in place of dead
// ones and of those of a switch, nothing or everything. Others make way only if cuts. It reports
// whether all sources have a path.
func (t *router) route(lid fabric.LID, without fabric.NodeID, cuts bool) bool {
	a, p := t.a, t.a.packets
	by := a.forTraffic()
	by.take = func(s fabric.NodeID, c fabric.ChannelID) bool { return t.settle(s, c, 0) }
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

// forget takes back what read has found the packets of a destination to cause.
func (t *router) forget() {
	t.stayed = t.stayed[:0]
	t.causes.clear()
	for _, d := range t.caused.list {
		t.stayed = append(t.stayed, t.ripUp.ledger.stays[d.number])
		t.ripUp.ledger.uncount(d)
	}
}

// read sets caused to what the packets of a destination cause by its row.
func (t *router) read(lid fabric.LID) {
	t.caused.clear()
	t.a.packets.Begin(t.a.row(lid), lid)
	t.a.packets.Start(func(in, out fabric.ChannelID) bool { t.caused.add(t.ripUp.users.member(in, out)); return true })
}

// release notes that a destination which has its row could be moved off what its packets
// caused before, too. What it found in addition stays: others may have made way for it, and
// users does not have it. What only its given up entries would cause, it causes no more.
func (t *router) release(lid fabric.LID) {
	for i, d := range t.caused.list {
		if t.causes.has[d.number] && !t.stayed[i] {
			t.ripUp.ledger.free(d.number)
		}
	}
	t.read(lid)
	for _, d := range t.causes.list {
		if t.causes.has[d.number] && !t.caused.has[d.number] {
			t.causes.has[d.number] = false
			t.ripUp.ledger.uncount(d)
		}
	}
}

// attach gives a switch whose path is broken the entry for which the fewest destinations
// make way, or the switches that forward to it.
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

// settle gives a switch an entry, if at most so many others have to make way and can.
func (t *router) settle(s fabric.NodeID, c fabric.ChannelID, most int) bool {
	r := t.ripUp
	packets, ledger := t.a.packets.Mark(), r.ledger.checkpoint()
	if !t.try(s, c, most) {
		t.rollback(packets, ledger)
		return false
	}
	for _, d := range t.cut {
		for _, lid := range r.users.of(d) {
			if !r.move(lid, d, t.depth+1) {
				t.rollback(packets, ledger)
				r.ledger.stays[r.users.numbers.Number(d)] = true
				return false
			}
		}
	}
	return true
}

// try gives a switch an entry and takes out of the graph what is in its way. It fails if
// more than so many destinations would have to make way.
func (t *router) try(s fabric.NodeID, c fabric.ChannelID, most int) bool {
	t.most, t.price, t.cut = most, 0, t.cut[:0]
	return t.a.packets.Add(s, c, t.admit)
}

// rollback undoes an attempt.
func (t *router) rollback(packets packetset.Mark, ledger ledgerCheckpoint) {
	t.a.packets.TakeBack(packets)
	t.ripUp.ledger.rollback(ledger)
}

// move gives a destination a row that does not cause a dependency.
func (r *ripUp) move(lid fabric.LID, d acyclic.Dependency, depth int) bool {
	f, lanes, row := r.base.f, fabric.ChannelID(r.base.problem.sources.Lanes), r.base.row(lid)
	in, out := f.Channel(d.In/lanes), f.Channel(d.Out/lanes)
	if row[in.From] != in.FromPort || row[out.From] != out.FromPort {
		return true // it did make way already
	}
	for _, t := range r.routers[:depth] {
		if t.a.packets.LID == lid {
			return true // it is being routed: what it causes stays, and this does not
		}
	}
	return r.reroute(lid, depth, false, in.From, out.From, everything) ||
		depth < r.deepest && r.reroute(lid, depth, true, in.From, out.From, everything)
}

// admit has the packets of a destination cause a dependency. What is in its way is
// taken out of the graph.
func (t *router) admit(in, out fabric.ChannelID) bool {
	r, d := t.ripUp, t.ripUp.users.member(in, out)
	if t.causes.has[d.number] {
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
	r.ledger.cause(&t.causes, d)
	return true
}

// weight is how many destinations have to make way for a dependency to be gone, or -1 if
// it has to stay.
func (r *ripUp) weight(d acyclic.Dependency) int {
	n := r.users.numbers.Number(d)
	if r.ledger.stays[n] {
		return -1
	}
	return int(r.ledger.count[n])
}
