package wire

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Expressible is an error if an answer cannot express some tables under a contract: service levels that
// differ between senders on one switch, or senders that must not use an address of a
// port (routing.NoSL), since OpenSM cannot withhold a path record.
func Expressible(t *routing.Tables, k routing.Contract) error {
	if err := rowsAreSwitches(t); err != nil || singleSL(k) != routing.NoSL {
		return err
	}
	for lid := range t.Fabric.LIDs() {
		levels := t.Lanes.SLRow(lid)
		if levels == nil {
			return nil
		}
		for s := range t.Fabric.Switches() {
			if levels[t.Lanes.Row[s]] == routing.NoSL {
				return fmt.Errorf("senders on %s must not use LID %d, and OpenSM cannot withhold its path record", t.Fabric.Label(fabric.NodeID(s)), lid)
			}
		}
	}
	return nil
}

// WriteTables answers a request with tables and their proof, both for q.Fabric(). The
// plugin checks the proof on the path of every pair and rejects tables whose proof does
// not hold.
//
// If the contract is single:N, the PathRecords say N: clients use that, and the proof
// is about it. Tables that are not Expressible are an error, and nothing is written.
func WriteTables(w io.Writer, q *Request, engine string, t *routing.Tables, proof *deadlock.Certificate) error {
	return WriteAnswer(w, q, engine, t, proof, Manner{})
}

// Manner is what an answer says of tables, beside their proof.
type Manner struct {
	Step   *Step // nil: they are no step from those in use
	SoFar  bool  // better tables may follow
	Orders bool  // others may be ordered at any time
}

// WriteAnswer is WriteTables or WriteStep. What the sender of the request does not understand is
// not said.
func WriteAnswer(w io.Writer, q *Request, engine string, t *routing.Tables, proof *deadlock.Certificate, m Manner) error {
	flags, more := uint8(0), 0
	if s := m.Step; s != nil {
		more = s.More
		if q.InUse != 0 || q.Filled && q.Improves && s.More > 0 {
			flags |= flagStep
			if s.Drops {
				flags |= flagDrops
			}
			if s.NewTree && t.Multicast != nil {
				flags |= flagNewTree
			}
		}
	}
	if (more > 0 || m.SoFar) && q.Improves {
		flags |= flagSoFar
	}
	if m.Orders && q.Stands {
		flags |= flagOrders
	}
	return writeTables(w, q, engine, t, proof, flags, uint8(min(more, math.MaxUint8)))
}

// Step is what there is to say of a step; where others follow, or better tables may, who
// asked is to ask again.
type Step struct {
	More  int  // steps that follow
	SoFar bool // better tables may follow
	Drops bool // it may cut pairs, until the next step

	// NewTree: the tree for multicast is another than that of the tables in use, and nothing
	// is proven about multicast while they are replaced.
	NewTree bool
}

// WriteStep is WriteTables with tables whose proof holds, too, while those in use, or else those
// that the switches are filled with, are replaced by them (package transition).
func WriteStep(w io.Writer, q *Request, engine string, t *routing.Tables, proof *deadlock.Certificate, s Step) error {
	return WriteAnswer(w, q, engine, t, proof, Manner{Step: &s, SoFar: s.SoFar})
}

// WriteSoFar is WriteTables for tables to which better ones may follow. The answer says
// so if the sender of the request understands that.
func WriteSoFar(w io.Writer, q *Request, engine string, t *routing.Tables, proof *deadlock.Certificate) error {
	return WriteAnswer(w, q, engine, t, proof, Manner{SoFar: true})
}

// writeTables writes an answer with tables, as the package comment has it.
func writeTables(w io.Writer, q *Request, engine string, t *routing.Tables, proof *deadlock.Certificate, flags, more uint8) error {
	f, l := t.Fabric, t.Lanes
	rows, err := rowsOf(q, f)
	if err != nil {
		return err
	}
	if err := Expressible(t, proof.Contract); err != nil {
		return err
	}
	ports := 0
	for _, s := range rows {
		ports += f.Node(s).Ports + 1
	}
	maps, pairs := mapsOf(f, l.SL2VL, rows)
	mask, fixed := proof.Contract.FixedMask()
	if !fixed {
		mask = 0
	}
	lids := int(f.TopLID()) + 1
	groups, tree, err := treeOf(t, rows)
	if err != nil {
		return err
	}
	m := newMessage(kindTables, tablesSize)
	m = le.AppendUint64(m, q.Sweep)
	for _, n := range []int{len(rows), lids, ports, len(pairs)} {
		m = le.AppendUint32(m, uint32(n))
	}
	m = le.AppendUint16(m, uint16(len(maps)))
	m = append(m, byte(proof.Lanes), byte(proof.Scope))
	m = le.AppendUint16(m, mask)
	if proof.Contract == routing.Directed {
		flags |= flagDirected
	}
	m = append(m, flags, more)
	adapters := adapterLanes(q, l.SL2VL)
	m = append(m, adapters[:]...)
	m = padded(m, engine, engineSize)
	m = le.AppendUint64(m, Number(t))
	m = le.AppendUint16(m, groups)
	m = append(m, make([]byte, 6)...)
	le.PutUint64(m[8:], uint64(tablesSize+2*len(rows)*lids+routing.SLs*len(maps)+2*len(pairs)+4*ports*proof.Lanes+len(tree)))
	out := bufio.NewWriterSize(w, chunk) // Flush returns any earlier error
	out.Write(m)
	writeRows(out, rows, lids, func(block []byte, part []fabric.NodeID) { fillPorts(block, t, part, lids) })
	writeRows(out, rows, lids, func(block []byte, part []fabric.NodeID) { fillLevels(block, t, part, lids, proof.Contract) })
	for i := range maps {
		out.Write(maps[i][:])
	}
	for _, p := range pairs {
		out.Write(le.AppendUint16(out.AvailableBuffer(), p))
	}
	for _, s := range rows {
		out.Write(appendRanks(out.AvailableBuffer(), f, s, proof))
	}
	out.Write(tree)
	if err := out.Flush(); err != nil {
		return err
	}
	return nil
}

// Number identifies tables: it is a digest by which plugin and daemon agree on what is in
// use. It is never 0.
func Number(t *routing.Tables) uint64 {
	f := t.Fabric
	h := sha256.New()
	rows := make([]fabric.NodeID, f.Switches())
	levels := make([]uint8, len(rows))
	b := make([]byte, 0, 8)
	for s := range rows {
		rows[s] = fabric.NodeID(s)
		h.Write(le.AppendUint64(b, uint64(f.Node(rows[s]).GUID)))
	}
	for lid := range f.LIDs() {
		h.Write(le.AppendUint16(b, uint16(lid)))
		h.Write(t.Forwarding.Row(lid))
		for s := range levels {
			levels[s] = t.Lanes.SL(fabric.EndpointID(s), lid)
		}
		h.Write(levels)
	}
	maps, pairs := mapsOf(f, t.Lanes.SL2VL, rows)
	for i := range maps {
		h.Write(maps[i][:])
	}
	for _, p := range pairs {
		h.Write(le.AppendUint16(b, p))
	}
	if tree := t.Multicast.One(); tree != nil {
		h.Write(le.AppendUint16(b, t.Multicast.SLs))
		for _, n := range tree.Nodes {
			for _, word := range n.Ports {
				h.Write(le.AppendUint64(b, word))
			}
		}
	}
	return max(1, le.Uint64(h.Sum(nil)))
}

// chunk is how many bytes of an answer are prepared at a time, so that a slow reader
// does not cost memory in proportion to the answer.
const chunk = 256 << 10

// rowsOf is the switches of f in the order of the request: the rows of the answer.
func rowsOf(q *Request, f *fabric.Fabric) ([]fabric.NodeID, error) {
	var rows []fabric.NodeID
	for i := range q.Nodes {
		if q.Nodes[i].Kind != fabric.Switch {
			continue
		}
		s := f.NodeByGUID(q.Nodes[i].GUID)
		if s == fabric.None {
			return nil, fmt.Errorf("the tables know no switch %s", q.Nodes[i].GUID)
		}
		rows = append(rows, s)
	}
	if len(rows) != f.Switches() {
		return nil, fmt.Errorf("the tables are for %d switches, the request has %d", f.Switches(), len(rows))
	}
	return rows, nil
}

// rowsAreSwitches refuses service levels that differ between senders on one
// switch: the plugin answers by switch.
func rowsAreSwitches(t *routing.Tables) error {
	f := t.Fabric
	for s := range f.Switches() {
		own := t.Lanes.Row[s] // endpoint s is port 0 of switch s
		for _, e := range f.Attached(fabric.NodeID(s)) {
			if t.Lanes.Row[e] != own {
				return fmt.Errorf("the service levels differ between senders on %s; the plugin keeps them by switch", f.Label(fabric.NodeID(s)))
			}
		}
	}
	return nil
}

// writeRows writes a row of bytes by LID for every switch, as many switches at a time as fit
// into a chunk: fill sets the entries of the switches part in a block of zeros, [index in part × lids + LID].
func writeRows(out *bufio.Writer, rows []fabric.NodeID, lids int, fill func(block []byte, part []fabric.NodeID)) {
	several := max(1, min(len(rows), chunk/lids))
	block := make([]byte, several*lids)
	for part := range slices.Chunk(rows, several) {
		clear(block)
		fill(block, part)
		out.Write(block[:len(part)*lids])
	}
}

// fillPorts fills a block of writeRows with out-ports.
func fillPorts(block []byte, t *routing.Tables, part []fabric.NodeID, lids int) {
	for i := range block {
		block[i] = routing.NoPort
	}
	for lid := range t.Fabric.LIDs() {
		ports := t.Forwarding.Row(lid)
		for i, s := range part {
			block[i*lids+int(lid)] = ports[s]
		}
	}
}

// fillLevels fills a block of writeRows with the service levels that PathRecords say under a contract.
func fillLevels(block []byte, t *routing.Tables, part []fabric.NodeID, lids int, k routing.Contract) {
	single := singleSL(k)
	for lid := range t.Fabric.LIDs() {
		levels := t.Lanes.SLRow(lid)
		for i, s := range part {
			switch {
			case single != routing.NoSL:
				block[i*lids+int(lid)] = single
			case levels != nil:
				block[i*lids+int(lid)] = levels[t.Lanes.Row[s]]
			}
		}
	}
}

// singleSL is the one service level of a contract single:N, or routing.NoSL.
func singleSL(k routing.Contract) uint8 {
	if mask, fixed := k.FixedMask(); fixed {
		for sl := range uint8(routing.SLs) {
			if mask == 1<<sl {
				return sl
			}
		}
	}
	return routing.NoSL
}

// laneMap is an SL2VL map: the lane, [service level].
type laneMap [routing.SLs]uint8

// mapsOf is the different maps of the switches, and for each pair of ports, by switch in the order of rows, in-port and
// out-port, the index of its map; nil pairs: there is one map. A fabric of the largest size has at most 65,536
// different maps, which 16 bits can number.
func mapsOf(f *fabric.Fabric, sl2vl *routing.SL2VL, rows []fabric.NodeID) (maps []laneMap, pairs []uint16) {
	if uniform, ok := sl2vl.Uniform(); ok {
		return []laneMap{uniform}, nil
	}
	number := map[laneMap]uint16{}
	for _, s := range rows {
		ports := f.Node(s).Ports + 1
		for in := range ports {
			for out := range ports {
				m := laneMap(sl2vl.Map(s, uint8(in), uint8(out)))
				n, ok := number[m]
				if !ok {
					n = uint16(len(maps))
					number[m] = n
					maps = append(maps, m)
				}
				pairs = append(pairs, n)
			}
		}
	}
	return maps, pairs
}

// adapterLanes is the lanes on which adapters send: by the map of the switches if they
// all have the same one, else SL s on lane s modulo the lanes. The lane of an injection
// channel is part of no dependency that could close a loop.
func adapterLanes(q *Request, sl2vl *routing.SL2VL) laneMap {
	if uniform, ok := sl2vl.Uniform(); ok {
		return uniform
	}
	uniform, _ := routing.LanePerSL(q.Lanes()).Uniform()
	return uniform
}

// appendRanks appends the ranks of a switch, by out-port and lane, to m.
func appendRanks(m []byte, f *fabric.Fabric, s fabric.NodeID, proof *deadlock.Certificate) []byte {
	for port := range f.Node(s).Ports + 1 {
		c := f.Trunk(s, uint8(port))
		for lane := range proof.Lanes {
			rank := int32(deadlock.Unused)
			if c != fabric.None {
				rank = proof.Rank[int(c)*proof.Lanes+lane]
			}
			m = le.AppendUint32(m, uint32(rank))
		}
	}
	return m
}

// WriteRefusal answers a request with the reason why there are no tables. The
// plugin puts it into OpenSM's log.
func WriteRefusal(w io.Writer, sweep uint64, reason string) error {
	m := newMessage(kindRefusal, refusalSize+len(reason))
	m = le.AppendUint64(m, sweep)
	return send(w, append(m, reason[:min(len(reason), reasonMax)]...))
}
