package packets

import "math/bits"

// Time is in picoseconds.
type Time int64

// event is what happens at a time: a kind, an index and a number, packed.
type event struct {
	at   Time
	what uint64
}

const (
	wheelBits   = 12
	wheelLevels = 6 // 6 × 12 bits are more than a Time has
	wheelSlots  = 1 << wheelBits
)

// wheel is the queue of events: a radix heap to the base 4096. An event lies in
// the level of the highest digit in which its time differs from now, in the slot of
// that digit. Time only goes forwards, so an event moves down a level at a time, at
// most as often as there are digits between it and now: once for nearly all that a
// network does, which is less than 16 us ahead. A slot of the lowest level holds the events of one picosecond.
type wheel struct {
	now   Time
	count int
	slots [wheelLevels][wheelSlots][]event
	some  [wheelLevels][wheelSlots / 64]uint64 // slots that hold something, as bits
	words [wheelLevels]uint64                  // words of some that are not zero, as bits
	given []event                              // handed over last
	spare [wheelLevels][][]event               // space for slots that hold nothing, by level, for they differ much in size
}

// push adds an event. Its time is after now, or now before the first next.
func (w *wheel) push(at Time, what uint64) {
	w.count++
	w.place(event{at, what})
}

func (w *wheel) place(e event) {
	level := 0
	if apart := uint64(e.at ^ w.now); apart >= wheelSlots {
		level = (bits.Len64(apart) - 1) / wheelBits
	}
	slot := e.at >> (wheelBits * level) & (wheelSlots - 1)
	events := w.slots[level][slot]
	if spare := w.spare[level]; events == nil && len(spare) > 0 {
		last := len(spare) - 1
		events, w.spare[level] = spare[last], spare[:last]
	}
	w.slots[level][slot] = append(events, e)
	w.some[level][slot/64] |= 1 << (slot % 64)
	w.words[level] |= 1 << (slot / 64)
}

// next goes to the next time at which something happens and hands over all that
// does, in no particular order, to be read before the next call; nil if nothing
// ever happens again.
func (w *wheel) next() []event {
	w.recycle(0, w.given)
	w.given = nil
	for level := 0; level < wheelLevels; level++ {
		slot := w.first(level)
		if slot < 0 {
			continue
		}
		events := w.slots[level][slot]
		w.slots[level][slot] = nil
		if w.some[level][slot/64] &^= 1 << (slot % 64); w.some[level][slot/64] == 0 {
			w.words[level] &^= 1 << (slot / 64)
		}
		if level == 0 {
			w.now = events[0].at
			w.count -= len(events)
			w.given = events
			return events
		}
		shift := wheelBits * level
		w.now = (w.now>>(shift+wheelBits)<<wheelBits | Time(slot)) << shift
		for _, e := range events {
			w.place(e)
		}
		w.recycle(level, events)
		level = -1 // they lie below now
	}
	return nil
}

// recycle keeps the space of a slot for another.
func (w *wheel) recycle(level int, events []event) {
	if events != nil {
		w.spare[level] = append(w.spare[level], events[:0])
	}
}

// first is the first slot of a level that holds something, or -1.
func (w *wheel) first(level int) int {
	if words := w.words[level]; words != 0 {
		i := bits.TrailingZeros64(words)
		return i*64 + bits.TrailingZeros64(w.some[level][i])
	}
	return -1
}
