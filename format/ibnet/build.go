package ibnet

import (
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
)

func (p *parser) warn(msg string, args ...any) {
	p.warnings = append(p.warnings, fmt.Sprintf(msg, args...))
}

// finish takes what was held back, when all lines are read, makes nodes and port records of what came in other forms, and refuses a text
// that was truncated or is not in this format; oddities become warnings.
func (p *parser) finish() error {
	last := max(p.lines.Number(), 1)
	for _, step := range []func() error{p.release, p.addHeadless, p.addRows} {
		if err := step(); err != nil {
			return err
		}
	}
	switch {
	case len(p.rows) > 0:
	case p.at == none && p.attr.line == 0:
		return p.lines.ErrorAt(last, "no switch or adapter in the whole file: this is neither ibnetdiscover output nor an ibsim net file")
	case p.attr.line != 0:
		return p.lines.ErrorAt(p.attr.line, "truncated: these attributes are not followed by a node")
	case p.bare && (p.nodes[p.at].Kind != fabric.Switch || !p.lines.Whole()):
		n := &p.nodes[p.at]
		return p.lines.ErrorAt(n.line, "truncated: the file ends within the record of %s %q, before its ports", n.Kind, n.id)
	case p.lastEnd && !p.lines.Whole() && p.rated && len(p.ends) > 0 && !p.ends[len(p.ends)-1].rate.Known():
		return p.lines.Errorf("truncated: the last line ends within the record of a port")
	}
	switch {
	case p.bare:
		n := &p.nodes[p.at]
		p.warn("the file ends with the record of %s %q, in line %d, and no port of it: it may have been cut short", n.Kind, n.id, n.line)
	case p.unrated && !p.lines.Whole():
		p.warn("the last line has no end: the file may have been cut short, within a number")
	}
	p.warnOverwritten()
	if note := p.lines.Note(); note != "" {
		p.warn("%s", note)
	}
	if p.dumps > 0 {
		p.warn("the file holds %d dumps, the second from line %d on (# Topology file), and they are read as one network: if they are of several subnets, or of several days, give one", p.dumps+1, p.dumpLine)
	}
	if p.broken > 0 {
		p.warn("%s broken in two, as terminals and mail programs do it, and read as one; the first is line %d", reading.Count(p.broken, "line was", "lines were"), p.firstBroken)
	}
	if t := p.odd; t.N > 0 {
		p.warn("%s no part of ibnetdiscover's format, skipped; the first is line %d: %s", reading.Count(t.N, "line is", "lines are"), t.Line, t.Text)
	}
	return nil
}

// build checks what fabric.Builder would refuse without naming a line, pairs the ends
// of the cables and builds the fabric.
func (p *parser) build() (*fabric.Fabric, error) {
	if err := p.checkNodes(); err != nil {
		return nil, err
	}
	plugs, err := p.plug()
	if err != nil {
		return nil, err
	}
	var b fabric.Builder
	refs := make([]fabric.Ref, len(p.nodes))
	p.lidsFromPeers()
	for i := range p.nodes {
		n := &p.nodes[i]
		refs[i] = b.Node(n.Node, n.id)
		if n.Kind == fabric.Switch {
			b.Port(refs[i], 0, fabric.Port{GUID: n.guid, LID: n.lid, LMC: n.lmc})
		}
	}
	p.addCables(&b, refs, plugs)
	if p.hasLIDs || len(p.rows) > 0 {
		b.ExpectLIDs()
	}
	for _, w := range p.warnings {
		b.Warn("%s", w)
	}
	f, err := b.Build()
	if err != nil {
		return nil, p.lines.ErrorAt(max(p.lines.Number(), 1), "%v", err)
	}
	return f, nil
}

// lidsFromPeers gives switches whose records have no LID the one that their peers
// print.
func (p *parser) lidsFromPeers() {
	for i := range p.ends {
		e := &p.ends[i]
		if n := &p.nodes[e.peer]; n.Kind == fabric.Switch && n.lid == 0 {
			n.lid = e.peerLID
		}
	}
}

// checkNodes completes the nodes without a record, and refuses two nodes with one GUID.
func (p *parser) checkNodes() error {
	undeclared, first := 0, none
	byGUID := make(map[fabric.GUID]int32, len(p.nodes))
	for i := range p.nodes {
		n := &p.nodes[i]
		if n.line == 0 {
			kind, ok := kindOf(n.id)
			if !ok {
				return p.lines.ErrorAt(n.seen, "%q has no record, and its identifier has no GUID", n.id)
			}
			n.GUID, _, _ = guidOf(n.id)
			n.Kind, n.Ports = kind, int(n.top)
			if n.Name == "" {
				n.Name = n.id
			}
			if undeclared++; undeclared == 1 {
				first = i
			}
		}
		if n.GUID == 0 {
			continue
		}
		if other, ok := byGUID[n.GUID]; ok {
			o := &p.nodes[other]
			return p.lines.ErrorAt(n.where(), "GUID %s of %q belongs to %q in line %d already", n.GUID, n.id, o.id, o.where())
		}
		byGUID[n.GUID] = int32(i)
	}
	if undeclared > 0 {
		n := &p.nodes[first]
		p.warn("%s no record and known only from the cables that name it; the first is %q in line %d (was the file cut short?)",
			reading.Count(undeclared, "node has", "nodes have"), n.id, n.seen)
	}
	return nil
}

// where is the line that a node is known from: its record, or else the first that names it.
func (n *node) where() int {
	if n.line != 0 {
		return n.line
	}
	return n.seen
}

// plugs says which records are about a port, as places in parser.ends.
type plugs struct {
	first []int32 // [node] the place of its port 0 in the lists below, with one entry more for the end
	own   []int32 // [first[node]+port] the port's own record, or none
	other []int32 // [first[node]+port] the record of another port that names this as its peer, or none
}

// plug sorts the records by port and refuses those that contradict each other.
func (p *parser) plug() (*plugs, error) {
	g := &plugs{first: make([]int32, len(p.nodes)+1)}
	for i := range p.nodes {
		g.first[i+1] = g.first[i] + int32(p.nodes[i].Ports) + 1
	}
	g.own = make([]int32, g.first[len(p.nodes)])
	g.other = make([]int32, len(g.own))
	for i := range g.own {
		g.own[i], g.other[i] = none, none
	}
	for i := range p.ends {
		e := &p.ends[i]
		peer := &p.nodes[e.peer]
		if int(e.peerPort) > peer.Ports {
			return nil, p.lines.ErrorAt(e.line, "the peer %q has %s by line %d, not a port %d", peer.id, reading.Count(peer.Ports, "port", "ports"), peer.line, e.peerPort)
		}
		if e.node == e.peer && e.port == e.peerPort {
			return nil, p.lines.ErrorAt(e.line, "port %d of %q is cabled to itself", e.port, peer.id)
		}
		own, other := &g.own[g.first[e.node]+int32(e.port)], &g.other[g.first[e.peer]+int32(e.peerPort)]
		if *other != none {
			return nil, p.lines.ErrorAt(e.line, "port %d of %q is the peer here and in line %d%s", e.peerPort, peer.id, p.ends[*other].line, apart(peer.id))
		}
		*own, *other = int32(i), int32(i)
	}
	return g, p.agree(g)
}

// agree refuses a port if its own record and its peer's record name two cables.
func (p *parser) agree(g *plugs) error {
	for i := range p.ends {
		e := &p.ends[i]
		at := g.own[g.first[e.peer]+int32(e.peerPort)]
		if at == none {
			continue
		}
		if o := &p.ends[at]; o.peer != e.node || o.peerPort != e.port {
			here, there := e, o
			if here.line < there.line {
				here, there = o, e
			}
			return p.lines.ErrorAt(here.line, "%q[%d] is cabled to %q[%d] here, but line %d says that %q[%d] is cabled to %q[%d]",
				p.nodes[here.node].id, here.port, p.nodes[here.peer].id, here.peerPort, there.line,
				p.nodes[there.node].id, there.port, p.nodes[there.peer].id, there.peerPort)
		}
	}
	return nil
}

// addCables adds every cable once, and the properties of its ports.
func (p *parser) addCables(b *fabric.Builder, refs []fabric.Ref, g *plugs) {
	var oneSided []int
	cables := 0
	for i := range p.ends {
		e := &p.ends[i]
		var back *end
		if at := g.own[g.first[e.peer]+int32(e.peerPort)]; at != none {
			back = &p.ends[at]
		}
		p.addPort(b, refs, e, back)
		b.DataVLs(refs[e.node], e.port, e.lanes)
		if back == nil {
			p.addPort(b, refs, &end{node: e.peer, port: e.peerPort, lid: e.peerLID, guid: e.peerPortGUID}, nil)
			if p.nodes[e.peer].line != 0 {
				oneSided = append(oneSided, i)
			}
		} else if back.line < e.line {
			continue // added with the other end
		}
		b.Cable(refs[e.node], e.port, refs[e.peer], e.peerPort, p.slowerRate(e, back))
		cables++
	}
	// A net file may list every cable once. If most are listed twice, one that
	// is not suggests that the network was changing or the file was edited.
	if len(oneSided) > 0 && len(oneSided) <= cables/2 {
		for _, i := range oneSided {
			b.OneSided(refs[p.ends[i].node], p.ends[i].port)
		}
		e := &p.ends[oneSided[0]]
		p.warn("%s in the record of one end only; the first is %q[%d] to %q[%d] in line %d, of which the record of %[4]q says nothing",
			reading.Count(len(oneSided), "cable is", "cables are"), p.nodes[e.node].id, e.port, p.nodes[e.peer].id, e.peerPort, e.line)
	}
}

// addPort adds an adapter's port by its own record e, completed from the record at the
// other end of the cable, nil if there is none.
func (p *parser) addPort(b *fabric.Builder, refs []fabric.Ref, e, back *end) {
	if p.nodes[e.node].Kind == fabric.Switch {
		return
	}
	port := fabric.Port{GUID: e.guid, LID: e.lid, LMC: e.lmc}
	if back != nil {
		if port.GUID == 0 {
			port.GUID = back.peerPortGUID
		}
		if port.LID == 0 {
			port.LID = back.peerLID
		}
	}
	if port != (fabric.Port{}) {
		b.Port(refs[e.node], e.port, port)
	}
}

// slowerRate is the slower rate if the ends of a cable differ, with a warning.
func (p *parser) slowerRate(e, back *end) fabric.Rate {
	switch {
	case back == nil || back.rate == e.rate || back.rate == fabric.Rate{}:
		return e.rate
	case e.rate == fabric.Rate{}:
		return back.rate
	}
	rate := e.rate
	if !rate.Known() || (back.rate.Known() && back.rate.Mbps() < rate.Mbps()) {
		rate = back.rate
	}
	p.warn("the cable of %q[%d] and %q[%d] runs at %s by line %d and at %s by line %d; it counts as %s",
		p.nodes[e.node].id, e.port, p.nodes[e.peer].id, e.peerPort, e.rate, e.line, back.rate, back.line, rate)
	return rate
}
