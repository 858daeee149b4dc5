package balance

import (
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/routing"
)

// Aim is what a routing shall be good for.
type Aim uint8

// The aims.
const (
	Mixed     Aim = iota // Bisection and Shifts, neither of them bought dearly with the other
	Bisection            // most bandwidth for pairs at random
	Shifts               // all to all in phases, and whatever else moves ranks by an offset, takes least time
	AllToAll             // fewest routes on the fullest trunk: everybody sends to everybody at once
)

var aims = [...]string{"mixed", "bisection", "shifts", "alltoall"}

func (a Aim) String() string { return aims[a] }

// phases says whether the aim is about what happens in phases.
func (a Aim) phases() bool { return a == Mixed || a == Shifts }

// ParseAim reads the name of an aim.
func ParseAim(s string) (Aim, error) {
	for a, name := range aims {
		if s == name {
			return Aim(a), nil
		}
	}
	return 0, fmt.Errorf("balance: an aim is %s or %s, not %q", strings.Join(aims[:len(aims)-1], ", "), aims[len(aims)-1], s)
}

// Beginning is paths that a search for shifts may begin with.
type Beginning struct {
	Name  string
	Paths routing.PathFinder // what it refuses is not begun with
}
