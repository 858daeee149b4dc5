package nue

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// divide divides the switches, as destinations, among at most so many layers, [layer], none of
// them empty; those of each part of the network by themselves. Layers hold about the same
// number of LIDs, and switches near each other: in-trees that end near each other
// share most of their turns.
func divide(f *fabric.Fabric, layers int) [][]fabric.NodeID {
	size := make([]int, f.Switches())
	for s := range size {
		for _, e := range f.Attached(fabric.NodeID(s)) {
			size[s] += 1 << f.Endpoint(e).LMC
		}
	}
	divided := make([][]fabric.NodeID, layers)
	r := regions{f: f, size: size, taken: make([]bool, f.Switches())}
	for _, part := range f.Parts() {
		left := 0
		for _, s := range part {
			left += size[s]
		}
		for i := range divided {
			region := r.grow(part, (left+layers-i-1)/(layers-i))
			for _, s := range region {
				left -= size[s]
			}
			divided[i] = append(divided[i], region...)
		}
	}
	for _, layer := range divided {
		slices.Sort(layer)
	}
	return slices.DeleteFunc(divided, func(layer []fabric.NodeID) bool { return len(layer) == 0 })
}

// regions cuts regions out of a network.
type regions struct {
	f     *fabric.Fabric
	size  []int  // [switch] LIDs
	taken []bool // [switch] it is in a region
}

// grow takes switches of a part, breadth first from the one with the most trunks
// to switches already taken, until they have so many LIDs.
func (r *regions) grow(part []fabric.NodeID, lids int) []fabric.NodeID {
	var region []fabric.NodeID
	heads := r.f.Heads()
	for i := 0; lids > 0; i++ {
		if i == len(region) {
			start := r.start(part)
			if start == fabric.None {
				break
			}
			region = r.take(region, start, &lids)
		}
		first, end := r.f.TrunksFrom(region[i])
		for c := first; c < end && lids > 0; c++ {
			if !r.taken[heads[c]] {
				region = r.take(region, heads[c], &lids)
			}
		}
	}
	return region
}

// take adds a switch to a region, and subtracts its LIDs from those that the region still lacks.
func (r *regions) take(region []fabric.NodeID, s fabric.NodeID, lids *int) []fabric.NodeID {
	r.taken[s] = true
	*lids -= r.size[s]
	return append(region, s)
}

// start is the switch where a region begins: the free one with the fewest trunks
// to free switches, which keeps what is free in one piece. None: all are taken.
func (r *regions) start(part []fabric.NodeID) fabric.NodeID {
	best, fewest := fabric.NodeID(fabric.None), 0
	for _, s := range part {
		if r.taken[s] {
			continue
		}
		free := 0
		for c, end := r.f.TrunksFrom(s); c < end; c++ {
			if !r.taken[r.f.Heads()[c]] {
				free++
			}
		}
		if best == fabric.None || free < fewest {
			best, fewest = s, free
		}
	}
	return best
}
