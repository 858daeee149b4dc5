package deadlock

import (
	"bytes"
	"context"
	"math/bits"
	"slices"
	"sync"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/waits/cdg"
	"github.com/weft-fabric/weft/routing"
)

// Memory is what the judge keeps of the tables that it judged last (Options.Memory), so that the
// next verdict looks only at destinations that changed: those with other entries or service levels, and
// those that an entry leads over a cable which was pulled, plugged or moved. The verdict is the same, byte for byte.
// The zero Memory knows nothing, and is ready for use. Where two verdicts are asked for at once, one does without it.
//
// It counts, for every dependency, the destinations whose packets cause it, so that it is known
// when the last of them is gone; and it keeps the rank of every lane, of which only those behind a
// dependency that is new or gone can be others. Where too much is different (another contract or scope, other switches,
// other SL2VL maps, a switch with its first source or without any) all is derived anew, and so it always is for
// tables with groups of ports and switches that look up lanes by lanes.
//
// It holds the last tables, a bit for each of their entries, two bytes for each two ports of a switch and each lane, or squared
// lanes where packets change them, and nothing where that would be too much.
type Memory struct {
	lock sync.Mutex
	known
}

// known is what a Memory keeps, apart from it so that forget leaves none of it out.
type known struct {
	d     *derivation // of the last tables; nil: nothing is known
	slots slots
	ends  []end    // [slot of a trunk] where the port leads
	lanes int      // of the dependencies that are kept
	one   uint16   // their only lane stands for these, as bits; 0: for itself
	waits []uint16 // [slot of a turn × slots.width + …] destinations that cause the dependency: there are fewer than 65,536 LIDs
	held  []uint16 // [slot of a trunk × slots.lanes + lane] destinations whose packets hold the lane
	use   []uint16 // [slot of a trunk] the lanes that are held, as bits
	notes []note   // [LID]
	sls   [routing.SLs]int32
	lossy map[fabric.LID]*Verdict // the counts of destinations that are not clean

	// The switches that packets to a destination leave, as bits, [LID × slots.words + …], by which steps need not follow each
	// source to the end; nil where packets change lanes. Known of those whose note is plain.
	passed []uint64

	// Dependencies of d, in d's numbering of turns, without those of multicast.
	same   cdg.SameLane
	matrix []uint64

	ranked ranked

	followed int // destinations that the last verdict looked at, for tests
}

// note is what a destination counts for.
type note struct {
	known bool
	plain bool   // all sources send to it, on levels that are not dropped, and no packet circles
	clean bool   // besides, packets arrive from every switch
	sls   uint16 // service levels that pairs use, as bits
}

// mostMemory is how many counters of dependencies there may be: 128 MB.
const mostMemory = 1 << 26

// goTo looks at what tables change, and keeps it; false: it keeps nothing.
func (m *Memory) goTo(ctx context.Context, t *routing.Tables, o Options) (bool, error) {
	m.followed = 0
	if m.d != nil && m.d.t == t && m.d.o.Contract == o.Contract && m.d.o.Scope == o.Scope {
		return true, nil
	}
	d, err := newDerivation([]*routing.Tables{t}, false, o)
	if err != nil {
		return false, err
	}
	if d.isRelation() {
		m.forget()
		return false, nil
	}
	if compared, changed, ok := m.changed(d); ok {
		was := m.d
		m.d = nil // until all is counted
		m.follow(was, d, compared, changed)
	} else if kept, err := m.begin(ctx, d); err != nil || !kept {
		m.forget()
		return false, err
	}
	m.d = d
	return true, nil
}

// derive is derive by what is known of the tables before, and keeps what it finds. It returns nil where it keeps nothing.
func (m *Memory) derive(ctx context.Context, t *routing.Tables, o Options) (*derivation, *Verdict, error) {
	if kept, err := m.goTo(ctx, t, o); err != nil || !kept {
		return nil, nil, err
	}
	d := m.d
	d.o = o // how much to list
	d.same, d.matrix, d.one, d.inUse = m.same, m.matrix, m.one, m.inUse(d.f)
	if t.Multicast != nil {
		d.same.Words, d.matrix = slices.Clone(d.same.Words), slices.Clone(d.matrix)
	}
	v, sls := m.verdict()
	v.Multicast = d.addMulticast()
	v.finish(d.inUse, sls, o.maxLost())
	v.Absent = d.findAbsent()
	return d, v, nil
}

// take reports whether there is a memory that nobody else uses; release has to follow.
func (m *Memory) take() bool { return m != nil && m.lock.TryLock() }

func (m *Memory) release() { m.lock.Unlock() }

// forget leaves nothing, such as of tables that were followed half-way: the next verdict looks at everything.
func (m *Memory) forget() { m.known = known{} }

// begin looks at every destination, and keeps what it counts for; false: there would be too many counters.
func (m *Memory) begin(ctx context.Context, d *derivation) (bool, error) {
	m.forget()
	m.slots, m.lanes = newSlots(d), d.lanes
	if d.t.Multicast == nil && m.slots.all != 0 { // trees have other lanes
		m.lanes, m.one = 1, m.slots.all
	}
	if m.slots.turns*m.slots.width > mostMemory {
		return false, nil
	}
	m.ends, m.lossy = m.slots.ends(d.f), map[fabric.LID]*Verdict{}
	m.growTo(d.f.TopLID())
	var all []*tally
	var lock sync.Mutex
	_, err := eachDestination(ctx, d.f, d.o, func() *tally {
		lock.Lock()
		defer lock.Unlock()
		ports := m.slots.ports()
		t := m.newTally(d, make([]uint16, m.slots.turns*m.slots.width), make([]uint16, ports*m.slots.lanes), make([]uint16, ports))
		t.start()
		all = append(all, t)
		return t
	}, (*tally).destination)
	if err != nil {
		return false, err
	}
	m.waits, m.held, m.use = all[0].waits, all[0].held, all[0].use
	for i, t := range all {
		for lid, v := range t.lossy {
			m.lossy[lid] = v
		}
		if i > 0 {
			sum(m.waits, t.waits)
			sum(m.held, t.held)
			unite(m.use, t.use)
		}
	}
	for lid := range d.o.Scope.LIDs(d.f) {
		m.followed++
		m.levels(m.notes[lid], 1)
	}
	m.read(d.f)
	return true, nil
}

// growTo makes room for LIDs up to one; what is counted of others stays.
func (m *Memory) growTo(top fabric.LID) {
	more := max(0, int(top)+1-len(m.notes))
	m.notes = append(m.notes, make([]note, more)...)
	if !m.slots.mapped {
		m.passed = append(m.passed, make([]uint64, more*m.slots.words)...)
	}
}

func sum(into, from []uint16) {
	for i, n := range from {
		into[i] += n
	}
}

// levels counts the service levels that a destination uses.
func (m *Memory) levels(n note, one int32) {
	for sl := range m.sls {
		m.sls[sl] += one * int32(n.sls>>sl&1)
	}
}

// read makes the dependencies of the counters.
func (m *Memory) read(f *fabric.Fabric) {
	m.layOut(f)
	for in := range fabric.ChannelID(f.Trunks()) {
		ch := f.Channel(in)
		into := int(m.slots.firstTurn(f, ch.To, ch.ToPort))
		first, end := f.TrunksFrom(ch.To)
		for out := first; out < end; out++ {
			m.readTurn(f.Turn(in, out), into+int(f.TailPorts()[out]))
		}
	}
}

// layOut makes room for the dependencies of a fabric.
func (m *Memory) layOut(f *fabric.Fabric) {
	if !m.slots.mapped {
		m.same, m.matrix = cdg.NewSameLane(f.Turns(), m.lanes), nil
		return
	}
	m.same, m.matrix = cdg.SameLane{}, make([]uint64, f.Turns()*cdg.WordsPerTurn(m.lanes))
}

// readTurn makes the dependencies of one turn of its counters. It returns the lanes, as bits, for which packets wait there on
// other lanes than before.
func (m *Memory) readTurn(turn, slot int) (others uint16) {
	counters := m.waits[slot*m.slots.width:][:m.slots.width]
	if m.matrix == nil {
		lanes := uint16(0)
		for lane, n := range counters {
			if n > 0 {
				lanes |= 1 << lane
			}
		}
		if m.one == 0 {
			lanes = m.slots.these(lanes)
		}
		return m.same.Put(turn, lanes) ^ lanes
	}
	words := m.matrix[turn*cdg.WordsPerTurn(m.lanes):][:cdg.WordsPerTurn(m.lanes)]
	for i, n := range counters {
		word, mask := &words[i/64], uint64(1)<<(i%64)
		if n > 0 != (*word&mask != 0) {
			*word ^= mask
			others |= 1 << (i % m.lanes)
		}
	}
	return others
}

// inUse is the lanes of each trunk that packets hold, as bits.
func (m *Memory) inUse(f *fabric.Fabric) []uint16 {
	use, ports := make([]uint16, f.Trunks()), f.TailPorts()
	for s := range fabric.NodeID(f.Switches()) {
		for c, end := f.TrunksFrom(s); c < end; c++ {
			use[c] = m.slots.these(m.use[int(m.slots.trunk[s])+int(ports[c])])
		}
	}
	return use
}

// verdict adds up what destinations count for.
func (m *Memory) verdict() (v *Verdict, sls uint16) {
	d := m.d
	v = &Verdict{Contract: d.o.Contract, Scope: d.o.Scope, SelfCables: overSelfCables(d.t)}
	for lid, owner := range d.o.Scope.LIDs(d.f) {
		if !m.notes[lid].clean {
			v.add(m.lossy[lid])
			continue
		}
		v.Pairs += d.sources
		if d.sends[owner] {
			v.Pairs--
		}
	}
	for sl, n := range m.sls {
		if n > 0 {
			sls |= 1 << sl
		}
	}
	return v, sls
}

// changed lists the destinations that have to be looked at again, those that are gone, new, or different; false:
// there are others than destinations by which the tables differ from the last, or most destinations do.
func (m *Memory) changed(d *derivation) (*comparison, []fabric.LID, bool) {
	if !m.fits(d) {
		return nil, nil, false
	}
	was := m.d
	p := m.comparison(d)
	top := max(was.f.TopLID(), d.f.TopLID())
	var list []fabric.LID
	for lid := range top + 1 {
		if p.differs(lid) {
			list = append(list, lid)
		}
	}
	return p, list, len(list)*2 < len(m.notes)
}

// sharesLevels reports whether tables have the very service levels, in the same memory, that were checked with the last.
func (m *Memory) sharesLevels(t *routing.Tables) bool {
	if m == nil || m.d == nil || m.d.t.Lanes.Rows != t.Lanes.Rows || m.d.f.TopLID() != t.Fabric.TopLID() {
		return false
	}
	a, b := m.d.t.Lanes.SLRow(0), t.Lanes.SLRow(0)
	return len(a) > 0 && len(b) > 0 && &a[0] == &b[0]
}

// sameLevels is the last derivation if tables give the same service levels to the same endpoints and LIDs, else nil.
func (m *Memory) sameLevels(t *routing.Tables) *derivation {
	if m == nil || m.d == nil {
		return nil
	}
	was, f, lanes := m.d, m.d.f, m.d.t.Lanes
	if lanes.Rows != t.Lanes.Rows || f.TopLID() != t.Fabric.TopLID() || !slices.Equal(lanes.Row, t.Lanes.Row) {
		return nil
	}
	for lid := range f.TopLID() + 1 {
		if f.Owner(lid) != t.Fabric.Owner(lid) || !bytes.Equal(lanes.SLRow(lid), t.Lanes.SLRow(lid)) {
			return nil
		}
	}
	return was
}

// fits reports whether destinations of other tables can be compared one by one with those of the last.
func (m *Memory) fits(d *derivation) bool {
	was := m.d
	if was == nil || m.one != 0 && d.t.Multicast != nil || was.o.Contract != d.o.Contract || was.o.Scope != d.o.Scope || was.lanes != d.lanes || was.simple != d.simple ||
		was.fixed != d.fixed || was.allOn != d.allOn || was.droppedLevels != d.droppedLevels || was.simple && was.uniform != d.uniform ||
		(was.answers[0] == nil) != (d.answers[0] == nil) || was.f.Switches() != d.f.Switches() {
		return false
	}
	for s := range fabric.NodeID(d.f.Switches()) {
		a, b := was.f.Node(s), d.f.Node(s)
		if a.GUID != b.GUID || a.Ports != b.Ports || len(was.groups[s]) != len(d.groups[s]) {
			return false
		}
		for i := range d.groups[s] {
			if !d.simple && !d.t.Lanes.SL2VL.SameFrom(s, was.groups[s][i].port, d.groups[s][i].port) {
				return false
			}
		}
	}
	return d.simple || slices.Equal(was.maps.levels, d.maps.levels) && sameMaps(d.f, was.t.Lanes.SL2VL, d.t.Lanes.SL2VL)
}

// sameMaps reports whether switches map packets alike.
func sameMaps(f *fabric.Fabric, a, b *routing.SL2VL) bool {
	if a == b {
		return true
	}
	for s := range fabric.NodeID(f.Switches()) {
		ports := uint8(f.Node(s).Ports)
		for in := range ports + 1 {
			for out := range ports + 1 {
				if a.Map(s, in, out) != b.Map(s, in, out) {
					return false
				}
			}
		}
	}
	return true
}

// comparison is of single destinations, by the last tables and by others.
type comparison struct {
	m         *Memory
	was, d    *derivation
	moved     []moved // ports of switches that lead elsewhere than before
	sources   bool    // some switch has other numbers of sources
	homes     []bool  // [switch] other sources are on it
	levels    bool    // all service levels are the same
	sameRows  bool    // groups have the same rows of service levels
	rows      int     // of them, the first so many count
	answering map[[2]int32]bool
	last      [2][]uint8 // the last two rows that were compared pair by pair,
	alike     bool       // and whether they are alike
	compared  bool
}

func (m *Memory) comparison(d *derivation) *comparison {
	was := m.d
	p := &comparison{m: m, was: was, d: d, homes: make([]bool, d.f.Switches()), sameRows: true, rows: min(was.t.Lanes.Rows, d.t.Lanes.Rows), answering: map[[2]int32]bool{}}
	for s := range fabric.NodeID(d.f.Switches()) {
		for i := range d.groups[s] {
			a, b := &was.groups[s][i], &d.groups[s][i]
			p.sources = p.sources || len(a.from) != len(b.from)
			p.homes[s] = p.homes[s] || !slices.EqualFunc(a.from, b.from, p.sameLIDs)
			p.sameRows = p.sameRows && a.rows[0] == b.rows[0] && int(a.rows[0]) < p.rows
		}
	}
	p.levels = d.levelsAsBefore && p.sameRows && was.answers[0].same(d.answers[0])
	if was.f == d.f {
		return p
	}
	p.moved = m.elsewhere(d.f)
	return p
}

// sameLIDs reports whether an endpoint of the last fabric has the LIDs of one of the other.
func (p *comparison) sameLIDs(before, now fabric.EndpointID) bool {
	a, b := p.was.f.Endpoint(before), p.d.f.Endpoint(now)
	return a.LID == b.LID && a.LMC == b.LMC
}

// elsewhere lists the ports of switches that lead elsewhere in a fabric than in the last, by switch.
func (m *Memory) elsewhere(f *fabric.Fabric) (list []moved) {
	channels, trunks := f.Channels(), f.Trunks()
	for s := range fabric.NodeID(f.Switches()) {
		for port, e := range m.ends[m.slots.trunk[s]:m.slots.trunk[s+1]] {
			to, back := fabric.NodeID(noSwitch), uint8(0)
			switch c := f.Out(s, uint8(port)); {
			case c == fabric.None:
				to = fabric.None
			case int(c) < trunks:
				to, back = channels[c].To, channels[c].ToPort
			}
			if to != e.to || back != e.back {
				list = append(list, moved{s, uint8(port), m.slots.end(f, s, uint8(port))})
			}
		}
	}
	return list
}

// differs reports whether a destination has to be looked at again.
func (p *comparison) differs(lid fabric.LID) bool {
	before, now := p.was.destined(lid), p.d.destined(lid)
	if before == nil || now == nil {
		return before != now
	}
	if before.Switch != now.Switch || p.was.f.LastPort(before) != p.d.f.LastPort(now) || before.LMC != now.LMC || before.LID != now.LID {
		return true
	}
	if p.homes[now.Switch] {
		return true // whether anybody sends to it on a service level of its own switch, where it may have been alone
	}
	if !p.m.notes[lid].clean && (p.sources || now.LMC > 0) {
		return true
	}
	old, row := p.was.t.Forwarding.Row(lid), p.d.t.Forwarding.Row(lid)
	if !bytes.Equal(old, row) {
		return true
	}
	for _, m := range p.moved {
		if row[m.s] == m.port {
			return true
		}
	}
	return p.levelsDiffer(lid)
}

// destined is the endpoint of a LID to which sources in scope send, or nil.
func (d *derivation) destined(lid fabric.LID) *fabric.Endpoint {
	if lid > d.f.TopLID() || d.f.Owner(lid) == fabric.None {
		return nil
	}
	e := d.f.Endpoint(d.f.Owner(lid))
	if e.Switch == fabric.None || !d.o.Scope.Includes(e.Class) {
		return nil
	}
	return e
}

// levelsDiffer reports whether packets to a destination have other service levels.
func (p *comparison) levelsDiffer(lid fabric.LID) bool {
	if p.levels {
		return false
	}
	a, b := p.was.t.Lanes.SLRow(lid), p.d.t.Lanes.SLRow(lid)
	switch {
	case a == nil && b == nil:
		return false
	case p.d.levelsAsBefore && p.sameRows:
	case p.was.oneRow && p.d.oneRow && p.compared:
		return !p.alike
	case a != nil && b != nil && p.sameRows && bytes.Equal(a[:p.rows], b[:p.rows]):
	case !bytes.Equal(a, p.last[0]) || !bytes.Equal(b, p.last[1]) || p.last[0] == nil && p.last[1] == nil:
		p.last, p.alike, p.compared = [2][]uint8{a, b}, p.sameLevels(a, b), true
		fallthrough
	default:
		if !p.alike {
			return true
		}
	}
	if p.was.answers[0] == nil {
		return false
	}
	rows := [2]int32{p.was.t.Lanes.Row[p.was.f.Owner(lid)], p.d.t.Lanes.Row[p.d.f.Owner(lid)]}
	differ, known := p.answering[rows]
	if !known {
		differ = !slices.Equal(p.was.answers[0].toGroups(rows[0]), p.d.answers[0].toGroups(rows[1]))
		p.answering[rows] = differ
	}
	s := p.d.destined(lid).Switch
	return differ || besideDiffer(p.was.answers[0], p.d.answers[0], p.was.groups[s], p.d.groups[s], lid)
}

// besideDiffer reports whether sources on the switch of a destination, in the groups there, answer it on other service levels.
// All levels on which sources of a group may be answered together do not say so there, where the destination may be one of
// them.
func besideDiffer(a, b *answers, was, now []group, lid fabric.LID) bool {
	for i := range now {
		if a.ofOthers(&was[i], lid) != b.ofOthers(&now[i], lid) {
			return true
		}
	}
	return false
}

// sameLevels reports whether all sources have the same service levels by two rows; nil: of zeros.
func (p *comparison) sameLevels(a, b []uint8) bool {
	for s := range p.d.groups {
		for i := range p.d.groups[s] {
			if levelIn(a, p.was.groups[s][i].rows[0]) != levelIn(b, p.d.groups[s][i].rows[0]) {
				return false
			}
		}
	}
	return true
}

func levelIn(row []uint8, i int32) uint8 {
	if row == nil {
		return 0
	}
	return row[i]
}

// follow counts some destinations by other tables than the last.
func (m *Memory) follow(was, d *derivation, p *comparison, changed []fabric.LID) {
	m.followed = len(changed)
	m.growTo(d.f.TopLID())
	m.exchange(p.moved) // ends are those of d from here on
	var to *renumbering
	if was.f != d.f {
		to = newRenumbering(was.f, d.f, p.moved)
	}
	var again []touched
	if len(changed) > 0 {
		before, now := m.newTally(was, m.waits, m.held, m.use), m.newTally(d, m.waits, m.held, m.use)
		before.touched, now.touched = &again, &again
		steps := newSteps(before, now, p)
		for _, lid := range changed {
			if steps.take(lid) {
				if m.notes[lid].clean && !steps.dropped {
					continue
				}
				delete(m.lossy, lid)
				at := d.all
				if m.notes[lid].clean {
					at = steps.changed
				}
				v := steps.lose(lid, at)
				if m.notes[lid].clean = v == nil; v != nil {
					m.lossy[lid] = v
				}
				continue
			}
			if m.notes[lid].known {
				m.exchange(p.moved)
				m.levels(before.count(lid, less), -1)
				m.exchange(p.moved)
				delete(m.lossy, lid)
			}
			m.notes[lid] = note{}
			if d.destined(lid) != nil {
				m.notes[lid] = now.count(lid, 1)
				m.levels(m.notes[lid], 1)
				if v := now.lossy[lid]; v != nil {
					m.lossy[lid] = v
				}
			}
		}
	}
	m.renumber(to, d.f, append(again, m.replugged(p.moved)...))
}

// replugged is the turns from and to ports that led to a switch before and lead to another now. Packets may wait there all the
// while, but by another trunk, which renumbering does not know.
func (m *Memory) replugged(all []moved) (list []touched) {
	for i := range all {
		at := &all[i]
		if at.end.to < 0 {
			continue // nobody waited there
		}
		for port := range uint8(m.slots.trunk[at.s+1] - m.slots.trunk[at.s]) {
			list = append(list, touched{at.s, at.port, port}, touched{at.s, port, at.port})
		}
	}
	return list
}

// renumber brings the dependencies to the turns of another fabric, or of the same, to nil, and looks at some again.
func (m *Memory) renumber(to *renumbering, f *fabric.Fabric, again []touched) {
	if to != nil {
		same, matrix, lost := to.graph(m.lanes, m.same, m.matrix)
		m.same, m.matrix, m.ranked = same, matrix, m.ranked.moved(to, lost)
	}
	for _, t := range again {
		in, out := f.Trunk(t.s, t.in), f.Trunk(t.s, t.out)
		if in == fabric.None || out == fabric.None {
			continue // a cable that is gone: nothing waits there any more
		}
		slot := int(m.slots.turn[t.s]) + int(t.in)*(f.Node(t.s).Ports+1) + int(t.out)
		for lanes := m.readTurn(f.Turn(f.Reverses()[in], out), slot); lanes != 0; lanes &= lanes - 1 {
			m.ranked.but = append(m.ranked.but, int32(int(out)*m.lanes+bits.TrailingZeros16(lanes)))
		}
	}
}

// under says which destinations of a mixture are as by its first tables alone, all of whose packets arrive, once these
// are known; nil: it cannot be said.
func (m *Memory) under(ctx context.Context, d *derivation) (func(fabric.LID) bool, error) {
	for _, t := range d.tables {
		if t.Groups != nil {
			return nil, nil
		}
	}
	if kept, err := m.goTo(ctx, d.t, d.o); err != nil || !kept || d.byLane != nil || m.d.simple != d.simple || m.d.lanes != d.lanes || m.d.fixed != d.fixed {
		return nil, err
	}
	for _, t := range d.tables[1:] {
		if !d.simple && !sameMaps(d.f, d.t.Lanes.SL2VL, t.Lanes.SL2VL) {
			return nil, nil
		}
	}
	return func(lid fabric.LID) bool { return m.notes[lid].clean && !d.differ(lid) && !d.levelsDiffer(lid) }, nil
}

// levelsDiffer reports whether packets to a LID have other service levels by some of the tables than by the first.
func (d *derivation) levelsDiffer(lid fabric.LID) bool {
	first, owner := d.t.Lanes.SLRow(lid), d.f.Owner(lid)
	for i, t := range d.tables[1:] {
		row := t.Lanes.SLRow(lid)
		if first == nil && row == nil || t.Lanes == d.t.Lanes {
			continue
		}
		for s := range d.groups {
			for k := range d.groups[s] {
				if rows := d.groups[s][k].rows; levelIn(first, rows[0]) != levelIn(row, rows[i+1]) {
					return true
				}
			}
		}
		a, b := d.answers[0], d.answers[i+1]
		if (a == nil) != (b == nil) {
			return true
		}
		home := d.groups[d.f.Endpoint(owner).Switch]
		if a != nil && (!slices.Equal(a.toGroups(d.t.Lanes.Row[owner]), b.toGroups(t.Lanes.Row[owner])) || besideDiffer(a, b, home, home, lid)) {
			return true
		}
	}
	return false
}

// addTo adds what is known of the destinations that are as by the first tables to a mixture. That of others is a part
// of what their mixtures do.
func (m *Memory) addTo(d *derivation, v *MixtureVerdict, as func(fabric.LID) bool) {
	unite(d.same.Words, m.same.Spread(m.one, d.f.Turns(), d.lanes).Words)
	unite(d.matrix, m.matrix)
	unite(d.inUse, m.inUse(d.f))
	for lid, owner := range d.o.Scope.LIDs(d.f) {
		if !as(lid) {
			continue
		}
		v.Pairs += m.d.sources
		if m.d.sends[owner] {
			v.Pairs--
		}
	}
}
