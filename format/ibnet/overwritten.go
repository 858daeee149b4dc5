package ibnet

import (
	"bytes"
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
)

// overwritten is what people and programs left in a record in place of numbers: to hide a GUID, such as
// 0xb8cef60300xxxxxx, or for want of a LID, such as -1. Nil: nothing.
type overwritten struct {
	lid, guid []byte // empty and not nil: there is nothing in its place
}

// add takes over what another part of the record has.
func (o *overwritten) add(other overwritten) {
	if o.lid == nil {
		o.lid = other.lid
	}
	if o.guid == nil {
		o.guid = other.guid
	}
}

// noteOverwritten counts what a record that was taken has in place of numbers.
func (p *parser) noteOverwritten(o overwritten) {
	if o.lid != nil {
		p.noLIDs.Note(p.number, shorten(o.lid))
	}
	if o.guid != nil {
		p.noGUIDs.Note(p.number, shorten(o.guid))
	}
}

// warnOverwritten warns of all that was overwritten.
func (p *parser) warnOverwritten() {
	if t := p.noLIDs; t.N > 0 {
		what := "nothing"
		if t.Text != "" {
			what = fmt.Sprintf("%q", t.Text)
		}
		p.warn("%s no LID from 0 to 65535 behind \"lid\" but %s, the first in line %d: it counts as none", reading.Count(t.N, "record has", "records have"), what, t.Line)
	}
	if t := p.noGUIDs; t.N > 0 {
		p.warn("%s a GUID that is no hexadecimal number but %q, the first in line %d: it counts as not known, and nodes are told apart by their identifiers", reading.Count(t.N, "line has", "lines have"), t.Text, t.Line)
	}
}

// lidText cuts what stands behind "lid": a number up to 65535, decimal or hexadecimal with 0x. What stands there in its
// place is odd; false: it is a number that is too large.
func lidText(c *reading.Cursor) (lid fabric.LID, odd []byte, ok bool) {
	rest := *c
	rest.Space()
	word := rest
	text := word.Word()
	number := reading.Cursor(text)
	switch v, ok := number.Uint(0xFFFF); {
	case ok && len(number) > 0 && (number[0] == 'x' || number[0] == 'X'):
		hex := reading.Cursor(text)
		if v, ok := hex.Hex(0xFFFF); ok && len(hex) == 0 && bytes.HasPrefix(text, []byte("0")) {
			*c = word
			return fabric.LID(v), nil, true
		}
		return 0, []byte{}, true // the rate
	case ok:
		*c = rest[len(text)-len(number):]
		return fabric.LID(v), nil, true
	case len(text) > 0 && text[0] >= '0' && text[0] <= '9':
		return 0, nil, false
	case len(text) == 0, text[0] == '"', bytes.HasPrefix(text, []byte("lmc")):
		return 0, []byte{}, true
	}
	*c = word
	return 0, text, true
}

// isOverwritten reports whether a text may be a GUID of which some digits were overwritten: one word, no longer than one.
func isOverwritten(text []byte) bool {
	const most = len("0x") + 16
	for _, b := range text {
		if b <= ' ' || b >= 0x7F || bytes.IndexByte([]byte(`"()[]/=,#`), b) >= 0 {
			return false
		}
	}
	return len(text) > 0 && len(text) <= most
}

// isHex reports whether a text is a hexadecimal number, perhaps too large.
func isHex(text []byte) bool {
	digits := bytes.TrimPrefix(text, []byte("0x"))
	return len(digits) > 0 && len(bytes.Trim(digits, "0123456789abcdefABCDEF")) == 0
}

// kindOf reads the kind of a node from an identifier like "S-0008f10400410015", also where its GUID was overwritten.
func kindOf(id string) (kind fabric.Kind, ok bool) {
	if len(id) < 3 || id[1] != '-' {
		return 0, false
	}
	switch id[0] {
	case 'S':
		kind = fabric.Switch
	case 'H':
		kind = fabric.Adapter
	case 'R':
		kind = fabric.Router
	default:
		return 0, false
	}
	return kind, isOverwritten([]byte(id[2:]))
}

// apart is what to do about two nodes with one identifier, which can be told apart by nobody; empty if it is a GUID, so
// that it is one node.
func apart(id string) string {
	if _, _, ok := guidOf(id); ok {
		return ""
	}
	return "; if these are two nodes, give each an identifier of its own, wherever it is named"
}
