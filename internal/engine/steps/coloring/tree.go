package coloring

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// Tree is a fat tree of two or three levels in which every leaf is joined to every switch above it in its pod alike, and
// every one of these to all tops of its plane. With two levels there is one pod, whose planes are the spines.
type Tree struct {
	Leaves []fabric.NodeID
	Leaf   []int32           // [NodeID] its number among the leaves; -1: none
	Pod    []int32           // [leaf]
	Spines [][]fabric.NodeID // [pod][plane]
	Tops   [][]fabric.NodeID // [plane][number]; nil: two levels
	Cables [2]int            // parallel ones from a leaf to a switch above it, and from there to a top
}

// Of finds the tree that a fabric is; nil if it is none of these, such as one with a cable missing.
func Of(f *fabric.Fabric) *Tree {
	n := f.Switches()
	t := &Tree{Leaf: make([]int32, n)}
	for s := range t.Leaf {
		t.Leaf[s] = -1
	}
	for i := range f.Endpoints() {
		if e := f.Endpoint(fabric.EndpointID(i)); e.Class == fabric.HostAdapter && e.Switch != fabric.None {
			t.Leaf[e.Switch] = 0
		}
	}
	for s := range fabric.NodeID(n) {
		if t.Leaf[s] == 0 {
			t.Leaf[s] = int32(len(t.Leaves))
			t.Leaves = append(t.Leaves, s)
		}
	}
	if len(t.Leaves) < 2 || !t.pods(f) || !t.planes(f) {
		return nil
	}
	return t
}

// above is the neighbors of a switch that are not below it, sorted, and by how many cables each is joined; ok: all by equally many.
func above(f *fabric.Fabric, s fabric.NodeID, below func(fabric.NodeID) bool) (list []fabric.NodeID, cables int, ok bool) {
	count := map[fabric.NodeID]int{}
	for t, end := f.TrunksFrom(s); t < end; t++ {
		if to := f.Channel(t).To; !below(to) {
			if count[to]++; count[to] == 1 {
				list = append(list, to)
			}
		}
	}
	slices.Sort(list)
	for _, to := range list {
		if cables == 0 {
			cables = count[to]
		}
		if count[to] != cables {
			return nil, 0, false
		}
	}
	return list, cables, true
}

// pods sets Pod and Spines, the latter in any order of planes: leaves below the same switches are a pod. It returns false if
// leaves or pods differ in their numbers of cables and switches above.
func (t *Tree) pods(f *fabric.Fabric) bool {
	t.Pod = make([]int32, len(t.Leaves))
	pod := map[fabric.NodeID]int32{} // of the switches above leaves
	for i, leaf := range t.Leaves {
		list, cables, ok := above(f, leaf, func(fabric.NodeID) bool { return false })
		if !ok || len(list) == 0 || slices.ContainsFunc(list, func(s fabric.NodeID) bool { return t.Leaf[s] >= 0 }) {
			return false
		}
		if t.Cables[0] == 0 {
			t.Cables[0] = cables
		}
		p, known := pod[list[0]]
		if !known {
			p = int32(len(t.Spines))
			t.Spines = append(t.Spines, list)
			for _, s := range list {
				if _, other := pod[s]; other {
					return false
				}
				pod[s] = p
			}
		}
		if cables != t.Cables[0] || !slices.Equal(t.Spines[p], list) || len(list) != len(t.Spines[0]) {
			return false
		}
		t.Pod[i] = p
	}
	return true
}

// planes sets Tops and orders Spines so that switches below the same tops have the same number, that of their plane. It returns
// false if there are no such planes. With one pod there is nothing to do.
func (t *Tree) planes(f *fabric.Fabric) bool {
	if len(t.Spines) == 1 {
		return true
	}
	below := map[fabric.NodeID]bool{}
	for _, leaf := range t.Leaves {
		below[leaf] = true
	}
	plane := map[fabric.NodeID]int{} // of a top
	for p, mids := range t.Spines {
		order := make([]fabric.NodeID, len(mids))
		taken := make([]bool, len(mids))
		for i, s := range mids {
			tops, cables, ok := above(f, s, func(to fabric.NodeID) bool { return below[to] })
			if !ok || len(tops) == 0 {
				return false
			}
			if p == 0 {
				if i == 0 {
					t.Cables[1] = cables
				}
				for _, top := range tops {
					if _, other := plane[top]; other {
						return false
					}
					plane[top] = i
				}
				t.Tops = append(t.Tops, tops)
			}
			k, known := plane[tops[0]]
			if !known || taken[k] || cables != t.Cables[1] || !slices.Equal(t.Tops[k], tops) || len(tops) != len(t.Tops[0]) {
				return false
			}
			order[k], taken[k] = s, true
		}
		t.Spines[p] = order
	}
	return true
}

// Roots is how many planes there are and how many tops each has, with two levels 1: their product is the number of ways down to
// a leaf, parallel cables apart.
func (t *Tree) Roots() (planes, tops int) {
	if t.Tops == nil {
		return len(t.Spines[0]), 1
	}
	return len(t.Spines[0]), len(t.Tops[0])
}

// Way is the way of a demand.
type Way struct {
	Plane, Cable  int32 // Cable is which of the parallel ones between leaf and plane
	Top, TopCable int32 // if Beyond; TopCable is which of the parallel ones to the top
	Beyond        bool  // it goes from pod to pod
	Within        bool  // it stays on its leaf
}

// Color gives each demand a way, [demand], from leaf from[i] to leaf to[i], by their numbers. before has ways that are kept where
// that can be; nil: none.
func (t *Tree) Color(from, to []int32, before []Way) []Way {
	planes, tops := t.Roots()
	ways := make([]Way, len(from))
	var edges, a, b, kept []int32
	for i := range from {
		ways[i] = Way{Within: from[i] == to[i]}
		if !ways[i].Within {
			edges, a, b = append(edges, int32(i)), append(a, from[i]), append(b, to[i])
			if before != nil {
				kept = append(kept, colorOf(before[i].Plane, before[i].Cable, planes, before[i].Within))
			}
		}
	}
	for k, c := range Edges(a, b, planes*t.Cables[0], kept) {
		w := &ways[edges[k]]
		w.Plane, w.Cable = c%int32(planes), c/int32(planes)
	}
	if t.Tops == nil {
		return ways
	}
	for plane := range int32(planes) {
		edges, a, b, kept = edges[:0], a[:0], b[:0], nil
		for i := range ways {
			if p, q := t.Pod[from[i]], t.Pod[to[i]]; !ways[i].Within && p != q && ways[i].Plane == plane {
				edges, a, b = append(edges, int32(i)), append(a, p), append(b, q)
				ways[i].Beyond = true
				if before != nil {
					kept = append(kept, colorOf(before[i].Top, before[i].TopCable, tops, !before[i].Beyond || before[i].Plane != plane))
				}
			}
		}
		for k, c := range Edges(a, b, tops*t.Cables[1], kept) {
			w := &ways[edges[k]]
			w.Top, w.TopCable = c%int32(tops), c/int32(tops)
		}
	}
	return ways
}

// colorOf is the color of a plane or top by its number, with one of its cables, among so many planes or tops; -1 if none.
func colorOf(number, cable int32, numbers int, none bool) int32 {
	if none {
		return -1
	}
	return cable*int32(numbers) + number
}
