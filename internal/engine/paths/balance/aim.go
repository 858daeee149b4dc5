package balance

import (
	"fmt"
	"math"
	"slices"
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

// phases reports whether the aim is about what happens in phases.
func (a Aim) phases() bool { return a == Mixed || a == Shifts }

// ParseAim reads the name of an aim.
func ParseAim(s string) (Aim, error) {
	for a, name := range aims {
		if s == name {
			return Aim(a), nil
		}
	}
	return 0, fmt.Errorf("an aim is %s or %s, not %q", strings.Join(aims[:len(aims)-1], ", "), aims[len(aims)-1], s)
}

// exchange is how many hundredths of the duration of shifts one hundredth of the
// bandwidth of random pairs is worth to Mixed. Much less buys little for shifts dearly
// with bandwidth; at 15, paths stay those for random pairs on some networks where a
// fortieth of bandwidth would save a third of the duration. At 15 thirteen of twenty of the sixty
// networks of test/bench/patchwork have other paths: shifts take more than a fiftieth longer on nine, on two of these
// more than four times as long, and a thirtieth less on one; bandwidth is 1.6 hundredths more in the mean.
const exchange = 10

// What Mixed keeps of the most bandwidth that random pairs can have: where there is less
// than this part, the shortfall counts steep times beside what it counts anyhow. A limit
// that nothing may fall below would leave grown trees with three times the duration of
// shifts for a hundredth of bandwidth, and ends trials that begin just below it before
// they can rise. Of trees as they are grown, paths for random pairs alone have a tenth more
// bandwidth than paths that are good for shifts, which take a quarter of the time there. On none of the sixty networks of
// test/bench/patchwork does weave-any have other paths without it.
const (
	leastBandwidth = 0.88
	steep          = 2
)

// Worth makes one number, the more the better, of what random pairs get of what they would
// alone, of which most is the best that is known, and of the durations of shifts in several
// orders of ranks, 1 if no flow meets another. It is not for AllToAll.
func (a Aim) Worth(bandwidth, most float64, durations []float64) float64 {
	if a == Bisection {
		return bandwidth
	}
	sum := 0.0
	for _, d := range durations {
		sum += math.Log(d)
	}
	mean := sum / float64(max(1, len(durations)))
	if a == Shifts {
		return math.Exp(-mean)
	}
	worth := bandwidth * math.Exp(-mean/exchange)
	if least := most * leastBandwidth; bandwidth < least {
		worth *= math.Pow(bandwidth/least, steep)
	}
	return worth
}

// Beginning is paths that a search for shifts may begin with.
type Beginning struct {
	Name  string
	Paths routing.PathFinder // what it refuses is not begun with
	Slow  bool               // not begun with on large networks, where it takes too long
}

// quick is the beginnings that are not slow.
func quick(all []Beginning) []Beginning {
	return slices.DeleteFunc(slices.Clone(all), func(b Beginning) bool { return b.Slow })
}
