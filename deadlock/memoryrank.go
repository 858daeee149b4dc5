package deadlock

import (
	"iter"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/waits/cdg"
)

// ranked is the ranks of a graph of dependencies without a cycle, which has the edges of Memory.same or Memory.matrix but
// to some vertices.
type ranked struct {
	lanes int
	rank  []int32 // nil: there are none
	but   []int32 // edges to these came or went since, or are of multicast
}

// rank ranks a graph, by the ranks of the last where there are any, and keeps them if asked to. m may be nil.
func (m *Memory) rank(g *cdg.Graph, keep bool) (rank []int32, free bool) {
	if m == nil || m.d == nil || m.d.f != g.Fabric || (m.matrix == nil) != (g.Turns == nil) {
		return g.Rank()
	}
	r, same := m.ranked, m.same
	switch {
	case m.lanes != g.Lanes && m.one != 0:
		r, same = r.spread(m.one, g.Lanes), same.Spread(m.one, g.Fabric.Turns(), g.Lanes)
	case m.lanes != g.Lanes:
		return g.Rank()
	case !keep:
		r.rank = slices.Clone(r.rank)
	}
	beyond := beyond(g, &same, m.matrix)
	if r.rank != nil {
		free = r.again(g, beyond)
	}
	if !free {
		r.rank, free = g.Rank()
	}
	switch {
	case !keep:
		return r.rank, free
	case !free:
		m.ranked = ranked{}
		return r.rank, false
	}
	m.ranked = ranked{lanes: g.Lanes, rank: r.rank, but: beyond}
	return slices.Clone(r.rank), true
}

// spread is the ranks of a lane that stands for some as those of as many lanes, where none stands for others.
func (r *ranked) spread(some uint16, lanes int) ranked {
	if r.rank == nil {
		return ranked{}
	}
	all := ranked{lanes: lanes, rank: make([]int32, len(r.rank)*lanes)}
	for m := some; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros16(m)
		for trunk, rank := range r.rank {
			all.rank[trunk*lanes+lane] = rank
		}
		for _, trunk := range r.but {
			all.but = append(all.but, trunk*int32(lanes)+int32(lane))
		}
	}
	return all
}

// moved is the ranks in the numbers of another fabric, where vertices lost edges to them.
func (r *ranked) moved(to *renumbering, lost []int32) ranked {
	if r.rank == nil {
		return ranked{}
	}
	now := ranked{lanes: r.lanes, rank: make([]int32, to.f.Trunks()*r.lanes), but: lost}
	for c, n := range to.runs() {
		if at := to.of(c); at != fabric.None {
			copy(now.rank[int(at)*r.lanes:], r.rank[int(c)*r.lanes:][:n*r.lanes])
		}
	}
	for _, v := range r.but {
		if at := to.of(fabric.ChannelID(int(v) / r.lanes)); at != fabric.None {
			now.but = append(now.but, int32(int(at)*r.lanes+int(v)%r.lanes))
		}
	}
	return now
}

// again changes the ranks to those of a graph that differs little from that at hand, which has further edges to some vertices. A
// rank is the length of the longest way to a vertex, so it can be another only where an edge to the vertex came or went, or
// where the rank of one before it is another: these are worked out until all fit. Where there is a cycle they never do, and it
// gives up: false, and the ranks are worth nothing.
func (r *ranked) again(g *cdg.Graph, beyond []int32) bool {
	w := reranking{g: g, rank: r.rank, waiting: make([]bool, len(r.rank))}
	most := len(r.rank) + 1000
	for _, list := range [][]int32{r.but, beyond} {
		for _, v := range list {
			w.add(v)
		}
	}
	for i := 0; i < len(w.queue); i++ {
		if i > most {
			return false
		}
		w.look(w.queue[i])
	}
	return true
}

// beyond is the vertices to which a graph has other edges than another of the same fabric, which has same or matrix.
func beyond(g *cdg.Graph, same *cdg.SameLane, matrix []uint64) (list []int32) {
	f := g.Fabric
	in := fabric.ChannelID(0)
	head := func(turn, lane int) {
		for in+1 < fabric.ChannelID(f.Trunks()) && f.FirstTurn(in+1) <= turn {
			in++
		}
		first, _ := f.TrunksFrom(f.Heads()[in])
		list = append(list, int32((int(first)+turn-f.FirstTurn(in))*g.Lanes+lane))
	}
	if matrix == nil {
		if len(same.Words) == 0 || &g.Same.Words[0] == &same.Words[0] {
			return nil // mostly
		}
		for i, word := range g.Same.Words {
			for x := word ^ same.Words[i]; x != 0; x &= x - 1 {
				bit := i*64 + bits.TrailingZeros64(x)
				head(bit>>same.Shift, bit&(1<<same.Shift-1))
			}
		}
		return list
	}
	if len(matrix) == 0 || &g.Turns[0] == &matrix[0] {
		return nil
	}
	words := cdg.WordsPerTurn(g.Lanes)
	for i, word := range g.Turns {
		for x := word ^ matrix[i]; x != 0; x &= x - 1 {
			head(i/words, (i%words*64+bits.TrailingZeros64(x))%g.Lanes)
		}
	}
	return list
}

// reranking is the work on ranks.
type reranking struct {
	g       *cdg.Graph
	rank    []int32
	waiting []bool // [vertex] it is in the queue
	queue   []int32
	after   []int32
}

func (w *reranking) add(v int32) {
	if !w.waiting[v] {
		w.waiting[v] = true
		w.queue = append(w.queue, v)
	}
}

// look gives a vertex one more than the largest rank that leads to it, and has those behind it looked at if that is new.
func (w *reranking) look(v int32) {
	w.waiting[v] = false
	f, lanes := w.g.Fabric, w.g.Lanes
	out, lane := fabric.ChannelID(int(v)/lanes), int(v)%lanes
	first, end := f.TrunksFrom(f.Channel(out).From)
	rank := int32(0)
	for c := first; c < end; c++ {
		in := f.Reverses()[c]
		for from := w.g.Before(f.FirstTurn(in)+int(out-first), lane); from != 0; from &= from - 1 {
			rank = max(rank, w.rank[int(in)*lanes+bits.TrailingZeros64(from)]+1)
		}
	}
	if rank == w.rank[v] {
		return
	}
	w.rank[v] = rank
	w.after = w.g.Successors(v, w.after[:0])
	for _, u := range w.after {
		w.add(u)
	}
}

// renumbering brings the trunks and turns of one fabric to the numbers of another, with the same switches. As trunks
// are numbered by switch and port, nearly all of them keep their order, with as many turns.
type renumbering struct {
	was, f *fabric.Fabric
	other  []fabric.ChannelID // trunks of was from and to switches that have other cables now, and behind those without any, ascending
}

// newRenumbering is for some ports that lead elsewhere.
func newRenumbering(was, f *fabric.Fabric, moved []moved) *renumbering {
	r := &renumbering{was: was, f: f}
	for i, m := range moved { // by switch
		if i > 0 && moved[i-1].s == m.s {
			continue
		}
		first, end := was.TrunksFrom(m.s)
		for c := first; c < end; c++ {
			r.other = append(r.other, c, was.Reverses()[c])
		}
		if first == end && int(end) < was.Trunks() {
			r.other = append(r.other, end) // new trunks may come before it
		}
	}
	slices.Sort(r.other)
	r.other = slices.Compact(r.other)
	return r
}

// of is a trunk in the other fabric, None if it leads elsewhere there or is gone.
func (r *renumbering) of(c fabric.ChannelID) fabric.ChannelID {
	ch := r.was.Channel(c)
	now := r.f.Trunk(ch.From, ch.FromPort)
	if now != fabric.None && (r.f.Channel(now).To != ch.To || r.f.Channel(now).ToPort != ch.ToPort) {
		return fabric.None
	}
	return now
}

// runs is the trunks in runs, by the first of each and their number, that are one after another in both fabrics, or are gone:
// either one of other, or some with the same turns.
func (r *renumbering) runs() iter.Seq2[fabric.ChannelID, int] {
	return func(yield func(fabric.ChannelID, int) bool) {
		next := fabric.ChannelID(0)
		for _, c := range r.other {
			if next < c && !yield(next, int(c-next)) || !yield(c, 1) {
				return
			}
			next = c + 1
		}
		if end := fabric.ChannelID(r.was.Trunks()); next < end {
			yield(next, int(end-next))
		}
	}
}

// graph is a graph in the numbers of the other fabric, and the vertices there that lost an edge to them because
// the trunk before is gone.
func (r *renumbering) graph(lanes int, same cdg.SameLane, matrix []uint64) (cdg.SameLane, []uint64, []int32) {
	var lost, after []int32
	old := &cdg.Graph{Fabric: r.was, Lanes: lanes, Turns: matrix, Same: same}
	words := cdg.WordsPerTurn(lanes)
	now := cdg.SameLane{}
	var turns []uint64
	if matrix == nil {
		now = cdg.NewSameLane(r.f.Turns(), lanes)
	} else {
		turns = make([]uint64, r.f.Turns()*words)
	}
	put := func(at, from, n int) {
		if matrix == nil {
			now.AddTurns(at, &same, from, n)
		} else {
			copy(turns[at*words:][:n*words], matrix[from*words:])
		}
	}
	for c, n := range r.runs() {
		in, head := r.of(c), r.was.Heads()[c]
		first, end := r.was.TrunksFrom(head)
		turn := r.was.FirstTurn(c)
		switch {
		case in == fabric.None:
			for lane := range lanes {
				after = old.Successors(int32(int(c)*lanes+lane), after[:0])
				for _, u := range after {
					if out := r.of(fabric.ChannelID(int(u) / lanes)); out != fabric.None {
						lost = append(lost, int32(int(out)*lanes+int(u)%lanes))
					}
				}
			}
		case n > 1: // with all their turns
			last := c + fabric.ChannelID(n-1)
			first, end := r.was.TrunksFrom(r.was.Heads()[last])
			put(r.f.FirstTurn(in), turn, r.was.FirstTurn(last)+int(end-first)-turn)
		default:
			for out := first; out < end; out++ {
				if to := r.of(out); to != fabric.None {
					put(r.f.Turn(in, to), turn+int(out-first), 1)
				}
			}
		}
	}
	return now, turns, lost
}
