package ibnet

import (
	"bufio"
	"io"
	"strconv"

	"github.com/weft-fabric/weft/fabric"
)

// Write writes a fabric as ibnetdiscover would print it; ibsim accepts it as a net
// file. Read returns the same fabric, apart from warnings. Control characters in names
// become blanks, as ibnetdiscover does it; double quotes stay, which Read accepts but
// other tools take for the end of the name.
func Write(w io.Writer, f *fabric.Fabric) error {
	p := printer{Writer: bufio.NewWriterSize(w, 1<<16), f: f}
	p.endpoint = make(map[portOf]fabric.EndpointID, len(f.Endpoints()))
	for i := range f.Endpoints() {
		e := f.Endpoint(fabric.EndpointID(i))
		p.endpoint[portOf{e.Node, e.Port}] = fabric.EndpointID(i)
	}
	p.WriteString("#\n# Topology file: written by weft\n#\n\n")
	for n := range f.Nodes() {
		p.node(fabric.NodeID(n))
		for port := 1; port <= f.Node(fabric.NodeID(n)).Ports; port++ {
			if c := f.Out(fabric.NodeID(n), uint8(port)); c != fabric.None {
				p.port(f.Channel(c))
			}
		}
		p.WriteByte('\n')
	}
	return p.Flush()
}

// portOf is a port of a node.
type portOf struct {
	node fabric.NodeID
	port uint8
}

// printer writes a fabric, node by node.
type printer struct {
	*bufio.Writer
	f        *fabric.Fabric
	endpoint map[portOf]fabric.EndpointID // ports that are endpoints
}

// node writes the attributes and the record of a node.
func (p *printer) node(id fabric.NodeID) {
	n := p.f.Node(id)
	if n.VendorID != 0 {
		p.hexLine("vendid=0x", uint64(n.VendorID))
	}
	if n.DeviceID != 0 {
		p.hexLine("devid=0x", uint64(n.DeviceID))
	}
	if n.SystemGUID != 0 {
		p.hexLine("sysimgguid=0x", uint64(n.SystemGUID))
	}
	p.WriteString([...]string{"switchguid=0x", "caguid=0x", "rtguid=0x"}[n.Kind])
	p.hex(uint64(n.GUID))
	if n.Kind == fabric.Switch {
		p.guid(p.f.Endpoint(p.endpoint[portOf{id, 0}]).PortGUID)
	}
	p.WriteString([...]string{"\nSwitch\t", "\nCa\t", "\nRt\t"}[n.Kind])
	p.decimal(n.Ports)
	p.WriteByte(' ')
	p.id(n)
	p.WriteString("\t\t# ")
	p.name(n.Name)
	if n.Kind == fabric.Switch {
		e := p.f.Endpoint(p.endpoint[portOf{id, 0}])
		p.WriteString(" base port 0 lid ")
		p.decimal(int(e.LID))
		p.WriteString(" lmc ")
		p.decimal(int(e.LMC))
	}
	p.WriteByte('\n')
}

// port writes the record of the port that a channel leaves by.
func (p *printer) port(c *fabric.Channel) {
	to := p.f.Node(c.To)
	p.bracketed(c.FromPort)
	own, isEndpoint := p.endpoint[portOf{c.From, c.FromPort}]
	if isEndpoint {
		p.guid(p.f.Endpoint(own).PortGUID)
		p.WriteByte(' ')
	}
	p.WriteByte('\t')
	p.id(to)
	p.bracketed(c.ToPort)
	peerPort := c.ToPort
	if to.Kind == fabric.Switch {
		peerPort = 0 // the port with the LID
	}
	peer := p.f.Endpoint(p.endpoint[portOf{c.To, peerPort}])
	if to.Kind != fabric.Switch {
		p.guid(peer.PortGUID)
		p.WriteByte(' ')
	}
	p.WriteString("\t\t# ")
	if isEndpoint {
		e := p.f.Endpoint(own)
		p.WriteString("lid ")
		p.decimal(int(e.LID))
		p.WriteString(" lmc ")
		p.decimal(int(e.LMC))
		p.WriteByte(' ')
	}
	p.name(to.Name)
	p.WriteString(" lid ")
	p.decimal(int(peer.LID))
	if c.Rate.Width != 0 && c.Rate.Speed != "" {
		p.WriteByte(' ')
		p.WriteString(c.Rate.String())
	}
	p.WriteByte('\n')
}

func (p *printer) id(n *fabric.Node) {
	p.WriteString([...]string{`"S-`, `"H-`, `"R-`}[n.Kind])
	digits := p.AvailableBuffer()
	for shift := 60; shift >= 0; shift -= 4 {
		digits = append(digits, "0123456789abcdef"[n.GUID>>shift&15])
	}
	p.Write(digits)
	p.WriteByte('"')
}

func (p *printer) name(name string) {
	p.WriteByte('"')
	p.WriteString(name)
	p.WriteByte('"')
}

func (p *printer) hexLine(key string, v uint64) {
	p.WriteString(key)
	p.hex(v)
	p.WriteByte('\n')
}

func (p *printer) guid(g fabric.GUID) {
	p.WriteByte('(')
	p.hex(uint64(g))
	p.WriteByte(')')
}

func (p *printer) bracketed(port uint8) {
	p.WriteByte('[')
	p.decimal(int(port))
	p.WriteByte(']')
}

func (p *printer) hex(v uint64)  { p.Write(strconv.AppendUint(p.AvailableBuffer(), v, 16)) }
func (p *printer) decimal(v int) { p.Write(strconv.AppendInt(p.AvailableBuffer(), int64(v), 10)) }
