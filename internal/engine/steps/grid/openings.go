package grid

import (
	"iter"

	"github.com/weft-fabric/weft/fabric"
)

// A whole ring is open upwards at a point p if no packet goes straight on there that came straight on to the point
// before it: the three channels in a row from p-2 to p+1 are on no packet's way, so that no dependencies lead all
// the way round. It is open downwards at p-1, which bars the way from p+1 to p-2: so no two points are barred from each
// other both ways round. On a ring of eight that is open upwards at 0,
//
//	6 → 7 → 0 → 1
//
// is barred: packets from 7 come to 1 upwards, as those from 6 come to 0, but those from 6 to 1 go five hops down.

// Open reports whether the ring along a direction is open at a point. Of rings side by side each is open at another
// coordinate, so that the longer ways are spread. Where a cable or switch is missing, there is nothing to open.
func (g *Grid) Open(point int, r Dir) bool {
	d := r.Dim()
	if !g.rings(point, d) {
		return false
	}
	at := 0
	if r == Down(d) {
		at = g.Dims[d].Size - 1
	}
	return g.beyondOpening(point, d) == at
}

// rings reports whether a point is on a ring along a dimension that is whole, and needs an opening.
func (g *Grid) rings(point, d int) bool {
	return g.Dims[d].Dateline() && g.Run(point, Up(d)) == g.Dims[d].Size
}

// beyondOpening is how many hops upwards a point is from the one where its ring is open upwards.
func (g *Grid) beyondOpening(point, d int) int {
	size, hops := g.Dims[d].Size, g.Coordinate(point, d)
	for e := range g.Dims {
		if e != d {
			hops -= g.Coordinate(point, e)
		}
	}
	return (hops%size + size) % size
}

// OpenWays is the ways that are left where every whole ring is open.
type OpenWays struct {
	g     *Grid
	rings []*openRing // [dimension] nil: a line
}

// OpenWays prepares these ways.
func (g *Grid) OpenWays() *OpenWays {
	o := &OpenWays{g, make([]*openRing, len(g.Dims))}
	for d, dim := range g.Dims {
		if dim.Dateline() {
			o.rings[d] = newOpenRing(dim.Size)
		}
	}
	return o
}

// Toward is Grid.Toward by these ways.
func (o *OpenWays) Toward(point, d, t int) Dir {
	g := o.g
	if !g.rings(point, d) {
		return g.Toward(point, d, t)
	}
	size, from := g.Dims[d].Size, g.beyondOpening(point, d)
	if o.rings[d].up[from*size+(from+t-g.Coordinate(point, d)+size)%size] {
		return Up(d)
	}
	return Down(d)
}

// Next is the direction from a point to another in dimension order.
func (o *OpenWays) Next(from, to int) Dir {
	if d, c := o.g.InOrder(from, to); d >= 0 {
		return o.Toward(from, d, c)
	}
	return NoDir
}

// EachTurnInOrder tells the turns at a point that dimension order takes, from one direction to another: into a later
// dimension, and straight on where Shorter does not leave a ring of four open.
func (g *Grid) EachTurnInOrder(point int, tell func(from, to Dir)) {
	for to := range Dir(2 * len(g.Dims)) {
		d := to.Dim()
		for from := range Up(d) {
			tell(from, to)
		}
		odd := g.Coordinate(point, d)%2 == 1
		if dim := g.Dims[d]; !dim.Ring || dim.Dateline() || dim.Size == 4 && odd == (to == Up(d)) {
			tell(to, to)
		}
	}
}

// LargestRing is the size of the largest whole ring that needs an opening; 0 if there is none.
func (g *Grid) LargestRing() int {
	largest := 0
	for p, s := range g.Switch {
		for d, dim := range g.Dims {
			if s != fabric.None && g.rings(p, d) {
				largest = max(largest, dim.Size)
			}
		}
	}
	return largest
}

// openRing is the ways between the points of a ring that is open upwards at point 0.
type openRing struct {
	size int
	up   []bool   // [from × size + to]
	load [2][]int // [up at 0, down at 1][point] ways over the channel from it
}

// newOpenRing takes the shorter ways, unless they are barred. Halfway round the ring it takes one after the other the
// way that is less full, until all stay as they are, or for some rounds.
func newOpenRing(size int) *openRing {
	const rounds = 8
	x := &openRing{size, make([]bool, size*size), [2][]int{make([]int, size), make([]int, size)}}
	var either [][2]int
	for from := range size {
		for hops := 1; hops < size; hops++ {
			to := (from + hops) % size
			barredUp := (2*size-2-from)%size+3 <= hops
			barredDown := (from+size-1)%size+3 <= size-hops
			if 2*hops == size && !barredUp && !barredDown {
				either = append(either, [2]int{from, to})
			}
			x.take(from, to, !barredUp && (barredDown || 2*hops <= size))
		}
	}
	for range rounds {
		changed := false
		for _, way := range either {
			from, to := way[0], way[1]
			was := x.up[from*size+to]
			x.count(from, to, was, -1)
			now := x.fullest(from, to, true) < x.fullest(from, to, false)
			x.take(from, to, now)
			changed = changed || now != was
		}
		if !changed {
			break
		}
	}
	return x
}

// take takes a way.
func (x *openRing) take(from, to int, up bool) {
	x.up[from*x.size+to] = up
	x.count(from, to, up, 1)
}

// count adds to the loads of the channels of a way.
func (x *openRing) count(from, to int, up bool, n int) {
	for load := range x.loads(from, to, up) {
		*load += n
	}
}

// fullest is the largest load of the channels of a way.
func (x *openRing) fullest(from, to int, up bool) int {
	most := 0
	for load := range x.loads(from, to, up) {
		most = max(most, *load)
	}
	return most
}

// loads is the loads of the channels of a way.
func (x *openRing) loads(from, to int, up bool) iter.Seq[*int] {
	load, step := x.load[0], 1
	if !up {
		load, step = x.load[1], x.size-1
	}
	return func(yield func(*int) bool) {
		for p := from; p != to && yield(&load[p]); p = (p + step) % x.size {
		}
	}
}
