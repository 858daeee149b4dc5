// Package ways is what adaptive routers share: the sets of trunks that lead to a
// destination, by all shortest ways and by all shortest Up*/Down* ways.
package ways

import (
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/internal/dag"
)

// OneEach is an address for every end, as routing.NewAdaptive takes them.
func OneEach(ends []bool) []int {
	addresses := make([]int, len(ends))
	for s, end := range ends {
		if end {
			addresses[s] = 1
		}
	}
	return addresses
}

// CheckBudget refuses budgets that no router can use.
func CheckBudget(b routing.Budget) error {
	if b.VLs < 1 || b.VLs > routing.MaxDataVLs {
		return fmt.Errorf("routing: a budget has 1 to %d lanes, not %d", routing.MaxDataVLs, b.VLs)
	}
	return nil
}

// AllLanes is every lane of a budget, as bits.
func AllLanes(b routing.Budget) uint16 { return uint16(1)<<b.VLs - 1 }

// AllowAll lets every end use every address that the cables lead it to, on some
// lanes.
func AllowAll(t *routing.Adaptive, ends []bool, lanes uint16) {
	part := make([]int, t.Fabric.Switches())
	for i, switches := range t.Fabric.Parts() {
		for _, s := range switches {
			part[s] = i
		}
	}
	for a := range routing.Address(t.Addresses()) {
		row, d := t.AllowedRow(a), t.Destination(a)
		for s := range row {
			if ends[s] && fabric.NodeID(s) != d && part[s] == part[d] {
				row[s] = lanes
			}
		}
	}
}

// Shortest writes every trunk that d leads by into a set.
func Shortest(set routing.TrunkSet, d *dag.DAG) {
	for _, c := range d.Out {
		set.Add(c)
	}
}
