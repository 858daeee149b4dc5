// Package option names what engines can be told: each option is a bit, and a row of the
// table of engines says which of them it uses.
package option

import (
	"math/bits"
	"strings"
)

// Set is an option, or several, as bits.
type Set uint16

// The options, in the order of their names below.
const (
	Roots Set = 1 << iota
	Seed
	Aim
	Weights
	Order
	Prefer
	Before
	Orders
	Demands

	Balanced = Seed | Aim | Weights | Orders | Demands // of balanced paths, and of what begins with them
)

// names is the options as on the command line, and in the daemon's file if that has them.
var names = [...]string{"roots", "seed", "aim", "weight", "order", "prefer", "before", "rank-order", "traffic"}

// Count is how many options there are.
const Count = len(names)

// Index is the number of one option, from 0 on.
func (s Set) Index() int { return bits.TrailingZeros16(uint16(s)) }

// First is the first option of a set that is not empty.
func (s Set) First() Set { return s & -s }

func (s Set) String() string {
	var all []string
	for i, name := range names {
		if s>>i&1 != 0 {
			all = append(all, name)
		}
	}
	return strings.Join(all, ", ")
}
