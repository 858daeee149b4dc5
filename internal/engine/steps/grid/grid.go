// Package grid finds the coordinates of a mesh, torus, hypercube or mixed grid
// in the graph of its switches: no names, no port conventions, no configuration.
//
// The graph of a grid is a Cartesian product of paths and cycles. W. Imrich and
// I. Peterin (Recognizing Cartesian products in linear time, Discrete
// Mathematics 307, 2007) show how the product relation on edges grows from the
// squares; here it goes like this:
//
//  1. Two edges that face each other across a square without diagonals point the
//     same way and lie at the same place along their dimension. Closing this
//     relation puts each edge into a class (parallel.go).
//  2. A class follows another where most of its edges go straight on in the
//     other: side by side at a switch without a square between them. The classes
//     form chains, a path or a ring of classes being a dimension (chains.go).
//  3. A switch's place along a dimension is read off any of its edges of that
//     dimension, or off its neighbours across the others; what is left goes to
//     the only free point next to its neighbours (place.go).
//  4. Every cable is checked against the coordinates, so that whatever the steps
//     before guessed, an answer is right.
//
// A ring of four is a square, that is, two dimensions of size two: they are the
// same graph. Dimensions of size two are therefore put together in pairs, and a
// hypercube of six dimensions comes back as a torus of 4x4x4. With one left over
// it is a dimension of size two.
//
// Damage. Missing cables and switches leave enough squares in a grid of two or
// more dimensions to find the rest, as long as they are few: more than half of
// the edges of each class must keep together, and at least three quarters of the
// points must have a switch. Where damage cut classes in two, those that go on
// in the same class are put together again (mend). A ring without one of its cables is a line.
//
// The frame. Coordinates are unique up to the symmetries of the grid: which
// dimension is first, which way is up, where a ring begins. frame.go chooses by
// GUID, so that hardly any failure changes the choice; Find with coordinates of
// a time before the failure keeps them whatever fails.
//
// Complexity: O(S·d²·log d) for S switches with d neighbours each.
package grid

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Dim is one dimension.
type Dim struct {
	Size int  // points along it, from 2
	Ring bool // the last point is next to the first; never with two points
}

// Dateline reports whether shortest paths along the dimension can close a cycle: in
// rings of three they have one hop, and Shorter leaves rings of four open.
func (d Dim) Dateline() bool { return d.Ring && d.Size >= 5 }

// Dir is a direction: 2·dimension, plus one for down.
type Dir uint8

// NoDir stands for no direction.
const NoDir Dir = 255

// Up is the direction along dimension d to the next larger coordinate; in a ring
// it wraps.
func Up(d int) Dir { return Dir(2 * d) }

// Down is the direction to the next smaller coordinate.
func Down(d int) Dir { return Dir(2*d + 1) }

// Dim is the dimension of a direction.
func (r Dir) Dim() int { return int(r / 2) }

// Grid is one connected part of a fabric with its coordinates. Points are
// numbered in mixed radix, the last dimension fastest.
type Grid struct {
	Dims   []Dim
	Switch []fabric.NodeID // [point]; fabric.None: no switch there
	Point  []int32         // [switch]; -1: in another part of the fabric

	// SameWayBack says that two points halfway round a ring apart send by the same half,
	// for the sake of the service level that both ways share.
	SameWayBack bool

	coord  []int32 // [point × dimensions + dimension]
	weight []int   // [dimension] what a coordinate counts for in a point

	linkFirst []int32            // [point × directions + direction, plus one at the end] offset into links
	links     []fabric.ChannelID // trunks by point and direction, each by port
	run       []int32            // [point × directions + direction] hops before the line ends; in a whole ring its size
}

// Coordinate is the coordinate of a point along dimension d.
func (g *Grid) Coordinate(point, d int) int { return int(g.coord[point*len(g.Dims)+d]) }

// With is the point whose coordinate along dimension d is c and which is
// otherwise the given one.
func (g *Grid) With(point, d, c int) int {
	return point + (c-g.Coordinate(point, d))*g.weight[d]
}

// Next is the neighbouring point in a direction, or -1 over the edge.
func (g *Grid) Next(point int, r Dir) int {
	d := r.Dim()
	c, k := g.Coordinate(point, d), g.Dims[d].Size
	if r == Up(d) {
		c++
	} else {
		c--
	}
	if c < 0 || c == k {
		if !g.Dims[d].Ring {
			return -1
		}
		c = (c + k) % k
	}
	return g.With(point, d, c)
}

// InOrder is the first dimension in which a point differs from another, and the coordinate of that along it; -1: there is none.
func (g *Grid) InOrder(from, to int) (d, c int) {
	for d := range g.Dims {
		if c := g.Coordinate(to, d); c != g.Coordinate(from, d) {
			return d, c
		}
	}
	return -1, 0
}

// Links is the trunks from a point to its neighbour in a direction, by port:
// none where the cable or the neighbour is missing.
func (g *Grid) Links(point int, r Dir) []fabric.ChannelID {
	i := point*2*len(g.Dims) + int(r)
	return g.links[g.linkFirst[i]:g.linkFirst[i+1]]
}

// Holes is the points without a switch, ascending.
func (g *Grid) Holes() []int {
	var holes []int
	for p, s := range g.Switch {
		if s == fabric.None {
			holes = append(holes, p)
		}
	}
	return holes
}

// String is "torus 8x8x8", "mesh 3x4" or, where only some dimensions are rings,
// "grid 8(ring)x4(line)". Dimensions of size two are either.
func (g *Grid) String() string {
	if len(g.Dims) == 0 {
		return "single switch"
	}
	plain, marked := make([]string, len(g.Dims)), make([]string, len(g.Dims))
	rings, lines := 0, 0
	for d, dim := range g.Dims {
		plain[d] = strconv.Itoa(dim.Size)
		marked[d] = plain[d]
		switch {
		case dim.Ring:
			marked[d] += "(ring)"
			rings++
		case dim.Size > 2:
			marked[d] += "(line)"
			lines++
		}
	}
	switch {
	case lines == 0 && rings > 0:
		return "torus " + strings.Join(plain, "x")
	case rings == 0:
		return "mesh " + strings.Join(plain, "x")
	}
	return "grid " + strings.Join(marked, "x")
}

// PointName is the coordinates of a point, "(3,0,1)".
func (g *Grid) PointName(point int) string {
	at := make([]string, len(g.Dims))
	for d := range at {
		at[d] = strconv.Itoa(g.Coordinate(point, d))
	}
	return "(" + strings.Join(at, ",") + ")"
}

// Find finds the coordinates of one connected part of a fabric, given as in
// fabric.Parts, or says with a *routing.Refusal why there are none. With was, an earlier fabric, and
// before, all of its grids, they are those that the switches had there, by GUID; nil: they are found
// anew.
func Find(f *fabric.Fabric, part []fabric.NodeID, was *fabric.Fabric, before []*Grid) (*Grid, error) {
	var dims []Dim
	var coord []int32
	var err error
	if was != nil {
		dims, coord, err = recall(f, part, was, before)
	} else {
		dims, coord, err = recognise(f, part)
	}
	if err != nil {
		return nil, err
	}
	return build(f, part, dims, coord)
}

// FindAll finds the coordinates of every part of a fabric, as Find does.
func FindAll(f, was *fabric.Fabric, before []*Grid) ([]*Grid, error) {
	var all []*Grid
	for _, part := range f.Parts() {
		g, err := Find(f, part, was, before)
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return all, nil
}

// recognise finds the dimensions and the coordinates, [member × dimensions +
// dimension], in the frame that the GUIDs choose.
func recognise(f *fabric.Fabric, part []fabric.NodeID) ([]Dim, []int32, error) {
	n, err := newGraph(f, part)
	if err != nil {
		return nil, nil, err
	}
	p, err := n.parallels()
	if err != nil {
		return nil, nil, err
	}
	dims, coord, err := n.coordinates(p)
	for _, remedy := range []func(){p.mend, p.trustFew} {
		if err == nil {
			break
		}
		remedy()
		if d, c, mended := n.coordinates(p); mended == nil {
			dims, coord, err = d, c, nil
		}
	}
	if err != nil {
		return nil, nil, err // as it was without remedies
	}
	b := &box{dims: dims, coord: coord}
	b.foldSquares()
	b.sortDims()
	for d := range b.dims {
		b.orient(d)
	}
	return b.dims, b.coord, nil
}

// coordinates is steps 2 and 3 of the package comment.
func (n *graph) coordinates(p *parallels) ([]Dim, []int32, error) {
	dims, steps := n.chains(p)
	if err := n.plausible(dims); err != nil {
		return nil, nil, err
	}
	coord, err := n.place(dims, steps)
	if err != nil {
		return nil, nil, err
	}
	return dims, coord, n.check(dims, coord)
}

// recall takes the dimensions and coordinates, as of recognise, from the earlier grid that all
// switches of the part were in.
func recall(f *fabric.Fabric, part []fabric.NodeID, was *fabric.Fabric, before []*Grid) ([]Dim, []int32, error) {
	const rule = "every switch was there when the coordinates were taken"
	var from *Grid
	var coord []int32
	if len(part) == 1 { // cut off: no coordinates are needed
		return nil, nil, nil
	}
	for _, s := range part {
		old := was.NodeByGUID(f.Node(s).GUID)
		if old == fabric.None || was.Node(old).Kind != fabric.Switch {
			return nil, nil, refuse(f, rule, s, "it is not in the earlier fabric")
		}
		if from == nil {
			i := slices.IndexFunc(before, func(g *Grid) bool { return g.Point[old] >= 0 })
			from = before[i]
		}
		point := int(from.Point[old])
		if point < 0 {
			return nil, nil, refuse(f, rule, s, "it was in another part of the earlier fabric")
		}
		for d := range from.Dims {
			coord = append(coord, int32(from.Coordinate(point, d)))
		}
	}
	return from.Dims, coord, nil
}

// build makes the grid of coordinates, [member × dimensions + dimension], and checks these against the
// cables.
func build(f *fabric.Fabric, part []fabric.NodeID, dims []Dim, coord []int32) (*Grid, error) {
	g := &Grid{Dims: dims, Point: slices.Repeat([]int32{-1}, f.Switches()), weight: make([]int, len(dims))}
	points := 1
	for d := len(dims) - 1; d >= 0; d-- {
		g.weight[d] = points
		points *= dims[d].Size
	}
	g.Switch = slices.Repeat([]fabric.NodeID{fabric.None}, points)
	g.coord = make([]int32, points*len(dims))
	for p := range g.Switch {
		for d := range dims {
			g.coord[p*len(dims)+d] = int32(p / g.weight[d] % dims[d].Size)
		}
	}
	for i, s := range part {
		p := 0
		for d := range dims {
			p += int(coord[i*len(dims)+d]) * g.weight[d]
		}
		if other := g.Switch[p]; other != fabric.None {
			return nil, refuse(f, ruleGrid, s, "it would lie at %s of a %s, where %s lies", g.PointName(p), g, f.Label(other))
		}
		g.Switch[p], g.Point[s] = s, int32(p)
	}
	return g, g.connect(f)
}

// direction is the way from point p to its neighbour q, or NoDir where they are
// not neighbours.
func (g *Grid) direction(p, q int) Dir {
	for d := range g.Dims {
		if g.Coordinate(p, d) != g.Coordinate(q, d) {
			for _, r := range [2]Dir{Up(d), Down(d)} {
				if g.Next(p, r) == q {
					return r
				}
			}
			return NoDir
		}
	}
	return NoDir
}

// connect fills links, the trunks by point and direction, and run; a trunk between points that are no
// neighbours is refused.
func (g *Grid) connect(f *fabric.Fabric) error {
	dirs := 2 * len(g.Dims)
	g.linkFirst = make([]int32, len(g.Switch)*dirs+1)
	var buckets = make([][]fabric.ChannelID, dirs)
	heads := f.Heads()
	for p, s := range g.Switch {
		for r := range buckets {
			buckets[r] = buckets[r][:0]
		}
		if s != fabric.None {
			for c, end := f.TrunksFrom(s); c < end; c++ {
				q := int(g.Point[heads[c]])
				r := g.direction(p, q)
				if r == NoDir {
					e := refuse(f, ruleGrid, s, "its cable leads to %s; in a %s they would lie at %s and %s", f.Label(heads[c]), g, g.PointName(p), g.PointName(q))
					e.Port = f.Channel(c).FromPort
					return e
				}
				buckets[r] = append(buckets[r], c)
			}
		}
		for r, b := range buckets {
			g.links = append(g.links, b...)
			g.linkFirst[p*dirs+r+1] = int32(len(g.links))
		}
	}
	g.measure()
	return nil
}

// Describe says what a fabric was found to be, one grid a part.
func Describe(all []*Grid) string {
	if len(all) == 0 {
		return "grid without switches"
	}
	names := make([]string, 0, 4)
	for i, g := range all {
		if i == 3 && len(all) > 4 {
			names = append(names, fmt.Sprintf("%d more parts", len(all)-3))
			break
		}
		name := g.String()
		if holes := len(g.Holes()); holes > 0 {
			name += fmt.Sprintf(" with %d of %d switches missing", holes, len(g.Switch))
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// Explain is FindAll for an Explainer: the grids, or nil, and how the fabric
// fares under the rule that there are some.
func Explain(f, was *fabric.Fabric, before []*Grid) ([]*Grid, []routing.Finding) {
	all, err := FindAll(f, was, before)
	if refusal := (*routing.Refusal)(nil); errors.As(err, &refusal) {
		return nil, []routing.Finding{{Rule: refusal.Rule, Why: refusal.Error()}}
	}
	return all, []routing.Finding{{Rule: ruleGrid, OK: true, Why: "found a " + Describe(all)}}
}
