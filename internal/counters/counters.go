// Package counters reads how much ports have sent, how long they waited and how well they
// receive, from what perfquery or ibqueryerrors prints, from the table PM_INFO of an ibdiagnet2.db_csv, from an
// ibdiagnet2.pm, or from the text that either of the two programs called infiniband_exporter
// gives Prometheus; how well they receive alone, from an ibdiagnet2.net_dump_ext:
//
//	# Port extended counters: Lid 4 port 1 (CapMask: 0x5A00)
//	PortXmitData:....................1234567
//	PortXmitWait:....................17
//
//	START_PM_INFO
//	NodeGUID,PortGUID,PortNumber,PortXmitData,PortXmitDataExtended,PortXmitWait
//
//	Port=1 Lid=0x0804 GUID=0x506b4b03005c2740 Device=52000 Port Name=ib-i4l1s01/P1
//	port_xmit_data=0x1a5b5d8c4
//	port_xmit_wait=0x11
//
//	infiniband_switch_port_transmit_data_bytes_total{guid="0x506b4b03005c2740",port="1",switch="ib-i4l1s01"} 178762341961629
//	infiniband_portxmitdata_total{local_guid="0x506b4b03005c2740",local_port="1",…} 4.4690585490407e+013
//
//	Errors for 0x506b4b03005c2740 "ib-i4l1s01"
//	   GUID 0x506b4b03005c2740 port 1: [SymbolErrorCounter == 12] [PortXmitWait == 17]
//
//	Ty : # : #IB : GUID : … : FEC mode : RTR : Raw BER : Effective BER : Symbol BER : Symbol Err : … : Node Desc
//	SW : 1/1/1 : 1 : 0x506b4b03005c2740 : … : MLNX_RS_271_257_PLR : NO-RTR : 7e-09 : 1.5e-254 : 1.5e-254 : 0 : … : "ib-i4l1s01"
//
// Data is in bytes: PortXmitData counts units of four. The 64-bit counters, where a file
// has both, win over those of 32 bits, which stop at their limit. Ports without a cable are
// passed over. Ports that the fabric does not have are left out and told (Counters.Fit); a file that
// has no other is a *format.ParseError.
package counters

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/words"
)

// Counters is what the ports of a fabric have counted, each by the channel that it sends into.
type Counters struct {
	Received map[fabric.ChannelID]Received // by the channel that leaves the port; what it receives comes the other way

	Bytes []float64 // [ChannelID] sent
	Wait  []float64 // [ChannelID] ticks in which there was data and no credit, or another had its turn
	Known []bool    // [ChannelID] Bytes and Wait are known
	Ports int       // how many are known

	Stopped int // set by Since and Tally: number of counters that stand where they stop, and count no more

	Listed bool // from ibqueryerrors: ports and counters that are not listed have no errors to speak of

	Fit Fit
}

// Fit is what of a file of counters does not fit the fabric: ports of nodes, or of LIDs, that it does not have, and ports
// whose cable led elsewhere.
type Fit struct {
	LeftOut int   // number of ports that it does not have
	First   error // *format.ParseError about the first of them; nil: there are none

	Moved      int // number of ports whose cable led elsewhere
	FirstMoved error
}

// String says in a sentence, or two, what was left out; empty: nothing.
func (f Fit) String() string {
	var said []string
	if f.LeftOut > 0 {
		said = append(said, fmt.Sprintf("%s: %v", words.Counted(f.LeftOut, "port that the network does not have is left out", "ports that the network does not have are left out, the first"), f.First))
	}
	if f.Moved > 0 {
		said = append(said, fmt.Sprintf("%s: %v", words.Counted(f.Moved, "port that led elsewhere then is left out, of before its cable was moved", "ports that led elsewhere then are left out, of before cables were moved, the first"), f.FirstMoved))
	}
	return strings.Join(said, "; ")
}

// Read reads the counters of a fabric; file is the name for errors.
func Read(r io.Reader, file string, f *fabric.Fabric) (*Counters, error) {
	kind, r, err := reading.Peek(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	n := len(f.Channels())
	p := &parser{lines: reading.NewTableLines(r, file), f: f, guid: map[fabric.GUID]portOf{}, names: map[string]named{}, wide: make([]bool, n),
		c: &Counters{Received: map[fabric.ChannelID]Received{}, Bytes: make([]float64, n), Wait: make([]float64, n), Known: make([]bool, n)}}
	for i := range f.Endpoints() {
		if e := f.Endpoint(fabric.EndpointID(i)); e.PortGUID != 0 {
			p.guid[e.PortGUID] = portOf{e.Node, e.Port}
		}
	}
	if err := p.lines.Each(p.line); err != nil {
		return nil, err
	}
	if err := cmp.Or(p.lines.Truncated(), p.endBlock()); err != nil {
		return nil, err
	}
	p.fillModes()
	switch {
	case p.table:
		return nil, p.lines.Errorf("truncated: the table PM_INFO has no END_PM_INFO")
	case p.phy != nil && p.phy.rates:
		return nil, p.lines.Errorf("truncated: the table PHY_DB16 has no END_PHY_DB16")
	case p.c.Fit.LeftOut > 0 && !p.fits:
		return nil, fmt.Errorf("%w, nor any other port of the file: these are counters of another network", p.c.Fit.First)
	case p.c.Fit.Moved > 0 && len(p.c.Received) == 0:
		return nil, fmt.Errorf("%w, and no other port is as it was: these are rates of before cables were moved", p.c.Fit.FirstMoved)
	case p.c.Listed:
	case p.c.Ports == 0 && len(p.c.Received) == 0 && kind == reading.DBCSV && p.columns == nil:
		return nil, &noCounters{format.Errorf(file, 1, "this ibdiagnet2.db_csv has no table PM_INFO, and no error rates: ibdiagnet --pc writes it, and --get_phy_info these")}
	case p.c.Ports == 0 && len(p.c.Received) == 0 && kind != reading.Unknown && !p.begun && !p.listed && !p.pm && p.rates == nil && p.columns == nil:
		return nil, format.Errorf(file, 1, "this is %s; counters are perfquery's or ibqueryerrors' output, a table PM_INFO, an ibdiagnet2.pm or ibdiagnet2.net_dump_ext, or infiniband_exporter's text", kind)
	case p.c.Ports == 0 && len(p.c.Received) == 0:
		return nil, &noCounters{p.lines.Errorf("no counters of any cable of the fabric: neither perfquery's or ibqueryerrors', nor a table PM_INFO, nor an ibdiagnet2.pm or ibdiagnet2.net_dump_ext, nor infiniband_exporter's")}
	}
	return p.c, nil
}

// ErrNone is what an error of Read is where a file has no counters.
var ErrNone = errors.New("no counters")

// noCounters is the error of a file without counters; errors.Is finds ErrNone in it.
type noCounters struct{ error }

func (n *noCounters) Unwrap() error { return n.error }

func (n *noCounters) Is(target error) bool { return target == ErrNone }

// Rates is what holds for now: rates of errors, and modes of error correction.
func (c *Counters) Rates() *Counters {
	d := &Counters{Received: map[fabric.ChannelID]Received{}, Bytes: make([]float64, len(c.Bytes)), Wait: make([]float64, len(c.Wait)), Known: make([]bool, len(c.Known))}
	for at, r := range c.Received {
		r.Errors = noErrors()
		d.Received[at] = r
	}
	return d
}

// Add adds to c what another file of the same time knows of ports of the same fabric. Of errors that both know the
// larger number counts, of everything else what other says.
func (c *Counters) Add(other *Counters) {
	for i := range other.Known {
		if other.Known[i] {
			if !c.Known[i] {
				c.Ports++
			}
			c.Bytes[i], c.Wait[i], c.Known[i] = other.Bytes[i], other.Wait[i], true
		}
	}
	for at, r := range other.Received {
		had, ok := c.Received[at]
		if !ok {
			c.Received[at] = r
			continue
		}
		for i, v := range r.Errors {
			if !(had.Errors[i] >= v) && !math.IsNaN(v) {
				had.Errors[i] = v
			}
		}
		if r.Rated() {
			had.Raw, had.Effective, had.Symbol = r.Raw, r.Effective, r.Symbol
		}
		if r.FEC != "" {
			had.FEC, had.Retransmission = r.FEC, r.Retransmission
		}
		c.Received[at] = had
	}
}

// Rated reports whether error rates are known of some port.
func (c *Counters) Rated() bool {
	for _, r := range c.Received {
		if r.Rated() {
			return true
		}
	}
	return false
}

// Since is the counters less those of an earlier look, of ports that both know. Of ports that
// have sent less than before, which were cleared in between, what they sent is left out, and errors are
// those since. Rates are those of the later look.
func (c *Counters) Since(before *Counters) *Counters {
	d := &Counters{Received: map[fabric.ChannelID]Received{}, Bytes: make([]float64, len(c.Bytes)), Wait: make([]float64, len(c.Wait)), Known: make([]bool, len(c.Known))}
	for i := range c.Known {
		if c.Known[i] && before.Known[i] && c.Bytes[i] >= before.Bytes[i] && c.Wait[i] >= before.Wait[i] {
			d.Bytes[i], d.Wait[i], d.Known[i] = c.Bytes[i]-before.Bytes[i], c.Wait[i]-before.Wait[i], true
			d.Ports++
		}
	}
	for at, r := range c.Received {
		then, ok := before.Received[at]
		switch {
		case !ok && before.Listed:
			then = Received{}
		case !ok:
			then = Unknown()
		}
		d.Stopped += r.Errors.stopped()
		now, earlier := c.withZeros(r.Errors), before.withZeros(then.Errors)
		r.Errors = now.since(&earlier)
		d.Received[at] = r
	}
	return d
}

// portOf is a port of a node.
type portOf struct {
	node fabric.NodeID
	port uint8
}

// parser reads a file line by line, in whatever of the formats each line is, into c.
type parser struct {
	lines *reading.Lines
	f     *fabric.Fabric
	c     *Counters
	guid  map[fabric.GUID]portOf // adapter ports by their GUIDs, port 0 of switches
	wide  []bool                 // [ChannelID] Bytes is of a counter of 64 bits

	at       fabric.ChannelID           // the channel that leaves the port whose counters are read; None: it has no cable
	begun    bool                       // of perfquery: a block has begun
	extended bool                       // of perfquery: its head has this word, so counters have 64 bits
	block    block                      // of perfquery: the one that has begun
	listed   bool                       // the lines are of ibqueryerrors
	pm       bool                       // the lines are of a block of an ibdiagnet2.pm
	rates    *rates                     // the lines are of an ibdiagnet2.net_dump_ext; nil: they are not
	table    bool                       // the lines are of PM_INFO
	modes    map[fabric.ChannelID]modes // by the table of ports
	phy      *phy                       // the lines are of a table about error rates; nil: they are not
	columns  map[string]int             // of PM_INFO: position by name in its header; nil: not read yet
	cells    int                        // of PM_INFO: how many the header has
	errors   []errorColumn              // of PM_INFO
	names    map[string]named           // what names of counters stand for that lines have had

	fits bool             // the fabric has one of the ports
	left map[foreign]bool // ports that it does not have
}

// foreign is a port that the fabric does not have, by the LID that it is given with or else by a GUID.
type foreign struct {
	guid fabric.GUID
	lid  fabric.LID
	port uint8
}

// leaveOut notes a port that the fabric does not have, of which nothing is taken; it is counted once, however many
// lines it has.
func (p *parser) leaveOut(port foreign, why string, args ...any) {
	p.at = fabric.None
	if p.left[port] {
		return
	}
	if p.left == nil {
		p.left = map[foreign]bool{}
		p.c.Fit.First = p.lines.Errorf(why, args...)
	}
	p.left[port] = true
	p.c.Fit.LeftOut++
}

// portXmitWaitSupported is a bit of ClassPortInfo:CapabilityMask of performance management (infiniband-diags,
// IB_PM_PC_XMIT_WAIT_SUP).
const portXmitWaitSupported = 1 << 12

// line reads any line of a file.
func (p *parser) line(c reading.Cursor) error {
	if p.begun && p.block.line > 0 && len(c) > 0 && c[0] != '#' {
		p.block.note(c)
	}
	switch {
	case p.table || c.Cut("START_PM_INFO"):
		return p.row(c)
	case p.phy != nil:
		return p.physical(c)
	case c.Cut("START_PHY_DB16"):
		p.beginPhy("PHY_DB16")
		return nil
	case string(bytes.TrimSpace(c)) == "START_PORTS":
		p.beginPhy("PORTS")
		return nil
	case c.Empty():
		return nil
	case isRates(c):
		return p.beginRates(c)
	case p.rates != nil:
		return p.rate(c)
	case cutHead(&c):
		p.extended = bytes.Contains(p.lines.Text(), []byte("extended"))
		if err := p.endBlock(); err != nil {
			return err
		}
		plain := bytes.HasPrefix(p.lines.Text(), []byte("# Port counters:"))
		if plain || bytes.HasPrefix(p.lines.Text(), []byte("# Port extended counters:")) { // blocks of details have no packets
			p.block.line = p.lines.Number()
		}
		if _, mask, ok := bytes.Cut(c, []byte("CapMask: ")); ok && plain {
			text := reading.Cursor(mask)
			bits, ok := text.Hex(1<<32 - 1)
			p.block.waits = ok && bits&portXmitWaitSupported != 0
		}
		return p.begin(c)
	case c.Cut("Errors for "), c.Cut("Data Counters for "):
		p.listed, p.begun, p.pm = true, false, false
		return nil
	case c.Cut("## Summary: "):
		p.c.Listed = true
		return nil
	case p.listed && c.Cut("GUID "):
		return p.list(c)
	case c.Cut("Port="):
		return p.beginPM(c)
	case p.pm:
		return p.countPM(c)
	case p.begun && c.Cut("PortXmitData:"):
		return p.count(c, func(v float64) { p.data(p.at, v*4, p.extended) })
	case p.begun && c.Cut("PortXmitWait:"):
		return p.count(c, func(v float64) { p.c.Wait[p.at] = max(p.c.Wait[p.at], v) })
	case c.Cut("infiniband_"):
		return p.metric(c)
	case p.begun:
		return p.countErrors(c)
	}
	return nil // the other counters
}

// cutHead cuts what is before the port in the head of one of perfquery's many blocks, such as
//
//	# Port extended counters: Lid 4 port 1 (CapMask: 0x5A00 CapMask2: 0x0000002)
//	# PortExtendedSpeedsCounters with RS-FEC Active: Lid 4 port 1 (CapMask: 0x5A00)
//	# PortRcvErrorDetails counters: Lid 4 port 1 (CapMask: 0x5A00)
func cutHead(c *reading.Cursor) bool {
	if c.Cut("# Port counters:") || c.Cut("# Port extended counters:") {
		return true
	}
	if !bytes.HasPrefix(*c, []byte("# ")) {
		return false
	}
	_, port, ok := bytes.Cut(*c, []byte(": Lid "))
	if ok {
		*c = (*c)[len(*c)-len(port)-len("Lid "):]
	}
	return ok
}

// countErrors reads a line of perfquery that may be about errors.
func (p *parser) countErrors(c reading.Cursor) error {
	name, rest, ok := bytes.Cut(c, []byte(":"))
	if !ok {
		return nil
	}
	if counter, lane, ok := p.errorNamed(name); ok {
		return p.count(rest, func(v float64) { p.countError(counter, lane, v) })
	}
	return nil
}

// data notes the bytes that a port has sent, unless a wider counter has said so already.
func (p *parser) data(c fabric.ChannelID, bytes float64, wide bool) {
	if p.c.Known[c] && p.wide[c] && !wide {
		return
	}
	if !p.c.Known[c] {
		p.c.Known[c] = true
		p.c.Ports++
	}
	p.c.Bytes[c], p.wide[c] = bytes, wide
}

// begin starts a block of perfquery: Lid 4 port 1.
func (p *parser) begin(c reading.Cursor) error {
	p.begun, p.pm, p.at = true, false, fabric.None
	if !c.CutFold("lid ") {
		return p.lines.Errorf("no Lid in the head of the counters of a port")
	}
	lid, ok := c.Uint(uint64(fabric.MaxLID))
	if !ok || !c.CutFold("port") {
		return p.lines.Errorf("no Lid and port in the head of the counters of a port")
	}
	port, ok := c.Uint(fabric.MaxPorts)
	if !ok {
		return nil // "port all": the sum of all of them
	}
	e := p.f.Owner(fabric.LID(lid))
	if e == fabric.None {
		p.leaveOut(foreign{lid: fabric.LID(lid), port: uint8(port)}, "the fabric has no LID %d", lid)
		return nil
	}
	p.setPort(portOf{node: p.f.Endpoint(e).Node, port: uint8(port)})
	return nil
}

// setPort sets at to the port whose counters follow.
func (p *parser) setPort(at portOf) {
	n := p.f.Node(at.node)
	if int(at.port) > n.Ports {
		p.leaveOut(foreign{guid: n.GUID, port: at.port}, "%s has %s, not a port %d", p.f.Label(at.node), words.Plural(n.Ports, "port"), at.port)
		return
	}
	p.at, p.fits = fabric.None, true
	if at.port > 0 {
		p.at = p.f.Out(at.node, at.port)
	}
}

// count reads the value of a counter of perfquery, behind dots, and gives it to set if the port has a cable.
func (p *parser) count(c reading.Cursor, set func(float64)) error {
	c = bytes.TrimLeft(c, ".")
	v, err := p.number(&c)
	if err != nil {
		return err
	}
	if p.at != fabric.None {
		set(float64(v))
	}
	return nil
}

// number reads the value of a counter, decimal or, with 0x, hexadecimal, up to a blank, and cuts it from c.
func (p *parser) number(c *reading.Cursor) (uint64, error) {
	c.Space()
	end := bytes.IndexAny(*c, " \t\r")
	if end < 0 {
		end = len(*c)
	}
	word := (*c)[:end]
	rest, digits := word, "0123456789"
	read := rest.Uint
	if bytes.HasPrefix(word, []byte("0x")) {
		read, digits = rest.Hex, "0123456789abcdefABCDEF"
	}
	v, ok := read(1<<64 - 1)
	switch {
	case ok && len(rest) == 0:
		*c = (*c)[end:]
		return v, nil
	case !ok && len(bytes.Trim(bytes.TrimPrefix(word, []byte("0x")), digits)) == 0 && len(word) > len("0x"):
		return 0, p.lines.Errorf("%s is too large for a counter, which has 64 bits", reading.Printable(string(word)))
	case ok:
		return 0, p.lines.Errorf("%q is no number of a counter", reading.Printable(string(word)))
	}
	return 0, p.lines.Errorf("no number behind the name of a counter; the line may be cut short")
}

// block is which lines of a block of perfquery were there. It has all counters of the MAD (PortCounters or
// PortCountersExtended), from PortSelect to PortRcvPkts or later.
type block struct {
	line                       int  // of its head
	waits                      bool // by the CapMask in its head the port counts PortXmitWait, and the block is of PortCounters
	any, whole, packets, ticks bool // lines that were there: any; PortSelect, so nobody has cut lines out; PortRcvPkts; PortXmitWait
}

// note notes which line of a block it is.
func (b *block) note(c reading.Cursor) {
	b.any = true
	switch {
	case c.Cut("PortSelect:"):
		b.whole = true
	case c.Cut("PortRcvPkts:"):
		b.packets = true
	case c.Cut("PortXmitWait:"):
		b.ticks = true
	}
}

// endBlock ends the block of perfquery that has begun, if one has, with an error if it was cut short.
func (p *parser) endBlock() error {
	b := p.block
	p.block = block{}
	if b.line > 0 && (!b.any || b.whole && (!b.packets || b.waits && !b.ticks)) {
		return p.lines.ErrorAt(b.line, "truncated: the counters of this port end before the last of them")
	}
	return nil
}

// byGUID is setPort for a port by the GUID of its node, or by its own.
func (p *parser) byGUID(guid fabric.GUID, port uint8) {
	n := p.f.NodeByGUID(guid)
	if n == fabric.None {
		at, ok := p.guid[guid]
		if !ok {
			p.leaveOut(foreign{guid: guid, port: port}, "the fabric has no node with GUID %s", guid)
			return
		}
		n = at.node
	}
	p.setPort(portOf{node: n, port: port})
}

// metric is a metric that is read, of one of the two programs called infiniband_exporter.
type metric struct {
	name       string
	guid, port string  // names of the labels
	wait       bool    // it counts ticks of waiting
	bytes      float64 // in a unit of data; 0: it counts ticks or errors
	errors     Counter // which errors it counts, if it is of ofErrors
}

// metrics is what exporters call a counter: SckyzO's and treydock's count bytes, guilbaults' gives PortXmitData as it is.
var metrics = []metric{
	{name: "switch_port_transmit_data_bytes_total{", guid: "guid", port: "port", bytes: 1},
	{name: "hca_port_transmit_data_bytes_total{", guid: "guid", port: "port", bytes: 1},
	{name: "switch_port_transmit_wait_total{", guid: "guid", port: "port", wait: true},
	{name: "hca_port_transmit_wait_total{", guid: "guid", port: "port", wait: true},
	{name: "portxmitdata_total{", guid: "local_guid", port: "local_port", bytes: 4},
	{name: "portxmitwait_total{", guid: "local_guid", port: "local_port", wait: true},
}

// ofErrors is the metric of a line about errors, told by its name, which is cut from c; false: it is of something else.
func ofErrors(c *reading.Cursor) (m metric, ok bool) {
	name, rest, found := bytes.Cut(*c, []byte("{"))
	name, total := bytes.CutSuffix(name, []byte("_total"))
	if !found || !total {
		return m, false
	}
	m = metric{guid: "local_guid", port: "local_port"}
	for _, kind := range []string{"switch_port_", "hca_port_"} {
		if plain, ok := bytes.CutPrefix(name, []byte(kind)); ok {
			name, m.guid, m.port = plain, "guid", "port"
		}
	}
	if m.errors, _, ok = errorNamed(name); ok {
		*c = rest
	}
	return m, ok
}

// metric reads a line for Prometheus.
func (p *parser) metric(c reading.Cursor) error {
	for i := range metrics {
		m := &metrics[i]
		if !c.Cut(m.name) {
			continue
		}
		at, v, err := p.value(c, m)
		if err != nil {
			return err
		}
		if p.byGUID(at.guid, at.port); p.at == fabric.None {
			return nil
		}
		if m.wait {
			p.c.Wait[p.at] = v
		} else {
			p.data(p.at, v*m.bytes, true)
		}
		return nil
	}
	m, ok := ofErrors(&c)
	if !ok {
		return nil
	}
	at, v, err := p.value(c, &m)
	if err != nil {
		return err
	}
	if p.byGUID(at.guid, at.port); p.at == fabric.None {
		return nil
	}
	p.countError(m.errors, 0, v)
	return nil
}

// value reads the labels of a metric, and its value.
func (p *parser) value(c reading.Cursor, m *metric) (at labelled, v float64, err error) {
	if at, err = p.labels(&c, m); err != nil {
		return at, 0, err
	}
	word := c.Word()
	v, err = strconv.ParseFloat(string(word), 64)
	if err != nil || !(v >= 0) || v > 1e30 {
		return at, 0, p.lines.Errorf("%q is no value of a counter", word)
	}
	return at, v, nil
}

// labelled is the port that the labels of a metric name.
type labelled struct {
	guid fabric.GUID
	port uint8
}

// labels reads the GUID and the port, and passes over the others.
func (p *parser) labels(c *reading.Cursor, m *metric) (at labelled, err error) {
	guid, port := false, false
	for !c.Cut("}") {
		name, rest, ok := bytes.Cut(*c, []byte("="))
		*c = rest
		value, okValue := c.Quoted()
		if !ok || !okValue {
			return at, p.lines.Errorf("no labels up to a brace; the line may be cut short")
		}
		c.Cut(",")
		number := reading.Cursor(value)
		switch string(bytes.TrimSpace(name)) {
		case m.guid:
			v, ok := number.Hex(1<<64 - 1)
			if !ok || len(number) > 0 {
				return at, p.lines.Errorf("%q is no GUID", value)
			}
			at.guid, guid = fabric.GUID(v), true
		case m.port:
			v, ok := number.Uint(fabric.MaxPorts)
			if !ok || len(number) > 0 {
				return at, p.lines.Errorf("%q is no number of a port", value)
			}
			at.port, port = uint8(v), true
		}
	}
	if !guid || !port {
		return at, p.lines.Errorf("a metric without the labels %s and %s", m.guid, m.port)
	}
	return at, nil
}

// On is counters of from as those of to, the same network later with other numbers and cables: each port keeps what it
// has counted. Ports that are not there any more, or have no cable, are left out.
func (c *Counters) On(from, to *fabric.Fabric) *Counters {
	if from == to {
		return c
	}
	n := len(to.Channels())
	d := &Counters{Received: map[fabric.ChannelID]Received{}, Bytes: make([]float64, n), Wait: make([]float64, n), Known: make([]bool, n), Stopped: c.Stopped}
	for i := range from.Channels() {
		ch := from.Channel(fabric.ChannelID(i))
		at := to.NodeByGUID(from.Node(ch.From).GUID)
		if at == fabric.None || int(ch.FromPort) > to.Node(at).Ports {
			continue
		}
		out := to.Out(at, ch.FromPort)
		if out == fabric.None {
			continue
		}
		if c.Known[i] {
			d.Bytes[out], d.Wait[out], d.Known[out] = c.Bytes[i], c.Wait[i], true
			d.Ports++
		}
		if r, ok := c.Received[fabric.ChannelID(i)]; ok {
			d.Received[out] = r
		}
	}
	return d
}
