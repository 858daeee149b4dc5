package packets

import (
	"fmt"
	"math/bits"

	"github.com/weft-fabric/weft/routing"
)

// Arbitration says how the lanes of a port share its cable, as in InfiniBand's
// VLArbitrationTable. Without one, lanes are served round robin, packet by packet.
type Arbitration struct {
	High, Low []Weight
	Limit     uint8 // in units of 4 KiB: how much High may send while Low waits; 255: no limit, 0: one packet
}

// Weight is an entry of an arbitration table.
type Weight struct {
	VL     uint8
	Blocks uint8 // how many blocks the lane may send before the next entry; 0: the entry is skipped
}

// check says what is wrong with arbitration tables; nil is right.
func (a *Arbitration) check() error {
	if a == nil {
		return nil
	}
	if len(a.High) > 64 || len(a.Low) > 64 {
		return fmt.Errorf("arbitration tables of %d and %d entries; they have at most 64", len(a.High), len(a.Low))
	}
	for _, t := range [][]Weight{a.High, a.Low} {
		for _, w := range t {
			if w.VL >= routing.MaxDataVLs {
				return fmt.Errorf("the arbitration table has VL %d; there are 0 to %d", w.VL, routing.MaxDataVLs-1)
			}
		}
	}
	return nil
}

// serves refuses tables without an entry for one of the lanes: its packets would wait
// for ever.
func (a *Arbitration) serves(lanes int) error {
	if a == nil {
		return nil
	}
	served := uint16(0)
	for _, t := range [][]Weight{a.High, a.Low} {
		for _, w := range t {
			if w.Blocks > 0 {
				served |= 1 << w.VL
			}
		}
	}
	if missing := (uint16(1)<<lanes - 1) &^ served; missing != 0 {
		return fmt.Errorf("the arbitration tables give lane %d no turn", bits.TrailingZeros16(missing))
	}
	return nil
}

// cursor is the position of a port in an arbitration table.
type cursor struct {
	at   uint8 // the entry
	left int16 // blocks that its lane may still send
}

// arbiter is the position of a port in both tables.
type arbiter struct {
	high, low cursor
	spent     int32 // blocks that High sent since Low last sent, or since Low had nothing to send
}

// pick is the lane that sends next, of those that are ready, given as bits, and whether it does so by
// the table High. It moves the cursors of s; the caller then calls s.sent.
func (a *Arbitration) pick(s *arbiter, ready uint16) (lane uint8, high bool) {
	h, hok := moveCursor(a.High, &s.high, ready)
	if hok && (a.Limit == 255 || s.spent <= int32(a.Limit)*(4096/Block)) {
		return h, true
	}
	if l, ok := moveCursor(a.Low, &s.low, ready); ok {
		return l, false
	}
	return h, true
}

// sent accounts for a packet that was sent.
func (s *arbiter) sent(high bool, blocks int32) {
	t := &s.low
	if high {
		t = &s.high
		s.spent += max(1, blocks)
	} else {
		s.spent = 0
	}
	t.left -= int16(blocks)
}

// moveCursor moves a cursor to the entry that sends next, and returns its lane; false: no lane of the
// table is ready. The cursor stays as long as its lane is ready and weight is left.
func moveCursor(table []Weight, t *cursor, ready uint16) (uint8, bool) {
	if len(table) == 0 {
		return 0, false
	}
	if w := table[t.at]; t.left > 0 && ready>>w.VL&1 == 1 {
		return w.VL, true
	}
	for range table {
		t.at = uint8((int(t.at) + 1) % len(table))
		if w := table[t.at]; w.Blocks > 0 && ready>>w.VL&1 == 1 {
			t.left = int16(w.Blocks)
			return w.VL, true
		}
	}
	t.left = 0
	return 0, false
}
