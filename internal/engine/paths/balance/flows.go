package balance

import (
	"iter"
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
//
// Cells lie side by side in words, so that some routes are counted in several of them by one addition. The
// words of a row are in blocks, each beside those of the same offsets of the next trunks: what
// a switch's routes to a destination meet on any of its trunks is near in memory.
type flows struct {
	shift  uint     // a cell is for 1<<shift offsets
	width  int32    // cells of all orders, of those that are the same once: a row
	perLog uint     // a word has 1<<perLog cells: small or large
	trunks int      // rows
	words  []uint64 // [(block × trunks + trunk) << blockLog + word of the block]
	over   bool     // a cell got more than it can hold, so that none can be trusted
}

// A block has 1<<blockLog words, a line of a cache.
const blockLog = 3

// The sizes of cells, as flows.perLog: of a byte, or of two.
const (
	small = 3
	large = 2
)

// newFlows is flows with nothing counted.
func (n *network) newFlows(perLog uint) flows {
	x := flows{shift: n.shift, width: n.width / n.copies, perLog: perLog, trunks: n.f.Trunks()}
	blocks := int(x.width)>>x.perLog>>blockLog + 1
	x.words = make([]uint64, blocks*x.trunks<<blockLog)
	return x
}

// size is that of cells that is tried first: one for several offsets gets more than a small one can hold.
func (n *network) size() uint {
	if n.shift == 0 {
		return small
	}
	return large
}

// tops is the highest bits of all cells of a word: no count may reach them.
func (x *flows) tops() uint64 { return x.ones() << (x.bits() - 1) }

// ones is the lowest bits of all cells of a word.
func (x *flows) ones() uint64 {
	if x.perLog == small {
		return 0x0101010101010101
	}
	return 0x0001000100010001
}

// bits is the width of a cell.
func (x *flows) bits() uint { return 64 >> x.perLog }

// most is a cell with all its bits.
func (x *flows) most() uint64 { return 1<<x.bits() - 1 }

// eachWord tells where every word is, of what trunk, and its first cell.
func (x *flows) eachWord(tell func(at int, c fabric.ChannelID, cell int32)) {
	at, per := 0, int32(1)<<x.perLog
	for cell := int32(0); at < len(x.words); cell += per << blockLog {
		for c := range x.trunks {
			for i := range int32(1 << blockLog) {
				tell(at, fabric.ChannelID(c), cell+i*per)
				at++
			}
		}
	}
}

// at is where a word of a trunk's row is.
func (x *flows) at(c fabric.ChannelID, word int32) int {
	return (int(word>>blockLog)*x.trunks+int(c))<<blockLog | int(word&(1<<blockLog-1))
}

// get is the routes in a cell.
func (x *flows) get(c fabric.ChannelID, cell int32) int32 {
	below := uint(cell) & (1<<x.perLog - 1) * x.bits() // bits of its word
	return int32(x.words[x.at(c, cell>>x.perLog)] >> below & x.most())
}

// Cells of flows. Up to mostSmall of them there is one for each offset, of a byte, if there is time for a pass
// then: where offsets share a cell nobody sees which of them is the fullest. That is 200 MB, and enough for trees of some 4,000 hosts.
// mostCells limits the memory of others, two bytes each.
const (
	mostSmall = 200_000_000
	mostCells = 150_000_000
)

// span is some cells of one word that a destination's routes from some sources are in.
type span struct {
	word int32  // of a row
	add  uint64 // how many of the routes are in each cell
}

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
		n.reckon()
		cells := n.cells()
		if shift == 0 && cells <= mostSmall && n.counted <= mostPass || shift >= widest-1 && cells <= mostCells {
			return true
		}
	}
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
		n.width += (o.cells() + 1<<shift - 1) >> shift
	}
}

// reckon adds up what a pass for shifts looks at with the cells at hand.
func (n *network) reckon() {
	n.counted = 0
	for i := range n.roots {
		n.counted += n.countedTo(&n.roots[i])
	}
}

// inRow is how many destinations in a row a pass for shifts takes, most of them of one switch, whose routes are
// counted in cells side by side: one where a cache holds all of these; else a few, which takes a fifth less time.
func (n *network) inRow() int {
	const cached, few = 8 << 20, 4
	if n.cells() <= cached {
		return 1
	}
	return few
}

// cells is how many cells flows has.
func (n *network) cells() int64 { return int64(n.width) * int64(n.f.Trunks()) }

// spans appends where routes from a switch to a destination are counted.
func (n *network) spans(x *flows, all []span, d *dest, s fabric.NodeID) []span {
	end := n.f.Owner(d.lid)
	for i := range n.orders[:len(n.orders)/int(n.copies)] {
		o := &n.orders[i]
		to := o.rank[end]
		if to < 0 {
			continue
		}
		ranks := int32(len(o.Ranks))
		for _, r := range o.runs[s] {
			first := to - r.first - (r.count-1)*o.stride // the offset from the last rank of the run
			if first < 0 {
				first += ranks
			}
			left := r.count
			if last := first + (left-1)*o.stride; last >= ranks {
				over := (last-ranks)/o.stride + 1 // beyond the last offset
				left -= over
				all = x.stretch(all, o.base, o.cell(last-ranks-(over-1)*o.stride), over)
			}
			all = x.stretch(all, o.base, o.cell(first), left)
		}
	}
	return all
}

// stretch appends the spans of offsets in a row.
func (x *flows) stretch(all []span, base, first, count int32) []span {
	per := int32(1) << x.perLog
	if x.shift == 0 {
		for cell := base + first; count > 0; {
			in := min(count, per-cell&(per-1))
			some := x.ones() >> (uint(per-in) * x.bits()) << (uint(cell&(per-1)) * x.bits())
			all = append(all, span{cell >> x.perLog, some})
			cell, count = cell+in, count-in
		}
		return all
	}
	last := span{word: fabric.None}
	for count > 0 {
		in := min(count, 1<<x.shift-first&(1<<x.shift-1))
		cell := base + first>>x.shift
		if word := cell >> x.perLog; word != last.word {
			if last.add != 0 {
				all = append(all, last)
			}
			last = span{word: word}
		}
		last.add |= uint64(in) << (uint(cell&(per-1)) * x.bits())
		first, count = first+in, count-in
	}
	return append(all, last)
}

// cells is the cells of a span that is for one offset each.
func (x *flows) cells(s span) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for rest := s.add; rest != 0; rest &= rest - 1 {
			if !yield(s.word<<x.perLog + int32(bits.TrailingZeros64(rest))>>(6-x.perLog)) {
				return
			}
		}
	}
}

// add counts routes on a trunk, or takes them off.
func (x *flows) add(c fabric.ChannelID, spans []span, sign int32) {
	all := uint64(0)
	for _, s := range spans {
		w := &x.words[x.at(c, s.word)]
		if sign < 0 {
			*w -= s.add
		} else {
			*w += s.add
		}
		all |= *w
	}
	x.over = x.over || all&x.tops() != 0
}

// meet is what routes would meet on a trunk at equal offsets, by price: [count], or as pairPrices for small
// cells. It stops once that is above limit.
func (x *flows) meet(c fabric.ChannelID, spans []span, price []int64, limit int64) int64 {
	if x.perLog == small {
		return x.meetSmall(c, spans, (*[smallCells * smallCells]int64)(price), limit)
	}
	sum, top := int64(0), uint64(len(price)-1)
	for _, s := range spans {
		w := x.words[x.at(c, s.word)]
		for add := s.add; add != 0; add, w = add>>16, w>>16 {
			sum += int64(add&math.MaxUint16) * price[min(w&math.MaxUint16, top)]
		}
		if sum > limit {
			break
		}
	}
	return sum
}

// smallCells is the numbers that a small cell can hold.
const smallCells = 1 << 8

// meetSmall is meet where cells are small and for one offset each: a route in each of them. Those beside
// them count nothing, as none in a cell does.
func (x *flows) meetSmall(c fabric.ChannelID, spans []span, price *[smallCells * smallCells]int64, limit int64) int64 {
	sum := int64(0)
	for _, s := range spans {
		w := x.words[x.at(c, s.word)] & (s.add * (smallCells - 1))
		sum += price[w&0xffff] + price[w>>16&0xffff] + price[w>>32&0xffff] + price[w>>48]
		if sum > limit {
			break
		}
	}
	return sum
}

// fine is how many units the price of meeting as many routes as usual has, or more, see digits.
const fine = 1 << 10

// digits is the binary digits of that price for a power. What meets a quarter of what is usual shall still cost
// something, since some searches end so much better than they begin; but there are no more digits than sums of
// all ranks' prices have room for.
func (n *network) digits(power int) uint {
	return uint(max(bits.Len(fine)-1, min(4+2*power, 42-2*bits.Len(uint(len(n.hosts))))))
}

// prices is the price of one more route on a trunk where some have its offset [count]:
// the power of their number, as a multiple of what is usual, by how long the trunk takes
// for each. It is bounded so that sums stay within 64 bits.
func (n *network) prices(power int, inverse int64, usual float64) []int64 {
	const most, dearer = 128, 15 // digits of the dearest
	digits := n.digits(power)
	all := make([]int64, max(most<<n.shift, smallCells))
	for i := range all {
		some := min(i, most<<n.shift-1)
		met, price := float64(some)*float64(inverse)/(float64(int64(unit)<<n.shift)*usual), float64(int64(1)<<digits)
		for range power {
			price = float64(price * met)
		}
		all[i] = int64(min(float64(int64(1)<<(digits+dearer)), price)) * int64(len(n.hosts)*int(n.copies))
	}
	return all
}

// pairPrices fills all with the prices of two small cells at once, [count + smallCells × count]: half as many are
// looked up. No cell counts more routes than there are destinations, so that on small networks little of it is filled.
func pairPrices(all *[smallCells * smallCells]int64, price []int64, dests int) {
	some := min(dests+1, smallCells)
	for i := range some {
		for j := range some {
			all[i*smallCells+j] = price[i] + price[j]
		}
	}
}
