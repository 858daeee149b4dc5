package judge

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/waits/cdg"
	"github.com/weft-fabric/weft/routing"
)

// turnMatrices collects the dependencies between trunks that meet.
//
// The lanes of one kind wait for those of another by the same matrix of lanes on every
// turn. For each such matrix a plane marks the turns whose dependencies have it
// already, so that 64 turns from a trunk are compared at once and only new ones are
// visited. Planes only save work; they may be dropped at any time.
type turnMatrices struct {
	t      *adaptive.Tables
	matrix []uint64 // [turn × words + …], as in graph
	inUse  []uint16 // [trunk] lanes that packets can hold, as bits

	row     []int32 // [trunk, plus one] into a plane: the turns from that trunk as bits, beginning at a word boundary
	planes  map[laneMatrix][]uint64
	allowed uint16      // the lanes that waits is for
	waits   []kindWaits // [lowest lane of a kind × lanes + lowest lane of another]
}

// laneMatrix says which lane waits for which, laid out as in the matrix of one turn.
type laneMatrix [(routing.MaxDataVLs*routing.MaxDataVLs + 63) / 64]uint64

// kindWaits is what lanes of one kind wait for on lanes of another.
type kindWaits struct {
	matrix laneMatrix
	plane  []uint64 // nil: nothing waits
}

// maxPlaneWords limits the memory of planes to 32 MB.
const maxPlaneWords = 4 << 20

func newTurnMatrices(t *adaptive.Tables) *turnMatrices {
	f, lanes := t.Fabric, len(t.Lanes)
	a := &turnMatrices{
		t:      t,
		matrix: make([]uint64, f.Turns()*cdg.WordsPerTurn(lanes)),
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

// add adds the dependencies of the packets in w: from every trunk by which they come to
// a place, on every lane that is open there, to the trunks that w.bits names.
func (a *turnMatrices) add(w *reach) {
	a.allow(w)
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

// mark adds the matrix of k to those open turns from trunk in that do not have it yet by held, its part
// of k's plane, and marks them there.
func (a *turnMatrices) mark(in fabric.ChannelID, k *kindWaits, held, open []uint64) {
	words := cdg.WordsPerTurn(len(a.t.Lanes))
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

// allow sets waits for the lanes that the packets in w may use.
func (a *turnMatrices) allow(w *reach) {
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
			cdg.Add(a.waits[int(w.lead(l))*lanes+int(w.lead(to))].matrix[:], lanes, l, to)
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
