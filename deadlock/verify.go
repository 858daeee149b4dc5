// Package deadlock is the judge: it says whether finished tables can deadlock,
// and proves it.
//
// It shares no code with path finders and lane assigners and takes nothing from them on
// trust. It derives every dependency from the tables alone, and returns either a
// certificate, a rank for every lane in use that rises along every dependency, or a
// shortest credit loop with a route that causes each of its steps.
//
// Theory. W. J. Dally, C. L. Seitz: Deadlock-Free Message Routing in
// Multiprocessor Interconnection Networks, IEEE Trans. Computers 36(5), 1987,
// Theorem 1: a routing whose channel dependency graph has no cycle cannot
// deadlock. The channels here are (trunk, virtual lane). Channels from and to
// adapters cannot be part of a cycle, since adapters do not forward: an
// injection channel has no predecessor and a delivery channel no successor.
// The theorem is sufficient, not necessary (L. Schwiebert): a cycle is a
// potential credit loop.
//
// Which packets count: every source in scope sends to every LID of every other endpoint
// in scope, on the service levels that the contract allows: under contract honored on
// the SL of its own direction and on those of answers (see routing.Contract), under
// directed on the SL of its own direction. A LID marked routing.NoSL for the source is
// left out under both: it takes no packets of the source, answers neither. A packet keeps its service level; each switch maps it to a lane
// by in-port and out-port. An SL mapped to VL 15 is dropped there.
//
// Complexity: O(D·S) for D destination LIDs and S switches to derive the
// dependencies, O(T·V²) for T turns and V lanes to rank them. A shortest loop is
// searched only among lanes that lie on loops.
package deadlock

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/waits/cdg"
	"github.com/weft-fabric/weft/routing"
)

// Options states the assumptions under which tables are judged.
type Options struct {
	Contract routing.Contract // what clients use; zero: honored
	Scope    routing.Scope    // who sends and receives; zero: host adapters
	Lost     int              // how many lost pairs to list, by LID and switch; 0: 20; negative: all
	NoCycle  bool             // leave Cycle nil: finding a shortest loop and its routes can take longer than the verdict
	Progress routing.Progress
	Memory   *Memory // what is kept from the last verdict for the next; nil: nothing. See Memory
}

// Verdict is what the judge found. Findings are not errors: look at Free and
// Complete.
type Verdict struct {
	Contract routing.Contract
	Scope    routing.Scope

	Pairs        int64 // ordered (source endpoint, destination LID) in scope and in use, without a source's own LIDs
	Unreachable  int64 // those of Pairs without a route
	Dropped      int64 // turns at which an SL in use is mapped to VL 15
	Stray        int64 // (switch without sources, LID) without a route: harmless in this scope
	Loops        int64 // (switch, LID) whose packets circle for ever
	Lost         []Lost
	Dependencies int      // distinct dependencies between lanes of trunks
	VLs          int      // lanes that carry traffic between switches (at least 1)
	SLs          int      // number of service levels that the tables give to pairs in scope, whatever the contract
	LaneMask     uint16   // the lanes of VLs, as bits
	Absent       []Absent // lanes that packets are sent to and cables do not run; not looked at by Complete, for whoever routes anew may have them run

	Certificate *Certificate      // nil if there is a credit loop
	Cycle       []LoopStep        // a shortest credit loop; nil if there is none or Options.NoCycle
	Multicast   *MulticastVerdict // nil: the tables say nothing of multicast, and the verdict is not about it
	SelfCables  bool              // tables send packets by a cable from a switch to itself, which are outside of the verdict
	Escape      *Escape           // of tables with groups that are not free: why they are, if waiting packets choose again; nil: they are not
}

// Free reports whether the tables are proven free of deadlock.
func (v *Verdict) Free() bool { return v.Certificate != nil }

// Complete reports whether every pair has a route that delivers.
func (v *Verdict) Complete() bool { return v.Unreachable == 0 && v.Loops == 0 && v.Dropped == 0 }

// Absent is a lane that a switch maps a service level in use to, at a port whose cable does
// not run it (fabric.Channel.DataVLs): packets on that service level are dropped there.
type Absent struct {
	Channel fabric.ChannelID
	SL, VL  uint8
}

// Lost is a pair of switch and LID without a route.
type Lost struct {
	Switch fabric.NodeID
	LID    fabric.LID
	Why    Loss
	Pairs  int64 // sources in scope on that switch that are cut off
}

// Loss is why a packet does not arrive.
type Loss uint8

// The ways to lose a packet.
const (
	NoEntry   Loss = iota // a switch on the way has no entry
	DeadPort              // an entry names a port without a cable
	WrongNode             // it is delivered to another node
	Circles               // it circles for ever
	NoAddress             // the source may use none of the endpoint's LIDs
)

func (l Loss) String() string {
	return [...]string{"no entry", "an out-port without a cable", "delivered to another node", "circles for ever", "no LID that it may use"}[l]
}

// maxLost is how many lost pairs a verdict lists by default.
const maxLost = 20

func (o *Options) maxLost() int {
	switch {
	case o.Lost < 0:
		return math.MaxInt
	case o.Lost == 0:
		return maxLost
	}
	return o.Lost
}

// trim cuts a list of lost pairs down to those that can be listed in the end, once it is long.
func (o *Options) trim(lost *[]Lost) {
	if most := o.maxLost(); len(*lost)/4 > most {
		*lost = firstLost(*lost, most)
	}
}

// Verify judges tables. The error is for what is not a verdict: a cancelled
// context, or tables that do not belong to their fabric.
func Verify(ctx context.Context, t *routing.Tables, o Options) (*Verdict, error) {
	if o.Memory.take() {
		defer o.Memory.release()
	} else {
		o.Memory = nil
	}
	d, v, err := derive(ctx, t, o)
	if err != nil {
		return nil, err
	}
	g := d.graph()
	v.Dependencies = g.Count() * max(1, bits.OnesCount16(d.one))
	rank, free := o.Memory.rank(g, true)
	if free {
		v.Certificate = certify(rank, d.one, d.inUse, d.lanes, o)
	} else if !o.NoCycle {
		if d.one != 0 {
			d.same, d.one = d.same.Spread(d.one, d.f.Turns(), d.lanes), 0
			g = d.graph()
			rank, _ = g.Rank()
		}
		v.Cycle = witness(g.ShortestCycle(rank), d.lanes, d.causeOf())
	}
	if !free && t.Groups != nil {
		v.Escape, err = d.findEscape(ctx)
	}
	return v, err
}

// causeOf is how to find what causes a step of a loop.
func (d *derivation) causeOf() func(hold, want hop, answer bool) (LoopStep, bool) {
	unicast := d.cause
	if d.isRelation() {
		unicast = newRelationWalker(d).cause
	}
	if d.t.Multicast == nil {
		return unicast
	}
	multicast := newSpreader(d)
	return func(hold, want hop, answer bool) (LoopStep, bool) {
		step, found := unicast(hold, want, answer)
		if !found && answer {
			return multicast.cause(hold, want)
		}
		return step, found
	}
}

// derivation is what the judge derives from tables: one set of them, or several that a network
// changes between.
type derivation struct {
	f       *fabric.Fabric
	t       *routing.Tables // the first
	tables  []*routing.Tables
	change  bool // from any of them to any other
	o       Options
	allowed uint16             // service levels, as bits, where the contract alone decides them; else 0
	fixed   uint16             // those of allowed to follow
	groups  [][]group          // [switch] the sources on it
	senders []fabric.NodeID    // switches with sources
	sources int64              // on all of them
	all     []fabric.NodeID    // all switches
	answers []*answers         // [tables] nil where answers add no service levels
	lanes   int                // lanes are 0 … lanes-1
	uniform [routing.SLs]uint8 // [SL] its lane, if simple
	maps    *laneMaps[uint8]   // of the first tables; nil where simple
	matrix  []uint64           // [turn × words + …] which lane waits for which, lanes × lanes bits
	same    cdg.SameLane       // instead of matrix where simple
	one     uint16             // the only lane of same stands for these, as bits; 0: same has all lanes
	inUse   []uint16           // [trunk] lanes that carry something
	absent  []Absent           // see findAbsent

	// simple says that the SL alone decides the lane, by all tables alike, and nothing else depends on it:
	// no packet changes lanes.
	simple        bool
	droppedLevels uint16 // if simple: service levels mapped to dropLane, as bits

	// For walker, which follows what is no relation.
	exits    exits
	only     uint8 // the only service level that is given out, if oneLevel
	oneLevel bool  // so that answers use no other
	oneRow   bool  // besides, all destinations have the same row of them

	levelsAsBefore bool // service levels are those of the last tables (Memory.sameLevels)

	allOn uint16  // the lanes, as bits, of all packets, where these are the same for all of them and none is dropped; else 0
	sends []bool  // [endpoint] it is a source
	rowOn []int32 // [switch] the row of service levels of all sources on it, -1: there are none; nil: some switches have several

	// For relationWalker.
	outs    [][][]outlets     // [tables][switch][group]; nil: no groups
	private int               // private tables of a switch, at most
	alike   bool              // all service levels are forwarded alike
	byLane  []uint16          // [switch] service levels on which any of the tables look up lanes by lanes, as bits; nil: none
	union   *laneMaps[uint16] // lanes by any of the tables, as bits, with dropLane for service levels that are dropped; nil where simple
}

// isRelation reports whether packets have several ways on, or their lanes several, so that relationWalker follows them.
func (d *derivation) isRelation() bool {
	return d.change || d.t.Groups != nil || d.byLane != nil
}

// newDerivation checks tables and lays out what the walkers need of them.
func newDerivation(tables []*routing.Tables, change bool, o Options) (*derivation, error) {
	if len(tables) == 0 {
		return nil, errors.New("a mixture of no tables")
	}
	d := &derivation{f: tables[0].Fabric, t: tables[0], tables: tables, change: change, o: o, simple: true, private: 1, alike: true}
	d.outs, d.answers = make([][][]outlets, len(tables)), make([]*answers, len(tables))
	d.uniform, _ = d.t.Lanes.SL2VL.Uniform()
	ignored := true
	for i, t := range tables {
		if t.Fabric != d.f {
			return nil, errors.New("a mixture of tables for different fabrics")
		}
		if err := d.checked(t).Check(); err != nil {
			return nil, err
		}
		if t.Groups != nil {
			d.outs[i] = outletsOf(d.f, t.Groups)
			d.private = max(d.private, t.Groups.Tables())
			d.alike = d.alike && t.Groups.IgnoresSL()
		}
		lane, uniform := t.Lanes.SL2VL.Uniform()
		d.simple = d.simple && uniform && lane == d.uniform
		d.lanes = max(d.lanes, laneCount(t))
		ignored = ignored && ignoresSL(t)
	}
	d.simple = d.simple && d.alike
	d.byLane = levelsByLane(tables)
	d.groups = groupSources(o.Scope, tables...)
	var was *derivation
	if !change {
		was = o.Memory.sameLevels(d.t)
		d.findLevels(was)
	}
	for i, t := range tables {
		if o.Contract.EitherWay() && !ignored && !d.oneLevel {
			d.answers[i] = was.answersTo(t, d.groups)
		}
	}
	d.findSenders()
	d.layOutMaps()
	if !d.isRelation() {
		d.prepareWalkers()
	}
	return d, nil
}

// findLevels looks whether there is but one service level; was is the last derivation if it is of the same ones, or nil.
func (d *derivation) findLevels(was *derivation) {
	if d.levelsAsBefore = was != nil; d.levelsAsBefore {
		d.only, d.oneLevel, d.oneRow = was.only, was.oneLevel, was.oneRow
		return
	}
	d.only, d.oneLevel, d.oneRow = onlyLevel(d.t)
}

// checked is tables of which all has to be checked that was not when they were judged before.
func (d *derivation) checked(t *routing.Tables) *routing.Tables {
	if !d.o.Memory.sharesLevels(t) {
		return t
	}
	l := &routing.Lanes{Row: t.Lanes.Row, Rows: t.Lanes.Rows, SL2VL: t.Lanes.SL2VL} // without the service levels of all pairs
	return &routing.Tables{Fabric: t.Fabric, Forwarding: t.Forwarding, Lanes: l, Groups: t.Groups, Multicast: t.Multicast}
}

// prepareWalkers lays out what walkers look up again and again.
func (d *derivation) prepareWalkers() {
	d.sends = make([]bool, len(d.f.Endpoints()))
	d.rowOn = slices.Repeat([]int32{-1}, d.f.Switches())
	single := true
	for _, s := range d.senders {
		single = single && len(d.groups[s]) == 1
		d.rowOn[s] = d.groups[s][0].rows[0]
		for i := range d.groups[s] {
			for _, e := range d.groups[s][i].from {
				d.sends[e] = true
			}
		}
	}
	if !single {
		d.rowOn = nil
	}
	sls := d.fixed
	if sls == 0 && d.oneLevel {
		sls = bit(d.only)
	} else if sls == 0 && ignoresSL(d.t) {
		sls = bit(0)
	}
	if d.simple && sls&d.droppedLevels == 0 {
		d.allOn = d.lanesOf(sls)
	}
}

// findSenders lists the switches with sources.
func (d *derivation) findSenders() {
	d.all = fabric.All[fabric.NodeID](d.f.Switches())
	for s, groups := range d.groups {
		if len(groups) > 0 {
			d.senders = append(d.senders, fabric.NodeID(s))
			for i := range groups {
				d.sources += int64(len(groups[i].from))
			}
		}
	}
}

// layOutMaps chooses the service levels to follow, and lays out the lanes of these.
func (d *derivation) layOutMaps() {
	d.allowed, _ = d.o.Contract.FixedMask()
	d.fixed = d.allowed
	if d.simple {
		for sl, vl := range d.uniform {
			if vl >= dropLane {
				d.droppedLevels |= bit(uint8(sl))
			}
		}
		return
	}
	d.fixed = representatives(d.tables, d.allowed)
	used := d.fixed
	for _, t := range d.tables {
		if d.fixed == 0 {
			used |= t.Levels()
		}
	}
	if d.isRelation() {
		d.union = newLaneMaps(d.f, used, d.groups, func(s fabric.NodeID, in, out, sl uint8) uint16 {
			return mapped(d.tables, s, in, out, sl, 0) // not read where switches look at lanes: relationWalker.turn asks for each lane
		})
	} else {
		d.maps = newLaneMaps(d.f, used, d.groups, d.t.Lanes.SL2VL.VL)
	}
}

// looksAtLanes reports whether a switch looks up the lane of packets on a service level by their lane, by any of the tables.
func (d *derivation) looksAtLanes(s fabric.NodeID, sl uint8) bool {
	return d.byLane != nil && d.byLane[s]>>sl&1 == 1
}

// lanesOf is the lanes of service levels, both as bits, where the SL alone decides them.
func (d *derivation) lanesOf(sls uint16) (lanes uint16) {
	for sls &^= d.droppedLevels; sls != 0; sls &= sls - 1 {
		lanes |= 1 << d.uniform[bits.TrailingZeros16(sls)]
	}
	return lanes
}

// derive follows every route of tables once, and counts what becomes of packets.
func derive(ctx context.Context, t *routing.Tables, o Options) (*derivation, *Verdict, error) {
	if o.Memory != nil {
		if d, v, err := o.Memory.derive(ctx, t, o); err != nil || d != nil {
			return d, v, err
		}
	}
	d, err := newDerivation([]*routing.Tables{t}, false, o)
	if err != nil {
		return nil, nil, err
	}
	var parts []part
	if d.isRelation() {
		parts, err = partsOf(ctx, d, newGroupsWalker)
	} else {
		parts, err = partsOf(ctx, d, newWalker)
	}
	if err != nil {
		return nil, nil, err
	}
	v := &Verdict{Contract: o.Contract, Scope: o.Scope, SelfCables: overSelfCables(t)}
	sls := uint16(0)
	for _, p := range parts {
		v.add(p.verdict)
		sls |= p.sls
	}
	d.merge(parts)
	v.Multicast = d.addMulticast()
	v.finish(d.inUse, sls, o.maxLost())
	v.Absent = d.findAbsent()
	return d, v, nil
}

func (d *derivation) graph() *cdg.Graph {
	lanes := d.lanes
	if d.one != 0 {
		lanes = 1
	}
	return &cdg.Graph{Fabric: d.f, Lanes: lanes, Turns: d.matrix, Same: d.same}
}

// routeFollower follows the packets to one destination after another.
type routeFollower interface {
	destination(lid fabric.LID)
	part() part
}

// part is what the packets to a part of the destinations do, those that one core has followed.
type part struct {
	matrix  []uint64     // their dependencies, in full; see derivation
	same    cdg.SameLane // their dependencies where each stays on its lane, in place of matrix
	inUse   []uint16     // [trunk] the lanes that they hold, as bits
	sls     uint16       // their service levels, as bits
	verdict *Verdict     // the counts
}

// partsOf follows the packets to all LIDs in scope.
func partsOf[W routeFollower](ctx context.Context, d *derivation, start func(*derivation) W) ([]part, error) {
	all, err := eachDestination(ctx, d.t.Fabric, d.o, func() W { return start(d) }, W.destination)
	parts := make([]part, len(all))
	for i, w := range all {
		parts[i] = w.part()
	}
	return parts, err
}

// eachDestination makes walkers follow the routes to all LIDs in scope, on all cores, and
// returns the walkers. Each takes the LIDs of a switch one after another, since much of what it
// finds on the way to one holds for the next.
func eachDestination[W any](ctx context.Context, f *fabric.Fabric, o Options, start func() W, walk func(W, fabric.LID)) ([]W, error) {
	on := make([][]fabric.LID, f.Switches())
	for lid, e := range o.Scope.LIDs(f) {
		s := f.Endpoint(e).Switch
		on[s] = append(on[s], lid)
	}
	on = slices.DeleteFunc(on, func(lids []fabric.LID) bool { return len(lids) == 0 })
	return cdg.OnAllCores(ctx, on, o.Progress, start, func(w W, lids []fabric.LID) {
		for _, lid := range lids {
			walk(w, lid)
		}
	})
}

// laneCount is one more than the highest lane that any packet can use.
func laneCount(t *routing.Tables) int {
	top := uint8(0)
	eachLane(t, func(vl uint8) {
		if vl < dropLane {
			top = max(top, vl)
		}
	})
	return int(top) + 1
}

// merge unites the dependencies that were seen, each part of them on the way to a part of the destinations.
func (d *derivation) merge(parts []part) {
	d.matrix, d.same, d.inUse = parts[0].matrix, parts[0].same, parts[0].inUse
	for _, p := range parts[1:] {
		unite(d.matrix, p.matrix)
		unite(d.same.Words, p.same.Words)
		unite(d.inUse, p.inUse)
	}
}

// unite adds a set to another, both bits.
func unite[W uint16 | uint64](into, from []W) {
	for i, bits := range from {
		into[i] |= bits
	}
}
