// Package choices is the sets of trunks that switches choose from under adaptive routing:
// those of all shortest paths to a destination, and of all shortest Up*/Down* paths.
package choices

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/routing"
)

// OneEach is an address for every switch that is an end, [switch], as adaptive.New takes them.
func OneEach(ends []bool) []int {
	addresses := make([]int, len(ends))
	for s, end := range ends {
		if end {
			addresses[s] = 1
		}
	}
	return addresses
}

// AllLanes is every lane of a budget, as bits.
func AllLanes(b routing.Budget) uint16 { return uint16(1)<<b.VLs - 1 }

// AllowAll lets every switch that is an end use every address in its part of the network, on some
// lanes, given as bits.
func AllowAll(t *adaptive.Tables, ends []bool, lanes uint16) {
	part := make([]int, t.Fabric.Switches())
	for i, switches := range t.Fabric.Parts() {
		for _, s := range switches {
			part[s] = i
		}
	}
	for a := range adaptive.Address(t.Addresses()) {
		row, d := t.AllowedRow(a), t.Destination(a)
		for s := range row {
			if ends[s] && fabric.NodeID(s) != d && part[s] == part[d] {
				row[s] = lanes
			}
		}
	}
}

// Add adds every trunk of d to a set.
func Add(set adaptive.TrunkSet, d *dag.DAG) {
	for _, c := range d.Out {
		set.Add(c)
	}
}
