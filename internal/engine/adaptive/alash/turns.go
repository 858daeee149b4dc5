package alash

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/marks"
)

// union is the turns of all groups together.
type union struct {
	f     *fabric.Fabric
	first []int32  // [trunk, plus one] into turns
	turns []uint64 // the turns from a trunk as bits, from a word of their own

	// Scratch, per destination.
	open []uint64 // the trunks that lead on from a switch as bits, from the first of a switch
	at   []int32  // [switch] into open
	met  []bool   // [switch] packets to the destination come there, or start there
}

func newUnion(f *fabric.Fabric) *union {
	n := f.Trunks()
	u := &union{f: f, first: make([]int32, n+1), at: make([]int32, f.Switches()), met: make([]bool, f.Switches())}
	for c, head := range f.Heads()[:n] {
		u.first[c+1] = u.first[c] + u.words(head)
	}
	u.turns = make([]uint64, u.first[n])
	return u
}

// words is how many words the trunks of a switch take.
func (u *union) words(s fabric.NodeID) int32 {
	first, end := u.f.TrunksFrom(s)
	return int32(end-first+63) / 64
}

// add adds the turns of all shortest paths from ends to a destination, those from
// one trunk at once.
func (u *union) add(d *dag.DAG, ends []bool) {
	u.open = u.open[:0]
	for i, s := range d.Order {
		u.at[s], u.met[s] = int32(len(u.open)), ends[s]
		u.open = append(u.open, make([]uint64, u.words(s))...)
		first, _ := u.f.TrunksFrom(s)
		for _, c := range d.Choices(i) {
			u.open[u.at[s]+int32(c-first)/64] |= 1 << ((c - first) % 64)
		}
	}
	// The farthest first, so that it is known of a switch whether anybody comes
	// there before its own trunks are looked at.
	for i := len(d.Order) - 1; i >= 0; i-- {
		if !u.met[d.Order[i]] {
			continue
		}
		for n, c := range d.Choices(i) {
			head := d.Head[d.First[i]+int32(n)]
			u.met[head] = true
			turns := u.turns[u.first[c]:u.first[c+1]]
			for k, word := range u.open[u.at[head]:][:len(turns)] {
				turns[k] |= word
			}
		}
	}
}

// circles reports whether some turns make a circle.
func (u *union) circles() bool {
	const lanes = 1
	return acyclic.NewLanes(u.f, lanes, func(yield func(in, out fabric.ChannelID)) {
		for in := range fabric.ChannelID(u.f.Trunks()) {
			u.after(in, func(out fabric.ChannelID) { yield(in, out) })
		}
	}) == nil
}

// after visits the trunks that turns lead to from a trunk.
func (u *union) after(in fabric.ChannelID, visit func(out fabric.ChannelID)) {
	base, _ := u.f.TrunksFrom(u.f.Heads()[in])
	for _, word := range u.turns[u.first[in]:u.first[in+1]] {
		for ; word != 0; word &= word - 1 {
			visit(base + fabric.ChannelID(bits.TrailingZeros64(word)))
		}
		base += 64
	}
}

// counter counts the turns of groups. What comes after the first trunk is the same
// for all groups whose first trunks lead to the same switch.
type counter struct {
	f     *fabric.Fabric
	d     *dag.DAG
	place []int32    // [switch] where it is in the order of d, if it is there
	count []int32    // [switch] turns of a group whose first trunk leads there; unknown: not counted yet
	seen  *marks.Set // switches
	queue []fabric.NodeID
}

const unknown = -1

// begin makes d the destination of the groups to count.
func (w *counter) begin(d *dag.DAG) {
	n := w.f.Switches()
	if w.d = d; w.count == nil {
		w.place, w.count, w.seen = make([]int32, n), make([]int32, n), marks.New(n)
	}
	for i, s := range d.Order {
		w.place[s], w.count[s] = int32(i), unknown
	}
}

// after is the turns of a group whose first trunk leads to a switch: from that
// trunk one for each that leads on, and as many from each trunk of every switch
// that can be reached from there.
func (w *counter) after(head fabric.NodeID) int32 {
	if w.count[head] != unknown {
		return w.count[head]
	}
	w.seen.Empty()
	degree := func(s fabric.NodeID) int32 { return w.d.First[w.place[s]+1] - w.d.First[w.place[s]] }
	n := degree(head)
	w.queue = append(w.queue[:0], head)
	for i := 0; i < len(w.queue); i++ {
		at := w.place[w.queue[i]]
		for _, next := range w.d.Head[w.d.First[at]:w.d.First[at+1]] {
			n += degree(next)
			if w.seen.Add(int(next)) {
				w.queue = append(w.queue, next)
			}
		}
	}
	w.count[head] = n
	return n
}

// search finds the turns of groups.
type search struct {
	f     *fabric.Fabric
	seen  *marks.Set // trunks
	queue []fabric.ChannelID
	turns []acyclic.Turn
}

// from is the turns of all paths that begin with trunk c and go on to dest by the
// trunks of a set, until the next call.
func (w *search) from(c fabric.ChannelID, dest fabric.NodeID, set adaptive.TrunkSet) []acyclic.Turn {
	w.seen.Empty()
	heads := w.f.Heads()
	w.turns, w.queue = w.turns[:0], append(w.queue[:0], c)
	for i := 0; i < len(w.queue); i++ {
		in := w.queue[i]
		if heads[in] == dest {
			continue
		}
		first, end := w.f.TrunksFrom(heads[in])
		base := w.f.FirstTurn(in) - int(first)
		for out := set.Next(first, end); out < end; out = set.Next(out+1, end) {
			w.turns = append(w.turns, acyclic.Turn{ID: int32(base + int(out)), In: in, Out: out})
			if w.seen.Add(int(out)) {
				w.queue = append(w.queue, out)
			}
		}
	}
	return w.turns
}
