package choose

import (
	"cmp"
	"slices"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/auto"
	"github.com/weft-fabric/weft/internal/engine/option"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// Candidates is the engines that auto tries, by their places.
func Candidates() []engines.Engine {
	all := slices.DeleteFunc(engines.All(), func(e engines.Engine) bool { return e.Auto.Place == 0 })
	slices.SortFunc(all, func(a, b engines.Engine) int { return cmp.Compare(a.Auto.Place, b.Auto.Place) })
	return all
}

// Estimates for other parts of the work: judging and simulating tables, and making
// balanced paths, once for all engines that begin with them.
var (
	judging   = auto.Row{Cost: 70, Search: 150 * time.Millisecond}
	balancing = auto.Row{Cost: 50, Search: 1500 * time.Millisecond}
)

// searching is the nanoseconds per switch and LID of an engine's search, as long as its
// limit is not reached.
const searching = 6000

// shaping is the options for which balanced paths are made. Other engines do not use
// them.
const shaping = option.Aim | option.Weights

// Balanced reports whether an engine begins with balanced paths.
func Balanced(e engines.Engine) bool { return e.Uses&shaping != 0 }

// deaf says that an engine would make the same tables whatever weights of hosts are set,
// which no measurement of auto knows of.
func deaf(e engines.Engine, o engines.Options) bool {
	return o.Given()&option.Weights&^e.Uses != 0
}

// simplicity is the place of an engine in the table of all, which begins with the simplest.
func simplicity(name string) int {
	return slices.IndexFunc(engines.All(), func(e engines.Engine) bool { return e.Name == name })
}

// onOneLane says that an engine is safe under a contract on a single lane only.
func onOneLane(e engines.Engine, contract routing.Contract) bool {
	_, fixed := contract.FixedMask()
	return fixed && e.AnyOnOneLane
}

// Fits reports whether an engine could be proven under a contract.
func Fits(e engines.Engine, contract routing.Contract) bool {
	_, fixed := contract.FixedMask()
	return !fixed || e.AnyOnOneLane || e.Contract == routing.Any
}

// expected is how long a part of the work is expected to take. All parts go through the
// switches for every LID.
func expected(a auto.Row, f *fabric.Fabric) time.Duration {
	work := 0
	for range f.LIDs() {
		work += f.Switches()
	}
	return time.Duration(work*a.Cost) + min(a.Search, time.Duration(work*searching))
}

// Estimate is how long it takes to route with an engine, to judge the tables and to
// simulate them. ready says that balanced paths have been made.
func Estimate(e engines.Engine, f *fabric.Fabric, ready bool) time.Duration {
	d := expected(e.Auto, f) + expected(judging, f)
	if Balanced(e) && !ready {
		d += expected(balancing, f)
	}
	return d
}

// DefaultTime is the default budget of time: ten seconds or, on large networks, the
// expected time of the engines that are best on most of them.
func DefaultTime(f *fabric.Fabric) time.Duration {
	d, ready := time.Duration(0), false
	for _, e := range Candidates() {
		if e.Auto.Sure || Balanced(e) {
			d += Estimate(e, f, ready)
			ready = ready || Balanced(e)
		}
	}
	return max(leastTime, d)
}
