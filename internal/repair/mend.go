package repair

import (
	"cmp"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// mender gives switches new entries, one destination after another.
type mender struct {
	*step
	wanted func(s fabric.NodeID) bool                     // says whether a switch with a broken path needs an entry
	take   func(s fabric.NodeID, c fabric.ChannelID) bool // gives a switch an entry, if that is safe
	undo   undo
	added  [][2]fabric.ChannelID // dependencies of all entries taken safely, in a rebuild of those of the row at hand

	// Per LID, all [switch].
	child, sibling []fabric.NodeID // lists of the switches that forward to a switch by the entries in force; None ends a list
	dist           []int32         // hops to the destination along a working path; unknown: the path is broken
	best           []int32         // hops of a shortest path; unknown, which is None: the cables do not reach the destination

	patient    bool               // a switch waits if it has a trunk, but may not take it in this step
	shortest   bool               // how long paths were does not matter
	keep       []fabric.ChannelID // [switch] preferred to trunks as near to the destination; empty: none
	fresh      bool               // no switch has an entry for the LID: its owner is new
	bestTo     fabric.NodeID      // the destination switch for which best was computed
	queue      []fabric.NodeID
	roots      []fabric.NodeID // switches with dead entries
	candidates []fabric.ChannelID
}

func newMender(s *step) *mender {
	n := s.f.Switches()
	m := &mender{
		step:  s,
		child: make([]fabric.NodeID, n), sibling: make([]fabric.NodeID, n),
		dist:   make([]int32, n),
		bestTo: fabric.None,
	}
	// A new row grows from its destination, although no packets arrive there yet.
	m.wanted = func(at fabric.NodeID) bool { return m.fresh || s.flow.comes(at) }
	m.take = m.takeSafely
	s.flow.depend = func(in, out fabric.ChannelID) bool {
		if s.graph.Has(in, out) {
			return true
		}
		if !s.graph.Add(in, out) {
			return false
		}
		m.undo.added = append(m.undo.added, [2]fabric.ChannelID{in, out})
		return true
	}
	return m
}

// missing is the switches whose sources have no path to the LID, although cables lead there.
func (m *mender) missing(lid fabric.LID) []fabric.NodeID {
	var list []fabric.NodeID
	for s, hops := range m.dist {
		if hops == unknown && m.best[s] != unknown && m.flow.levels.of(fabric.NodeID(s), lid) != 0 {
			list = append(list, fabric.NodeID(s))
		}
	}
	return list
}

// inForce follows the packets to a LID by the entries in force, finds the switches whose paths are
// whole, and how long shortest ones are.
func (m *mender) inForce(lid fabric.LID) {
	m.flow.begin(m.before.Forwarding.Row(lid), lid)
	m.flow.startAll() // these dependencies are in the graph already
	m.markWhole()
	m.measure()
}

// destination mends the entries for a LID and writes the new ones into its row.
func (m *mender) destination(lid fabric.LID, row []uint8) {
	w := m.flow
	if m.hasMoved(lid) {
		m.clearMoved(lid, row)
		return
	}
	m.Mended += m.deliver(lid, row)
	if !m.isBroken(lid) {
		return
	}
	w.startAll() // these dependencies are in the graph already
	for slack := range int32(m.o.Slack + 1) {
		m.reattachAll(slack)
	}
	m.Mended += m.write(row)
	if switches := m.missing(lid); switches != nil {
		m.left = append(m.left, Left{LID: lid, Switches: switches})
	}
	m.attachUnused(row, m.unused, true)
}

// deliver sets the entry of the destination's switch, and counts the change.
func (m *mender) deliver(lid fabric.LID, row []uint8) int {
	e := m.f.Endpoint(m.f.Owner(lid))
	port := m.f.LastPort(e)
	if row[e.Switch] == port {
		return 0
	}
	row[e.Switch] = port
	return 1
}

// write writes the new entries for the LID, and counts those that it changes.
func (m *mender) write(row []uint8) int {
	n := 0
	ports := m.f.TailPorts()
	for s, c := range m.flow.next {
		if c != fabric.None && row[s] != ports[c] {
			row[s] = ports[c]
			n++
		}
	}
	return n
}

// reattachAll tries all dead entries once, those nearest to the destination first.
func (m *mender) reattachAll(slack int32) {
	for _, r := range m.roots {
		m.reattach(r, slack)
	}
}

// markWhole finds the switches whose paths are whole.
func (m *mender) markWhole() {
	heads := m.f.Heads()
	for s := range m.dist {
		m.dist[s], m.child[s] = unknown, fabric.None
	}
	for s, c := range m.flow.cur {
		if c != fabric.None && fabric.NodeID(s) != m.flow.home && !m.leaves(fabric.NodeID(s), c, m.flow.home) {
			u := heads[c]
			m.sibling[s], m.child[u] = m.child[u], fabric.NodeID(s)
		}
	}
	m.markReached(m.flow.home, 0)
}

// markReached sets dist for a switch and for all that forward to it by entries that do
// not change.
func (m *mender) markReached(s fabric.NodeID, hops int32) {
	m.dist[s] = hops
	m.queue = append(m.queue[:0], s)
	for i := 0; i < len(m.queue); i++ {
		at := m.queue[i]
		for c := m.child[at]; c != fabric.None; c = m.sibling[c] {
			if m.dist[c] == unknown {
				m.dist[c] = m.dist[at] + 1
				m.queue = append(m.queue, c)
			}
		}
	}
}

// isBroken reads the entries in force for a LID, and finds the dead ones that can be mended. It
// says whether there are any.
func (m *mender) isBroken(lid fabric.LID) bool {
	row := m.before.Forwarding.Row(lid)
	if home := m.f.Endpoint(m.f.Owner(lid)).Switch; !m.dead.has(row, lid, home) {
		return false
	}
	m.flow.begin(row, lid)
	return m.findRoots()
}

// findRoots finds the dead entries of switches from which the cables reach the
// destination, those nearest to it first. It says whether there are any.
func (m *mender) findRoots() bool {
	m.roots = m.roots[:0]
	if !m.flow.dead && m.doomed == nil {
		return false
	}
	m.markWhole()
	m.fresh = !slices.ContainsFunc(m.flow.cur, func(c fabric.ChannelID) bool { return c != fabric.None })
	for s, c := range m.flow.cur {
		if (c == fabric.None || m.leaves(fabric.NodeID(s), c, m.flow.home)) && m.dist[s] == unknown {
			m.roots = append(m.roots, fabric.NodeID(s))
		}
	}
	if len(m.roots) == 0 {
		return false
	}
	m.measure()
	m.roots = slices.DeleteFunc(m.roots, func(s fabric.NodeID) bool { return m.best[s] == unknown })
	slices.SortFunc(m.roots, func(a, b fabric.NodeID) int {
		return cmp.Or(cmp.Compare(m.best[a], m.best[b]), cmp.Compare(a, b))
	})
	return len(m.roots) > 0
}

// measure computes the hops of shortest paths to the destination.
func (m *mender) measure() {
	if m.bestTo != m.flow.home {
		m.bestTo = m.flow.home
		m.best = m.f.Hops(m.bestTo)
	}
}

// reattach gives a switch whose path is broken a new entry. If no trunk works, it tries
// the switches that forward to it.
func (m *mender) reattach(s fabric.NodeID, slack int32) {
	if m.dist[s] != unknown || !m.wanted(s) || m.attach(s, slack) {
		return
	}
	for c := m.child[s]; c != fabric.None; c = m.sibling[c] {
		if m.patient && len(m.trunksToTry(s, slack)) > 0 {
			return
		}
		m.reattach(c, slack)
	}
}

// attach gives a switch a new entry, and says whether one of its trunks works.
func (m *mender) attach(s fabric.NodeID, slack int32) bool {
	for _, c := range m.trunksToTry(s, slack) {
		if m.take(s, c) {
			m.markReached(s, m.dist[m.f.Heads()[c]]+1)
			m.addLoad(s)
			return true
		}
	}
	return false
}

// trunksToTry is the trunks from a switch to switches with working paths that make its
// path at most slack hops longer than it was or than a shortest one; the shortest
// first, of these the least loaded.
func (m *mender) trunksToTry(s fabric.NodeID, slack int32) []fabric.ChannelID {
	heads := m.f.Heads()
	most := m.best[s] + slack
	if !m.shortest {
		most = max(m.was.had(s, m.flow.lid)+slack, most)
	}
	m.candidates = m.candidates[:0]
	first, end := m.f.TrunksFrom(s)
	for c := first; c < end; c++ {
		if d := m.dist[heads[c]]; d != unknown && d+1 <= most && !m.leaves(s, c, m.flow.home) {
			m.candidates = append(m.candidates, c)
		}
	}
	kept := func(c fabric.ChannelID) int {
		if len(m.keep) > 0 && m.keep[s] == c {
			return 1
		}
		return 0
	}
	slices.SortFunc(m.candidates, func(a, b fabric.ChannelID) int {
		return cmp.Or(cmp.Compare(m.dist[heads[a]], m.dist[heads[b]]), cmp.Compare(kept(b), kept(a)), cmp.Compare(m.load[a], m.load[b]), cmp.Compare(a, b))
	})
	return m.candidates
}

// takeSafely gives a switch a new entry if all packets that arrive there, in any
// mixture of tables, can go on by it without closing a cycle.
func (m *mender) takeSafely(s fabric.NodeID, c fabric.ChannelID) bool {
	m.begin()
	m.flow.next[s] = c
	if m.join(s, c) {
		m.added = append(m.added, m.undo.added...)
		return true
	}
	m.rollBack([]fabric.NodeID{s})
	return false
}

// begin starts an attempt, which rollBack can take back.
func (m *mender) begin() { m.undo.masks, m.undo.added = m.undo.masks[:0], m.undo.added[:0] }

// rollBack removes the new entries of some switches and the dependencies that they
// added.
func (m *mender) rollBack(switches []fabric.NodeID) {
	for _, s := range switches {
		m.flow.next[s] = fabric.None
	}
	for i := len(m.undo.masks) - 1; i >= 0; i-- {
		m.flow.arrived[m.undo.masks[i].at] = m.undo.masks[i].was
	}
	for _, d := range m.undo.added {
		m.graph.Remove(d[0], d[1])
	}
}

// join sends the packets that arrive at a switch on by a trunk.
func (m *mender) join(s fabric.NodeID, c fabric.ChannelID) bool {
	w := m.flow
	if !w.start(s, c, &m.undo) {
		return false
	}
	first, end := m.f.TrunksFrom(s)
	for out := first; out < end; out++ {
		in := m.f.Reverses()[out]
		for i := range w.used {
			if lanes := w.arrived[int(in)*w.used+i]; lanes != 0 && !w.pass(in, c, i, lanes, &m.undo) {
				return false
			}
		}
	}
	return true
}

// addLoad counts the pairs of a switch and of all that forwards to it on its new path.
func (m *mender) addLoad(s fabric.NodeID) {
	w := m.flow
	pairs := int64(0)
	for _, at := range m.queue { // what markReached found
		pairs += int64(len(w.levels.sources[at]))
	}
	for at := s; at != w.home; {
		c := w.next[at]
		if c == fabric.None {
			c = w.cur[at]
		}
		m.load[c] += pairs
		at = m.f.Heads()[c]
	}
}

// port is the port of a trunk, or NoPort.
func (m *mender) port(c fabric.ChannelID) uint8 {
	if c == fabric.None {
		return routing.NoPort
	}
	return m.f.Channel(c).FromPort
}
