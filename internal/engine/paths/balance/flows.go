package balance

import (
	"math"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// flows counts the routes on every trunk by rank offset: the rank of the destination
// less that of the source, modulo the ranks. In a shift by k all flows have the offset
// k, so that two flows of shifts meet if and only if they share a trunk and have equal
// offsets. Of five ranks, 0→2 and 3→0 have the offset 2, and 1→2 has 1:
//
//	on one trunk    offsets   the row of the trunk, by offset 0 … 4
//	0→2, 3→0        2, 2      0 0 2 0 0    they meet in the shift by 2
//	0→2, 1→2        2, 1      0 1 1 0 0    they meet in no shift
//
// On large networks a cell is for several offsets in a row, so that counts fit in
// memory. Ranks side by side on a switch are counted as one stretch of offsets.
type flows struct {
	shift uint     // a cell is for 1<<shift offsets
	width int32    // cells of all orders, of those that are the same once: a row
	count []uint16 // [trunk × width + cell]
	over  bool     // a cell got more than it can hold, so that none can be trusted
}

// Cells of flows. Up to fewCells there is one for each offset. More are slower, because they
// do not fit in caches, but where offsets share a cell nobody sees which of them is the
// fullest: so up to someCells there is one for each as well, if phasedWork is enough for two
// passes then. mostCells limits the memory, two bytes each. Of twenty of the sixty networks of test/bench/patchwork
// four have other paths where offsets share cells from fewCells on: shifts 3.8 and 4.4 hundredths longer on two, 11
// shorter on one, with 1.9 hundredths more bandwidth on the fourth.
const (
	fewCells  = 6_000_000
	someCells = 40_000_000
	mostCells = 150_000_000
)

// span is cells in a row that a destination's routes from some sources are in, or, where
// cells are for several offsets, one cell and the number of these routes.
type span struct{ at, n int32 }

// layOut settles the cells of orders, for one offset each, or on large networks for about
// as many as most switches with hosts have hosts. It says whether they fit in memory.
func (n *network) layOut() bool {
	leaves := 0 // switches with hosts: aggregation nodes make none
	with := make([]bool, n.f.Switches())
	for _, e := range n.hosts {
		if s := n.f.Endpoint(e).Switch; !with[s] {
			with[s] = true
			leaves++
		}
	}
	widest := bits.Len(uint(len(n.hosts) / max(1, leaves)))
	for shift := range widest + 2 {
		n.lay(uint(shift))
		switch cells := n.cells(); {
		case cells <= fewCells, shift >= widest-1 && cells <= mostCells:
			n.reckon()
			return true
		case cells <= someCells:
			if n.reckon(); 2*n.counted <= phasedWork {
				return true
			}
		}
	}
	n.reckon()
	return false
}

// countOnce counts the routes by offset once for all orders, at as many times the price, where
// they put every rank on the same host, as by switch and by name on networks that a program
// named. It does so where cells are for several offsets: what has one for each may be annealed,
// which takes the cells of every order for themselves. What a search may cost is reckoned by all
// orders as before.
func (n *network) countOnce() {
	if n.shift == 0 {
		return
	}
	for i := range n.orders {
		if !slices.Equal(n.orders[i].Ranks, n.orders[0].Ranks) {
			return
		}
	}
	n.copies = int32(len(n.orders))
}

// lay settles the cells of orders for 1<<shift offsets each.
func (n *network) lay(shift uint) {
	n.shift, n.width = shift, 0
	for i := range n.orders {
		o := &n.orders[i]
		o.base = n.width
		n.width += int32((len(o.Ranks) + 1<<shift - 1) >> shift)
	}
}

// reckon adds up what a pass for shifts looks at with the cells at hand.
func (n *network) reckon() {
	n.counted = 0
	for i := range n.roots {
		n.counted += n.countedTo(&n.roots[i])
	}
}

// cells is how many cells flows has.
func (n *network) cells() int64 { return int64(n.width) * int64(n.f.Trunks()) }

// spans appends where routes from a switch to a destination are counted.
func (n *network) spans(all []span, d *dest, s fabric.NodeID) []span {
	end := n.f.Owner(d.lid)
	for i := range n.orders[:len(n.orders)/int(n.copies)] {
		o := &n.orders[i]
		to := o.rank[end]
		if to < 0 {
			continue
		}
		ranks := int32(len(o.Ranks))
		for _, r := range o.runs[s] {
			first := to - r.first - r.count + 1 // the offset from the last rank of the run
			if first < 0 {
				first += ranks
			}
			if rest := ranks - first; rest < r.count {
				all = n.stretch(all, o.base, first, rest)
				all = n.stretch(all, o.base, 0, r.count-rest)
			} else {
				all = n.stretch(all, o.base, first, r.count)
			}
		}
	}
	return all
}

// stretch appends the spans of offsets in a row.
func (n *network) stretch(all []span, base, first, count int32) []span {
	if n.shift == 0 {
		return append(all, span{base + first, count})
	}
	for count > 0 {
		in := min(count, 1<<n.shift-first&(1<<n.shift-1))
		all = append(all, span{base + first>>n.shift, in})
		first, count = first+in, count-in
	}
	return all
}

// row is the cells of a trunk.
func (x *flows) row(c fabric.ChannelID) []uint16 {
	return x.count[int64(c)*int64(x.width):][:x.width]
}

// add counts routes on a trunk, or takes them off.
func (x *flows) add(c fabric.ChannelID, spans []span, sign int32) {
	row := x.row(c)
	for _, s := range spans {
		if x.shift > 0 {
			sum := int32(row[s.at]) + sign*s.n
			x.over = x.over || sum > math.MaxUint16
			row[s.at] = uint16(sum)
			continue
		}
		// Less than there are hosts: an offset has one route from each.
		for i := range row[s.at : s.at+s.n] {
			row[int(s.at)+i] += uint16(sign)
		}
	}
}

// meet is what routes would meet on a trunk at equal offsets, by price [count]. It stops
// once that is above limit.
func (x *flows) meet(c fabric.ChannelID, spans []span, price []int64, limit int64) int64 {
	row := x.row(c)
	sum, top := int64(0), len(price)-1
	for _, s := range spans {
		if x.shift > 0 {
			sum += int64(s.n) * price[min(int(row[s.at]), top)]
		} else {
			for _, n := range row[s.at : s.at+s.n] {
				sum += price[min(int(n), top)]
			}
		}
		if sum > limit {
			break
		}
	}
	return sum
}

// fine is how many units the price of meeting as many routes as usual has.
const fine = 1 << 10

// prices is the price of one more route on a trunk where some have its offset [count]:
// the power of their number, as a multiple of what is usual, by how long the trunk takes
// for each. It is bounded so that sums stay within 64 bits.
func prices(power int, inverse int64, shift uint, ranks int, usual float64) []int64 {
	const most, dearest = 128, 1 << 25
	all := make([]int64, most<<shift)
	for n := range all {
		met, price := float64(n)*float64(inverse)/(float64(int64(unit)<<shift)*usual), float64(fine)
		for range power {
			price = float64(price * met)
		}
		all[n] = int64(min(dearest, price)) * int64(ranks)
	}
	return all
}
