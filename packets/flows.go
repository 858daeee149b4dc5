package packets

import "fmt"

// ended is a packet that is no more under way.
type ended struct {
	src, dst int32
	number   uint32
	dropped  bool
}

// flows keeps the account of every flow (source and destination) with packets
// under way: nothing lost, nothing twice, nothing overtaken. It is a hash table
// with linear probing, as large as there are flows under way.
type flows struct {
	rows  []flow
	used  int
	seen  uint32 // sum of what settle read, so that it is
	gaps  bool   // packets may be dropped
	mixed bool   // packets of one flow go several ways, and may overtake
}

type flow struct {
	key  uint64 // source << 32 | destination, plus one; 0: free
	sent uint32 // packets
	next uint32 // the number of the packet that must come next
	open uint32 // packets under way
}

func newFlows(gaps, mixed bool) flows {
	return flows{rows: make([]flow, 64), gaps: gaps, mixed: mixed}
}

func flowKey(src, dst int32) uint64 { return uint64(src)<<32 | uint64(dst) + 1 }

// slot is where a flow is, or would be.
func (f *flows) slot(key uint64) int {
	mask := len(f.rows) - 1
	i := home(key, mask)
	for f.rows[i].key != 0 && f.rows[i].key != key {
		i = (i + 1) & mask
	}
	return i
}

func home(key uint64, mask int) int { return int(key*0x9E3779B97F4A7C15>>32) & mask }

// send notes a new packet and returns its number in the flow.
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

// arrive notes that a packet came, and says so if it is not the one that must come next.
func (f *flows) arrive(src, dst int32, number uint32) error {
	i := f.slot(flowKey(src, dst))
	r := &f.rows[i]
	if r.key == 0 || number >= r.sent || !f.mixed && (number < r.next || number != r.next && !f.gaps) {
		return fmt.Errorf("packets: internal error: packet %d of the flow from endpoint %d to %d came where %d of %d was due", number, src, dst, r.next, r.sent)
	}
	r.next = number + 1
	f.close(i)
	return nil
}

// settle notes packets that are no more under way, in the order in which that
// happened in each flow. Where it looks for them is read first, all at once.
func (f *flows) settle(list []ended) error {
	mask := len(f.rows) - 1
	for i := range list {
		f.seen += f.rows[home(flowKey(list[i].src, list[i].dst), mask)].open
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

// close takes a packet off a flow, and the flow off the table with its last one.
func (f *flows) close(i int) {
	r := &f.rows[i]
	if r.open--; r.open > 0 {
		return
	}
	f.used--
	mask := len(f.rows) - 1
	for j := (i + 1) & mask; f.rows[j].key != 0; j = (j + 1) & mask {
		// Move up what this hole would hide.
		if at := home(f.rows[j].key, mask); (j-at)&mask >= (j-i)&mask {
			f.rows[i] = f.rows[j]
			i = j
		}
	}
	f.rows[i] = flow{}
}

func (f *flows) grow() {
	old := f.rows
	f.rows = make([]flow, 2*len(old))
	for _, r := range old {
		if r.key != 0 {
			f.rows[f.slot(r.key)] = r
		}
	}
}
