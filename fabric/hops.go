package fabric

import (
	"cmp"
	"slices"
)

// Hops is the number of trunks from every switch to the nearest of some, [switch]; None
// where no cable leads to one.
func (f *Fabric) Hops(from ...NodeID) []int32 {
	hops := slices.Repeat([]int32{None}, f.switches)
	f.AddHops(hops, from...)
	return hops
}

// AddHops fills in Hops, [switch], of the switches from, which get 0 whatever they had, and of those that have None and can
// be reached from them over others that have None. It returns all that it filled in, the nearest first.
func (f *Fabric) AddHops(hops []int32, from ...NodeID) []NodeID {
	reached := slices.Clone(from) // also the queue of a search in breadth
	for _, s := range from {
		hops[s] = 0
	}
	for i := 0; i < len(reached); i++ {
		for _, v := range f.Neighbours(reached[i]) {
			if hops[v] == None {
				hops[v] = hops[reached[i]] + 1
				reached = append(reached, v)
			}
		}
	}
	return reached
}

// Parts is the connected parts of the network, as lists of switches; the part with most
// switches comes first, equal ones by their lowest switch. A connected network has one.
func (f *Fabric) Parts() [][]NodeID {
	hops := f.Hops()
	var parts [][]NodeID
	for s := range hops {
		if hops[s] == None {
			part := f.AddHops(hops, NodeID(s))
			slices.Sort(part)
			parts = append(parts, part)
		}
	}
	slices.SortFunc(parts, func(x, y []NodeID) int {
		return cmp.Or(cmp.Compare(len(y), len(x)), cmp.Compare(x[0], y[0]))
	})
	return parts
}

// PartOf is the part that each switch is in, [switch], as an index into Parts.
func (f *Fabric) PartOf(parts [][]NodeID) []int32 {
	of := make([]int32, f.switches)
	for i, switches := range parts {
		for _, s := range switches {
			of[s] = int32(i)
		}
	}
	return of
}

// All is the numbers below n: the switches, trunks or endpoints of a fabric that has n.
func All[ID ~int | ~int32](n int) []ID {
	all := make([]ID, n)
	for i := range all {
		all[i] = ID(i)
	}
	return all
}
