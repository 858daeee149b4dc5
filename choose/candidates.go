package choose

import (
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// candidate is an engine worth trying.
type candidate struct {
	engine string

	// cost is the time of routing for every switch and LID, in nanoseconds on two
	// cores of 2024, rounded up from what BenchmarkBest measures. What the engine
	// begins with that others have made already is not in it.
	cost int

	// search is what the engine adds at the most on large networks to look for
	// something better; on small ones it is searching for every switch and LID.
	search time.Duration

	// sure says that the engine takes every network and is quick: it is tried
	// first, so that there is something proven soon.
	sure bool

	// heeds says that the engine begins with balanced paths, which are made for an
	// aim and for weights of hosts. Others do not look at those.
	heeds bool

	// oneLane says that on a single lane the engine's tables hold for any contract,
	// though with more they need one that is honored.
	oneLane bool
}

// candidates is what is tried, the likely first. Not in it: engines for several
// addresses and adaptive ones, which need what a fabric may not have; p2sssp, which
// takes too long; and what another candidate does with more bandwidth: dnup (updn),
// sssp (balance), dfsssp-online (dfsssp), df-d2-minhop (df-d2), df-dn-minhop
// (df-dn).
var candidates = []candidate{
	{engine: "balance", heeds: true},
	{engine: "weave-any", cost: 150, search: 3 * time.Second, heeds: true},
	{engine: "weave", cost: 100, search: 500 * time.Millisecond, heeds: true},
	{engine: "ftree", cost: 60},
	{engine: "updn", cost: 60, sure: true},
	{engine: "dor", cost: 60},
	{engine: "torus-2qos", cost: 60},
	{engine: "df-d2", cost: 60},
	{engine: "dfsssp", cost: 150, search: time.Second},
	{engine: "lash", cost: 150, search: time.Second},
	{engine: "df-dn", cost: 850},
	{engine: "minhop", cost: 60},
	{engine: "nue", cost: 400, search: 8 * time.Second, oneLane: true},
}

// What is known of parts of the work in the same way: judging and simulating any
// tables, and making balanced paths, once for all that begin with them.
var (
	judging   = candidate{cost: 70, search: 150 * time.Millisecond}
	balancing = candidate{cost: 50, search: 1500 * time.Millisecond}
)

// searching is the nanoseconds for every switch and LID that a search takes as long
// as its limit is not reached.
const searching = 6000

// fits says whether the engine could be proven under a contract.
func (c candidate) fits(e engines.Engine, contract routing.Contract) bool {
	_, fixed := contract.FixedMask()
	return !fixed || c.oneLane || e.Contract() == routing.Any
}

// deaf says that the engine would make the same tables whatever the aim and the
// weights of hosts that were asked for.
func (c candidate) deaf(o engines.Options) bool {
	return !c.heeds && o.Shaped()
}

// time is how long this part of the work is expected to take. All parts go switch by
// switch for every LID.
func (c candidate) time(f *fabric.Fabric) time.Duration {
	work := 0
	for range f.LIDs() {
		work += f.Switches()
	}
	return time.Duration(work*c.cost) + min(c.search, time.Duration(work*searching))
}

// estimate is how long it takes to route with the engine, to judge the tables and to
// simulate them. ready says that balanced paths are there already.
func (c candidate) estimate(f *fabric.Fabric, ready bool) time.Duration {
	d := c.time(f) + judging.time(f)
	if c.heeds && !ready {
		d += balancing.time(f)
	}
	return d
}

// DefaultTime is the budget of time where no other is given: ten seconds, or on large
// networks what the engines are expected to take that are best on most of them.
func DefaultTime(f *fabric.Fabric) time.Duration {
	d, ready := time.Duration(0), false
	for _, c := range candidates {
		if c.sure || c.heeds {
			d += c.estimate(f, ready)
			ready = ready || c.heeds
		}
	}
	return max(DefaultBudget, d)
}
