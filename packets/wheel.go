package packets

import "math/bits"

// Time is in picoseconds.
type Time int64

// event packs a kind, an index and a number, with a time.
type event struct {
	at   Time
	what uint64 // see code
}

const (
	wheelBits  = 12
	wheelSlots = 1 << wheelBits
)

// wheel is the queue of events: a radix heap with base 4096. An event is in the level
// of the highest digit in which its time differs from now, in the slot of that digit.
// Time never goes back, so an event moves down a level at a time, at most once for each
// digit: once or twice for nearly all events of a network. A slot of the lowest level
// holds the events of one picosecond.
type wheel struct {
	now    Time
	count  int
	levels [6]level // 6 × 12 bits are more than a Time has
	given  []event  // the list that next returned last
	moved  []event  // the list that came into the lowest level last; valid until the next push
}

// level is one digit of a wheel.
type level struct {
	slots [wheelSlots][]event
	some  [wheelSlots / 64]uint64 // slots that are not empty, as bits
	words uint64                  // words of some that are not zero, as bits
	spare [][]event               // memory for slots that are empty; each level has its own, because their sizes differ much
}

// push adds an event. Its time is after now; before the first call of next it may equal
// now.
func (w *wheel) push(at Time, what uint64) {
	w.count++
	w.place(event{at: at, what: what})
}

// place puts an event into the level and slot where it belongs.
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

// next goes to the next time at which something happens and returns its events in no
// particular order, valid until the next call; nil if nothing happens before the given
// time. After that, no event earlier than it may be pushed.
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
		number = -1 // restart from the lowest level
	}
	return nil
}

// begins is the first time of a slot.
func (w *wheel) begins(number, slot int) Time {
	shift := wheelBits * number
	return (w.now>>(shift+wheelBits)<<wheelBits | Time(slot)) << shift
}

// earliest is a lower bound of the time of the next event; never if there is none.
func (w *wheel) earliest() Time {
	for number := range w.levels {
		if slot := w.levels[number].first(); slot >= 0 {
			return w.begins(number, slot)
		}
	}
	return never
}

// recycle keeps the memory of a slot for another.
func (l *level) recycle(events []event) { l.spare = append(l.spare, events[:0]) }

// first is the first slot that is not empty, or -1.
func (l *level) first() int {
	if l.words != 0 {
		i := bits.TrailingZeros64(l.words)
		return i*64 + bits.TrailingZeros64(l.some[i])
	}
	return -1
}
