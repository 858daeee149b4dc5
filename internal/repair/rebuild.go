package repair

import (
	"cmp"
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/orient"
	"github.com/weft-fabric/weft/routing"
)

// rebuilder finds tables that reach the destinations for which nobody could make way, with
// the service levels and SL2VL maps of the tables in force.
//
// The graph is empty at first. The rows of the destinations that are left are placed first:
// they keep what closes no cycle, and the rest grows from the destination outwards. Every
// other destination then keeps its row, or as much of it as it can. A destination that finds
// no row is a loser. In the next round the losers come first, and have Up*/Down* rows, all
// around the same roots: these have no cycle with each other, whatever lanes the maps give
// them. Losers become more from round to round until all others find their rows beside them
// (losersFirst). Where this does not end soon, or the way to such tables is barred, all turns of
// the Up*/Down* routing are in the graph from the beginning (upDown), so that a loser of the
// same round can have its Up*/Down* row: that fails only if the maps drop the packets of such a
// turn. Bring then plans the way to these tables.
//
// Complexity: that of a step for each round.
type rebuilder struct {
	*mender
	order       []fabric.LID        // in scope, as they are placed
	stuck       map[fabric.LID]bool // LIDs whose rows in force are broken
	losers      map[fabric.LID]bool // LIDs that have Up*/Down* rows
	empty       *routing.Forwarding // without entries: new rows start from it
	orientation *orient.Orientation // of the Up*/Down* rows
	legal       dag.DAG             // the paths of such a row
	all         []fabric.NodeID     // switches that take their entries together
	twins       *twins              // by the rows in force
	placed      []bool              // [LID] whether it found a row in this round, if it has no earlier twin

	oldChild, oldSibling []fabric.NodeID // [switch] lists of the switches that forward to a switch by the row that is to be kept
	kept, lost           []fabric.NodeID // scratch of keepEntries
	work                 int             // entries that rounds have read, times service levels
}

func newRebuilder(sh *shared, tables *routing.Tables, left []Left) *rebuilder {
	r := &rebuilder{mender: newMender(sh.newStep(tables)), stuck: map[fabric.LID]bool{}, empty: routing.NewForwarding(tables.Fabric)}
	r.oldChild, r.oldSibling = make([]fabric.NodeID, r.f.Switches()), make([]fabric.NodeID, r.f.Switches())
	for _, l := range left {
		r.stuck[l.LID] = true
	}
	for lid := range r.o.Scope.LIDs(r.f) {
		r.order = append(r.order, lid)
	}
	r.clearGone()
	r.shortest = true
	return r
}

// losersFirst says whether every destination finds a row beside Up*/Down* rows of few.
func (r *rebuilder) losersFirst(ctx context.Context, roots []fabric.NodeID) (placed bool, err error) {
	r.orientAround(roots)
	for range rebuildRounds {
		if r.work > rebuildWork {
			break
		}
		lost, err := r.round(ctx, func(func(in, out fabric.ChannelID)) {})
		if len(lost) == 0 || err != nil {
			return len(lost) == 0, err
		}
		for _, lid := range lost {
			r.losers[lid] = true
		}
	}
	return false, nil
}

// upDown says whether every destination finds a row beside the turns of an Up*/Down*
// routing from these roots.
func (r *rebuilder) upDown(ctx context.Context, roots []fabric.NodeID) (placed bool, err error) {
	r.orientAround(roots)
	lost, err := r.round(ctx, r.upDownTurns)
	return len(lost) == 0, err
}

func (r *rebuilder) orientAround(roots []fabric.NodeID) {
	r.orientation = orient.New(r.f, orient.ByRank(r.f, roots))
	r.losers = map[fabric.LID]bool{}
}

// round places all destinations beside some dependencies and the trees for multicast, and
// returns those that find no row: all, if the trees close a cycle with these dependencies.
func (r *rebuilder) round(ctx context.Context, first func(yield func(in, out fabric.ChannelID))) (lost []fabric.LID, err error) {
	r.work += len(r.order) * r.f.Switches() * len(r.flow.levels.used)
	if r.graph = acyclic.NewLanes(r.f, r.flow.lanes, r.besideTrees(first)); r.graph == nil {
		return r.order, nil
	}
	clear(r.load)
	r.twins, r.placed = newTwins(r.levels), make([]bool, r.f.TopLID()+1)
	turn := func(lid fabric.LID) int {
		switch {
		case r.losers[lid]:
			return 0
		case r.stuck[lid]:
			return 1
		}
		return 2
	}
	slices.SortFunc(r.order, func(a, b fabric.LID) int { return cmp.Or(cmp.Compare(turn(a), turn(b)), cmp.Compare(a, b)) })
	for _, lid := range r.order {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !r.place(lid) {
			lost = append(lost, lid)
		}
	}
	return lost, nil
}

// place gives a destination a row: its present one, one that grows, or an Up*/Down* one. Twins
// that lose nothing to Up*/Down* have the same row, or none of them has any, since the graph of a
// round only grows.
func (r *rebuilder) place(lid fabric.LID) bool {
	old := r.before.Forwarding.Row(lid)
	row := r.Tables.Forwarding.Row(lid)
	if r.losers[lid] {
		return r.grow(lid, old, row)
	}
	first := r.twins.of(lid, r.before.Forwarding)
	switch {
	case first != lid && r.placed[first]:
		r.copyRow(lid, first)
	case first != lid:
	case !r.stuck[lid] && r.takeRow(lid, old):
		copy(row, old)
		r.placed[lid] = true
	default:
		r.placed[lid] = r.grow(lid, old, row)
	}
	return r.placed[first]
}

// copyRow gives a destination the entries of its twin, whose dependencies are in the graph.
func (r *rebuilder) copyRow(lid, twin fabric.LID) {
	home, row := r.f.Endpoint(r.f.Owner(lid)).Switch, r.Tables.Forwarding.Row(lid)
	for s, port := range r.Tables.Forwarding.Row(twin) {
		if fabric.NodeID(s) == home {
			continue
		}
		row[s] = port
		if c := r.f.Trunk(fabric.NodeID(s), port); c != fabric.None {
			r.load[c] += int64(len(r.levels.sources[s]))
		}
	}
}

// grow gives a destination a row that grows beside what the graph has, or else an Up*/Down* one.
func (r *rebuilder) grow(lid fabric.LID, old, row []uint8) bool {
	w := r.flow
	w.begin(r.empty.Row(lid), lid)
	r.added = r.added[:0]
	if !r.findRoots() {
		return true // no other switch in this part
	}
	if !r.losers[lid] {
		r.keepEntries(old)
		for slack := range int32(r.o.Slack + 1) {
			r.reattachAll(slack)
		}
	}
	if r.missing(lid) != nil {
		for _, d := range r.added {
			r.graph.Remove(d[0], d[1])
		}
		if !r.takeRow(lid, r.upDownRow(old)) {
			return false
		}
	}
	for s := range row {
		if fabric.NodeID(s) != w.home {
			row[s] = routing.NoPort
		}
	}
	r.write(row)
	return true
}

// keepEntries takes those entries of a row that close no cycle, from the destination
// outwards. A switch that cannot keep its entry gets another before those that forward to it
// are looked at, so that they can keep theirs.
func (r *rebuilder) keepEntries(row []uint8) {
	w, heads := r.flow, r.f.Heads()
	for s := range r.oldChild {
		r.oldChild[s] = fabric.None
	}
	for s, port := range row {
		if c := w.f.Trunk(fabric.NodeID(s), port); c != fabric.None && fabric.NodeID(s) != w.home {
			r.oldSibling[s], r.oldChild[heads[c]] = r.oldChild[heads[c]], fabric.NodeID(s)
		}
	}
	r.lost = r.lost[:0]
	r.keepFrom(w.home, row)
	for i := 0; i < len(r.lost); i++ {
		for slack := range int32(r.o.Slack + 1) {
			r.attach(r.lost[i], slack)
		}
		if r.dist[r.lost[i]] != unknown {
			r.keepFrom(r.lost[i], row)
		}
	}
}

// keepFrom takes the entries of a row that lead to a switch, to those that forward to it, and
// so on, and adds the switches that cannot keep theirs to lost.
func (r *rebuilder) keepFrom(at fabric.NodeID, row []uint8) {
	w := r.flow
	r.kept = append(r.kept[:0], at)
	for i := 0; i < len(r.kept); i++ {
		at := r.kept[i]
		for s := r.oldChild[at]; s != fabric.None; s = r.oldSibling[s] {
			switch {
			case r.dist[s] != unknown:
			case r.take(s, w.f.Trunk(s, row[s])):
				r.dist[s] = r.dist[at] + 1
				r.load[w.next[s]] += int64(len(w.levels.sources[s]))
				r.kept = append(r.kept, s)
			default:
				r.lost = append(r.lost, s)
			}
		}
	}
}

// takeRow adds all dependencies of a row to the graph, or none. It fails for a row that
// does not deliver from every switch that cables connect to the destination.
func (r *rebuilder) takeRow(lid fabric.LID, row []uint8) bool {
	w := r.flow
	w.begin(r.empty.Row(lid), lid)
	r.measure()
	r.all = r.all[:0]
	for s, port := range row {
		s := fabric.NodeID(s)
		if s == w.home {
			continue
		}
		if w.next[s] = r.f.Trunk(s, port); w.next[s] != fabric.None {
			r.all = append(r.all, s)
		} else if r.best[s] != unknown && w.levels.of(s, lid) != 0 {
			return false
		}
	}
	r.begin()
	for _, s := range r.all {
		if !r.join(s, w.next[s]) {
			r.rollBack(r.all)
			return false
		}
	}
	for _, s := range r.all {
		r.load[w.next[s]] += int64(len(w.levels.sources[s]))
	}
	return true
}

// upDownTurns yields every dependency of the turns that do not go up after going down.
func (r *rebuilder) upDownTurns(yield func(in, out fabric.ChannelID)) {
	w := r.flow
	lanes := fabric.ChannelID(w.lanes)
	for in := range fabric.ChannelID(r.f.Trunks()) {
		c := r.f.Channel(in)
		first, end := r.f.TrunksFrom(c.To)
		for out := first; out < end; out++ {
			if out == c.Reverse || !r.orientation.Up[in] && r.orientation.Up[out] {
				continue
			}
			for _, sl := range w.levels.used {
				vl := w.sl2vl.VL(c.To, c.ToPort, r.f.Channel(out).FromPort, sl)
				if vl >= dropLane {
					continue
				}
				for lane := range lanes {
					yield(in*lanes+lane, out*lanes+fabric.ChannelID(vl))
				}
			}
		}
	}
}

// upDownRow is a row of Up*/Down* paths to the LID, by entries of the old row where they are
// such paths, elsewhere over the least loaded trunks.
func (r *rebuilder) upDownRow(old []uint8) []uint8 {
	row := slices.Repeat([]uint8{routing.NoPort}, r.f.Switches())
	r.orientation.Legal(&r.legal, r.f, r.flow.home)
	for i, s := range r.legal.Order {
		out := r.legal.Choices(i)
		if len(out) == 0 {
			continue
		}
		c := r.f.Trunk(s, old[s])
		if c == fabric.None || !slices.Contains(out, c) {
			c = slices.MinFunc(out, func(a, b fabric.ChannelID) int { return cmp.Compare(r.load[a], r.load[b]) })
		}
		row[s] = r.f.Channel(c).FromPort
	}
	return row
}
