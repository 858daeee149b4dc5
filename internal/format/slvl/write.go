package slvl

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Form is how Write writes.
type Form uint8

// The forms.
const (
	Dump  Form = iota // opensm-sl2vl.dump
	Lines             // SLVL lines of ibdmchk
)

// Write writes an entry for every in-port that has a cable, and in-port 0, and
// every out-port that has one, of every switch.
func Write(w io.Writer, f *fabric.Fabric, m *routing.SL2VL, form Form) error {
	p := printer{Writer: bufio.NewWriterSize(w, 1<<16), f: f, m: m, tail: dumpTail}
	if form == Lines {
		p.tail = lineTail
	}
	lane, uniform := m.Uniform()
	if uniform {
		p.alike = p.tail(nil, &lane)
	}
	for s := range fabric.NodeID(f.Switches()) {
		var err error
		if form == Lines {
			err = p.lines(s)
		} else {
			err = p.block(s)
		}
		if err != nil {
			return err
		}
	}
	return p.Flush()
}

// printer writes one form.
type printer struct {
	*bufio.Writer
	f     *fabric.Fabric
	m     *routing.SL2VL
	tail  func(b []byte, lane *lanes) []byte // appends the map of an entry, in the form
	alike []byte                             // the tail of every entry; nil: they differ
}

const rule = "#--------------------------------------------------------\n"

// block writes a switch as OpenSM does: by out-port, then in-port.
func (p *printer) block(s fabric.NodeID) error {
	n := p.f.Node(s)
	fmt.Fprintf(p, "Switch %s, base LID %d, \"%s\"\n", n.GUID, p.f.Endpoint(fabric.EndpointID(s)).LID, n.Name)
	p.WriteString("#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\n" + rule)
	for out := 1; out <= n.Ports; out++ {
		for in := 0; in <= n.Ports; in++ {
			if !p.pair(s, in, out) {
				continue
			}
			b := appendPadded(p.AvailableBuffer(), in)
			b = append(b, ' ')
			b = appendPadded(b, out)
			p.Write(append(b, " :"...))
			if err := p.entry(s, in, out); err != nil {
				return err
			}
		}
	}
	_, err := p.WriteString(rule + "\n")
	return err
}

// lines writes a switch for ibdmchk.
func (p *printer) lines(s fabric.NodeID) error {
	n := p.f.Node(s)
	guid := n.GUID.String()
	for in := 0; in <= n.Ports; in++ {
		for out := 1; out <= n.Ports; out++ {
			if !p.pair(s, in, out) {
				continue
			}
			b := append(p.AvailableBuffer(), guid...)
			b = strconv.AppendInt(append(b, ' '), int64(in), 10)
			p.Write(strconv.AppendInt(append(b, ' '), int64(out), 10))
			if err := p.entry(s, in, out); err != nil {
				return err
			}
		}
	}
	return nil
}

// pair reports whether packets can come in by one port and leave by the other.
func (p *printer) pair(s fabric.NodeID, in, out int) bool {
	return p.f.Out(s, uint8(out)) != fabric.None && (in == 0 || p.f.Out(s, uint8(in)) != fabric.None)
}

// entry writes the map of an entry, behind its ports.
func (p *printer) entry(s fabric.NodeID, in, out int) error {
	tail := p.alike
	if tail == nil {
		lane := p.m.Map(s, uint8(in), uint8(out))
		tail = p.tail(p.AvailableBuffer(), &lane)
	}
	_, err := p.Write(tail)
	return err
}

// appendPadded appends a number, and blanks behind it up to three columns.
func appendPadded(b []byte, v int) []byte {
	b = strconv.AppendInt(b, int64(v), 10)
	for ; v < 100; v = max(v, 1) * 10 {
		b = append(b, ' ')
	}
	return b
}

// dumpTail is the tail of opensm-sl2vl.dump, a lane in three columns.
func dumpTail(b []byte, lane *lanes) []byte {
	for _, vl := range lane {
		b = strconv.AppendInt(append(b, ' '), int64(vl), 10)
		if vl < 10 {
			b = append(b, ' ')
		}
	}
	return append(b, '\n')
}

// lineTail is the tail of ibdmchk's lines, two lanes in a byte.
func lineTail(b []byte, lane *lanes) []byte {
	const digits = "0123456789abcdef"
	for sl := 0; sl < len(lane); sl += 2 {
		b = append(b, ' ', '0', 'x', digits[lane[sl]&15], digits[lane[sl+1]&15])
	}
	return append(b, '\n')
}
