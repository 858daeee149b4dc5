package layer

import "github.com/weft-fabric/weft/fabric"

// Heuristic says which dependency of a cycle BreakCycles moves to the next layer: section IV of the paper
// on DFSSSP (Domke, Hoefler, Nagel: IPDPS 2011), which found Weakest to be the best.
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

// victim is the turn to break of a cycle: the trunks of stack[back:], the last of which leads to the
// first again. Of several that are as weak or strong it is the one nearest to back.
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

// ruleKeeps is the rule that a refusal names if empty.
const ruleKeeps = "every layer keeps some of its paths"

// empty reports whether a layer has lost all its bundles (the paths from a switch to a destination), so
// that the next has the same and ends like it: the paths over trunks a, b, c and over c, a, b close a
// cycle whose strongest turn, from a to b, both make. The weakest turn of a cycle always leaves some
// paths: if all made it, each would make all turns of the cycle.
func (bc *breaker) empty(layer uint8) bool {
	for d, s := range bc.all {
		if d.sl[s] == layer {
			return false
		}
	}
	return true
}
