package turnlanes

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
)

// parts is the parts into which a fabric falls without the switches that send: as the planes of a tree,
// which only its leaves join. A packet goes from one to another by a turn at a switch that sends.
type parts struct {
	of    []int32  // [trunk] the part that it is in or leads to or from; none: it joins two switches that send
	sees  []uint64 // the different sets of parts, as bits, that switches which send have cables to
	joins []uint64 // [part] those to which one turn may lead from it, as bits, and itself
	n     int      // number of parts
}

const (
	none      = -1
	allPairs  = mostParts * mostParts // more than any ways.fewest that was counted
	mostParts = 64                    // they are the bits of a word
	mostSets  = 100                   // of parts.sees: each draw looks at all pairs of them
	draws     = 256                   // of sets of late parts
)

// newParts finds the parts without the switches that send. nil: there are fewer than two, or more than
// mostParts, or more than mostSets sets of them.
func newParts(f *fabric.Fabric, sends []bool) *parts {
	p := &parts{of: make([]int32, f.Trunks())}
	heads := f.Heads()
	in, hops := make([]int32, f.Switches()), f.Hops()
	for s := range in {
		if in[s] = none; sends[s] {
			hops[s] = 0 // so that no part goes on through it
		}
	}
	for s := range fabric.NodeID(f.Switches()) {
		if hops[s] != fabric.None {
			continue
		}
		for _, u := range f.AddHops(hops, s) {
			in[u] = int32(p.n)
		}
		if p.n++; p.n > mostParts {
			return nil
		}
	}
	if p.n < 2 {
		return nil
	}
	for c := range p.of {
		p.of[c] = max(in[heads[c]], in[heads[f.Reverses()[c]]])
	}
	if p.see(f, sends); len(p.sees) > mostSets {
		return nil
	}
	return p
}

// see sets sees and joins: which parts switches that send have cables to.
func (p *parts) see(f *fabric.Fabric, sends []bool) {
	p.joins = make([]uint64, p.n)
	known := map[uint64]bool{0: true}
	for s := range fabric.NodeID(f.Switches()) {
		set := uint64(0)
		for c, end := f.TrunksFrom(s); sends[s] && c < end; c++ {
			if p.of[c] != none {
				set |= 1 << p.of[c]
			}
		}
		if known[set] {
			continue
		}
		known[set] = true
		p.sees = append(p.sees, set)
		for m := set; m != 0; m &= m - 1 {
			p.joins[bits.TrailingZeros64(m)] |= set
		}
	}
}

// drawLate draws which half of the parts is late, as bits: the best of some draws, by the ways that it
// leaves, then with two parts exchanged as long as that is better.
func (p *parts) drawLate() (late uint64, w ways) {
	rng := rand.New(rand.NewPCG(uint64(p.n), 0))
	w.lacks = math.MaxInt
	try := func(set uint64) bool {
		if v := p.judge(set); v.lacks < w.lacks || v.lacks == w.lacks && v.fewest > w.fewest {
			late, w = set, v
			return true
		}
		return false
	}
	for range draws {
		set := uint64(0)
		for _, part := range rng.Perm(p.n)[:p.n/2] {
			set |= 1 << part
		}
		try(set)
	}
	for again := true; again; {
		again = false
		for a := range p.n {
			for b := range a {
				if (late>>a^late>>b)&1 == 1 && try(late^(1<<a|1<<b)) {
					again = true
				}
			}
		}
	}
	return late, w
}

// ways is what is left of the paths between switches that have at most one part in common, if turns
// lead from early parts to late ones only.
type ways struct {
	fewest int // for the two switches worst off that have no common part: pairs of parts by which one reaches the other; allPairs: all have a common one
	lacks  int // parts that switches would need in addition, summed over all pairs, so that there are ways without any one of them
}

// judge finds the ways that a set of late parts leaves. Between two switches without a common part
// paths lead from an early one of the first to a late one of the second, and each needs two, so that
// one may fail. If they share one part, that may fail: then packets come to it by an early part that
// the first switch has besides, or leave it for a late one; or, if its spines are gone, pass two others.
func (p *parts) judge(late uint64) ways {
	w := ways{fewest: allPairs}
	for _, from := range p.sees {
		for _, to := range p.sees {
			common := from & to
			if common&(common-1) != 0 {
				continue
			}
			pairs, first, last := 0, uint64(0), uint64(0)
			for m := from &^ late &^ common; m != 0; m &= m - 1 {
				a := bits.TrailingZeros64(m)
				if next := p.joins[a] & late & to &^ common; next != 0 {
					pairs, first, last = pairs+bits.OnesCount64(next), first|1<<a, last|next
				}
			}
			needs := 1
			if common == 0 {
				needs, w.fewest = 2, min(w.fewest, pairs)
			} else {
				w.lacks += lack(1, from&^late&^common) + lack(1, from&late&^common)
			}
			w.lacks += lack(needs, first) + lack(needs, last)
		}
	}
	return w
}

// lack is how many parts a set has less than are needed.
func lack(needs int, set uint64) int { return max(0, needs-bits.OnesCount64(set)) }

// AssignByParts admits, on one lane, the paths that at switches which send turn from early parts of the
// fabric to late ones only, and all such turns besides. Paths that it does not admit are the caller's
// to route anew. nil: the fabric has no parts, or whichever are early, there are no paths after some
// failures, or no two switches need such turns.
//
// Without that rule the first turns that fit decide what fits afterwards: where packets from one
// part to another turn at one switch, hardly any may turn back at another, and packets that pass
// three parts bar more. With it, turns between two early parts close no cycle with any of those in
// use, nor do turns between two late ones: so that a repair can come to a part by an early one, and
// leave it for a late one, wherever it likes.
func (p *Paths) AssignByParts(ctx context.Context) (*Assignment, error) {
	found := newParts(p.Fabric, p.Sends)
	if found == nil {
		return nil, nil
	}
	late, w := found.drawLate()
	if w.lacks > 0 || w.fewest == allPairs {
		return nil, nil
	}
	l := New(p.Fabric, 1, 1, Even, Free)
	l.part, l.late = found.of, late
	if _, err := l.placeAll(ctx, p.maximal, len(p.maximal), p.alone()); err != nil {
		return nil, err
	}
	l.placeBetween(p.Sends)
	return l, nil
}

// placeBetween places all turns at switches that send from early parts to late ones.
func (l *Assignment) placeBetween(sends []bool) {
	heads := l.f.Heads()
	turn := make([]acyclic.Turn, 1)
	for in := range fabric.ChannelID(l.f.Trunks()) {
		if !sends[heads[in]] {
			continue
		}
		for out, end := l.f.TrunksFrom(heads[in]); out < end; out++ {
			if a, b := l.part[in], l.part[out]; a != none && b != none && a != b && l.earlyToLate(a, b) {
				turn[0] = acyclic.Turn{ID: int32(l.f.Turn(in, out)), In: in, Out: out}
				l.Place(turn)
			}
		}
	}
}

// earlyToLate reports whether turns may lead from one part to another.
func (l *Assignment) earlyToLate(a, b int32) bool { return l.late>>a&1 < l.late>>b&1 }
