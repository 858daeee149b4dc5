// Package routing defines the values that are passed between everything that computes,
// judges, simulates or writes tables.
//
// Two decisions make a routing. Which way: a PathFinder turns a fabric into a
// Forwarding, the out-port of every switch for every destination LID. Which
// lane: a LaneAssigner turns a Forwarding into Lanes, the service level of every
// source and destination, and the map from service level to virtual lane in
// every switch. Tables hold both for one fabric.
//
// Words. A routing is connected when every source reaches every destination
// and deterministic when one entry decides: both are properties of Forwarding
// that the judge (package deadlock) checks. It is minimal when every path has
// the fewest hops the cables allow. It is deadlock-free under a contract and a
// scope: the contract says which service levels clients use, the scope which
// endpoints count as sources and destinations.
//
// All values are frozen once returned.
package routing

import (
	"bytes"
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// NoPort is the forwarding entry of a switch that has no path to a LID.
const NoPort uint8 = 255

// NoSL is the service level from a source to a LID that it must not use. An endpoint
// with several LIDs (LMC) need not be reachable from everywhere by each of them; the
// PathRecords name those that a source may use. Its answers take no others either; OpenSM
// cannot withhold a PathRecord, and gets no such tables. See Contract.
const NoSL uint8 = 255

// Hardware limits. VL 15 carries subnet management only.
const (
	SLs        = 16
	MaxDataVLs = 15
	// DefaultVLs is the number of data lanes of current switches.
	DefaultVLs = 8
	// BlockLIDs is the number of LIDs in a block of a forwarding table, which a subnet
	// manager writes by one packet (IBA 14.2.5.6).
	BlockLIDs = 64
)

// Forwarding is the out-port by destination LID and switch: the linear forwarding
// tables (LFT) of all switches. A row belongs to a destination, because every algorithm
// here goes destination by destination; it is the destination's in-tree.
type Forwarding struct {
	Notes []string // remarks of the path finder for users, a sentence each, such as the roots it chose

	// Some pairs that cables join have no path: addresses of switches, aggregation nodes
	// or routers for which every path could close a credit loop. Host adapters all reach
	// each other.
	Apart bool

	switches int
	ports    []uint8 // [LID × switches + switch]
}

// NewForwarding is a Forwarding for f without any path.
func NewForwarding(f *fabric.Fabric) *Forwarding {
	const some = 1 << 15 // few enough to stay in a cache while they are copied
	ports := make([]uint8, (int(f.TopLID())+1)*f.Switches())
	first := ports[:min(some, len(ports))]
	for i := range first {
		first[i] = NoPort
	}
	for rest := ports[len(first):]; len(rest) > 0; {
		rest = rest[copy(rest, first):]
	}
	return &Forwarding{switches: f.Switches(), ports: ports}
}

// Clone is a copy of t, notes included.
func (t *Forwarding) Clone() *Forwarding {
	return &Forwarding{Notes: slices.Clone(t.Notes), Apart: t.Apart, switches: t.switches, ports: slices.Clone(t.ports)}
}

// Row is the out-port of every switch for a LID, [switch]. Only the path finder that
// builds the Forwarding writes into it.
func (t *Forwarding) Row(lid fabric.LID) []uint8 {
	i := int(lid) * t.switches
	return t.ports[i : i+t.switches : i+t.switches]
}

// Port is the out-port of switch s for a LID; NoPort if there is no path, 0 if the LID
// is the switch's own.
func (t *Forwarding) Port(s fabric.NodeID, lid fabric.LID) uint8 {
	return t.ports[int(lid)*t.switches+int(s)]
}

// SL2VL is the lane on which a packet leaves, by switch, in-port, out-port and service
// level. Most routings use one map for every port of every switch; a table is kept only
// if ports differ.
type SL2VL struct {
	uniform [SLs]uint8
	first   []int    // [switch] offset into table; nil: uniform everywhere
	ports   []int32  // [switch] number of ports, including port 0
	table   []uint8  // [first + (in × ports + out) × SLs + SL]
	byLane  []uint16 // [switch] service levels of which packets are mapped by lane, as bits; nil: none anywhere
}

// UniformSL2VL maps service levels to lanes in the same way at every port.
func UniformSL2VL(lane [SLs]uint8) *SL2VL { return &SL2VL{uniform: lane} }

// LanePerSL is the map of layered routings: SL s uses lane s, and SLs beyond the lanes
// start again at lane 0.
func LanePerSL(vls int) *SL2VL {
	var lane [SLs]uint8
	for s := range lane {
		lane[s] = uint8(s % vls)
	}
	return UniformSL2VL(lane)
}

// PerPort is a copy of m with an entry for every pair of ports of every switch, which
// Set can change.
func (m *SL2VL) PerPort(f *fabric.Fabric) *SL2VL {
	t := &SL2VL{first: make([]int, f.Switches()), ports: make([]int32, f.Switches())}
	size := 0
	for s := range t.first {
		t.first[s], t.ports[s] = size, int32(f.Node(fabric.NodeID(s)).Ports+1)
		size += int(t.ports[s]) * int(t.ports[s]) * SLs
	}
	t.table = make([]uint8, size)
	for s := range t.first {
		for in := range t.ports[s] {
			for out := range t.ports[s] {
				t.SetMap(fabric.NodeID(s), uint8(in), uint8(out), m.Map(fabric.NodeID(s), uint8(in), uint8(out)))
			}
		}
	}
	return t
}

// Uniform is the map of all ports, if they have the same one.
func (m *SL2VL) Uniform() (lane [SLs]uint8, ok bool) { return m.uniform, m.first == nil }

// VL is the lane for a service level on the way through switch s from in-port to
// out-port. In-port 0 is the switch itself.
func (m *SL2VL) VL(s fabric.NodeID, in, out, sl uint8) uint8 {
	if m.first == nil {
		return m.uniform[sl]
	}
	return m.table[m.at(s, in, out)+int(sl)]
}

// Map is VL for all service levels.
func (m *SL2VL) Map(s fabric.NodeID, in, out uint8) [SLs]uint8 {
	if m.first == nil {
		return m.uniform
	}
	return [SLs]uint8(m.table[m.at(s, in, out):])
}

// SetByLane has a switch look up the lane of packets on some service levels, given as bits, by the
// lane that they came on, in place of the service level, as switches of Dragonfly+ networks
// do. It is for maps made by PerPort.
func (m *SL2VL) SetByLane(s fabric.NodeID, sls uint16) {
	if m.byLane == nil {
		m.byLane = make([]uint16, len(m.first))
	}
	m.byLane[s] = sls
}

// AnyByLane reports whether any switch looks up lanes by lanes, so that VL does not say what happens
// there.
func (m *SL2VL) AnyByLane() bool {
	return slices.ContainsFunc(m.byLane, func(sls uint16) bool { return sls != 0 })
}

// ByLane reports whether a switch looks up the lane of packets on a service level by their lane.
func (m *SL2VL) ByLane(s fabric.NodeID, sl uint8) bool { return m.LevelsByLane(s)>>sl&1 == 1 }

// LevelsByLane is the service levels, as bits, of packets whose lane a switch looks up by their lane.
func (m *SL2VL) LevelsByLane(s fabric.NodeID) uint16 {
	if m.byLane == nil {
		return 0
	}
	return m.byLane[s]
}

// Next is VL for a packet that came on a lane, also where that decides.
func (m *SL2VL) Next(s fabric.NodeID, in, out, sl, lane uint8) uint8 {
	if m.ByLane(s, sl) {
		sl = lane
	}
	return m.VL(s, in, out, sl)
}

// SourceLane is the lane on which an endpoint is taken to send: n for SL n, beginning again at 0
// where its cable runs fewer. No file says so; it is what subnet managers set up unless told
// otherwise. dataVLs is fabric.Channel.DataVLs of its cable.
func SourceLane(dataVLs, sl uint8) uint8 {
	if dataVLs == 0 || dataVLs > MaxDataVLs {
		dataVLs = MaxDataVLs
	}
	return sl % dataVLs
}

// SameFrom reports whether packets that enter switch s by either of two ports are mapped
// to the same lanes, for every out-port and service level.
func (m *SL2VL) SameFrom(s fabric.NodeID, port, other uint8) bool {
	if m.first == nil || port == other {
		return true
	}
	size := int(m.ports[s]) * SLs
	a, b := m.at(s, port, 0), m.at(s, other, 0)
	return bytes.Equal(m.table[a:a+size], m.table[b:b+size])
}

// IgnoresSL reports whether the lane is the same for all service levels everywhere, so
// that it does not matter which of them clients use.
func (m *SL2VL) IgnoresSL() bool {
	alike := func(lane []uint8) bool {
		for _, vl := range lane {
			if vl != lane[0] {
				return false
			}
		}
		return true
	}
	for at := 0; at < len(m.table); at += SLs {
		if !alike(m.table[at : at+SLs]) {
			return false
		}
	}
	return m.first != nil || alike(m.uniform[:])
}

// Set changes one entry of a per-port map.
func (m *SL2VL) Set(s fabric.NodeID, in, out, sl, vl uint8) {
	m.table[m.at(s, in, out)+int(sl)] = vl
}

// SetMap changes the entries of a per-port map for all service levels.
func (m *SL2VL) SetMap(s fabric.NodeID, in, out uint8, lane [SLs]uint8) {
	copy(m.table[m.at(s, in, out):], lane[:])
}

// at is where in table the lanes of an in-port and an out-port begin.
func (m *SL2VL) at(s fabric.NodeID, in, out uint8) int {
	return m.first[s] + (int(in)*int(m.ports[s])+int(out))*SLs
}

// Lanes is the service level of every (source, destination LID) and the SL2VL map.
// Sources are grouped in rows that share their service levels: for our own engines a
// row is a switch with all endpoints attached to it; tables read from files may need
// finer rows.
type Lanes struct {
	Row    []int32 // [EndpointID] its row
	Rows   int     // how many there are
	SL2VL  *SL2VL  // the lane of each service level, by switch and ports
	Needed int     // lanes that the proof needs, before paths are spread over spare ones; 0: not known

	// Of InClasses: how many copies of the lanes there are, and how many service levels
	// each class has. 0: there is one class.
	Classes, ClassLevels int

	sl []uint8 // [LID × Rows + row]; nil: SL 0 everywhere
}

// NewLanes is Lanes with a row for every switch and SL 0 for every pair. An endpoint
// without a switch shares row 0 and sends nothing.
func NewLanes(f *fabric.Fabric, m *SL2VL) *Lanes {
	return NewLanesByRow(f, m, rowsBySwitch(f), f.Switches())
}

// rowsBySwitch is Lanes.Row with a row for every switch.
func rowsBySwitch(f *fabric.Fabric) []int32 {
	row := make([]int32, len(f.Endpoints()))
	for i := range row {
		row[i] = max(0, int32(f.Endpoint(fabric.EndpointID(i)).Switch))
	}
	return row
}

// NewLanesByRow is Lanes with rows of the caller's choice, the row of each endpoint, [EndpointID], and
// how many there are, and SL 0 for every pair.
func NewLanesByRow(f *fabric.Fabric, m *SL2VL, row []int32, rows int) *Lanes {
	return &Lanes{Row: row, Rows: rows, SL2VL: m, sl: make([]uint8, (int(f.TopLID())+1)*rows)}
}

// OneSL is Lanes with SL 0 for every pair, without a table.
func OneSL(f *fabric.Fabric, m *SL2VL) *Lanes {
	return &Lanes{Row: rowsBySwitch(f), Rows: f.Switches(), SL2VL: m}
}

// SLRow is the service level for a destination LID by row, NoSL where the row must not
// use the LID; nil if every service level is 0.
func (l *Lanes) SLRow(lid fabric.LID) []uint8 {
	if l.sl == nil {
		return nil
	}
	i := int(lid) * l.Rows
	return l.sl[i : i+l.Rows : i+l.Rows]
}

// SL is the service level from an endpoint to a LID, or NoSL.
func (l *Lanes) SL(from fabric.EndpointID, lid fabric.LID) uint8 {
	if l.sl == nil {
		return 0
	}
	return l.sl[int(lid)*l.Rows+int(l.Row[from])]
}

// TopLevel is the highest service level that is given out to a pair.
func (l *Lanes) TopLevel() int {
	top := 0
	for _, sl := range l.sl {
		if sl < SLs {
			top = max(top, int(sl))
		}
	}
	return top
}

// Tables is a complete routing of one fabric.
type Tables struct {
	Fabric     *fabric.Fabric
	Forwarding *Forwarding
	Lanes      *Lanes
	Groups     *Groups    // what switches with adaptive routing choose from; nil: nothing
	Multicast  *Multicast // trees of multicast groups; nil: not known
}

// HasWithheld reports whether there is an address of an endpoint with several that a source must not
// use (NoSL). A source that may use none of them has no route.
func (t *Tables) HasWithheld() bool {
	if t.Lanes.sl == nil {
		return false
	}
	for lid, e := range t.Fabric.LIDs() {
		if t.Fabric.Endpoint(e).LMC > 0 && slices.Contains(t.Lanes.SLRow(lid), NoSL) {
			return true
		}
	}
	return false
}

// Levels is the service levels that are given out for the LIDs in use, as bits, in all
// classes.
func (t *Tables) Levels() uint16 {
	own := uint16(0)
	if t.Lanes.sl == nil {
		own = 1
	} else {
		for lid := range t.Fabric.LIDs() {
			for _, sl := range t.Lanes.SLRow(lid) {
				own |= 1 << sl // NoSL is beyond all bits
			}
		}
	}
	mask := own
	for class := 1; class < t.Lanes.Classes; class++ {
		mask |= own << (class * t.Lanes.ClassLevels)
	}
	return mask
}
