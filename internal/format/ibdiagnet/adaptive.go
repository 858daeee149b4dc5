package ibdiagnet

import (
	"io"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/format/blocks"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/routing"
)

// adaptiveTable has a row for each switch that knows adaptive routing.
const adaptiveTable = "AR_INFO"

// Adaptive is what AR_INFO says of the switches.
type Adaptive struct {
	// Levels is the service levels whose packets may choose among ports, as bits; 0: adaptive
	// routing is off. [switch]
	Levels []uint16
	Known  []bool // [switch] AR_INFO has a row
}

// ReadAdaptive reads AR_INFO of an ibdiagnet2.db_csv for a fabric; nil: there is no such
// table, or it has no column e.
//
// Its columns are those of the attribute AdaptiveRoutingInfo, by names that ibdiagnet's public
// header has (class ARInfoRecord): e is 1 where adaptive routing is on; enable_by_sl_mask
// counts where by_sl_en is 1, else packets on all service levels may choose. Those of
// hash-based forwarding (is_hbf_supported, by_sl_hbf_en, enable_by_sl_mask_hbf) say on which
// service levels a hash chooses; it is on where its mask is not 0. gone is the switches that
// the fabric lacks and whose rows are left out.
func ReadAdaptive(r io.Reader, file string, f *fabric.Fabric, gone ...fabric.GUID) (*Adaptive, error) {
	a := &Adaptive{Levels: make([]uint16, f.Switches()), Known: make([]bool, f.Switches())}
	known, begins := false, make(blocks.Begins, f.Switches())
	p := newParser(r, file, map[string]*table{adaptiveTable: {
		wanted: []string{"NodeGUID", "e", "by_sl_en", "enable_by_sl_mask", "is_hbf_supported", "by_sl_hbf_en", "enable_by_sl_mask_hbf"}, need: 1,
		row: func(p *parser) error {
			known = known || p.at[1] != none
			return a.row(p, f, begins, gone)
		},
	}})
	if err := p.read(); err != nil || !known {
		return nil, err
	}
	return a, nil
}

// allLevels is all service levels, as bits.
const allLevels = 1<<routing.SLs - 1

// row takes a row of the table.
func (a *Adaptive) row(p *parser, f *fabric.Fabric, begins blocks.Begins, gone []fabric.GUID) error {
	_, guid, err := p.identity(0)
	if err != nil || guid == 0 { // of a name in place of a GUID it is not known which switch it is
		return err
	}
	s, err := begins.Begin(f, p.lines, guid, "row in "+adaptiveTable, gone...)
	if err != nil || s == fabric.None {
		return err
	}
	a.Known[s] = true
	var v [7]uint64
	for i := 1; i < len(v); i++ {
		if v[i], err = p.word(i); err != nil {
			return err
		}
	}
	on, bySL, mask, hash, hashBySL, hashMask := v[1], v[2], v[3], v[4], v[5], v[6]
	if on != 0 && bySL == 0 {
		mask = allLevels
	}
	if hashMask != 0 && hashBySL == 0 {
		hashMask = allLevels
	}
	if on != 0 {
		a.Levels[s] |= uint16(mask)
	}
	if hash != 0 {
		a.Levels[s] |= uint16(hashMask)
	}
	return nil
}

// word is a wanted column as a number of 16 bits, decimal or hexadecimal with 0x; 0 where it
// is not known.
func (p *parser) word(i int) (uint64, error) {
	cell := reading.Cursor(p.cell(i))
	if len(cell) < 2 || cell[0] != '0' || cell[1] != 'x' {
		v, _, err := p.number(i, 1<<16-1)
		return v, err
	}
	v, ok := cell.Hex(1<<16 - 1)
	if !ok || len(cell) > 0 {
		return 0, p.lines.Errorf("%s is %q, which is no number from 0 to %d", p.table.wanted[i], p.cell(i), 1<<16-1)
	}
	return v, nil
}
