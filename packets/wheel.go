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
	wheelBits  = 12
	wheelSlots = 1 << wheelBits
)

// wheel is the queue of events: a radix heap to the base 4096. An event lies in the level of the
// highest digit in which its time differs from now, in the slot of that digit. Time
// only goes forwards, so an event moves down a level at a time, at most as often as
// there are digits between it and now: once or twice for nearly all that a network
// does. A slot of the lowest level holds the events of one picosecond.
type wheel struct {
	now    Time
	count  int
	levels [6]level // 6 × 12 bits are more than a Time has
	given  []event  // handed over last
	moved  []event  // came into the lowest level last, to be read before the next push
}

// level is a digit of a wheel.
type level struct {
	slots [wheelSlots][]event
	some  [wheelSlots / 64]uint64 // slots that hold something, as bits
	words uint64                  // words of some that are not zero, as bits
	spare [][]event               // space for slots that hold nothing: of the same level, for levels differ much in size
}

// push adds an event. Its time is after now, or now before the first next.
func (w *wheel) push(at Time, what uint64) {
	w.count++
	w.place(event{at, what})
}

func (w *wheel) place(e event) {
	number := 0
	if apart := uint64(e.at ^ w.now); apart >= wheelSlots {
		number = (bits.Len64(apart) - 1) / wheelBits
	}
	l := &w.levels[number]
	slot := e.at >> (wheelBits * number) & (wheelSlots - 1)
	events := l.slots[slot]
	if events == nil && len(l.spare) > 0 {
		last := len(l.spare) - 1
		events, l.spare = l.spare[last], l.spare[:last]
	}
	l.slots[slot] = append(events, e)
	l.some[slot/64] |= 1 << (slot % 64)
	l.words |= 1 << (slot / 64)
}

// next goes to the next time at which something happens and hands over all that
// does, in no particular order, to be read before the next call; nil if nothing
// happens before a time. Nothing may be pushed then that is due before it.
func (w *wheel) next(before Time) []event {
	if w.given != nil {
		w.levels[0].recycle(w.given)
		w.given = nil
	}
	for number := 0; number < len(w.levels); number++ {
		l := &w.levels[number]
		slot := l.first()
		if slot < 0 {
			continue
		}
		at := w.begins(number, slot)
		if at >= before {
			return nil
		}
		events := l.slots[slot]
		l.slots[slot] = nil
		if l.some[slot/64] &^= 1 << (slot % 64); l.some[slot/64] == 0 {
			l.words &^= 1 << (slot / 64)
		}
		w.now = at
		if number == 0 {
			w.count -= len(events)
			w.given = events
			return events
		}
		for _, e := range events {
			w.place(e)
		}
		if number == 1 {
			w.moved = events
		}
		l.recycle(events)
		number = -1 // they lie below now
	}
	return nil
}

// begins is the first time of a slot.
func (w *wheel) begins(number, slot int) Time {
	shift := wheelBits * number
	return (w.now>>(shift+wheelBits)<<wheelBits | Time(slot)) << shift
}

// earliest is a time before which nothing happens; never if nothing ever does.
func (w *wheel) earliest() Time {
	for number := range w.levels {
		if slot := w.levels[number].first(); slot >= 0 {
			return w.begins(number, slot)
		}
	}
	return never
}

// recycle keeps the space of a slot for another.
func (l *level) recycle(events []event) { l.spare = append(l.spare, events[:0]) }

// first is the first slot that holds something, or -1.
func (l *level) first() int {
	if l.words != 0 {
		i := bits.TrailingZeros64(l.words)
		return i*64 + bits.TrailingZeros64(l.some[i])
	}
	return -1
}
