package counters

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
)

// Received is how well a port receives. What the file does not say is NaN, or empty.
type Received struct {
	Raw       float64 // share of the bits that are wrong before forward error correction (FEC)
	Effective float64 // share of the bits that are wrong behind it
	Symbol    float64 // share of the bits that are wrong in the end, where the link sends again what was wrong

	Errors         Errors // number of errors that it has counted
	FEC            string // mode of forward error correction, such as MLNX_RS_271_257_PLR
	Retransmission string // NO-RTR, PLR, LLR64 …
}

// Level is what a rate of errors means.
type Level uint8

// The levels, from the best.
const (
	Normal Level = iota
	Warning
	Bad
)

func (l Level) String() string { return [...]string{"normal", "warning", "error"}[l] }

// Limit is the rates at which the levels begin.
type Limit struct{ Warning, Bad float64 }

// The limits that NVIDIA's "InfiniBand Cluster Bring-up Procedure" has for the quality of links
// (UFM Telemetry, NDR). Of rates behind FEC, links that send again bear more.
var (
	FinalLimit  = Limit{Warning: 5e-15, Bad: 1e-14} // of Symbol, and of Effective where nothing is sent again
	ResentLimit = Limit{Warning: 5e-12, Bad: 1e-11} // of Effective where the link sends again
)

// Level is what a rate means.
func (l Limit) Level(rate float64) Level {
	switch {
	case rate >= l.Bad:
		return Bad
	case rate >= l.Warning:
		return Warning
	}
	return Normal
}

// Resends reports whether the link sends again what was wrong (PLR, physical layer retransmission).
func (r Received) Resends() bool {
	return strings.Contains(r.FEC, "PLR") || strings.Contains(r.Retransmission, "PLR")
}

// Level is the worse of the levels of Symbol and Effective.
func (r Received) Level() Level { return r.LevelBy(FinalLimit, ResentLimit) }

// LevelBy is Level by other limits: final of Symbol, and of Effective where nothing is sent again; resent of Effective
// where the link sends again.
func (r Received) LevelBy(final, resent Limit) Level {
	limit := final
	if r.Resends() {
		limit = resent
	}
	return max(final.Level(r.Symbol), limit.Level(r.Effective))
}

// Rated reports whether a rate is known that has a level.
func (r Received) Rated() bool { return !math.IsNaN(r.Effective) || !math.IsNaN(r.Symbol) }

// Unknown is a port of which nothing is known.
func Unknown() Received {
	nan := math.NaN()
	return Received{Raw: nan, Effective: nan, Symbol: nan, Errors: noErrors()}
}

// rates is the header of an ibdiagnet2.net_dump_ext.
type rates struct {
	columns int
	at      [columnsRead]int // the position of each column that is read, or none
	stated  []bool           // [NodeID] the source of the fabric gives it a LID
}

// The columns that are read.
const (
	colGUID = iota
	colPort
	colLID
	colPeer
	colFEC
	colResend
	colRaw
	colEffective
	colSymbol
	colSymbolErrors
	colEffectiveErrors
	columnsRead

	none = -1
)

// columnNames is what versions of ibdiagnet call the columns that are read, in small letters.
var columnNames = [columnsRead][]string{
	{"guid", "node guid", "nodeguid"}, {"#ib", "ib#"}, {"lid"}, {"conn lid (#)", "conn lid"}, {"fec mode", "fec"}, {"rtr", "retran", "retransmission"}, {"raw ber"}, {"effective ber"},
	{"symbol ber"}, {"symbol err", "symbol errors"}, {"effective err", "effective errors"},
}

// isRates reports whether a line is the header of an ibdiagnet2.net_dump_ext.
func isRates(c reading.Cursor) bool {
	c.Space()
	return bytes.Contains(c, []byte(" BER")) && bytes.Contains(c, []byte("GUID")) && bytes.IndexByte(c, ':') >= 0 && c[0] != '#'
}

// beginRates reads the header of an ibdiagnet2.net_dump_ext.
func (p *parser) beginRates(c reading.Cursor) error {
	cells := split(c)
	p.rates = &rates{columns: len(cells), stated: make([]bool, len(p.f.Nodes()))}
	for i := range p.f.Endpoints() {
		if e := fabric.EndpointID(i); !p.f.LIDGiven(e) {
			p.rates.stated[p.f.Endpoint(e).Node] = true
		}
	}
	for i, names := range columnNames {
		p.rates.at[i] = slices.IndexFunc(cells, func(cell []byte) bool { return slices.Contains(names, strings.ToLower(string(cell))) })
	}
	if p.rates.at[colGUID] == none || p.rates.at[colPort] == none {
		return p.lines.Errorf("the header has error rates, and no columns GUID and #IB")
	}
	return nil
}

// split is the cells between the colons that are in no quotes. Descriptions without quotes, which
// may have some, come last.
func split(c []byte) [][]byte {
	var cells [][]byte
	quoted, from := false, 0
	for i, b := range c {
		switch {
		case b == '"':
			quoted = !quoted
		case b == ':' && !quoted:
			cells, from = append(cells, bytes.TrimSpace(c[from:i])), i+1
		}
	}
	return append(cells, bytes.TrimSpace(c[from:]))
}

// rate reads a port of an ibdiagnet2.net_dump_ext.
func (p *parser) rate(c reading.Cursor) error {
	if c.Space(); c[0] == '#' || c[0] == '-' {
		return nil
	}
	cells := split(c)
	if len(cells) < p.rates.columns && slices.Max(p.rates.at[:]) >= len(cells) {
		if bytes.Contains(c, []byte("DOWN")) || bytes.Contains(c, []byte("N/A")) {
			return nil // a port without a cable
		}
		return p.lines.Errorf("%s, and the header has %d columns; the line may be cut short", reading.Count(len(cells), "cell", "cells"), p.rates.columns)
	}
	guid, number := reading.Cursor(cells[p.rates.at[colGUID]]), reading.Cursor(cells[p.rates.at[colPort]])
	v, okGUID := guid.Hex(1<<64 - 1)
	port, okPort := number.Uint(fabric.MaxPorts)
	if !okGUID || !okPort || len(guid)+len(number) > 0 {
		return p.lines.Errorf("no GUID and number of a port")
	}
	if p.byGUID(fabric.GUID(v), uint8(port)); p.at == fabric.None {
		return nil
	}
	if peer, ok := p.ledElsewhere(cells); ok {
		if p.c.Fit.Moved++; p.c.Fit.Moved == 1 {
			c := p.f.Channel(p.at)
			p.c.Fit.FirstMoved = p.lines.Errorf("%s led to LID %d, and leads to %s now", p.f.PortLabel(c.From, c.FromPort), peer, p.f.PortLabel(c.To, c.ToPort))
		}
		return nil
	}
	r := Unknown()
	const rate, errorCount = "rate of errors, which is from 0 to 1", "number of errors"
	for _, cell := range []struct {
		column int
		to     *float64
		most   float64
		what   string
	}{
		{column: colRaw, to: &r.Raw, most: 1, what: rate}, {column: colEffective, to: &r.Effective, most: 1, what: rate}, {column: colSymbol, to: &r.Symbol, most: 1, what: rate},
		{column: colSymbolErrors, to: &r.Errors[Symbol], most: 1e30, what: errorCount}, {column: colEffectiveErrors, to: &r.Errors[Effective], most: 1e30, what: errorCount},
	} {
		text := p.text(cells, cell.column)
		if text == "" {
			continue
		}
		v, ok := number64(text)
		if !ok || !(v <= cell.most) {
			return p.lines.Errorf("%q is no %s", text, cell.what)
		}
		if v >= 0 { // some versions have -1 for what is not known
			*cell.to = v
		}
	}
	r.FEC, r.Retransmission = reading.Printable(p.text(cells, colFEC)), reading.Printable(p.text(cells, colResend))
	p.c.Received[p.at] = r
	return nil
}

// ledElsewhere reports whether a line is of a time when the cable of its port led to another node, of the LID peer: a folder
// keeps the files of an earlier run of ibdiagnet that had more options. LIDs of the line are those of the fabric only
// where the port itself has the one that the line says.
func (p *parser) ledElsewhere(cells [][]byte) (peer fabric.LID, elsewhere bool) {
	c := p.f.Channel(p.at)
	own := p.lid(cells, colLID)
	peer = p.lid(cells, colPeer)
	if own == 0 || peer == 0 || p.owner(own) != c.From || !p.rates.stated[c.To] {
		return 0, false
	}
	return peer, p.owner(peer) != c.To
}

// lid is the LID in a column, before its number in hexadecimal or the port; 0: there is none.
func (p *parser) lid(cells [][]byte, column int) fabric.LID {
	c := reading.Cursor(p.text(cells, column))
	v, _ := c.Uint(uint64(fabric.MaxLID))
	return fabric.LID(v)
}

// owner is the node that has a LID by the source of the fabric, or None.
func (p *parser) owner(lid fabric.LID) fabric.NodeID {
	e := p.f.Owner(lid)
	if e == fabric.None || p.f.LIDGiven(e) {
		return fabric.None
	}
	return p.f.Endpoint(e).Node
}

// text is what a column has in the cells of a line; empty where it is not there or says that nobody knows.
func (p *parser) text(cells [][]byte, column int) string {
	at := p.rates.at[column]
	if at == none {
		return ""
	}
	switch text := string(cells[at]); strings.ToUpper(text) {
	case "N/A", "NA", "-", "ERR", "NAN":
		return ""
	default:
		return text
	}
}

// number64 is the number in a text, decimal or hexadecimal with 0x.
func number64(text string) (float64, bool) {
	if c := reading.Cursor(text); strings.HasPrefix(text, "0x") {
		v, ok := c.Hex(1<<64 - 1)
		return float64(v), ok && len(c) == 0
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil
}
