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

	// cost is the time of routing and judging for every switch and LID, in
	// nanoseconds on two cores of 2024, as seen on the largest Dragonfly and fat tree
	// of bench, rounded up.
	cost int

	// search is what the engine adds at the most on large networks to look for
	// something better; on small ones it is searching for every switch and LID.
	search time.Duration

	// oneLane says that on a single lane the engine's tables hold for any contract,
	// though with more they need one that is honored.
	oneLane bool

	// heeds says that the engine makes paths for an aim and for weights of hosts.
	heeds bool
}

// candidates is what is tried, the likely and quick first. Not in it: engines for
// several addresses and adaptive ones, which need what a fabric may not have;
// p2sssp, which takes too long; and what another candidate does with more
// bandwidth: dnup (updn), sssp (balance), dfsssp-online (dfsssp), df-d2-minhop
// (df-d2), df-dn-minhop (df-dn).
var candidates = []candidate{
	{engine: "balance", cost: 150, search: 1500 * time.Millisecond, heeds: true},
	{engine: "weave-any", cost: 250, search: 3 * time.Second, heeds: true},
	{engine: "weave", cost: 200, search: 2 * time.Second, heeds: true},
	{engine: "ftree", cost: 150},
	{engine: "updn", cost: 150},
	{engine: "dor", cost: 150},
	{engine: "torus-2qos", cost: 150},
	{engine: "df-d2", cost: 150},
	{engine: "dfsssp", cost: 350},
	{engine: "lash", cost: 350},
	{engine: "df-dn", cost: 900},
	{engine: "minhop", cost: 150},
	{engine: "nue", cost: 300, search: 2 * time.Second, oneLane: true},
}

// searching is the nanoseconds for every switch and LID that a search takes as long
// as its limit is not reached.
const searching = 3000

// fits says whether the engine could be proven under a contract.
func (c candidate) fits(contract routing.Contract) bool {
	e, err := engines.Named(c.engine)
	_, fixed := contract.FixedMask()
	return err == nil && (!fixed || c.oneLane || e.Contract() == routing.Any)
}

// deaf says that the engine would make the same tables whatever the aim and the
// weights of hosts that were asked for.
func (c candidate) deaf(o engines.Options) bool {
	return !c.heeds && o.Shaped()
}

// estimate is how long the engine is expected to take. All of them go switch by
// switch for every LID.
func (c candidate) estimate(f *fabric.Fabric) time.Duration {
	work := 0
	for range f.LIDs() {
		work += f.Switches()
	}
	return time.Duration(work*c.cost) + min(c.search, time.Duration(work*searching))
}
