package ibnet

import (
	"bytes"
	"strconv"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/format/portinfo"
	"github.com/weft-fabric/weft/internal/reading"
)

// portRecord reads a line like
//
//	[1](8f10403960985) "S-0008f10400410015"[6] # lid 16 lmc 1 "SW-6IB4" lid 3 4xSDR
func (p *parser) portRecord(c reading.Cursor) error {
	r, err := p.scanPort(c)
	if err != nil {
		return err
	}
	p.noteOverwritten(r.odd)
	r.rate = p.rate(r.rateText)
	p.rated = p.rated || r.rate != fabric.Rate{}
	p.lastEnd, p.unrated = true, r.name != nil && len(r.rateText) == 0
	if p.at == none {
		p.headless = append(p.headless, headless{end: r.end, id: string(r.id), name: string(r.name)})
		return nil
	}
	return p.addEnd(r.end, r.id, r.name)
}

// portText is a port record as its line has it.
type portText struct {
	end
	id, name []byte // of the peer
	rateText []byte

	odd overwritten
}

// scanPort reads a port record and changes nothing.
func (p *parser) scanPort(c reading.Cursor) (portText, error) {
	r := portText{end: end{node: p.at, line: p.number}}
	var err error
	if r.port, err = p.portNumber(&c); err != nil {
		return r, err
	}
	if r.guid, r.odd.guid, err = p.marks(&c, r.port, p.at != none && p.nodes[p.at].Kind == fabric.Switch); err != nil {
		return r, err
	}
	var ok bool
	if r.id, ok = c.Quoted(); !ok {
		return r, p.errorf("port %d has no peer in quotes", r.port)
	}
	if r.peerPort, err = p.portNumber(&c); err != nil {
		return r, err
	}
	var odd []byte
	if r.peerPortGUID, odd, err = p.marks(&c, r.peerPort, isSwitchID(r.id)); err != nil {
		return r, err
	}
	r.odd.add(overwritten{guid: odd})
	if c.Cut("#") {
		err = p.portComment(&c, &r)
	}
	return r, err
}

// addEnd adds a port record to its node and to p.ends, and its peer to the nodes if it is new there.
func (p *parser) addEnd(e end, peer, peerName []byte) error {
	n := &p.nodes[e.node]
	if int(e.port) > n.Ports {
		return p.lines.ErrorAt(e.line, "%q has %s by line %d, not a port %d", n.id, reading.Count(n.Ports, "port", "ports"), n.line, e.port)
	}
	if n.taken[e.port/64]>>(e.port%64)&1 == 1 {
		return p.secondRecord(n, &e)
	}
	n.taken[e.port/64] |= 1 << (e.port % 64)
	n.ends = append(n.ends, int32(len(p.ends)))
	e.peer = p.named(peer, peerName)
	far := &p.nodes[e.peer]
	far.top = max(far.top, e.peerPort)
	p.ends = append(p.ends, e)
	return nil
}

// secondRecord is the error of a port that has a record already.
func (p *parser) secondRecord(n *node, e *end) error {
	first := 0
	for _, i := range n.ends {
		if p.ends[i].port == e.port {
			first = p.ends[i].line
			break
		}
	}
	return p.lines.ErrorAt(e.line, "port %d of %q has two records; the other is line %d", e.port, n.id, first)
}

// portNumber cuts "[7]" and "[7][ext 3]".
func (p *parser) portNumber(c *reading.Cursor) (uint8, error) {
	if !c.Cut("[") {
		return 0, p.errorf("a port number in square brackets is missing")
	}
	v, ok := c.Uint(fabric.MaxPorts)
	if !ok || v == 0 || !c.Cut("]") {
		return 0, p.errorf("no port number from 1 to %d between square brackets", fabric.MaxPorts)
	}
	if rest := *c; rest.Cut("[ext") {
		if _, ok := rest.Uint(1<<32 - 1); ok && rest.Cut("]") {
			*c = rest
		}
	}
	return uint8(v), nil
}

// marks cuts what stands in round brackets behind the number of a port, and returns the GUID if there is one. ibnetdiscover
// prints the GUID of an adapter's port there. ibdiagnet prints a label before it, and on switches a label
// alone, which is the text beside the socket: (1/1/1), (1)(2c90300000011). Text in place of a GUID is odd.
func (p *parser) marks(c *reading.Cursor, port uint8, onSwitch bool) (guid fabric.GUID, odd []byte, err error) {
	var last reading.Cursor // what the last brackets hold
	brackets := 0
	for ; ; brackets++ {
		rest := *c
		if !rest.Cut("(") {
			break
		}
		end := bytes.IndexByte(rest, ')')
		if end < 0 {
			return 0, nil, p.errorf("a round bracket behind port %d is not closed", port)
		}
		last, *c = bytes.TrimSpace(rest[:end]), rest[end+1:]
	}
	text := last
	switch slash := bytes.IndexByte(text, '/') >= 0; {
	case brackets == 0:
		return 0, nil, nil
	case brackets > 1 || onSwitch || slash:
		p.labelled = true
		if brackets == 1 {
			return 0, nil, nil
		}
	case p.labelled && string(text) == strconv.Itoa(int(port)):
		return 0, nil, nil // a label that is the number again
	}
	if onSwitch {
		return 0, nil, nil
	}
	v, ok := last.Hex(1<<64 - 1)
	switch {
	case ok && len(last) == 0:
		return fabric.GUID(v), nil, nil
	case isOverwritten(text) && !isHex(text):
		return 0, text, nil
	}
	return 0, nil, p.errorf("the GUID of port %d is %q, which is no hexadecimal number", port, text)
}

// isSwitchID reports whether an identifier is that of a switch by its form, S-0008f10400410015.
func isSwitchID(id []byte) bool { return len(id) == 18 && id[0] == 'S' && id[1] == '-' }

// portComment puts into r what stands behind the # of a port record.
func (p *parser) portComment(c *reading.Cursor, r *portText) (err error) {
	var odd overwritten
	if r.lid, r.lmc, odd, err = p.lidAndLMC(c); err != nil {
		return err
	}
	r.odd.add(odd)
	name, ok := c.QuotedWide()
	if !ok {
		if c.Space(); len(*c) == 0 || (*c)[0] != '"' {
			return nil // somebody's own comment
		}
		return p.errorf("the name of the peer has no closing quote")
	}
	r.name = name
	if r.peerLID, _, odd, err = p.lidAndLMC(c); err != nil {
		return err
	}
	r.odd.add(odd)
	r.rateText = c.Word()
	for !c.Empty() { // of ibnetdiscover -f
		word := reading.Cursor(c.Word())
		if !word.Cut("v=") {
			continue
		}
		if code, ok := word.Uint(portinfo.MostVLs); ok && len(word) == 0 {
			r.lanes = portinfo.DataVLs(code)
		}
	}
	return nil
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
		p.warn("line %d: %q is no rate like 4xHDR; it counts as unknown wherever it stands", p.number, word)
	}
	if p.rates == nil {
		p.rates = map[string]fabric.Rate{}
	}
	p.rates[string(word)] = r
	return r
}
