package deadlock

import (
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/waits/cdg"
)

// ranked is a graph of dependencies without a cycle, and the rank of every vertex.
type ranked struct {
	f      *fabric.Fabric
	lanes  int
	same   cdg.SameLane
	matrix []uint64
	rank   []int32 // nil: there is none
}

// rank ranks a graph, by the ranks of the last where there are any, and keeps them if asked to. m may be nil.
func (m *Memory) rank(g *cdg.Graph, keep bool) (rank []int32, free bool) {
	if m == nil || m.d == nil {
		return g.Rank()
	}
	if rank, free = m.ranked.again(g); !free {
		rank, free = g.Rank()
	}
	if !keep {
		return rank, free
	}
	m.ranked = ranked{}
	if free {
		m.ranked = ranked{g.Fabric, g.Lanes, g.Same, g.Turns, slices.Clone(rank)}
	}
	return rank, free
}

// again ranks a graph that differs little from that at hand. A rank is the length of the longest way to a vertex, so
// it can be another only where an edge to the vertex came or went, or where the rank of one before it is another: these are
// worked out until all fit. Where there is a cycle they never do, and it gives up: false.
func (r *ranked) again(g *cdg.Graph) ([]int32, bool) {
	if r.rank == nil || r.lanes != g.Lanes || (r.matrix == nil) != (g.Turns == nil) {
		return nil, false
	}
	f := g.Fabric
	same, matrix := r.same, r.matrix
	var rank, work []int32 // work: vertices to look at
	if r.f != f {
		to := renumbering(r.f, f)
		same, matrix, work = translate(r.f, f, to, r.lanes, same, matrix)
		rank = make([]int32, f.Trunks()*r.lanes)
		for c, now := range to {
			if now != fabric.None {
				copy(rank[int(now)*r.lanes:][:r.lanes], r.rank[c*r.lanes:])
			}
		}
	} else {
		rank = slices.Clone(r.rank)
	}
	work = r.differing(g, same, matrix, work)
	w := reranking{g: g, rank: rank, waiting: make([]bool, len(rank))}
	most := len(rank) + 1000
	for _, v := range work {
		w.add(v)
	}
	for i := 0; i < len(w.queue); i++ {
		if i > most {
			return nil, false
		}
		w.look(w.queue[i])
	}
	return rank, true
}

// differing adds the heads of all edges that only one of two graphs has.
func (r *ranked) differing(g *cdg.Graph, same cdg.SameLane, matrix []uint64, work []int32) []int32 {
	f := g.Fabric
	in := fabric.ChannelID(0)
	head := func(turn, lane int) {
		for in+1 < fabric.ChannelID(f.Trunks()) && f.FirstTurn(in+1) <= turn {
			in++
		}
		first, _ := f.TrunksFrom(f.Heads()[in])
		work = append(work, int32((int(first)+turn-f.FirstTurn(in))*g.Lanes+lane))
	}
	if matrix == nil {
		for i, word := range g.Same.Words {
			for x := word ^ same.Words[i]; x != 0; x &= x - 1 {
				bit := i*64 + bits.TrailingZeros64(x)
				head(bit>>same.Shift, bit&(1<<same.Shift-1))
			}
		}
		return work
	}
	words := cdg.WordsPerTurn(g.Lanes)
	for i, word := range g.Turns {
		for x := word ^ matrix[i]; x != 0; x &= x - 1 {
			head(i/words, (i%words*64+bits.TrailingZeros64(x))%g.Lanes)
		}
	}
	return work
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

// look works the rank of a vertex out again.
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

// renumbering is the trunks of one fabric in another, [trunk], None for those that lead elsewhere or are gone. Both
// have the same switches.
func renumbering(was, f *fabric.Fabric) []fabric.ChannelID {
	to := make([]fabric.ChannelID, was.Trunks())
	for c := range to {
		ch := was.Channel(fabric.ChannelID(c))
		to[c] = f.Trunk(ch.From, ch.FromPort)
		if now := to[c]; now != fabric.None && (f.Channel(now).To != ch.To || f.Channel(now).ToPort != ch.ToPort) {
			to[c] = fabric.None
		}
	}
	return to
}

// translate is a graph of one fabric in the numbers of another, and the vertices there that lost an edge to them because
// the trunk before is gone.
func translate(was, f *fabric.Fabric, to []fabric.ChannelID, lanes int, same cdg.SameLane, matrix []uint64) (cdg.SameLane, []uint64, []int32) {
	var lost []int32
	old := &cdg.Graph{Fabric: was, Lanes: lanes, Turns: matrix, Same: same}
	alike := make([]bool, f.Switches()) // its trunks are the same, in the same order
	for s := range alike {
		a, endA := was.TrunksFrom(fabric.NodeID(s))
		b, endB := f.TrunksFrom(fabric.NodeID(s))
		alike[s] = endA-a == endB-b
		for i := fabric.ChannelID(0); alike[s] && i < endA-a; i++ {
			alike[s] = to[a+i] == b+i
		}
	}
	words := cdg.WordsPerTurn(lanes)
	now := cdg.SameLane{}
	var turns []uint64
	if matrix == nil {
		now = cdg.NewSameLane(f.Turns(), lanes)
	} else {
		turns = make([]uint64, f.Turns()*words)
	}
	var after []int32
	for c, in := range to {
		first, end := was.TrunksFrom(was.Heads()[c])
		if in == fabric.None {
			for lane := range lanes {
				after = old.Successors(int32(c*lanes+lane), after[:0])
				for _, u := range after {
					if out := to[int(u)/lanes]; out != fabric.None {
						lost = append(lost, int32(int(out)*lanes+int(u)%lanes))
					}
				}
			}
			continue
		}
		turn, n := was.FirstTurn(fabric.ChannelID(c)), int(end-first)
		switch {
		case alike[f.Heads()[in]] && matrix == nil:
			now.AddTurns(f.FirstTurn(in), &same, turn, n)
			continue
		case alike[f.Heads()[in]]:
			copy(turns[f.FirstTurn(in)*words:][:n*words], matrix[turn*words:])
			continue
		}
		for i := range n {
			out := to[int(first)+i]
			switch {
			case out == fabric.None:
			case matrix == nil:
				now.AddTurns(f.Turn(in, out), &same, turn+i, 1)
			default:
				copy(turns[f.Turn(in, out)*words:][:words], matrix[(turn+i)*words:])
			}
		}
	}
	return now, turns, lost
}
