package deadlock

import (
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// Followed is how many destinations the last verdict looked at.
func (m *Memory) Followed() int { return m.followed }

// Differs says what another memory of the same tables has otherwise, or "".
func (m *Memory) Differs(other *Memory) string {
	switch {
	case m.d == nil || other.d == nil:
		return ""
	case !slices.Equal(m.ends, other.ends):
		return "where ports lead"
	case !slices.Equal(m.waits, other.waits):
		return "who waits"
	case !slices.Equal(m.held, other.held) || !slices.Equal(m.use, other.use):
		return "who holds"
	}
	for lid := range m.d.f.TopLID() + 1 {
		if m.notes[lid] != other.notes[lid] {
			return fmt.Sprintf("the note of LID %d: %+v, %+v", lid, m.notes[lid], other.notes[lid])
		}
		if m.notes[lid].plain && !m.slots.mapped && !slices.Equal(m.beyond(lid), other.beyond(lid)) {
			return "which switches packets leave"
		}
	}
	return ""
}

// beyond is the switches that packets to an address leave, but that of the address: whether any leave that is never asked.
func (m *Memory) beyond(lid fabric.LID) []uint64 {
	list, home := slices.Clone(m.passedTo(lid)), m.d.destined(lid).Switch
	list[home/64] &^= 1 << (home % 64)
	return list
}

func (m *Memory) passedTo(lid fabric.LID) []uint64 {
	return (&tally{slots: &m.slots, passed: m.passed}).passedTo(lid)
}
