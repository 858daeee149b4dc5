package congestion

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// converging finds the routes from many sites to one. Switches forward by destination, so that routes are
// the same from where they meet: each switch is gone through once, not once for each source behind it.
//
//	leaf-1 ┐                 the way of spine-1 to the destination is found with
//	       ├ spine-1 ─ leaf-3    that of leaf-1, and leaf-2 only copies it
//	leaf-2 ┘
type converging struct {
	*routes
	stride  int // length of a record
	longest int // trunks, of all routes so far

	to      int32            // site
	end     *fabric.Endpoint // its endpoint
	row     []uint8          // [switch] port to the first address of that
	now     int32            // destinations so far
	known   []int32          // [switch] now, if hops and records are for this destination
	hops    []int32          // [switch] trunks to its first address; lost: none lead there
	records []uint16         // [switch × stride] as records of the table
	walked  []uint32         // scratch space
}

// lost in place of the number of trunks says that there is no route.
const lost = -1

func newConverging(r *routes, stride int) *converging {
	n := r.tables.Fabric.Switches()
	return &converging{routes: r, stride: stride, known: make([]int32, n), hops: make([]int32, n), records: make([]uint16, n*stride)}
}

// begin turns to another destination.
func (w *converging) begin(to int32) {
	w.to, w.end = to, w.tables.Fabric.Endpoint(w.sites[to])
	w.now++
	if w.end.Switch != fabric.None {
		w.row = w.tables.Forwarding.Row(w.end.LID)
	}
}

// put puts the route from a site into a record, if it fits; nil only counts its trunks.
func (w *converging) put(record []uint16, from int32) {
	src := w.sites[from]
	start := w.tables.Fabric.Endpoint(src).Switch
	if start != fabric.None && w.end.Switch != fabric.None && w.tables.Lanes.SL(src, w.end.LID) != routing.NoSL {
		if n := int(w.from(start)); n != lost {
			w.longest = max(w.longest, n)
			if n < len(record) {
				copy(record, w.records[int(start)*w.stride:][:n+1])
			}
			return
		}
	}
	var ok bool
	w.walked, ok = w.walk(w.walked[:0], from, w.to) // perhaps to another address
	w.longest = max(w.longest, len(w.walked))
	switch {
	case record == nil:
	case !ok:
		record[0] = noRoute
	case len(w.walked) < len(record):
		record[0] = uint16(len(w.walked))
		for i, c := range w.walked {
			record[1+i] = uint16(c)
		}
	}
}

// from is how many trunks lead from a switch to the first address, and settles its record.
func (w *converging) from(s fabric.NodeID) int32 {
	if w.known[s] == w.now {
		return w.hops[s]
	}
	f := w.tables.Fabric
	w.known[s], w.hops[s] = w.now, lost // and so it stays if the way comes back here
	record := w.records[int(s)*w.stride:][:w.stride]
	if s == w.end.Switch {
		if w.row[s] == f.LastPort(w.end) {
			w.hops[s], record[0] = 0, 0
		}
		return w.hops[s]
	}
	c := f.Out(s, w.row[s])
	if c < 0 || int(c) >= f.Trunks() {
		return lost
	}
	next := f.Heads()[c]
	n := w.from(next)
	if n == lost {
		return lost
	}
	w.hops[s] = n + 1
	if int(n)+1 < w.stride {
		record[0], record[1] = uint16(n+1), uint16(c)
		copy(record[2:], w.records[int(next)*w.stride+1:][:n])
	}
	return n + 1
}
