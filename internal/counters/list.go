package counters

import (
	"bytes"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
)

// list reads a line of ibqueryerrors, what a port has counted:
//
//	GUID 0x506b4b03005c2740 port 1: [SymbolErrorCounter == 12] [PortXmitData == 17 (68.000 B)]
//
// Of "port ALL", which is the sum of a node, nothing is taken.
func (p *parser) list(c reading.Cursor) error {
	guid, okGUID := c.Hex(1<<64 - 1)
	if !okGUID || !c.Cut("port ") {
		return p.lines.Errorf("no GUID and port before the counters of a port")
	}
	port, ok := c.Uint(fabric.MaxPorts)
	if !ok {
		return nil
	}
	if p.byGUID(fabric.GUID(guid), uint8(port)); p.at == fabric.None {
		return nil
	}
	for {
		_, rest, ok := bytes.Cut(c, []byte("["))
		if !ok {
			return nil
		}
		one, rest, ok := bytes.Cut(rest, []byte("]"))
		name, value, both := bytes.Cut(one, []byte(" == "))
		number := reading.Cursor(value)
		if !ok || !both {
			return p.lines.Errorf("no [NAME == NUMBER]; the line may be cut short")
		}
		v, err := p.number(&number)
		if err != nil {
			return err
		}
		c = rest
		switch string(bytes.TrimSpace(name)) {
		case "PortXmitData":
			p.data(p.at, float64(v)*4, true)
		case "PortXmitWait":
			p.c.Wait[p.at] = max(p.c.Wait[p.at], float64(v))
		default:
			if counter, lane, ok := p.errorNamed(name); ok {
				p.countError(counter, lane, float64(v))
			}
		}
	}
}
