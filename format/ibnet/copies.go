package ibnet

import (
	"bytes"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
)

// piece is a line that may go on in the next one, or a part of such a line.
type piece struct {
	text []byte
	line int
}

// mostPieces is how many lines one may have been broken into.
const mostPieces = 4

// record is how far a line is the record of a port or of a node, or a row; a later value is further.
type record uint8

const (
	noRecord record = iota
	wrong           // it begins as one, and then something is wrong
	short           // nothing is wrong, but what a dump has at its end is missing
	full
)

// recordOf says how far a line is a record.
func (p *parser) recordOf(c reading.Cursor) record {
	c.Space()
	var err error
	complete := true
	switch {
	case isPort(c):
		var r portText
		if r, err = p.scanPort(c); err == nil {
			rate, seen := p.rates[string(r.rateText)]
			if !seen {
				rate, _ = fabric.ParseRate(string(r.rateText))
			}
			complete = rate.Known() && r.odd.lid == nil // "lid 3", broken before "4xHDR", is "lid 34xHDR" together
		}
	case reading.IsPortsRow(c):
		_, _, err = p.scanRow(c)
	case reading.IsNodeRecord(c):
		var n nodeText
		n, err = p.scanNode(c)
		complete = n.end && n.odd.lid == nil
	default:
		return noRecord
	}
	switch {
	case err != nil:
		return wrong
	case !complete:
		return short
	}
	return full
}

// goesOn reports whether a line may go on in the next.
func (p *parser) goesOn(c reading.Cursor) bool {
	switch p.recordOf(c) {
	case wrong, short:
		return true
	case full:
		return bytes.HasSuffix(bytes.TrimSpace(c), []byte("FDR")) // or FDR10
	}
	return false
}

// join decides about the lines that are held when the next one comes: it takes all of them together if that makes a whole record, or
// holds the next as well if it may come to one. Else it releases those held, as lines of their own; taken says that next was among them.
func (p *parser) join(next reading.Cursor) (taken bool, err error) {
	if next.Empty() || p.recordOf(next) >= short || reading.IsAttribute(next) || sectionTitle(next) {
		return false, p.release()
	}
	if p.recordOf(p.held[0].text) == full && !isRestOfFDR10(next) { // it would be taken for a part of the name
		return false, p.release()
	}
	p.hold(next)
	for _, between := range []string{"", " "} { // a blank at the end of a line is often lost
		if all := p.together(between); p.recordOf(all) == full {
			return true, p.takeBroken(all)
		}
	}
	if len(p.held) < mostPieces && p.recordOf(p.together("")) != noRecord {
		return true, nil
	}
	return true, p.release()
}

// isRestOfFDR10 reports whether a line may go on where one ends with FDR.
func isRestOfFDR10(c reading.Cursor) bool {
	return c.Cut("10") && (len(c) == 0 || c[0] == ' ')
}

// together is all lines that are held as one, with a text between each two.
func (p *parser) together(between string) reading.Cursor {
	var all []byte
	for i, piece := range p.held {
		if i > 0 {
			all = append(all, between...)
		}
		all = append(all, piece.text...)
	}
	return all
}

// takeBroken takes the lines that are held as the one line all, and counts it as broken.
func (p *parser) takeBroken(all reading.Cursor) error {
	p.number, p.held = p.held[0].line, nil
	if p.broken++; p.broken == 1 {
		p.firstBroken = p.number
	}
	return p.take(all)
}

// hold keeps a line until the next ones say whether they belong to it.
func (p *parser) hold(c reading.Cursor) {
	p.held = append(p.held, piece{text: bytes.Clone(c), line: p.lines.Number()})
}

// release takes the lines that are held: as one if the first is no record without the
// others, or else as they are.
func (p *parser) release() error {
	if len(p.held) > 1 && p.recordOf(p.held[0].text) == wrong {
		if all := p.together(""); p.recordOf(all) == short {
			return p.takeBroken(all)
		}
	}
	held := p.held
	p.held = nil
	for _, piece := range held {
		p.number = piece.line
		if err := p.take(piece.text); err != nil {
			return err
		}
	}
	return nil
}

// headless is a port record before the first node.
type headless struct {
	end
	id, name string // of the peer
}

// addHeadless adds the port records before the first node to the node that the other ends
// of their cables name.
func (p *parser) addHeadless() error {
	if len(p.headless) == 0 {
		return nil
	}
	first := &p.headless[0]
	owner := int32(none)
	for i := range p.headless {
		h := &p.headless[i]
		far, ok := p.byID[h.id]
		if !ok {
			continue
		}
		for _, at := range p.nodes[far].ends {
			e := &p.ends[at]
			switch {
			case e.port != h.peerPort:
			case e.peerPort != h.port || owner != none && e.peer != owner:
				return p.lines.ErrorAt(h.line, "a port before any node, port %d of which line %d says that it is cabled to %q[%d]", h.peerPort, e.line, p.nodes[e.peer].id, e.peerPort)
			default:
				owner = e.peer
			}
		}
	}
	if owner == none {
		return p.lines.ErrorAt(first.line, "a port before any node, and no record at the other end of a cable says whose it is")
	}
	n := &p.nodes[owner]
	if n.line != 0 {
		return p.lines.ErrorAt(first.line, "a port before any node, and %q, whose it is by the other end of its cable, has its record in line %d", n.id, n.line)
	}
	guid, kind, ok := guidOf(n.id)
	if !ok {
		return p.lines.ErrorAt(first.line, "a port before any node; it is of %q, by the other end of its cable, and that has no record", n.id)
	}
	n.GUID, n.Kind, n.line, n.Ports = guid, kind, first.line, fabric.MaxPorts
	for i := range p.headless {
		h := &p.headless[i]
		n.top = max(n.top, h.port)
		h.node = owner
		if err := p.addEnd(h.end, []byte(h.id), []byte(h.name)); err != nil {
			return err
		}
		n = &p.nodes[owner] // addEnd may have moved the nodes
	}
	n.Ports = int(n.top)
	p.warn("the text begins within the record of a node: the %s before the first one belong to %q by the other ends of their cables, and how many ports it has is not known",
		reading.Count(len(p.headless), "port", "ports"), n.id)
	return nil
}
