package grid

import (
	"github.com/weft-fabric/weft/fabric"
)

// Reverse is the direction back.
func (r Dir) Reverse() Dir { return r ^ 1 }

// measure fills run: from each point without a cable in a direction back along the line.
func (g *Grid) measure() {
	dirs := 2 * len(g.Dims)
	g.run = make([]int32, len(g.Switch)*dirs)
	for p := range g.Switch {
		for r := range dirs {
			g.run[p*dirs+r] = int32(g.Dims[r/2].Size)
		}
	}
	for p := range g.Switch {
		for r := range Dir(dirs) {
			if len(g.Links(p, r)) > 0 {
				continue
			}
			g.run[p*dirs+int(r)] = 0
			for q, hops := g.Next(p, r.Reverse()), int32(1); q >= 0 && len(g.Links(q, r)) > 0; q = g.Next(q, r.Reverse()) {
				g.run[q*dirs+int(r)] = hops
				hops++
			}
		}
	}
}

// Shorter is the direction from coordinate c to another, t, along dimension d of
// a grid without damage, and the hops. Halfway round a ring, even coordinates go
// up and odd ones down: that loads both directions alike, and in a ring of four
// leaves two turns in each direction that nobody takes. Where the way back shall be the
// same, that is so in the lower half of a ring that needs a dateline; the upper half
// does the reverse. With six, ten, … coordinates it makes no difference.
func (g *Grid) Shorter(d, c, t int) (Dir, int) {
	dim := g.Dims[d]
	if !dim.Ring {
		if t > c {
			return Up(d), t - c
		}
		return Down(d), c - t
	}
	up := t - c
	if up < 0 {
		up += dim.Size
	}
	down := dim.Size - up
	even := c%2 == 0
	if half := dim.Size / 2; g.SameWayBack && dim.Dateline() && c >= half {
		even = (c-half)%2 != 0
	}
	if up < down || up == down && even {
		return Up(d), up
	}
	return Down(d), down
}

// Toward is the direction from a point along dimension d to coordinate t, which is not
// its own: the shorter way, or in a broken ring the way that is left. It is
// NoDir where cables are missing on both.
func (g *Grid) Toward(point, d, t int) Dir {
	r, hops := g.Shorter(d, g.Coordinate(point, d), t)
	if g.Run(point, r) >= hops {
		return r
	}
	if g.Dims[d].Ring && g.Run(point, r.Reverse()) >= g.Dims[d].Size-hops {
		return r.Reverse()
	}
	return NoDir
}

// Run is how many hops from a point in one direction the cables go on; the size
// of the ring in a whole ring.
func (g *Grid) Run(point int, r Dir) int { return int(g.run[point*2*len(g.Dims)+int(r)]) }

// RuleJoined is what Joined checks, as weft explain lists it.
const RuleJoined = "no missing cable or switch cuts a line of the grid in two: dimension order has no second path"

// Joined refuses a grid in which the switches of some line are not joined along
// it: a line with a cable missing, a ring with two.
func (g *Grid) Joined(f *fabric.Fabric) error {
	ends := make([]int, len(g.Switch)) // [point with coordinate 0] one plus the first end of its line
	for d, dim := range g.Dims {
		clear(ends)
		for p, s := range g.Switch {
			if s == fabric.None || len(g.Links(p, Up(d))) > 0 {
				continue
			}
			first := &ends[g.With(p, d, 0)]
			if *first == 0 {
				*first = p + 1
				continue
			}
			cut := *first - 1
			also := ""
			if dim.Ring {
				also = ", and the ring is broken at " + g.PointName(p) + " too"
			}
			return refuse(f, RuleJoined, g.Switch[cut], "in a %s it lies at %s, and %s%s", g, g.PointName(cut), g.missing(f, cut, Up(d)), also)
		}
	}
	return nil
}

// missing says what is not there in a direction.
func (g *Grid) missing(f *fabric.Fabric, p int, r Dir) string {
	q := g.Next(p, r)
	if s := g.Switch[q]; s != fabric.None {
		return "the cable to " + f.Label(s) + " at " + g.PointName(q) + " is missing"
	}
	return "the switch at " + g.PointName(q) + " is missing"
}

// Cyclic is the first dimension in which Toward can close a cycle on one lane: a
// whole ring of five or more switches; -1 if there is none.
func (g *Grid) Cyclic() int {
	for d, dim := range g.Dims {
		if !dim.Dateline() {
			continue
		}
		for p, s := range g.Switch {
			if s != fabric.None && g.Run(p, Up(d)) == dim.Size {
				return d
			}
		}
	}
	return -1
}
