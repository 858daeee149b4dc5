package parx

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/disjoint"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/routing"
)

// hyperX is the coordinates of the switches of a HyperX: those that differ in one of them
// only are joined.
type hyperX struct {
	size []int     // [dimension] switches along it, the most first
	at   [][]int32 // [dimension][switch] its coordinate
}

// String is its size, as 12x8.
func (h *hyperX) String() string {
	words := make([]string, len(h.size))
	for d, n := range h.size {
		words[d] = fmt.Sprint(n)
	}
	return "a HyperX of " + strings.Join(words, "x") + " switches"
}

// within reports whether a switch lies in the half whose cables a rule avoids: of dimension rule/2 the
// lower half where the rule is even, else the upper.
func (h *hyperX) within(s fabric.NodeID, rule int) bool {
	d := rule / 2
	return (int(h.at[d][s]) < h.size[d]/2) == (rule%2 == 0)
}

// find finds the coordinates from the cables. Two neighbours that are neighbours of each
// other lie on a line with their third, and opposite sides of a square without a diagonal
// are of one dimension; both hold wherever cables are missing. What is then one dimension is
// left out: the parts that the network falls into have one coordinate of that dimension each.
func find(f *fabric.Fabric) (*hyperX, *routing.Refusal) {
	g := newGraph(f)
	dimension, dimensions := g.dimensions()
	h := &hyperX{}
	for d := range dimensions {
		at, size := g.without(dimension, int32(d))
		h.at, h.size = append(h.at, at), append(h.size, size)
	}
	if len(h.size) < 2 {
		return nil, routing.Refuse(f, ruleHyperX, fabric.None, 0, "the cables between its switches make a grid of dimension %d", len(h.size))
	}
	order := make([]int, len(h.size))
	for d := range order {
		order[d] = d
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(h.size[b], h.size[a]) })
	sorted := &hyperX{}
	for _, d := range order {
		sorted.at, sorted.size = append(sorted.at, h.at[d]), append(sorted.size, h.size[d])
	}
	if no := sorted.check(f, g); no != nil {
		return nil, no
	}
	return sorted, nil
}

// check refuses coordinates other than those of a HyperX of which at least three quarters of the
// switches are there, and of the pairs that are joined in it.
func (h *hyperX) check(f *fabric.Fabric, g *graph) *routing.Refusal {
	const none = -1                                      // no dimension
	place := func(s fabric.NodeID, without int) string { // its coordinates except in one dimension
		var b strings.Builder
		for d := range h.size {
			if d != without {
				fmt.Fprintf(&b, "%d ", h.at[d][s])
			}
		}
		return b.String()
	}
	seen := map[string]fabric.NodeID{}
	joined, all, places := 0, 0, 1 // ordered pairs joined, and to be joined in a HyperX; points of the box
	for _, n := range h.size {
		if places *= n; 3*places > 4*f.Switches() {
			return routing.Refuse(f, ruleHyperX, fabric.None, 0, "by the cables it would have at least %d places for %d switches", places, f.Switches())
		}
	}
	for s := range fabric.NodeID(f.Switches()) {
		if other, taken := seen[place(s, none)]; taken {
			return routing.Refuse(f, ruleHyperX, s, 0, "by the cables it would be in one place with %s", f.Label(other))
		}
		seen[place(s, none)] = s
		joined += len(g.beside[s])
	}
	for d := range h.size {
		line := map[string]int{}
		for s := range fabric.NodeID(f.Switches()) {
			line[place(s, d)]++
		}
		for n := range maps.Values(line) {
			all += n * (n - 1)
		}
	}
	if 4*joined < 3*all {
		return routing.Refuse(f, ruleHyperX, fabric.None, 0, "as %s it would have %d switches joined, and %d are", h, all/2, joined/2)
	}
	return nil
}

// graph is which switches are joined.
type graph struct {
	beside [][]fabric.NodeID          // [switch] its neighbours, each once, ascending
	number map[[2]fabric.NodeID]int32 // numbers of the pairs that are joined, the lower switch first
}

func newGraph(f *fabric.Fabric) *graph {
	g := &graph{beside: make([][]fabric.NodeID, f.Switches()), number: map[[2]fabric.NodeID]int32{}}
	for s := range fabric.NodeID(f.Switches()) {
		g.beside[s] = list.Once(f.Neighbours(s))
		for _, z := range g.beside[s] {
			if s < z {
				g.number[[2]fabric.NodeID{s, z}] = int32(len(g.number))
			}
		}
	}
	return g
}

// pair is the number of two switches that are joined.
func (g *graph) pair(a, z fabric.NodeID) int32 {
	return g.number[[2]fabric.NodeID{min(a, z), max(a, z)}]
}

func (g *graph) joined(a, z fabric.NodeID) bool {
	_, found := slices.BinarySearch(g.beside[a], z)
	return found
}

// dimensions finds the dimensions from the triangles and the squares at every switch, and numbers
// them by their lowest pairs: dimension is that of each pair, [pair], and pairs how many each has,
// [dimension].
func (g *graph) dimensions() (dimension, pairs []int32) {
	alike := disjoint.New(len(g.number))
	for s, beside := range g.beside {
		s := fabric.NodeID(s)
		for i, u := range beside {
			for _, w := range beside[:i] {
				if g.joined(u, w) {
					alike.Join(g.pair(s, u), g.pair(s, w))
					continue
				}
				for _, x := range g.beside[u] {
					if x > s && g.joined(w, x) && !g.joined(s, x) { // each square once
						alike.Join(g.pair(s, u), g.pair(w, x))
						alike.Join(g.pair(s, w), g.pair(u, x))
					}
				}
			}
		}
	}
	return alike.Numbered()
}

// without is the parts that the network falls into without the pairs of dimension d: the number of
// each switch's, [switch], and how many there are. dimension is by pair, [pair].
func (g *graph) without(dimension []int32, d int32) (part []int32, parts int) {
	part = slices.Repeat([]int32{-1}, len(g.beside))
	for s := range part {
		if part[s] >= 0 {
			continue
		}
		part[s] = int32(parts)
		for queue := []fabric.NodeID{fabric.NodeID(s)}; len(queue) > 0; queue = queue[1:] {
			for _, z := range g.beside[queue[0]] {
				if part[z] < 0 && dimension[g.pair(queue[0], z)] != d {
					part[z] = int32(parts)
					queue = append(queue, z)
				}
			}
		}
		parts++
	}
	return part, parts
}
