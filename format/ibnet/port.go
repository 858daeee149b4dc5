package ibnet

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
)

// portRecord reads a line like
//
//	[1](8f10403960985) "S-0008f10400410015"[6] # lid 16 lmc 1 "SW-6IB4" lid 3 4xSDR
func (p *parser) portRecord(c format.Cursor) error {
	if p.at == none {
		return p.lines.Errorf("a port before any node")
	}
	e := end{node: p.at, line: p.lines.Number()}
	var err error
	if e.port, err = p.portNumber(&c); err != nil {
		return err
	}
	e.guid, _ = bracketed(&c)
	id, ok := c.Quoted()
	if !ok {
		return p.lines.Errorf("port %d has no peer in quotes", e.port)
	}
	if e.peerPort, err = p.portNumber(&c); err != nil {
		return err
	}
	e.peerPortGUID, _ = bracketed(&c)
	var peerName []byte
	if c.Cut("#") {
		if peerName, err = p.portComment(&c, &e); err != nil {
			return err
		}
	}
	n := &p.nodes[p.at]
	if int(e.port) > n.Ports {
		return p.lines.Errorf("%q has %d ports by line %d, not a port %d", n.id, n.Ports, n.line, e.port)
	}
	if n.taken[e.port/64]>>(e.port%64)&1 == 1 {
		return p.secondRecord(n, e.port)
	}
	n.taken[e.port/64] |= 1 << (e.port % 64)
	n.ends = append(n.ends, int32(len(p.ends)))
	e.peer = p.named(id, peerName)
	peer := &p.nodes[e.peer]
	peer.top = max(peer.top, e.peerPort)
	p.ends = append(p.ends, e)
	p.rated = p.rated || e.rate != fabric.Rate{}
	p.lastEnd = true
	return nil
}

// secondRecord is the error of a port that has a record already.
func (p *parser) secondRecord(n *node, port uint8) error {
	first := 0
	for _, i := range n.ends {
		if p.ends[i].port == port {
			first = p.ends[i].line
			break
		}
	}
	return p.lines.Errorf("port %d of %q has two records; the other is line %d", port, n.id, first)
}

// portNumber cuts "[7]" and "[7][ext 3]".
func (p *parser) portNumber(c *format.Cursor) (uint8, error) {
	if !c.Cut("[") {
		return 0, p.lines.Errorf("a port number in square brackets is missing")
	}
	v, ok := c.Uint(fabric.MaxPorts)
	if !ok || v == 0 || !c.Cut("]") {
		return 0, p.lines.Errorf("no port number from 1 to %d between square brackets", fabric.MaxPorts)
	}
	if rest := *c; rest.Cut("[ext") {
		if _, ok := rest.Uint(1<<32 - 1); ok && rest.Cut("]") {
			*c = rest
		}
	}
	return uint8(v), nil
}

// portComment reads what stands behind the # of a port record and returns the
// peer's name.
func (p *parser) portComment(c *format.Cursor, e *end) (peerName []byte, err error) {
	if e.lid, e.lmc, err = p.lidAndLMC(c); err != nil {
		return nil, err
	}
	peerName, ok := c.QuotedWide()
	if !ok {
		if c.Space(); len(*c) == 0 || (*c)[0] != '"' {
			return nil, nil // somebody's own comment
		}
		return nil, p.lines.Errorf("the name of the peer has no closing quote")
	}
	if e.peerLID, _, err = p.lidAndLMC(c); err != nil {
		return nil, err
	}
	e.rate = p.rate(c.Word())
	return peerName, nil
}

// rate parses "4xNDR"; a file has few different ones.
func (p *parser) rate(word []byte) fabric.Rate {
	if len(word) == 0 {
		return fabric.Rate{}
	}
	if r, ok := p.rates[string(word)]; ok {
		return r
	}
	r, err := fabric.ParseRate(string(word))
	if err != nil {
		p.warn("line %d: %q is no rate like 4xHDR; it counts as unknown wherever it stands", p.lines.Number(), word)
	}
	if p.rates == nil {
		p.rates = map[string]fabric.Rate{}
	}
	p.rates[string(word)] = r
	return r
}
