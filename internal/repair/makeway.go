package repair

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/routing"
)

// wayDepths is how deep destinations make way for destinations that make way, first and if
// that does not help.
var wayDepths = []int{2, 4}

const (
	wayAttempts = 12           // to give a switch an entry, each for another cut
	wayRounds   = 3            // for destinations that found no place, since others may have moved
	wayWork     = 6_000_000    // switches of rows that are read, times service levels, after which no destination is begun
	wayDeeper   = wayWork / 4  // of the deeper search, if the one before took more: it hardly comes to an end, but may have luck
	wayBetween  = wayWork / 20 // for what rows around one root leave, before the next is tried
)

// way looks for tables that reach the destinations which are left, at the expense of few
// others that lost nothing, with the service levels and SL2VL maps of the tables in force.
//
// Its graph is that of the new tables alone, free of cycles. Where a new entry needs a
// dependency that would close a cycle, a least cut tells which dependencies have to go, by
// the number of destinations whose packets cause each. Of the trunks of a switch the one
// is taken for which the fewest destinations have to make way. Each of these gets another
// entry where the dependency arises, or else a new row, which keeps to the old one where
// it can; or others make way for it in turn. What one destination waits for, no other is
// moved onto.
//
// Complexity: a least cut for each trunk that is tried, and O(S) for each destination that
// makes way; it ends after a number of these.
type way struct {
	*step
	placers []*placer // one for each depth: a destination waits there until others have made way
	users   *users    // of the tables in force
	count   []int32   // [dependency, as users number them] destinations that cause it by the new tables
	stays   []bool    // [dependency] no destination is moved off it
	log     []logged
	deepest int // of placers for which others make way
	work    int // see wayWork
	most    int // work after which no destination is begun
}

// placer gives a destination entries.
type placer struct {
	*mender
	way   *way
	depth int

	caused, causes set    // dependencies that its packets caused before, and those that they cause now
	stayed         []bool // [of caused.list] whether it has to stay

	// Of the attempt at hand.
	most  int                  // number of destinations that may have to make way
	price int                  // those that have to
	cut   []acyclic.Dependency // taken out of the graph
}

// newWay begins with the tables in force, without entries for hosts that are gone: packets
// that are still sent there are dropped by their first switch.
func newWay(ctx context.Context, sh *shared, tables *routing.Tables, deepest, most int) (*way, error) {
	w := &way{step: sh.newStep(tables), deepest: deepest, most: most}
	var err error
	if w.users, err = w.countUsers(ctx, tables.Forwarding); err != nil {
		return nil, err
	}
	if w.graph = acyclic.NewLanes(w.f, w.flow.lanes, w.besideTrees(w.users.each)); w.graph == nil {
		return nil, ErrLoop
	}
	w.clearGone()
	w.stays, w.count = make([]bool, w.users.dependencies()), w.users.counts()
	for _, d := range w.turns {
		n := w.users.number(d)
		w.stays[n] = true
		w.count[n]++
	}
	return w, nil
}

// clearGone removes the entries for hosts that are gone.
func (s *step) clearGone() {
	for _, lid := range s.gone {
		row := s.Tables.Forwarding.Row(lid)
		for at := range row {
			row[at] = routing.NoPort
		}
	}
}

// placeAll looks for places for destinations. Its new tables have entries of all for which
// it finds one. Where one finds none, its twins find none either until others have moved.
func (w *way) placeAll(ctx context.Context, left []Left) error {
	for range wayRounds {
		var again []Left
		same, failed := newTwins(w.levels), 0 // of those since the last that found a place
		for _, l := range left {
			if err := ctx.Err(); err != nil {
				return err
			}
			if len(w.log) != failed {
				same, failed = newTwins(w.levels), len(w.log)
			}
			if same.of(l.LID, w.Tables.Forwarding) != l.LID || !w.placed(l.LID, 0, true, nobody, everybody) {
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
	nobody    fabric.NodeID = -1 - iota // only dead entries
	everybody                           // all entries
)

// placed gives a destination a row without the entry of a switch, nobody or everybody: the
// first of several that can be had. It says whether one can.
func (w *way) placed(lid fabric.LID, depth int, cuts bool, without ...fabric.NodeID) bool {
	for len(w.placers) <= depth {
		s := *w.step
		s.flow = s.newFlow(s.before)
		p := &placer{mender: newMender(&s), way: w, depth: len(w.placers), caused: w.users.newSet(), causes: w.users.newSet()}
		p.take = func(at fabric.NodeID, c fabric.ChannelID) bool { return p.settle(at, c, 0) }
		w.placers = append(w.placers, p)
	}
	p := w.placers[depth]
	p.read(lid, w.Tables.Forwarding.Row(lid))
	for _, at := range without {
		from := len(w.log)
		if w.work > w.most {
			return false
		}
		w.work += w.f.Switches() * len(w.levels.used)
		if p.place(lid, at, cuts) {
			return true
		}
		w.undo(from)
	}
	return false
}

// place gives a destination, whose packets cause what read has found, entries in place of dead
// ones and of those of a switch, nobody or everybody. Others make way only if cuts. It says whether
// all sources have a path.
func (p *placer) place(lid fabric.LID, without fabric.NodeID, cuts bool) bool {
	f, row := p.flow, p.Tables.Forwarding.Row(lid)
	p.forget()
	p.most, p.keep = 0, p.keep[:0]
	f.depend = func(in, out fabric.ChannelID) bool { return p.wants(p.member(in, out)) }
	f.begin(row, lid)
	switch without {
	case nobody:
	case everybody:
		p.keep = append(p.keep, f.cur...)
		for s := range f.cur {
			f.cur[s] = fabric.None
		}
		f.dead = true
	default:
		f.cur[without], f.dead = fabric.None, true
	}
	if !f.startAll() {
		return false
	}
	if p.findRoots() {
		for slack := range int32(p.o.Slack + 1) {
			p.reattachAll(slack)
		}
		for _, r := range p.roots {
			if cuts {
				p.clear(r)
			}
		}
		if p.missing(lid) != nil {
			return false
		}
	}
	for s, c := range f.next {
		if s := fabric.NodeID(s); c != fabric.None || without == everybody && s != f.home {
			p.way.edit(lid, s, p.port(c))
		}
	}
	p.release(lid, row)
	return true
}

// forget is that the packets of a destination cause nothing more of what read has found.
func (p *placer) forget() {
	p.stayed = p.stayed[:0]
	p.causes.clear()
	for _, d := range p.caused.list {
		p.stayed = append(p.stayed, p.way.stays[d.number])
		p.way.uncount(d)
	}
}

// read sets caused to what the packets of a destination cause by a row.
func (p *placer) read(lid fabric.LID, row []uint8) {
	p.caused.clear()
	p.flow.depend = func(in, out fabric.ChannelID) bool { p.caused.add(p.member(in, out)); return true }
	p.flow.begin(row, lid)
	p.flow.startAll()
}

// release is that a destination which has its place could be moved off what its packets
// caused before, too. What it found in addition stays: others may have made way for it, and
// users does not have it. What only its given up entries would cause, it causes no more.
func (p *placer) release(lid fabric.LID, row []uint8) {
	for i, d := range p.caused.list {
		if p.causes.has[d.number] && !p.stayed[i] {
			p.way.free(d.number)
		}
	}
	p.read(lid, row)
	for _, d := range p.causes.list {
		if p.causes.has[d.number] && !p.caused.has[d.number] {
			p.causes.has[d.number] = false
			p.way.uncount(d)
		}
	}
}

// clear gives a switch whose path is broken the entry for which the fewest destinations
// make way, or the switches that forward to it.
func (p *placer) clear(s fabric.NodeID) {
	if p.dist[s] != unknown || !p.wanted(s) {
		return
	}
	for range wayAttempts {
		best, least := fabric.ChannelID(fabric.None), len(p.way.users.lids)
		for _, c := range p.trunksToTry(s, int32(p.o.Slack)) {
			from := len(p.way.log)
			if p.try(s, c, least-1) {
				best, least = c, p.price
			}
			p.takeBack(s, from)
		}
		if best == fabric.None {
			break
		}
		if p.settle(s, best, least) {
			p.markReached(s, p.dist[p.f.Heads()[best]]+1)
			p.addLoad(s)
			return
		}
	}
	for c := p.child[s]; c != fabric.None; c = p.sibling[c] {
		p.clear(c)
	}
}

// settle gives a switch an entry, if at most so many others have to make way and can.
func (p *placer) settle(s fabric.NodeID, c fabric.ChannelID, most int) bool {
	w := p.way
	from := len(w.log)
	if !p.try(s, c, most) {
		p.takeBack(s, from)
		return false
	}
	for _, d := range p.cut {
		for _, lid := range w.users.of(d) {
			if !w.move(lid, d, p.depth+1) {
				p.takeBack(s, from)
				w.stays[w.users.number(d)] = true
				return false
			}
		}
	}
	return true
}

// try gives a switch an entry and takes out of the graph what is in its way. It fails if
// more than so many destinations would have to make way.
func (p *placer) try(s fabric.NodeID, c fabric.ChannelID, most int) bool {
	p.begin()
	p.most, p.price, p.cut = most, 0, p.cut[:0]
	p.flow.next[s] = c
	return p.join(s, c)
}

// takeBack undoes an attempt.
func (p *placer) takeBack(s fabric.NodeID, from int) {
	p.rollBack([]fabric.NodeID{s})
	p.way.undo(from)
}

// move gives a destination a row that does not cause a dependency.
func (w *way) move(lid fabric.LID, d acyclic.Dependency, depth int) bool {
	lanes := fabric.ChannelID(w.flow.lanes)
	row := w.Tables.Forwarding.Row(lid)
	in, out := w.f.Channel(d.In/lanes), w.f.Channel(d.Out/lanes)
	if row[in.From] != in.FromPort || row[out.From] != out.FromPort {
		return true // it did make way already
	}
	for _, p := range w.placers[:depth] {
		if p.flow.lid == lid {
			return true // it is being placed: what it causes stays, and this does not
		}
	}
	return w.placed(lid, depth, false, in.From, out.From, everybody) ||
		depth < w.deepest && w.placed(lid, depth, true, in.From, out.From, everybody)
}

func (p *placer) member(in, out fabric.ChannelID) member {
	d := acyclic.Dependency{In: in, Out: out}
	return member{d, p.way.users.number(d)}
}

// wants is that the packets of a destination cause a dependency. What is in its way is
// taken out of the graph.
func (p *placer) wants(d member) bool {
	w := p.way
	if p.causes.has[d.number] {
		return true
	}
	if !w.graph.Has(d.In, d.Out) && !w.add(d.Dependency) {
		if d.In == d.Out || p.price >= p.most {
			return false
		}
		if w.work += w.f.Switches() * len(w.levels.used); w.work > w.most {
			return false
		}
		cut, price, ok := w.graph.Cut(d.Out, d.In, p.most-p.price, w.weight)
		if !ok {
			return false
		}
		p.price += price
		p.cut = append(p.cut, cut...)
		for _, c := range cut {
			w.remove(c)
		}
		w.add(d.Dependency)
	}
	w.cause(p, d)
	return true
}

// weight is how many destinations have to make way for a dependency to be gone, or -1 if
// it has to stay.
func (w *way) weight(d acyclic.Dependency) int {
	n := w.users.number(d)
	if w.stays[n] {
		return -1
	}
	return int(w.count[n])
}
