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
// The graph is empty at first. The rows of the destinations that are left are routed first:
// they keep what closes no cycle, and the rest grows from the destination outwards. Every
// other destination then keeps its row, or as much of it as it can. A destination that finds
// no row is a loser. In the next round the losers come first, and have Up*/Down* rows, all
// around the same roots: these have no cycle with each other, whatever lanes the maps give
// them. Losers become more from round to round until all others find their rows beside them
// (losersFirst). Where this does not end soon, or Migrate finds no proven steps to such tables, all
// turns of the Up*/Down* routing are in the graph from the beginning (upDown), so that a loser of
// the same round can have its Up*/Down* row: that fails only if the maps drop the packets of such a
// turn. Plan.rebuild asks for both, and Migrate plans the steps to what they find.
//
// Complexity: a round costs what one step of a plan costs that looks at every destination.
type rebuilder struct {
	a           *attempt
	order       []fabric.LID        // in scope, as they are routed
	stuck       map[fabric.LID]bool // LIDs whose rows in force are broken
	losers      map[fabric.LID]bool // LIDs that have Up*/Down* rows
	empty       *routing.Forwarding // without entries: new rows start from it
	orientation *orient.Orientation // of the Up*/Down* rows
	legal       dag.DAG             // the paths of such a row
	twins       *twins              // by the rows in force
	routed      []bool              // [LID] whether it found a row in this round; of destinations with the same row in force (twins), the first only

	oldChild, oldSibling []fabric.NodeID // [switch] lists of the switches that forward to a switch by the row that is to be kept
	kept, lost           []fabric.NodeID // scratch of keepEntries
	loads                []int64         // [trunk] loads before the row at hand, scratch of grow
	work                 int             // entries that rounds have read, times service levels
}

func newRebuilder(in *problem, tables *routing.Tables, left []Left) *rebuilder {
	n := in.f.Switches()
	r := &rebuilder{a: in.newAttempt(tables), stuck: map[fabric.LID]bool{}, empty: routing.NewForwarding(in.f)}
	r.oldChild, r.oldSibling = make([]fabric.NodeID, n), make([]fabric.NodeID, n)
	for _, l := range left {
		r.stuck[l.LID] = true
	}
	for lid := range in.o.Scope.LIDs(in.f) {
		r.order = append(r.order, lid)
	}
	r.a.clearGone()
	return r
}

// losersFirst routes in rounds, and reports whether every destination finds a row beside the
// Up*/Down* rows of the losers of the rounds before.
func (r *rebuilder) losersFirst(ctx context.Context, roots []fabric.NodeID) (routed bool, err error) {
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

// upDown routes once, and reports whether every destination finds a row beside the turns of an
// Up*/Down* routing from these roots.
func (r *rebuilder) upDown(ctx context.Context, roots []fabric.NodeID) (routed bool, err error) {
	r.orientAround(roots)
	lost, err := r.round(ctx, r.upDownTurns)
	return len(lost) == 0, err
}

// orientAround chooses the roots of the Up*/Down* rows. Nobody has lost yet beside these.
func (r *rebuilder) orientAround(roots []fabric.NodeID) {
	r.orientation = orient.New(r.a.f, orient.ByRank(r.a.f, roots))
	r.losers = map[fabric.LID]bool{}
}

// round routes all destinations beside some dependencies and the trees for multicast, and
// returns those that find no row: all, if the trees close a cycle with these dependencies.
func (r *rebuilder) round(ctx context.Context, first func(yield func(in, out fabric.ChannelID))) (lost []fabric.LID, err error) {
	in := r.a.problem
	r.work += len(r.order) * in.f.Switches() * len(in.sources.SLs)
	if !r.begin(first) {
		return r.order, nil
	}
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
		if !r.route(lid) {
			lost = append(lost, lid)
		}
	}
	return lost, nil
}

// begin begins a round beside some dependencies. It fails if the trees for multicast close a cycle
// with them.
func (r *rebuilder) begin(first func(yield func(in, out fabric.ChannelID))) bool {
	in := r.a.problem
	r.a.graph = &acyclic.Journal{Lanes: acyclic.NewLanes(in.f, in.sources.Lanes, in.withTrees(first))}
	clear(r.a.load)
	r.twins, r.routed = newTwins(in), make([]bool, in.f.TopLID()+1)
	return r.a.graph.Lanes != nil
}

// route gives a destination a row: its present one, one that grows, or an Up*/Down* one. Twins
// that are no losers have the same row, or none of them has any, since the graph of a round only
// grows: where the first found nothing, the others would not.
func (r *rebuilder) route(lid fabric.LID) bool {
	old, row := r.a.old(lid), r.a.row(lid)
	if r.losers[lid] {
		return r.grow(lid, old, row)
	}
	first := r.twins.of(lid, r.a.before.Forwarding)
	switch {
	case first != lid && r.routed[first]:
		r.copyRow(lid, first)
	case first != lid: // fails as its twin did
	case !r.stuck[lid] && r.takeRow(lid, old):
		copy(row, old)
		r.routed[lid] = true
	default: // broken, or the row in force closes a cycle
		r.routed[lid] = r.grow(lid, old, row)
	}
	return r.routed[first]
}

// copyRow gives a destination the entries of its twin, whose dependencies are in the graph.
func (r *rebuilder) copyRow(lid, twin fabric.LID) {
	a := r.a
	home, row := a.f.Endpoint(a.f.Owner(lid)).Switch, a.row(lid)
	for s, port := range a.row(twin) {
		if fabric.NodeID(s) != home {
			row[s] = port
		}
	}
	r.addLoad(lid, row)
}

// addLoad counts the pairs to a destination on the trunks of its row.
func (r *rebuilder) addLoad(lid fabric.LID, row []uint8) {
	r.a.problem.counter.Count(row, lid, 1, nil, r.a.load)
}

// begun begins a row without entries.
func (r *rebuilder) begun(lid fabric.LID) {
	r.a.packets.Begin(r.empty.Row(lid), lid)
	r.a.graph.Forget()
}

// grow gives a destination a row that grows beside what the graph has, or else an Up*/Down* one.
func (r *rebuilder) grow(lid fabric.LID, old, row []uint8) bool {
	a := r.a
	r.begun(lid)
	if !a.findRoots() {
		return true // no other switch in this part
	}
	r.loads = append(r.loads[:0], a.load...)
	if !r.losers[lid] {
		by := a.forTraffic()
		by.shortest = true
		r.keepEntries(old, &by)
		a.reattachAll(&by)
	}
	if a.missing() != nil {
		a.graph.Rollback(0)
		copy(a.load, r.loads)
		if !r.takeRow(lid, r.upDownRow(old)) {
			return false
		}
	}
	for s := range row {
		if fabric.NodeID(s) != a.packets.Home {
			row[s] = routing.NoPort
		}
	}
	a.write(row)
	return true
}

// keepEntries takes those entries of a row that close no cycle, from the destination
// outwards. A switch that cannot keep its entry gets another before those that forward to it
// are looked at, so that they can keep theirs.
func (r *rebuilder) keepEntries(row []uint8, by *rules) {
	a, heads := r.a, r.a.f.Heads()
	for s := range r.oldChild {
		r.oldChild[s] = fabric.None
	}
	for s, port := range row {
		if c := a.f.Trunk(fabric.NodeID(s), port); c != fabric.None && fabric.NodeID(s) != a.packets.Home {
			r.oldSibling[s], r.oldChild[heads[c]] = r.oldChild[heads[c]], fabric.NodeID(s)
		}
	}
	r.lost = r.lost[:0]
	r.keepFrom(a.packets.Home, row)
	for i := 0; i < len(r.lost); i++ {
		for slack := range int32(a.problem.o.Slack + 1) {
			if a.attach(r.lost[i], by, slack) {
				r.keepFrom(r.lost[i], row)
				break
			}
		}
	}
}

// keepFrom takes the entries of a row that lead to a switch, to those that forward to it, and
// so on, and adds the switches that cannot keep theirs to lost.
func (r *rebuilder) keepFrom(at fabric.NodeID, row []uint8) {
	a := r.a
	r.kept = append(r.kept[:0], at)
	for i := 0; i < len(r.kept); i++ {
		at := r.kept[i]
		for s := r.oldChild[at]; s != fabric.None; s = r.oldSibling[s] {
			c := a.f.Trunk(s, row[s])
			switch {
			case a.dist[s] != unknown:
			case a.take(s, c):
				a.attached(s, c)
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
	a := r.a
	r.begun(lid)
	a.measure()
	for i, port := range row {
		if s := fabric.NodeID(i); s != a.packets.Home && a.f.Trunk(s, port) == fabric.None && a.best[s] != unknown && a.packets.Send(s, lid) {
			return false
		}
	}
	for i, port := range row {
		s := fabric.NodeID(i)
		if c := a.f.Trunk(s, port); s != a.packets.Home && c != fabric.None && !a.packets.Add(s, c, a.graph.Admit) {
			a.rollback(checkpoint{})
			return false
		}
	}
	r.addLoad(lid, row)
	return true
}

// upDownTurns yields every dependency of the turns that do not go up after going down.
func (r *rebuilder) upDownTurns(yield func(in, out fabric.ChannelID)) {
	f, maps, sources := r.a.f, r.a.before.Lanes.SL2VL, r.a.problem.sources
	lanes := fabric.ChannelID(sources.Lanes)
	for in := range fabric.ChannelID(f.Trunks()) {
		c := f.Channel(in)
		first, end := f.TrunksFrom(c.To)
		for out := first; out < end; out++ {
			if out == c.Reverse || !r.orientation.Up[in] && r.orientation.Up[out] {
				continue
			}
			for _, sl := range sources.SLs {
				vl := maps.VL(c.To, c.ToPort, f.Channel(out).FromPort, sl)
				if vl >= routing.MaxDataVLs {
					continue
				}
				for lane := range lanes { // whatever lane the packets come by
					yield(in*lanes+lane, out*lanes+fabric.ChannelID(vl))
				}
			}
		}
	}
}

// upDownRow is a row of Up*/Down* paths to the LID, by entries of the old row where they are
// such paths, elsewhere over the least loaded trunks.
func (r *rebuilder) upDownRow(old []uint8) []uint8 {
	a := r.a
	row := slices.Repeat([]uint8{routing.NoPort}, a.f.Switches())
	r.orientation.Legal(&r.legal, a.f, a.packets.Home)
	for i, s := range r.legal.Order {
		out := r.legal.Choices(i)
		if len(out) == 0 {
			continue
		}
		c := a.f.Trunk(s, old[s])
		if c == fabric.None || !slices.Contains(out, c) {
			c = slices.MinFunc(out, func(x, y fabric.ChannelID) int { return cmp.Compare(a.load[x], a.load[y]) })
		}
		row[s] = a.f.Channel(c).FromPort
	}
	return row
}
