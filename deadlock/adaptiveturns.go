package deadlock

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// adaptiveTurns is the dependencies between trunks that meet, as found so far.
//
// What packets on lanes of one kind wait for on lanes of another is the same matrix
// of lanes on every turn. For each such matrix there is a plane, the turns that
// hold it already: so that the turns from a trunk can be looked at 64 at once, and
// only new ones one by one. Planes save work, no more; they may be forgotten.
type adaptiveTurns struct {
	t      *routing.Adaptive
	matrix []uint64 // [turn × words + …], as in graph
	inUse  []uint16 // [trunk] lanes that packets can hold, as bits

	row     []int32 // [trunk, plus one] into a plane: the turns from there, as bits from a word of their own
	planes  map[laneMatrix][]uint64
	allowed uint16      // the lanes that waits is for
	waits   []kindWaits // [lead × lanes + lead]
}

// laneMatrix is which lane waits for which, as in the matrix of one turn.
type laneMatrix [(routing.MaxDataVLs*routing.MaxDataVLs + 63) / 64]uint64

// kindWaits is what lanes of one kind wait for on lanes of another.
type kindWaits struct {
	matrix laneMatrix
	plane  []uint64 // nil: nothing to wait for
}

// maxPlaneWords is how many words of planes are kept, some 32 MB.
const maxPlaneWords = 4 << 20

func newAdaptiveTurns(t *routing.Adaptive) *adaptiveTurns {
	f, lanes := t.Fabric, len(t.Lanes)
	a := &adaptiveTurns{
		t:      t,
		matrix: make([]uint64, f.Turns()*wordsPerTurn(lanes)),
		inUse:  make([]uint16, f.Trunks()),
		row:    make([]int32, f.Trunks()+1),
		planes: map[laneMatrix][]uint64{},
		waits:  make([]kindWaits, lanes*lanes),
	}
	for c, head := range f.Heads()[:f.Trunks()] {
		first, end := f.TrunksFrom(head)
		a.row[c+1] = a.row[c] + int32(end-first+63)/64
	}
	return a
}

// add adds the dependencies of packets that were let loose.
func (a *adaptiveTurns) add(w *crowd) {
	a.sort(w)
	lanes := len(a.t.Lanes)
	for n, in := range w.via {
		i := w.next[n]
		p := w.places[i]
		a.inUse[in] |= w.alike[p.lane]
		begin, width := int(a.row[in]), int(a.row[in+1]-a.row[in])
		open := w.bits[w.bitsAt[i]:]
		for to := w.opens(p); to != 0; to &= to - 1 {
			if k := &a.waits[int(p.lane)*lanes+bits.TrailingZeros16(to)]; k.plane != nil {
				a.mark(in, k, k.plane[begin:begin+width], open[:width])
			}
			open = open[width:]
		}
	}
}

// mark adds a matrix to the open turns from a trunk that do not hold it yet.
func (a *adaptiveTurns) mark(in fabric.ChannelID, k *kindWaits, held, open []uint64) {
	words := wordsPerTurn(len(a.t.Lanes))
	for n, word := range open {
		fresh := word &^ held[n]
		held[n] |= word
		for ; fresh != 0; fresh &= fresh - 1 {
			turn := a.t.Fabric.FirstTurn(in) + 64*n + bits.TrailingZeros64(fresh)
			for i := range words {
				a.matrix[turn*words+i] |= k.matrix[i]
			}
		}
	}
}

// sort finds out what the lanes that packets may use wait for.
func (a *adaptiveTurns) sort(w *crowd) {
	if a.allowed == w.allowed {
		return
	}
	a.allowed = w.allowed
	size := int(a.row[len(a.row)-1])
	if len(a.planes)*size > maxPlaneWords {
		clear(a.planes)
	}
	lanes := len(a.t.Lanes)
	clear(a.waits)
	for l := range lanesIn(w.allowed) {
		for to := range lanesIn(a.t.Lanes[l].Rely & w.allowed) {
			setBit(a.waits[int(w.lead(l))*lanes+int(w.lead(to))].matrix[:], lanes, l, to)
		}
	}
	for i := range a.waits {
		k := &a.waits[i]
		if k.matrix == (laneMatrix{}) {
			continue
		}
		if k.plane = a.planes[k.matrix]; k.plane == nil {
			k.plane = make([]uint64, size)
			a.planes[k.matrix] = k.plane
		}
	}
}
