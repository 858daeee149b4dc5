package deadlock

import (
	"iter"
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
	lost   []int32 // vertices that lost an edge since, with the trunk before them
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
		m.ranked = ranked{f: g.Fabric, lanes: g.Lanes, same: g.Same, matrix: g.Turns, rank: slices.Clone(rank)}
	}
	return rank, free
}

// moved is the graph and its ranks in the numbers of another fabric, in which the graph is same and matrix.
func (r *ranked) moved(f *fabric.Fabric, to []fabric.ChannelID, same cdg.SameLane, matrix []uint64, lost []int32) ranked {
	if r.rank == nil {
		return ranked{}
	}
	now := ranked{f: f, lanes: r.lanes, same: same, matrix: matrix, rank: make([]int32, f.Trunks()*r.lanes), lost: lost}
	vertex := func(v int) int { return int(to[v/r.lanes])*r.lanes + v%r.lanes }
	for c, n := range runs(to) {
		if to[c] != fabric.None {
			copy(now.rank[vertex(c*r.lanes):], r.rank[c*r.lanes:][:n*r.lanes])
		}
	}
	for _, v := range r.lost {
		if to[int(v)/r.lanes] != fabric.None {
			now.lost = append(now.lost, int32(vertex(int(v))))
		}
	}
	return now
}

// again ranks a graph that differs little from that at hand. A rank is the length of the longest way to a vertex, so
// it can be another only where an edge to the vertex came or went, or where the rank of one before it is another: these are
// worked out until all fit. Where there is a cycle they never do, and it gives up: false.
func (r *ranked) again(g *cdg.Graph) ([]int32, bool) {
	if r.rank == nil || r.f != g.Fabric || r.lanes != g.Lanes || (r.matrix == nil) != (g.Turns == nil) {
		return nil, false
	}
	rank := slices.Clone(r.rank)
	w := reranking{g: g, rank: rank, waiting: make([]bool, len(rank))}
	most := len(rank) + 1000
	for _, v := range r.addHeads(g, slices.Clone(r.lost)) {
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

// addHeads adds to work the heads of all edges that only one of two graphs of a fabric has.
func (r *ranked) addHeads(g *cdg.Graph, work []int32) []int32 {
	f := g.Fabric
	in := fabric.ChannelID(0)
	head := func(turn, lane int) {
		for in+1 < fabric.ChannelID(f.Trunks()) && f.FirstTurn(in+1) <= turn {
			in++
		}
		first, _ := f.TrunksFrom(f.Heads()[in])
		work = append(work, int32((int(first)+turn-f.FirstTurn(in))*g.Lanes+lane))
	}
	if r.matrix == nil {
		for i, word := range g.Same.Words {
			for x := word ^ r.same.Words[i]; x != 0; x &= x - 1 {
				bit := i*64 + bits.TrailingZeros64(x)
				head(bit>>r.same.Shift, bit&(1<<r.same.Shift-1))
			}
		}
		return work
	}
	words := cdg.WordsPerTurn(g.Lanes)
	for i, word := range g.Turns {
		for x := word ^ r.matrix[i]; x != 0; x &= x - 1 {
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

// runs is the trunks of one fabric in runs, by the first of each and their number, that are one after another in another
// as well, or are all gone.
func runs(to []fabric.ChannelID) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for c := 0; c < len(to); {
			n, step := 1, fabric.ChannelID(1)
			if to[c] == fabric.None {
				step = 0
			}
			for c+n < len(to) && to[c+n] == to[c]+step*fabric.ChannelID(n) {
				n++
			}
			if !yield(c, n) {
				return
			}
			c += n
		}
	}
}

// translate is a graph of one fabric in the numbers of another, and the vertices there that lost an edge to them because
// the trunk before is gone.
func translate(was, f *fabric.Fabric, to []fabric.ChannelID, lanes int, same cdg.SameLane, matrix []uint64) (cdg.SameLane, []uint64, []int32) {
	var lost []int32
	old := &cdg.Graph{Fabric: was, Lanes: lanes, Turns: matrix, Same: same}
	// The trunks of each switch in runs: the first of them, less the first of the switch, and their number.
	parts, part := make([][2]int32, 0, was.Switches()), make([]int32, was.Switches()+1)
	for s := range was.Switches() {
		first, end := was.TrunksFrom(fabric.NodeID(s))
		for i, n := range runs(to[first:end]) {
			if to[int(first)+i] != fabric.None {
				parts = append(parts, [2]int32{int32(i), int32(n)})
			}
		}
		part[s+1] = int32(len(parts))
	}
	words := cdg.WordsPerTurn(lanes)
	now := cdg.SameLane{}
	var turns []uint64
	if matrix == nil {
		now = cdg.NewSameLane(f.Turns(), lanes)
	} else {
		turns = make([]uint64, f.Turns()*words)
	}
	var at, from, run int // turns that are to be copied, which are one after another in both
	put := func(nextAt, nextFrom, n int) {
		if nextAt == at+run && nextFrom == from+run {
			run += n
			return
		}
		if matrix == nil {
			now.AddTurns(at, &same, from, run)
		} else {
			copy(turns[at*words:][:run*words], matrix[from*words:])
		}
		at, from, run = nextAt, nextFrom, n
	}
	var after []int32
	for c, in := range to {
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
		head := was.Heads()[c]
		first, _ := was.TrunksFrom(head)
		for _, p := range parts[part[head]:part[head+1]] {
			put(f.Turn(in, to[int32(first)+p[0]]), was.FirstTurn(fabric.ChannelID(c))+int(p[0]), int(p[1]))
		}
	}
	put(-1, -1, 0)
	return now, turns, lost
}
