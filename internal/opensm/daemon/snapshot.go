package daemon

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/installed"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// A snapshot is tables that were handed over with all that is needed to go on from them, in one
// file, which is as it was written or is not believed: text says too little (no map of a port
// without a cable, no row of an entry that leads into nothing) and takes a gigabyte on the
// largest fabrics. Integers are little-endian:
//
//	the letters of snapshotMagic
//	4  length of the JSON document that follows: saving
//	   the fabric of the tables, as a question about it (package wire), behind its length, 4
//	   the tables
//	   fabric and tables of the goal, if saving says that it is another
//	   the out-ports of the steps that follow, by LID from 0 and switch
//	32 SHA-256 of all before
//
// Tables:
//
//	1  lanes that the proof needs
//	2  classes, service levels of a class
//	1  what follows, as bits of hasLevels, hasMaps, hasByLane, hasTree
//	   out-ports by LID from 0 and switch
//	   service levels likewise, of what sends from the switch
//	   SL2VL maps: 4 their number, 16 each, and without hasMaps no more; else for every switch,
//	   in-port and out-port the number of its map, 4
//	   service levels, as bits, that a switch maps by lane, 2 each
//	   tree: 2 the service levels of groups, as bits; 32 the ports of each switch, as bits
const snapshotMagic = "weft installed 1\n"

// What follows in the tables of a snapshot, as bits.
const (
	hasLevels = 1 << iota
	hasMaps
	hasByLane
	hasTree
)

// saving is the document in a snapshot.
type saving struct {
	Number    string           `json:"number"`
	Settings  string           `json:"settings"`
	Engine    string           `json:"engine"`
	Tried     []result.Attempt `json:"tried"`
	Returning bool             `json:"returning"`
	Open      bool             `json:"open"`
	Goal      bool             `json:"goal"` // another than the tables themselves
	PlanKind  installed.Kind   `json:"plan_kind,omitempty"`
	PlanSteps int              `json:"plan_steps"`
	Progress  *progress        `json:"progress,omitempty"`
	Replaced  string           `json:"replaced,omitempty"` // number of the tables that they took the place of
	At        time.Time        `json:"at"`                 // when
	Hops      int              `json:"hops"`

	Drained installed.Drained `json:"drained,omitempty"`
}

// snapshot writes a snapshot of tables; readSnapshot reads it.
func (h *handed) snapshot(w io.Writer) error {
	s := saving{
		Number: hexadecimal(h.number), Settings: h.settings, Engine: h.engine, Tried: h.tried,
		Returning: h.state.Returning, Open: h.open, PlanKind: h.state.Plan.Kind, PlanSteps: len(h.state.Plan.Steps), Progress: h.progress, At: h.since.at, Hops: h.hops, Drained: h.state.Drained,
	}
	if h.since.number != 0 {
		s.Replaced = hexadecimal(h.since.number)
	}
	goal := h.state.Goal
	s.Goal = goal != nil && goal != h.tables
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	sum := sha256.New()
	e := encoder{w: io.MultiWriter(w, sum)}
	e.write([]byte(snapshotMagic))
	e.section(text)
	e.fabric(h.tables.Fabric)
	e.tables(h.tables)
	if s.Goal {
		e.fabric(goal.Fabric)
		e.tables(goal)
	}
	for _, t := range h.state.Plan.Steps {
		e.rows(t)
	}
	e.write(sum.Sum(nil))
	return e.err
}

// hexadecimal is a number of tables as people and file names write it.
func hexadecimal(number uint64) string { return fmt.Sprintf("%016x", number) }

// encoder writes the parts of a snapshot until something fails.
type encoder struct {
	w   io.Writer
	err error
}

// write writes bytes, unless something has failed.
func (e *encoder) write(b []byte) {
	if e.err == nil {
		_, e.err = e.w.Write(b)
	}
}

// section writes bytes behind their number.
func (e *encoder) section(b []byte) {
	e.write(binary.LittleEndian.AppendUint32(nil, uint32(len(b))))
	e.write(b)
}

// fabric writes a fabric, as a section with a request of package wire.
func (e *encoder) fabric(f *fabric.Fabric) {
	var b bytes.Buffer
	if err := wire.Of(f, 0).Write(&b); err != nil && e.err == nil {
		e.err = err
	}
	e.section(b.Bytes())
}

// rows writes the out-ports of tables, by LID and switch.
func (e *encoder) rows(t *routing.Tables) {
	for lid := range t.Fabric.TopLID() + 1 {
		e.write(t.Forwarding.Row(lid))
	}
}

// tables writes tables, as the comment of snapshotMagic says.
func (e *encoder) tables(t *routing.Tables) {
	f, l := t.Fabric, t.Lanes
	uniform, alike := l.SL2VL.Uniform()
	flags := uint8(0)
	for bit, set := range map[uint8]bool{hasLevels: l.SLRow(0) != nil, hasMaps: !alike, hasByLane: l.SL2VL.AnyByLane(), hasTree: t.Multicast.One() != nil} {
		if set {
			flags |= bit
		}
	}
	e.write([]byte{uint8(l.Needed), uint8(l.Classes), uint8(l.ClassLevels), flags})
	e.rows(t)
	if flags&hasLevels != 0 {
		levels := make([]uint8, f.Switches())
		for lid := range f.TopLID() + 1 {
			for s := range levels {
				levels[s] = l.SL(fabric.EndpointID(s), lid) // endpoint s is port 0 of switch s
			}
			e.write(levels)
		}
	}
	if alike {
		e.write(append([]byte{1, 0, 0, 0}, uniform[:]...))
	} else {
		e.maps(f, l.SL2VL)
	}
	if flags&hasByLane != 0 {
		for s := range fabric.NodeID(f.Switches()) {
			e.write(binary.LittleEndian.AppendUint16(nil, l.SL2VL.LevelsByLane(s)))
		}
	}
	if tree := t.Multicast.One(); tree != nil {
		e.write(binary.LittleEndian.AppendUint16(nil, t.Multicast.SLs))
		for s := range fabric.NodeID(f.Switches()) {
			for _, word := range tree.At(s) {
				e.write(binary.LittleEndian.AppendUint64(nil, word))
			}
		}
	}
}

// maps writes the different SL2VL maps, and for every switch, in-port and out-port the number of its map.
func (e *encoder) maps(f *fabric.Fabric, m *routing.SL2VL) {
	type lanes = [routing.SLs]uint8
	var all, where []byte
	number := map[lanes]uint32{}
	for s := range fabric.NodeID(f.Switches()) {
		ports := f.Node(s).Ports + 1
		for in := range ports {
			for out := range ports {
				lane := m.Map(s, uint8(in), uint8(out))
				n, known := number[lane]
				if !known {
					n = uint32(len(number))
					number[lane] = n
					all = append(all, lane[:]...)
				}
				where = binary.LittleEndian.AppendUint32(where, n)
			}
		}
	}
	e.write(binary.LittleEndian.AppendUint32(nil, uint32(len(number))))
	e.write(all)
	e.write(where)
}

// errOtherVersion is the error of a file of the state folder that is of another version of weft.
var errOtherVersion = errors.New("another version of weft wrote it")

// mostSteps limits the steps of a plan that are read back.
const mostSteps = 1000

// readSnapshot reads what snapshot wrote; whatever is not exactly that is an error. replaced is the number of the tables
// that these took the place of, 0 if it is not known. The tables are not proven yet, and h.key is not set.
func readSnapshot(b []byte) (h *handed, replaced uint64, err error) {
	if !bytes.HasPrefix(b, []byte(snapshotMagic)) {
		if bytes.HasPrefix(b, []byte(snapshotMagic[:len(snapshotMagic)-2])) {
			return nil, 0, errOtherVersion
		}
		return nil, 0, errors.New("the file does not begin as it should: it is damaged")
	}
	end := len(b) - sha256.Size
	if end < len(snapshotMagic) || sha256.Sum256(b[:end]) != [sha256.Size]byte(b[end:]) {
		return nil, 0, fmt.Errorf("the file of %d bytes is not as it was written: its checksum is another", len(b))
	}
	d := decoder{rest: b[len(snapshotMagic):end]}
	var s saving
	if err := json.Unmarshal(d.section(), &s); err != nil {
		return nil, 0, errors.Join(err, d.err)
	}
	if s.PlanSteps < 0 || s.PlanSteps > mostSteps {
		return nil, 0, fmt.Errorf("%d steps", s.PlanSteps)
	}
	t := d.tables(d.fabric())
	h = &handed{
		proven: &proven{tables: t, engine: s.Engine, tried: s.Tried, restored: true}, settings: s.Settings,
		state: installed.State{Sent: t, Goal: t, Returning: s.Returning, Plan: installed.Plan{Kind: s.PlanKind}, Drained: s.Drained}, open: s.Open, progress: s.Progress,
		since: since{at: time.Now()}, hops: s.Hops, // at the latest: the clock that s.At is by may have been set
	}
	if s.Goal {
		h.state.Goal = d.tables(d.fabric())
	}
	for range s.PlanSteps {
		if d.err == nil {
			h.state.Plan.Steps = append(h.state.Plan.Steps, &routing.Tables{Fabric: t.Fabric, Forwarding: d.rows(t.Fabric), Lanes: t.Lanes})
		}
	}
	if d.err == nil && len(d.rest) > 0 {
		d.err = fmt.Errorf("%d bytes too many", len(d.rest))
	}
	if d.err != nil {
		return nil, 0, d.err
	}
	h.number, err = strconv.ParseUint(s.Number, 16, 64)
	if err == nil && s.Replaced != "" {
		replaced, err = strconv.ParseUint(s.Replaced, 16, 64)
	}
	if err == nil {
		err = errors.Join(t.Check(), h.state.Goal.Check())
	}
	if err == nil && wire.Number(t) != h.number {
		err = fmt.Errorf("the tables are not those of number %s", s.Number)
	}
	return h, replaced, err
}

// decoder reads the parts of a snapshot until something fails; then it reads zeros.
type decoder struct {
	rest []byte
	err  error
}

// take is the next n bytes, which it cuts off; nil: there are not so many, or something has failed.
func (d *decoder) take(n int) []byte {
	if d.err == nil && n > len(d.rest) {
		d.err = fmt.Errorf("%d bytes where %d should follow", len(d.rest), n)
	}
	if d.err != nil {
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

// section is bytes that stand behind their number.
func (d *decoder) section() []byte {
	b := d.take(4)
	if b == nil {
		return nil
	}
	n := binary.LittleEndian.Uint32(b)
	if n > math.MaxInt32 {
		d.err = fmt.Errorf("a part of %d bytes", n)
	}
	return d.take(int(n))
}

// fabric reads a fabric; nil: something failed.
func (d *decoder) fabric() *fabric.Fabric {
	b := d.section()
	if d.err != nil {
		return nil
	}
	q, err := wire.ReadRequest(bytes.NewReader(b))
	var f *fabric.Fabric
	if err == nil {
		f, err = q.Fabric()
	}
	d.err = err
	return f
}

// rows reads out-ports, by LID and switch.
func (d *decoder) rows(f *fabric.Fabric) *routing.Forwarding {
	fw := routing.NewForwarding(f)
	for lid := range f.TopLID() + 1 {
		copy(fw.Row(lid), d.take(f.Switches()))
	}
	return fw
}

// tables reads tables for a fabric; nil: something failed.
func (d *decoder) tables(f *fabric.Fabric) *routing.Tables {
	head := d.take(4)
	if d.err != nil {
		return nil
	}
	flags := head[3]
	t := &routing.Tables{Fabric: f, Forwarding: d.rows(f)}
	var levels []byte
	if flags&hasLevels != 0 {
		levels = d.take((int(f.TopLID()) + 1) * f.Switches())
	}
	maps := d.maps(f, flags&hasMaps != 0)
	if d.err != nil {
		return nil
	}
	if flags&hasByLane != 0 {
		for s := range fabric.NodeID(f.Switches()) {
			if b := d.take(2); b != nil && flags&hasMaps != 0 {
				maps.SetByLane(s, binary.LittleEndian.Uint16(b))
			}
		}
	}
	t.Lanes = routing.OneSL(f, maps)
	if levels != nil {
		t.Lanes = routing.NewLanes(f, maps)
		for lid := range f.TopLID() + 1 {
			copy(t.Lanes.SLRow(lid), levels[int(lid)*f.Switches():])
		}
	}
	t.Lanes.Needed, t.Lanes.Classes, t.Lanes.ClassLevels = int(head[0]), int(head[1]), int(head[2])
	if flags&hasTree != 0 {
		t.Multicast = d.tree(f)
	}
	if d.err != nil {
		return nil
	}
	return t
}

// maps reads SL2VL maps: one for all ports, or with perPort one for each pair of ports of each switch.
func (d *decoder) maps(f *fabric.Fabric, perPort bool) *routing.SL2VL {
	b := d.take(4)
	if b == nil {
		return nil
	}
	number := int(binary.LittleEndian.Uint32(b))
	if number < 1 || number > len(d.rest) {
		d.err = fmt.Errorf("%d SL2VL maps", number)
	}
	all := d.take(number * routing.SLs)
	if all == nil {
		return nil
	}
	at := func(n int) [routing.SLs]uint8 { return [routing.SLs]uint8(all[n*routing.SLs:]) }
	for _, lane := range all {
		if lane > routing.MaxDataVLs {
			d.err = fmt.Errorf("an SL2VL map with lane %d", lane)
		}
	}
	m := routing.UniformSL2VL(at(0))
	if !perPort || d.err != nil {
		return m
	}
	m = m.PerPort(f)
	for s := range fabric.NodeID(f.Switches()) {
		ports := f.Node(s).Ports + 1
		where := d.take(4 * ports * ports)
		for i := range len(where) / 4 {
			n := binary.LittleEndian.Uint32(where[4*i:])
			if int64(n) >= int64(number) {
				d.err = fmt.Errorf("SL2VL map %d of %d", n, number)
				return m
			}
			m.SetMap(s, uint8(i/ports), uint8(i%ports), at(int(n)))
		}
	}
	return m
}

// tree reads a spanning tree for multicast.
func (d *decoder) tree(f *fabric.Fabric) *routing.Multicast {
	b := d.take(2)
	if b == nil {
		return nil
	}
	tree := routing.MulticastTree{MLID: routing.FirstMLID}
	for s := range fabric.NodeID(f.Switches()) {
		n := routing.TreeNode{Switch: s}
		for i := range n.Ports {
			if word := d.take(8); word != nil {
				n.Ports[i] = binary.LittleEndian.Uint64(word)
			}
		}
		tree.Nodes = append(tree.Nodes, n)
	}
	return &routing.Multicast{SLs: binary.LittleEndian.Uint16(b), Trees: []routing.MulticastTree{tree}}
}
