package layer

import "github.com/weft-fabric/weft/fabric"

// Heuristic says which dependency of a cycle to break: section IV of the paper,
// which found Weakest to be the best.
type Heuristic uint8

// The heuristics.
const (
	Weakest   Heuristic = iota // the one with the fewest paths
	Strongest                  // the one with the most paths
	First                      // the one found first: what the paper calls pseudo-random
)

// Heuristics is every heuristic.
var Heuristics = [...]Heuristic{Weakest, Strongest, First}

func (h Heuristic) String() string { return [...]string{"weakest", "strongest", "first"}[h] }

// victim is the turn to break of the cycle that the top of the stack closes,
// which begins at back; of several the one nearest its beginning.
func (bc *breaker) victim(back int) (in, out fabric.ChannelID) {
	best := uint32(0)
	for i := back; i < len(bc.stack); i++ {
		a, b := bc.stack[i].trunk, bc.stack[back].trunk
		if i+1 < len(bc.stack) {
			b = bc.stack[i+1].trunk
		}
		n := bc.count[bc.Fabric.Turn(a, b)]
		if i == back || bc.heuristic == Weakest && n < best || bc.heuristic == Strongest && n > best {
			best, in, out = n, a, b
		}
	}
	return in, out
}

const ruleKeeps = "every layer keeps some of its paths"

// empty reports whether a layer has lost all its bundles, so that the next has the same and
// ends like it: paths abc and cab close a cycle whose strongest turn, ab, both make. The
// weakest turn of a cycle always leaves some: all of them would make all its turns.
func (bc *breaker) empty(layer uint8) bool {
	for d, s := range bc.all {
		if d.sl[s] == layer {
			return false
		}
	}
	return true
}
