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
	wheelLevels = 8
	wheelSlots  = 256
)

// wheel is the queue of events: a radix heap to the base 256. An event lies in
// the level of the highest byte in which its time differs from now, in the slot of
// that byte. Time only goes forwards, so an event moves down a level at a time, at
// most as often as there are bytes between it and now: two or three times for what
// a network does. A slot of the lowest level holds the events of one picosecond.
type wheel struct {
	now   Time
	count int
	slots [wheelLevels][wheelSlots][]event
	some  [wheelLevels][wheelSlots / 64]uint64 // slots that hold something, as bits
}

// push adds an event. Its time is after now, or now before the first next.
func (w *wheel) push(at Time, what uint64) {
	w.count++
	w.place(event{at, what})
}

func (w *wheel) place(e event) {
	level := 0
	if apart := uint64(e.at ^ w.now); apart > 0xFF {
		level = (bits.Len64(apart) - 1) / 8
	}
	slot := uint8(e.at >> (8 * level))
	w.slots[level][slot] = append(w.slots[level][slot], e)
	w.some[level][slot/64] |= 1 << (slot % 64)
}

// next goes to the next time at which something happens and hands over all that
// does, in no particular order, to be read before the next call; nil if nothing
// ever happens again.
func (w *wheel) next() []event {
	for level := 0; level < wheelLevels; level++ {
		slot := w.first(level)
		if slot < 0 {
			continue
		}
		events := w.slots[level][slot]
		w.slots[level][slot] = events[:0]
		w.some[level][slot/64] &^= 1 << (slot % 64)
		if level == 0 {
			w.now = events[0].at
			w.count -= len(events)
			return events
		}
		shift := 8 * level
		w.now = (w.now>>(shift+8)<<8 | Time(slot)) << shift
		for _, e := range events {
			w.place(e)
		}
		level = -1 // they lie below now
	}
	return nil
}

// first is the first slot of a level that holds something, or -1.
func (w *wheel) first(level int) int {
	for i, word := range w.some[level] {
		if word != 0 {
			return i*64 + bits.TrailingZeros64(word)
		}
	}
	return -1
}
