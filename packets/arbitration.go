package packets

import (
	"fmt"
	"math/bits"

	"github.com/weft-fabric/weft/routing"
)

// Arbitration is how the lanes of a port share its cable, as InfiniBand's
// VLArbitrationTable says it. Without one, lanes take turns, packet by packet.
type Arbitration struct {
	High, Low []Weight
	Limit     uint8 // of 4 KiB each: how much High may send while Low waits; 255: no limit, 0: one packet
}

// Weight is an entry of an arbitration table.
type Weight struct {
	VL     uint8
	Blocks uint8 // how much the lane may send in its turn, in blocks; 0: the entry is skipped
}

func (a *Arbitration) check() error {
	if a == nil {
		return nil
	}
	if len(a.High) > 64 || len(a.Low) > 64 {
		return fmt.Errorf("packets: arbitration tables of %d and %d entries; they have at most 64", len(a.High), len(a.Low))
	}
	for _, t := range [][]Weight{a.High, a.Low} {
		for _, w := range t {
			if w.VL >= routing.MaxDataVLs {
				return fmt.Errorf("packets: the arbitration table has VL %d; there are 0 to %d", w.VL, routing.MaxDataVLs-1)
			}
		}
	}
	return nil
}

// serves refuses tables that leave one of the lanes without a turn: what is in it
// would wait for ever.
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
		return fmt.Errorf("packets: the arbitration tables give lane %d no turn", bits.TrailingZeros16(missing))
	}
	return nil
}

// turn is where a port is in an arbitration table.
type turn struct {
	at   uint8
	left int16 // blocks
}

// arbiter is where a port is in both.
type arbiter struct {
	high, low turn
	spent     int32 // blocks that High sent since Low last did, or since Low had nothing
}

// pick is the lane of a set that goes next. The caller tells sent what went.
func (a *Arbitration) pick(s *arbiter, ready uint16) (lane uint8, high bool) {
	h, hok := next(a.High, &s.high, ready)
	if hok && (a.Limit == 255 || s.spent <= int32(a.Limit)*(4096/Block)) {
		return h, true
	}
	if l, ok := next(a.Low, &s.low, ready); ok {
		return l, false
	}
	return h, true
}

// sent notes what a lane sent.
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

// next moves a turn to the entry that goes next: the same as long as its lane has
// something and weight is left.
func next(table []Weight, t *turn, ready uint16) (uint8, bool) {
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
