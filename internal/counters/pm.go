package counters

import (
	"bytes"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
)

// beginPM starts a block of an ibdiagnet2.pm:
//
//	Port=1 Lid=0x0804 GUID=0x506b4b03005c2740 Device=52000 Port Name=ib-i4l1s01/P1
func (p *parser) beginPM(c reading.Cursor) error {
	p.pm, p.begun, p.at = true, false, fabric.None
	port, okPort := c.Uint(fabric.MaxPorts)
	_, rest, _ := bytes.Cut(c, []byte(" GUID="))
	guid := reading.Cursor(rest)
	v, okGUID := guid.Hex(1<<64 - 1)
	if !okPort || !okGUID || v == 0 || len(guid) > 0 && guid[0] != ' ' {
		return p.lines.Errorf("no number of a port and GUID in the head of the counters of a port")
	}
	p.byGUID(fabric.GUID(v), uint8(port))
	return nil
}

// countPM reads a counter of a block of an ibdiagnet2.pm, NAME=NUMBER, in hexadecimal digits behind 0x; without 0x it is
// not clear which digits they are, an error. NA is a number that is not known.
func (p *parser) countPM(c reading.Cursor) error {
	name, value, ok := bytes.Cut(c, []byte("="))
	wide := bytes.HasSuffix(name, []byte("_extended"))
	var set func(float64)
	switch string(bytes.TrimSpace(bytes.TrimSuffix(name, []byte("_extended")))) {
	case "port_xmit_data":
		set = func(v float64) { p.data(p.at, v*4, wide) }
	case "port_xmit_wait":
		set = func(v float64) { p.c.Wait[p.at] = max(p.c.Wait[p.at], v) }
	default:
		if counter, lane, ok := p.errorNamed(name); ok {
			set = func(v float64) { p.countError(counter, lane, v) }
		}
	}
	if set == nil || bytes.HasPrefix(bytes.TrimSpace(value), []byte("N")) {
		return nil
	}
	number := reading.Cursor(bytes.TrimSpace(value))
	if !ok || !bytes.HasPrefix(number, []byte("0x")) {
		return p.lines.Errorf("no hexadecimal number behind the name of a counter, with 0x before it; the line may be cut short")
	}
	v, err := p.number(&number)
	if err != nil {
		return err
	}
	if p.at != fabric.None && v <= mostKnown {
		set(float64(v))
	}
	return nil
}
