package counters

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
)

// Tables of an ibdiagnet2.db_csv beside PM_INFO that say how well ports receive:
//
//	START_PHY_DB16
//	NodeGuid,PortGuid,PortNum,Version,…,field12,field13,field14,field15,field16,field17,…
//
// has rates of errors, each as a coefficient and the power of ten that it is divided by, as the register PPCNT's group of
// physical layer statistics has them (raw_ber_coef, raw_ber_magnitude): fields 12 and 13 are the raw rate, 14 and 15 the effective
// one, 16 and 17 that of symbols. 15 and 255 are 1.5e-254, which ibdiagnet2.net_dump_ext prints for none. Some ports have a
// power of a thousand millions, which is not known. And
//
//	START_PORTS
//	NodeGuid,PortGuid,PortNum,…,FECActv,RetransActv
//
// has the modes of forward error correction and of retransmission. The names are those that public readers of these files go
// by; no real file has been at hand.
type phy struct {
	ends    string // the line behind the table
	columns []int  // [index in phyColumns or portColumns] position in the header, -1: not there; nil: the header was not read yet
	cells   int    // how many the header has; -1: the table cannot be read
	rates   bool   // it is PHY_DB16, else PORTS
}

// The columns that are read of the two tables; the first two have the port.
var (
	phyColumns  = []string{"nodeguid", "portnum", "field12", "field13", "field14", "field15", "field16", "field17"}
	portColumns = []string{"nodeguid", "portnum", "fecactv", "retransactv"}
)

// mostPower is the largest power of ten that is one.
const mostPower = 1000

// fecNames and resendNames are the modes of FEC and of retransmission by their numbers in MlnxExtPortInfo, in the words of
// ibdiagnet2.net_dump_ext: IBFECMode and EnRetransmissionMode of ibdm's Fabric.h, which is public in NVIDIA's ibutils2. Other
// numbers are reserved, and 255 is not known.
var (
	fecNames = [...]string{0: "NO-FEC", 1: "FIRECODE", 2: "STD-RS", 3: "STD-LL-RS", 4: "RS_FEC_544_514", 8: "MLNX-STRONG-RS", 9: "MLNX-LL-RS", 10: "MLNX-ADAPT-RS", 11: "MLNX-COD-FEC",
		12: "MLNX-ZL-FEC", 13: "MLNX_RS_544_514_PLR", 14: "MLNX_RS_271_257_PLR"}
	resendNames = [...]string{"NO-RTR", "LLR64", "LLR128", "PLR"}
)

// modes is how a port corrects errors, and sends again.
type modes struct{ fec, resend string }

// beginPhy begins the table with a name, PHY_DB16 or PORTS.
func (p *parser) beginPhy(name string) {
	p.phy = &phy{ends: "END_" + name, rates: name != "PORTS"}
}

// physical reads a line of a table: its header, a port, or its end. A table that cannot be read leaves the others alone:
// its columns are ibdiagnet's own business.
func (p *parser) physical(c reading.Cursor) error {
	t := p.phy
	text := bytes.TrimSpace(c)
	if string(text) == t.ends || bytes.HasPrefix(text, []byte("START_")) {
		p.phy = nil
		return nil
	}
	if len(text) == 0 {
		return nil
	}
	cells := bytes.Split(text, []byte(","))
	if t.columns == nil {
		t.header(cells)
		return nil
	}
	if t.cells < 0 {
		return nil
	}
	if len(cells) != t.cells {
		return p.lines.Errorf("%s, but the header of the table has %d columns; the line may be cut short", reading.Count(len(cells), "cell", "cells"), t.cells)
	}
	guid, port, ok := portIn(cells[t.columns[0]], cells[t.columns[1]])
	if !ok {
		return nil // a part that is no port
	}
	n := p.f.NodeByGUID(guid)
	if !t.rates { // the table has all ports of all nodes, with a cable and without
		if n != fabric.None && port > 0 && int(port) <= p.f.Node(n).Ports {
			if at := p.f.Out(n, port); at != fabric.None {
				p.mode(at, cells)
			}
		}
		return nil
	}
	if p.byGUID(guid, port); p.at != fabric.None {
		p.rated(p.at, cells)
	}
	return nil
}

// header sets columns and cells by the header of a table.
func (t *phy) header(cells [][]byte) {
	t.cells = len(cells)
	names := portColumns
	if t.rates {
		names = phyColumns
	}
	for _, name := range names {
		t.columns = append(t.columns, slices.IndexFunc(cells, func(cell []byte) bool {
			has := strings.ToLower(string(bytes.TrimSpace(cell)))
			return has == name || name == "portnum" && has == "portnumber" // as PM_INFO has it
		}))
	}
	if i := slices.Index(t.columns, -1); i >= 0 && (t.rates || i < len(portColumns)-1) {
		t.cells = -1 // an earlier ibdiagnet
	}
}

// mode notes in modes how the port that a channel leaves corrects errors and sends again, by a line of PORTS.
func (p *parser) mode(at fabric.ChannelID, cells [][]byte) {
	columns := p.phy.columns
	v, ok := numberOf(cells[columns[2]])
	if !ok || v >= 255 {
		return
	}
	m := modes{fec: fmt.Sprintf("FEC mode %.0f", v)}
	if int(v) < len(fecNames) && fecNames[int(v)] != "" {
		m.fec = fecNames[int(v)]
	}
	if i := columns[3]; i >= 0 {
		if v, ok := numberOf(cells[i]); ok && v < float64(len(resendNames)) {
			m.resend = resendNames[int(v)]
		}
	}
	if p.modes == nil {
		p.modes = map[fabric.ChannelID]modes{}
	}
	p.modes[at] = m
}

// rated notes the error rates of the port that a channel leaves, by a line of PHY_DB16, if any of them is known.
func (p *parser) rated(at fabric.ChannelID, cells [][]byte) {
	columns := p.phy.columns
	r, ok := p.c.Received[at]
	if !ok {
		r = Unknown()
	}
	known := false
	for i, to := range []*float64{&r.Raw, &r.Effective, &r.Symbol} {
		if v := power(cells[columns[2+2*i]], cells[columns[3+2*i]]); !math.IsNaN(v) {
			*to, known = v, true
		}
	}
	if known {
		p.c.Received[at] = r
	}
}

// fillModes notes, at the end of a file, the modes of ports of which something else is known: alone they are no
// counters.
func (p *parser) fillModes() {
	for at, m := range p.modes {
		if r, ok := p.c.Received[at]; ok && r.FEC == "" {
			r.FEC, r.Retransmission = m.fec, m.resend
			p.c.Received[at] = r
		}
	}
}

// power is a coefficient divided by a power of ten; NaN: it is not known, or no rate.
func power(coefficient, exponent []byte) float64 {
	a, okA := numberOf(coefficient)
	e, okE := numberOf(exponent)
	if !okA || !okE || e > mostPower {
		return math.NaN()
	}
	if v := a * math.Pow(10, -e); v <= 1 {
		return v
	}
	return math.NaN()
}
