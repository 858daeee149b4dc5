package grid

import (
	"cmp"
	"math"
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// box is coordinates whose frame is still to be chosen: which dimension is first, where each begins, and
// which way is up. Members are in the order of their GUIDs.
//
// The frame is chosen so that a failure hardly ever changes it, since service
// levels depend on it. No rule can promise that it never does: GUIDs that are
// exchanged one by one can turn one grid into its mirror image. These rules depend
// on the switch with the lowest GUID, the anchor, which is member 0, and on one switch in line with
// it in each dimension. Where GUIDs run along the grid, as in a machine delivered in order, nearly
// all rings agree (vote), and then where rings begin depends on no single switch.
type box struct {
	dims  []Dim
	coord []int32 // [member × dimensions + dimension]
}

// at is the coordinates of a member.
func (b *box) at(m int) []int32 { return b.coord[m*len(b.dims) : (m+1)*len(b.dims)] }

func (b *box) members() int { return len(b.coord) / max(1, len(b.dims)) }

// keys is, for each dimension, the lowest member in line with the anchor along it; MaxInt: none.
func (b *box) keys() []int {
	keys := slices.Repeat([]int{math.MaxInt}, len(b.dims))
	for m := b.members() - 1; m > 0; m-- {
		along, differ := 0, 0
		for d, c := range b.at(m) {
			if c != b.at(0)[d] {
				along = d
				differ++
			}
		}
		if differ == 1 {
			keys[along] = m
		}
	}
	return keys
}

// foldSquares puts dimensions of size two together in pairs, in the order of their keys, to rings of
// four: the two are the same graph (see the package). An odd one is left over, as the last dimension but these.
func (b *box) foldSquares() {
	keys := b.keys()
	var pairs, rest []int
	for d, dim := range b.dims {
		if dim.Size == 2 {
			pairs = append(pairs, d)
		} else {
			rest = append(rest, d)
		}
	}
	slices.SortStableFunc(pairs, func(x, y int) int { return cmp.Compare(keys[x], keys[y]) })
	if len(pairs)%2 == 1 {
		rest = append(rest, pairs[len(pairs)-1])
		pairs = pairs[:len(pairs)-1]
	}
	var dims []Dim
	for _, d := range rest {
		dims = append(dims, b.dims[d])
	}
	for range len(pairs) / 2 {
		dims = append(dims, Dim{Size: 4, Ring: true})
	}
	var coord []int32
	for m := range b.members() {
		at := b.at(m)
		for _, d := range rest {
			coord = append(coord, at[d])
		}
		for i := 0; i < len(pairs); i += 2 {
			x, y := at[pairs[i]], at[pairs[i+1]]
			coord = append(coord, x^y|y<<1) // 00, 10, 11, 01 are 0, 1, 2, 3: once round the square
		}
	}
	b.dims, b.coord = dims, coord
}

// sortDims puts large dimensions first, of the same size rings before lines, equals by the lowest
// GUID in line with the anchor.
func (b *box) sortDims() {
	keys := b.keys()
	order := fabric.All[int](len(b.dims))
	slices.SortStableFunc(order, func(x, y int) int {
		return cmp.Or(cmp.Compare(b.dims[y].Size, b.dims[x].Size), ringsFirst(b.dims[x])-ringsFirst(b.dims[y]), cmp.Compare(keys[x], keys[y]))
	})
	dims := make([]Dim, len(order))
	for i, d := range order {
		dims[i] = b.dims[d]
	}
	old := make([]int32, len(order))
	for m := range b.members() {
		at := b.at(m)
		copy(old, at)
		for i, d := range order {
			at[i] = old[d]
		}
	}
	b.dims = dims
}

// ringsFirst puts rings before lines, by 0 and 1.
func ringsFirst(d Dim) int {
	if d.Ring {
		return 0
	}
	return 1
}

// orient shifts and mirrors the coordinates along dimension d, in place, so that it begins at 0 and goes up. A ring
// begins at its lowest GUID and goes up to the lower of the two GUIDs beside that; where nearly all
// rings agree (vote) it is as they say, else as the anchor's ring says. A line has its
// low end on the anchor's side.
func (b *box) orient(d int) {
	k := b.dims[d].Size
	start, up := b.begin(b.lines(d)[b.line(0, d)])
	anchor := int(b.at(0)[d])
	switch {
	case !b.dims[d].Ring:
		start, up = 0, true
		if 2*anchor > k-1 { // with the anchor in the very middle it stays as it was found
			start, up = k-1, false
		}
	default:
		if s, u, agreed := b.vote(d); agreed {
			start, up = s, u
		}
	}
	for m := range b.members() {
		c := &b.at(m)[d]
		if up {
			*c = int32((int(*c) - start + k) % k)
		} else {
			*c = int32((start - int(*c) + k) % k)
		}
	}
}

// line numbers the line along d that a member lies on.
func (b *box) line(m, d int) int {
	n := 0
	for e, c := range b.at(m) {
		n *= b.dims[e].Size
		if e != d {
			n += int(c)
		}
	}
	return n
}

// lines is the members along each line of dimension d, by number of the line, [coordinate]; MaxInt:
// none.
func (b *box) lines(d int) map[int][]int {
	lines := make(map[int][]int)
	for m := range b.members() {
		n := b.line(m, d)
		if lines[n] == nil {
			lines[n] = slices.Repeat([]int{math.MaxInt}, b.dims[d].Size)
		}
		lines[n][b.at(m)[d]] = m
	}
	return lines
}

// begin is the coordinate of the lowest member of a line, [coordinate], and whether the next one up is
// lower than the next one down.
func (b *box) begin(line []int) (start int, up bool) {
	k := len(line)
	for c, m := range line {
		if m < line[start] {
			start = c
		}
	}
	return start, line[(start+1)%k] <= line[(start+k-1)%k]
}

// vote is the begin and the direction that most whole rings along d have. They count as agreed if at
// least seven in eight have these; with fewer than four rings never: chance could make it so.
func (b *box) vote(d int) (start int, up, agreed bool) {
	k := b.dims[d].Size
	votes := make([]int, 2*k) // [start] of those that go up from it, then of those that go down
	whole := 0
	for _, line := range b.lines(d) {
		if slices.Contains(line, math.MaxInt) {
			continue
		}
		whole++
		s, u := b.begin(line)
		if !u {
			s += k
		}
		votes[s]++
	}
	most := slices.Index(votes, slices.Max(votes))
	return most % k, most < k, whole >= 4 && 8*votes[most] >= 7*whole
}
