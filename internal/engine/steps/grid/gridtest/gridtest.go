// Package gridtest makes grids for tests, cabled so that nothing but the graph
// tells what they are: random GUIDs, port numbers and order.
package gridtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/fabric"
)

// Box is a grid to be.
type Box struct {
	Size   []int  // points along each dimension, from 1
	Ring   []bool // which of them are rings, those of two points excepted; nil: none
	Hosts  int    // on each switch that has some
	Every  int    // every how many-th switch has hosts; zero: each
	Cables int    // between neighbours; zero: 1
}

// Torus and Mesh are boxes of one kind of dimension with one host on each switch.
func Torus(size ...int) Box {
	ring := slices.Repeat([]bool{true}, len(size))
	return Box{Size: size, Ring: ring, Hosts: 1}
}

// Mesh is a box of lines.
func Mesh(size ...int) Box { return Box{Size: size, Hosts: 1} }

func (b Box) String() string {
	var s strings.Builder
	for d, k := range b.Size {
		fmt.Fprintf(&s, "%d", k)
		if b.Ring != nil && b.Ring[d] {
			s.WriteByte('r')
		}
		s.WriteByte('x')
	}
	return strings.TrimSuffix(s.String(), "x") + fmt.Sprintf(" with %d cables", max(1, b.Cables))
}

// Points counts the switches.
func (b Box) Points() int {
	points := 1
	for _, k := range b.Size {
		points *= k
	}
	return points
}

// Name is the name of the switch at a point, in mixed radix with the last
// dimension fastest.
func Name(point int) string { return fmt.Sprintf("point %d", point) }

// Build cables the box at random.
func (b Box) Build(seed uint64) (*fabric.Fabric, error) {
	rng := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	points := b.Points()
	guid := rng.Perm(2*points*(b.Hosts+1) + 1)
	next := func() fabric.GUID {
		g := fabric.GUID(1+guid[0]) << 8
		guid = guid[1:]
		return g
	}
	ports := b.Hosts + 2*len(b.Size)*max(1, b.Cables) + 1
	var out fabric.Builder
	refs := make([]fabric.Ref, points)
	free := make([][]int, points)
	for _, p := range rng.Perm(points) {
		refs[p] = out.Node(fabric.Node{GUID: next(), Ports: ports, Name: Name(p)}, "")
		free[p] = rng.Perm(ports)
	}
	port := func(p int) uint8 {
		n := uint8(free[p][0] + 1)
		free[p] = free[p][1:]
		return n
	}
	rate := fabric.Rate{Width: 4, Speed: fabric.HDR}
	cables := b.cables()
	for _, i := range rng.Perm(len(cables)) {
		p, q := cables[i][0], cables[i][1]
		if rng.IntN(2) == 0 {
			p, q = q, p
		}
		out.Cable(refs[p], port(p), refs[q], port(q), rate)
	}
	for _, p := range rng.Perm(points) {
		if p%max(1, b.Every) != 0 {
			continue
		}
		for range b.Hosts {
			h := out.Node(fabric.Node{GUID: next(), Kind: fabric.Adapter, Ports: 1, Name: "host"}, "")
			out.Cable(h, 1, refs[p], port(p), rate)
		}
	}
	return out.Build()
}

// cables is the pairs of points to be joined.
func (b Box) cables() [][2]int {
	var cables [][2]int
	weight := 1
	for d := len(b.Size) - 1; d >= 0; d-- {
		k := b.Size[d]
		for p := range b.Points() {
			c := p / weight % k
			q := p + weight
			if c == k-1 {
				if b.Ring == nil || !b.Ring[d] || k < 3 {
					continue
				}
				q = p - c*weight
			}
			for range max(1, b.Cables) {
				cables = append(cables, [2]int{p, q})
			}
		}
		weight *= k
	}
	return cables
}
