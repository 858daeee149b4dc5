package grid

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// unknown stands for a coordinate not yet found.
const unknown = -1

// placing is coordinates in the making.
type placing struct {
	*graph
	dims  []Dim
	steps []step  // [arc]
	coord []int32 // [member × dimensions + dimension] or unknown
}

// place gives every member its coordinates.
func (n *graph) place(dims []Dim, steps []step) ([]int32, error) {
	p := &placing{graph: n, dims: dims, steps: steps, coord: slices.Repeat([]int32{unknown}, len(n.part)*len(dims))}
	if err := p.readOff(); err != nil {
		return nil, err
	}
	if err := p.pass(); err != nil {
		return nil, err
	}
	return p.coord, p.fit()
}

// at is the coordinates of a member.
func (p *placing) at(m int32) []int32 {
	return p.coord[int(m)*len(p.dims) : (int(m)+1)*len(p.dims)]
}

// set notes coordinate c of member m along dimension d; two that disagree are refused.
func (p *placing) set(m, d, c int32) (changed bool, err error) {
	switch slot := &p.at(m)[d]; *slot {
	case c:
		return false, nil
	case unknown:
		*slot = c
		return true, nil
	default:
		return false, refuse(p.f, ruleGrid, p.part[m], "its cables put it at both %d and %d along one dimension", *slot, c)
	}
}

// readOff takes the coordinates from the edges of their own dimension.
func (p *placing) readOff() error {
	for m := range int32(len(p.part)) {
		for a := p.first[m]; a < p.first[m+1]; a++ {
			s := p.steps[a]
			if s.dim < 0 {
				continue
			}
			c := s.at
			if s.backward {
				c = (c + 1) % int32(p.dims[s.dim].Size)
			}
			if _, err := p.set(m, s.dim, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// pass hands coordinates on from member to member, across edges of other dimensions.
func (p *placing) pass() error {
	queue := fabric.All[int32](len(p.part))
	for len(queue) > 0 {
		m := queue[0]
		queue = queue[1:]
		for a := p.first[m]; a < p.first[m+1]; a++ {
			if p.steps[a].dim < 0 {
				continue
			}
			moved := false
			for d, c := range p.at(m) {
				if c == unknown || int32(d) == p.steps[a].dim {
					continue
				}
				changed, err := p.set(p.to[a], int32(d), c)
				if err != nil {
					return err
				}
				moved = moved || changed
			}
			if moved {
				queue = append(queue, p.to[a])
			}
		}
	}
	return nil
}

// fit puts members that are not wholly placed on the only free point that is
// next to all their placed neighbours, until none is left.
func (p *placing) fit() error {
	taken := make(map[int]bool)
	var left []int32
	for m := range int32(len(p.part)) {
		if point := p.point(p.at(m)); point != unknown {
			taken[point] = true
		} else {
			left = append(left, m)
		}
	}
	for len(left) > 0 {
		rest := left[:0]
		before := len(left)
		for _, m := range left {
			spot := p.spot(m, taken)
			if spot == nil {
				rest = append(rest, m)
				continue
			}
			copy(p.at(m), spot)
			taken[p.point(spot)] = true
		}
		if left = rest; len(left) == before {
			return refuse(p.f, ruleGrid, p.part[left[0]], "too much around it is missing, or does not belong, to tell its coordinates")
		}
	}
	return nil
}

// point is the number of the point with some coordinates, or unknown if one of these is.
func (p *placing) point(at []int32) int {
	point := 0
	for d, c := range at {
		if c == unknown {
			return unknown
		}
		point = point*p.dims[d].Size + int(c)
	}
	return point
}

// spot is the coordinates that a member must have: those of the only point beside all its placed
// neighbours that is not taken; nil where none or several would do, or no neighbour is placed.
func (p *placing) spot(m int32, taken map[int]bool) []int32 {
	var found []int32
	for a := p.first[m]; a < p.first[m+1]; a++ {
		near := p.at(p.to[a])
		if p.point(near) == unknown {
			continue
		}
		for d, dim := range p.dims {
			for _, by := range [2]int32{1, int32(dim.Size) - 1} {
				c := near[d] + by
				if c >= int32(dim.Size) {
					c -= int32(dim.Size)
				}
				if by == 1 && dim.Size == 2 || !dim.Ring && abs(c-near[d]) != 1 {
					continue
				}
				try := append([]int32(nil), near...)
				try[d] = c
				if taken[p.point(try)] || !p.suits(m, try) {
					continue
				}
				if found != nil {
					return nil
				}
				found = try
			}
		}
		return found // the other neighbours were asked by suits
	}
	return nil
}

// suits reports whether coordinates fit what is known of a member and its neighbours.
func (p *placing) suits(m int32, at []int32) bool {
	for d, c := range p.at(m) {
		if c != unknown && c != at[d] {
			return false
		}
	}
	for a := p.first[m]; a < p.first[m+1]; a++ {
		near := p.at(p.to[a])
		if p.point(near) == unknown {
			continue
		}
		apart := int32(0)
		for d, dim := range p.dims {
			by := abs(near[d] - at[d])
			if dim.Ring {
				by = min(by, int32(dim.Size)-by)
			}
			apart += by
		}
		if apart != 1 {
			return false
		}
	}
	return true
}

func abs(x int32) int32 { return max(x, -x) }

// check refuses coordinates that two members share, and edges between members
// that are not one step apart.
func (n *graph) check(dims []Dim, coord []int32) error {
	p := &placing{graph: n, dims: dims, coord: coord}
	owner := make(map[int]int32, len(n.part))
	for m := range int32(len(n.part)) {
		point := p.point(p.at(m))
		if other, ok := owner[point]; ok {
			return refuse(n.f, ruleGrid, n.part[m], "it would lie where %s lies", n.f.Label(n.part[other]))
		}
		owner[point] = m
		if !p.suits(m, p.at(m)) {
			return refuse(n.f, ruleGrid, n.part[m], "not all its neighbours are one step away from it")
		}
	}
	return nil
}
