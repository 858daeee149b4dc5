package grid

import (
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/disjoint"
	"github.com/weft-fabric/weft/routing"
)

const (
	ruleGrid   = "the switches form a mesh, torus, hypercube or mixed grid"
	ruleDegree = "no switch has more neighbours than a grid of this many switches can give it"
	ruleShared = "two switches two hops apart share at most two neighbours, as the corners of a square do"
	ruleTwist  = "facing edges of squares point the same way all around: the grid is not twisted"
)

func refuse(f *fabric.Fabric, rule string, s fabric.NodeID, why string, args ...any) *routing.Refusal {
	return routing.Refuse(f, rule, s, 0, why, args...)
}

// graph is the neighbours of each switch of a part, parallel cables taken as
// one. Members are numbered as in part; arc a leads from a member to to[a].
type graph struct {
	f     *fabric.Fabric
	part  []fabric.NodeID
	first []int32 // [member, plus one at the end] its arcs, ascending by to
	to    []int32 // [arc] member
	back  []int32 // [arc] the arc the other way
}

// newGraph is the graph of a part. It refuses switches with more neighbours than a grid has.
func newGraph(f *fabric.Fabric, part []fabric.NodeID) (*graph, error) {
	n := &graph{f: f, part: part, first: make([]int32, len(part)+1)}
	member := make([]int32, f.Switches())
	for i, s := range part {
		member[s] = int32(i)
	}
	heads := f.Heads()
	var near []int32
	most := 2 * bits.Len(uint(len(part)))
	for i, s := range part {
		first, end := f.TrunksFrom(s)
		near = near[:0]
		for c := first; c < end; c++ {
			near = append(near, member[heads[c]])
		}
		slices.Sort(near)
		near = slices.Compact(near)
		if len(near) > most {
			return nil, refuse(f, ruleDegree, s, "it has %d neighbours; a grid of %d switches has at most %d", len(near), len(part), most)
		}
		n.to = append(n.to, near...)
		n.first[i+1] = int32(len(n.to))
	}
	n.back = make([]int32, len(n.to))
	for u := range part {
		for a := n.first[u]; a < n.first[u+1]; a++ {
			n.back[a], _ = n.arc(n.to[a], int32(u))
		}
	}
	return n, nil
}

// arc is the arc from member u to member v; ok: there is one.
func (n *graph) arc(u, v int32) (int32, bool) {
	i, ok := slices.BinarySearch(n.to[n.first[u]:n.first[u+1]], v)
	return n.first[u] + int32(i), ok
}

// parallels is the arcs by class, and what goes straight on in what.
type parallels struct {
	class   []int32    // [arc] arcs of one class are parallel and point the same way
	reverse []int32    // [class] of the arcs the other way
	size    []int32    // [class] arcs
	follows [][2]int32 // arcs a, b: b begins where a ends, and no square has both
	few     bool       // set by trustFew
}

// parallels puts arcs that face each other across a square into one class, and those with it that these
// face, and so on. It refuses graphs in which two switches have several squares in common, or an arc
// faces its own reverse.
func (n *graph) parallels() (*parallels, error) {
	p := &parallels{}
	sets := disjoint.New(len(n.to))
	for v := range int32(len(n.part)) {
		for a := n.first[v]; a < n.first[v+1]; a++ {
			for b := a + 1; b < n.first[v+1]; b++ {
				x, count := n.corner(v, n.to[a], n.to[b])
				if count > 1 {
					return nil, refuse(n.f, ruleShared, n.part[n.to[a]], "it and %s share %d neighbours",
						n.f.Label(n.part[n.to[b]]), count+1)
				}
				if count == 0 {
					p.follows = append(p.follows, [2]int32{n.back[a], b}, [2]int32{n.back[b], a})
					continue
				}
				if v > n.to[a] || v > x { // each square once, from its lowest corner
					continue
				}
				aFar, _ := n.arc(n.to[b], x)
				bFar, _ := n.arc(n.to[a], x)
				sets.Join(a, aFar)
				sets.Join(n.back[a], n.back[aFar])
				sets.Join(b, bFar)
				sets.Join(n.back[b], n.back[bFar])
			}
		}
	}
	p.class, p.size = sets.Numbered()
	p.reverse = make([]int32, len(p.size))
	for u := range n.part {
		for a := n.first[u]; a < n.first[u+1]; a++ {
			if p.class[a] == p.class[n.back[a]] {
				return nil, refuse(n.f, ruleTwist, n.part[u], "its edge to %s comes back turned round", n.f.Label(n.part[n.to[a]]))
			}
			p.reverse[p.class[a]] = p.class[n.back[a]]
		}
	}
	return p, nil
}

// corner is the member that completes u, v, w, of which v is a neighbour of both others, to a square
// without diagonals, and how many members would do; 0 if u and w are neighbours.
func (n *graph) corner(v, u, w int32) (x int32, count int) {
	if _, adjacent := n.arc(u, w); adjacent {
		return 0, 0
	}
	i, iEnd := n.first[u], n.first[u+1]
	j, jEnd := n.first[w], n.first[w+1]
	for i < iEnd && j < jEnd {
		switch {
		case n.to[i] < n.to[j]:
			i++
		case n.to[i] > n.to[j]:
			j++
		default:
			if c := n.to[i]; c != v {
				if _, diagonal := n.arc(c, v); !diagonal {
					x = c
					count++
				}
			}
			i++
			j++
		}
	}
	return x, count
}
