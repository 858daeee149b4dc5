package packets

import "fmt"

// endedPacket is a packet that was delivered or dropped.
type endedPacket struct {
	src, dst int32
	number   uint32
	dropped  bool
}

// flows checks every flow (source and destination) with packets in the network: nothing
// is lost, duplicated or overtaken. It is a hash table with linear probing; its size
// follows the number of such flows.
type flows struct {
	rows     []flow
	used     int
	touched  uint32 // sum of what record read ahead, so that the compiler keeps the reads
	gaps     bool   // packets may be dropped
	overtake bool   // packets of one flow take different ways and may overtake
}

// flow is a row of flows.
type flow struct {
	key  uint64 // source << 32 | destination, plus one; 0: free
	sent uint32 // packets sent so far
	next uint32 // the number of the packet that must come next
	open uint32 // packets in the network
}

func newFlows(gaps, overtake bool) flows {
	return flows{rows: make([]flow, 64), gaps: gaps, overtake: overtake}
}

func flowKey(src, dst int32) uint64 { return uint64(src)<<32 | uint64(dst) + 1 }

// slot is the index of a flow, or where it would be inserted.
func (f *flows) slot(key uint64) int {
	mask := len(f.rows) - 1
	i := home(key, mask)
	for f.rows[i].key != 0 && f.rows[i].key != key {
		i = (i + 1) & mask
	}
	return i
}

// home is where the search for a flow begins (Fibonacci hashing).
func home(key uint64, mask int) int { return int(key*0x9E3779B97F4A7C15>>32) & mask }

// send counts a new packet and returns its number in the flow.
func (f *flows) send(src, dst int32) uint32 {
	if 2*f.used >= len(f.rows) {
		f.grow()
	}
	r := &f.rows[f.slot(flowKey(src, dst))]
	if r.key == 0 {
		*r = flow{key: flowKey(src, dst)}
		f.used++
	}
	r.sent++
	r.open++
	return r.sent - 1
}

// arrive counts a packet that was delivered; it is an error if it is not the next one.
func (f *flows) arrive(src, dst int32, number uint32) error {
	i := f.slot(flowKey(src, dst))
	r := &f.rows[i]
	if r.key == 0 || number >= r.sent || !f.overtake && (number < r.next || number != r.next && !f.gaps) {
		return fmt.Errorf("internal error: packet %d of the flow from endpoint %d to %d came where %d of %d was due", number, src, dst, r.next, r.sent)
	}
	r.next = number + 1
	f.close(i)
	return nil
}

// record takes packets that were delivered or dropped, for each flow in the order in
// which that happened. It reads all their rows first, as prefetcher does.
func (f *flows) record(list []endedPacket) error {
	mask := len(f.rows) - 1
	for i := range list {
		f.touched += f.rows[home(flowKey(list[i].src, list[i].dst), mask)].open
	}
	for i := range list {
		if e := &list[i]; e.dropped {
			f.close(f.slot(flowKey(e.src, e.dst)))
		} else if err := f.arrive(e.src, e.dst, e.number); err != nil {
			return err
		}
	}
	return nil
}

// close counts one packet less in a row, and removes the row with its last packet.
func (f *flows) close(i int) {
	r := &f.rows[i]
	if r.open--; r.open > 0 {
		return
	}
	f.used--
	mask := len(f.rows) - 1
	for j := (i + 1) & mask; f.rows[j].key != 0; j = (j + 1) & mask {
		// Move up rows that the hole would make unreachable.
		if at := home(f.rows[j].key, mask); (j-at)&mask >= (j-i)&mask {
			f.rows[i] = f.rows[j]
			i = j
		}
	}
	f.rows[i] = flow{}
}

// grow doubles the table.
func (f *flows) grow() {
	old := f.rows
	f.rows = make([]flow, 2*len(old))
	for _, r := range old {
		if r.key != 0 {
			f.rows[f.slot(r.key)] = r
		}
	}
}
