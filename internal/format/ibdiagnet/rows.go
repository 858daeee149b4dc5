package ibdiagnet

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/format/portinfo"
)

// node is a row of NODES.
type node struct {
	fabric.Node
	id       string      // as parser.identity has it
	portGUID fabric.GUID // of port 0 of a switch
	line     int
}

// mention is a node that a row names.
type mention struct {
	id   string
	line int
}

// port is a row of PORTS.
type port struct {
	mention
	number uint8
	fabric.Port
	rate  fabric.Rate
	lanes uint8 // data lanes that the port runs, or has where only that is known; 0: not known
	runs  bool  // it is known how many of them the port runs
}

// link is a cable: a row of LINKS, or of a net_dump.
type link struct {
	ends  [2]string // ids of nodes
	ports [2]uint8
	line  int
}

// kinds is the NodeType of NodeInfo (InfiniBand Architecture 1, 14.2.5.3).
var kinds = [...]fabric.Kind{1: fabric.Adapter, 2: fabric.Switch, 3: fabric.Router}

// node takes a row of NODES. Numbers here and below are places in table.wanted.
func (p *parser) node() error {
	id, guid, err := p.identity(0)
	if err != nil {
		return err
	}
	if other, ok := p.byID[id]; ok {
		return p.lines.Errorf("node %s has a second row; the first is line %d", id, p.nodes[other].line)
	}
	kind, err := p.needed(1, uint64(len(kinds)-1))
	if err != nil {
		return err
	}
	if kind == 0 {
		return p.lines.Errorf("NodeType is 0; it is 1 for an adapter, 2 for a switch, 3 for a router")
	}
	ports, err := p.needed(2, fabric.MaxPorts)
	if err != nil {
		return err
	}
	vendor, _, err := p.number(6, 1<<32-1)
	if err != nil {
		return err
	}
	device, _, err := p.number(7, 1<<32-1)
	if err != nil {
		return err
	}
	p.byID[id] = int32(len(p.nodes))
	p.nodes = append(p.nodes, node{id: id, line: p.lines.Number(), portGUID: p.optionalGUID(5), Node: fabric.Node{
		GUID: guid, SystemGUID: p.optionalGUID(4), Kind: kinds[kind], Ports: int(ports),
		Name: string(p.cell(3)), VendorID: uint32(vendor), DeviceID: uint32(device),
	}})
	return nil
}

// port takes a row of PORTS.
func (p *parser) port() error {
	id, _, err := p.identity(0)
	if err != nil {
		return err
	}
	number, err := p.needed(1, fabric.MaxPorts)
	if err != nil {
		return err
	}
	lid, _, err := p.number(3, 0xFFFF)
	if err != nil {
		return err
	}
	lmc, _, err := p.number(4, 7)
	if err != nil {
		return err
	}
	rate, err := p.rate()
	if err != nil {
		return err
	}
	lanes, runs, err := p.lanes()
	if err != nil {
		return err
	}
	p.ports = append(p.ports, port{
		mention: mention{id, p.lines.Number()}, number: uint8(number), rate: rate, lanes: lanes, runs: runs,
		Port: fabric.Port{GUID: p.optionalGUID(2), LID: fabric.LID(lid), LMC: uint8(lmc)},
	})
	return nil
}

// rate is the width and speed that is active; zero where either is not known.
func (p *parser) rate() (fabric.Rate, error) {
	width, _, err := p.number(5, 1<<32-1)
	if err != nil {
		return fabric.Rate{}, err
	}
	speed, _, err := p.number(6, 1<<32-1)
	if err != nil || width == 0 || speed == 0 {
		return fabric.Rate{}, err
	}
	lanes, ok := widths[width]
	if !ok {
		return fabric.Rate{}, p.lines.Errorf("LinkWidthActv is %d; it is 1 for 1x, 2 for 4x, 4 for 8x, 8 for 12x, 16 for 2x", width)
	}
	s, ok := speedOf(speed)
	if !ok {
		return fabric.Rate{}, p.lines.Errorf("LinkSpeedActv is %d, which has no bit of a speed from SDR to XDR", speed)
	}
	return fabric.Rate{Width: lanes, Speed: s}, nil
}

// lanes is how many data lanes the port runs, or has where only that is known; 0 where neither is.
func (p *parser) lanes() (lanes uint8, runs bool, err error) {
	op, _, err := p.number(7, portinfo.MostVLs)
	if err != nil {
		return 0, false, err
	}
	has, _, err := p.number(8, portinfo.MostVLs)
	switch {
	case err != nil:
		return 0, false, err
	case op == 0:
		return portinfo.DataVLs(has), false, nil
	case has > 0 && op > has:
		err = p.lines.Errorf("OpVLs is %d and VLCap %d: a port that runs %d data lanes and has %d", op, has, portinfo.DataVLs(op), portinfo.DataVLs(has))
	}
	return portinfo.DataVLs(op), true, err
}

// widths is LinkWidthActive of PortInfo (14.2.5.6).
var widths = map[uint64]uint8{1: 1, 2: 4, 4: 8, 8: 12, 16: 2}

// Speeds are bits: LinkSpeedActive of PortInfo from bit 0, LinkSpeedExtActive from bit 8,
// and from bit 16 the vendor's. A port with an extended speed shows a plain one as well
// (2052 is NDR, and QDR beneath it).
var (
	plainSpeeds    = [...]fabric.Speed{fabric.SDR, fabric.DDR, fabric.QDR}
	extendedSpeeds = [...]fabric.Speed{fabric.FDR, fabric.EDR, fabric.HDR, fabric.NDR, fabric.XDR}
)

// speedOf is the fastest speed of which a bit is set.
func speedOf(v uint64) (fabric.Speed, bool) {
	if i := bits.Len64(v>>8&31) - 1; i >= 0 {
		return extendedSpeeds[i], true
	}
	if v>>16&1 == 1 {
		return fabric.FDR10, true
	}
	if i := bits.Len64(v&7) - 1; i >= 0 {
		return plainSpeeds[i], true
	}
	return "", false
}

// link takes a row of LINKS.
func (p *parser) link() (err error) {
	k := link{line: p.lines.Number()}
	for side := range k.ends {
		if k.ends[side], _, err = p.identity(2 * side); err != nil {
			return err
		}
		number, err := p.needed(2*side+1, fabric.MaxPorts)
		if err != nil {
			return err
		}
		if number == 0 {
			return p.lines.Errorf("PortNum%d is 0, and a cable cannot be in the management port", side+1)
		}
		k.ports[side] = uint8(number)
	}
	p.links = append(p.links, k)
	return nil
}

// switchRow takes a row of SWITCHES.
func (p *parser) switchRow() error {
	id, _, err := p.identity(0)
	p.switches = append(p.switches, mention{id, p.lines.Number()})
	return err
}
