package psl

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/routing"
)

// Form is the form of the file.
type Form uint8

// The forms of the package comment.
const (
	Full    Form = iota // a line for every node and LID: for ibdmchk
	Compact             // only what is not SL 0, by switch
)

// maxFull is the largest number of lines of the full form; beyond that Write refuses
// with *TooLarge.
const maxFull = 50_000_000

// TooLarge is the refusal to write the full form.
type TooLarge struct {
	Nodes, LIDs int
}

func (e *TooLarge) Error() string {
	return fmt.Sprintf("%d nodes × %d LIDs are %d lines; the full form may have %d, the compact form has no limit", e.Nodes, e.LIDs, e.Nodes*e.LIDs, maxFull)
}

// Write writes the service levels of t. Read returns the same service levels for every
// endpoint that is attached to a switch.
func Write(w io.Writer, t *routing.Tables, form Form) error {
	p := &printer{Writer: bufio.NewWriterSize(w, 1<<16), t: t}
	for lid := range t.Fabric.LIDs() {
		p.lids = append(p.lids, lid)
	}
	if form == Compact {
		p.WriteString(compactMark + "\n")
		zero := p.zero()
		for s := range fabric.NodeID(t.Fabric.Switches()) {
			if err := p.attached(s, zero); err != nil {
				return err
			}
		}
		return p.end()
	}
	if lines := len(t.Fabric.Nodes()) * len(p.lids); lines > maxFull {
		return &TooLarge{len(t.Fabric.Nodes()), len(p.lids)}
	}
	p.WriteString(ownMark + "\n")
	ends := t.Fabric.Endpoints()
	for first := 0; first < len(ends); {
		end := first + 1
		for end < len(ends) && ends[end].Node == ends[first].Node {
			end++
		}
		if err := p.node(fabric.EndpointID(first), fabric.EndpointID(end)); err != nil {
			return err
		}
		first = end
	}
	return p.end()
}

// printer writes either form.
type printer struct {
	*bufio.Writer
	t     *routing.Tables
	lids  []fabric.LID // of the fabric, ascending
	lines int64        // about pairs

	// The service levels of some rows, taken out of Lanes together: there they are stored
	// by LID, and reading a single row would touch all of its memory.
	first  int32
	levels [][]uint8 // [row - first][LID]
}

// node writes, in the full form, the lines of the endpoints [first, end), which are one node's.
func (p *printer) node(first, end fabric.EndpointID) error {
	for first < end && p.t.Fabric.Endpoint(first).Switch == fabric.None {
		first++ // sends nothing
	}
	if first == end {
		return nil
	}
	base := p.t.Lanes.Row[first]
	if err := p.pairs(p.nodeSource(p.t.Fabric.Endpoint(first).Node), p.row(base, 1), nil); err != nil { // nil: all LIDs
		return err
	}
	for e := first + 1; e < end; e++ {
		if err := p.exception(e, base); err != nil {
			return err
		}
	}
	return nil
}

// attached writes the lines of a switch and its endpoints in the compact form: those of its port 0 stand for all
// its endpoints, except for what further lines say of single ports. zero is the default, service level 0 for all LIDs.
func (p *printer) attached(s fabric.NodeID, zero []uint8) error {
	const together = 64 // rows; those of our engines are the switches, in order
	ends := p.t.Fabric.Attached(s)
	base := p.t.Lanes.Row[ends[0]]
	if err := p.pairs(p.nodeSource(s), p.row(base, together), zero); err != nil {
		return err
	}
	for _, e := range ends[1:] {
		if err := p.exception(e, base); err != nil {
			return err
		}
	}
	return nil
}

// exception writes the lines of a port whose service levels differ from those of row base.
func (p *printer) exception(e fabric.EndpointID, base int32) error {
	row := p.t.Lanes.Row[e]
	ep := p.t.Fabric.Endpoint(e)
	if row == base || ep.Switch == fabric.None {
		return nil
	}
	source := fmt.Appendf(nil, "%s%016x:%d ", portMark, uint64(p.t.Fabric.Node(ep.Node).GUID), ep.Port)
	return p.pairs(source, p.rows(row, row+1)[0], p.rows(base, base+1)[0])
}

// end writes the last line.
func (p *printer) end() error {
	fmt.Fprintf(p, "%s%d\n", reading.EndMark, p.lines)
	return p.Flush()
}

func (p *printer) nodeSource(n fabric.NodeID) []byte {
	return append([]byte(p.t.Fabric.Node(n).GUID.String()), ' ')
}

// pairs writes a line with levels, [LID], for every LID or, if usual is not nil, for every LID where they
// differ from that.
func (p *printer) pairs(source []byte, levels, usual []uint8) error {
	for _, lid := range p.lids {
		sl := levels[lid]
		if usual != nil && sl == usual[lid] {
			continue
		}
		p.lines++
		if sl == routing.NoSL {
			if err := p.none(source, lid); err != nil {
				return err
			}
			continue
		}
		b := append(p.AvailableBuffer(), source...)
		b = strconv.AppendUint(b, uint64(lid), 10)
		b = strconv.AppendUint(append(b, ' '), uint64(sl), 10)
		if _, err := p.Write(append(b, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// none writes that a source must not use a LID.
func (p *printer) none(source []byte, lid fabric.LID) error {
	source = bytes.TrimPrefix(bytes.TrimPrefix(source, []byte(portMark)), []byte("0x"))
	b := append(p.AvailableBuffer(), noneMark...)
	b = strconv.AppendUint(append(b, source...), uint64(lid), 10)
	_, err := p.Write(append(b, '\n'))
	return err
}

// zero is service level 0 for every LID.
func (p *printer) zero() []uint8 { return make([]uint8, int(p.t.Fabric.TopLID())+1) }

// row is the service levels of a row, [LID]. If they are not there yet, so many rows (together) are taken
// out at once, this one first; they replace those taken before.
func (p *printer) row(row int32, together int) []uint8 {
	if row < p.first || int(row-p.first) >= len(p.levels) {
		end := min(int(row)+together, p.t.Lanes.Rows)
		p.first, p.levels = row, p.rows(row, int32(end))
	}
	return p.levels[row-p.first]
}

// rows takes the rows [first, end) out of Lanes: [row - first][LID].
func (p *printer) rows(first, end int32) [][]uint8 {
	list := make([][]uint8, end-first)
	for i := range list {
		list[i] = p.zero()
	}
	for _, lid := range p.lids {
		levels := p.t.Lanes.SLRow(lid)
		if levels == nil {
			break // SL 0 everywhere
		}
		for i, sl := range levels[first:end] {
			list[i][lid] = sl
		}
	}
	return list
}
