package papers

import (
	"fmt"

	"github.com/weft-fabric/weft/internal/reproduce/claims"
)

// randomPermutations is the traffic of which several are drawn.
const randomPermutations = "permutation"

// damagedTrees is a complete tree of three levels, and the same with ever more of its 3,456
// cables between switches missing.
func damagedTrees() (list []claims.Place) {
	const spec = "xgft:m=12x12,w=12x12,hosts=12"
	for _, missing := range []int{0, 3, 17, 35, 69, 173, 346, 691} {
		label := "0"
		if missing > 0 {
			label = fmt.Sprintf("%.2g %%", float64(missing)/34.56)
		}
		list = append(list, claims.Place{Label: label, Spec: spec, Missing: missing})
	}
	return list
}

// largeTrees is complete trees of the size the paper speaks of.
var largeTrees = []claims.Place{
	{Label: "11664", X: 11664, Spec: "xgft:m=18x36,w=18x18,hosts=18"},
	{Label: "27648", X: 27648, Spec: "xgft:m=24x48,w=24x24,hosts=24"},
	{Label: "40960", X: 40960, Spec: "xgft:m=32x40,w=32x32,hosts=32"},
}

var engines2020 = []string{"minhop", "updn", "ftree", "sssp", "dmodc"}

const risky = " The congestion risk of a port is the number of sources whose packets leave by it or of their destinations, whichever is less; of a network that of its port with most. " +
	"On a complete fat tree of 1,728 hosts and 432 switches in three levels, of whose cables more and more are missing, drawn by lot."

// under is lines for every engine under some traffic.
func under(pattern string) []claims.Line {
	lines := beside(each(engines2020, damagedTrees()))
	for i := range lines {
		lines[i].Traffic = pattern
	}
	return lines
}

// The experiments of the paper's static analysis. Its text was not at hand, so that they
// have the names of its measures instead of the numbers of its figures, and the claims
// are those of its abstract; its network and its faults are not known here.
var micro2020 = []Experiment{
	{
		ID: "micro2020-a2a", Figure: "A2A", Title: "Congestion risk of all-to-all on damaged fat trees",
		Shows: "Every host sends to every other." + risky + " Where a fifth of the cables is gone, balance and weave-any have 80 and 92 on the two networks, sssp and nue 63 to 71, " +
			"although the fullest port has fewer routes under the former (3,744 and 3,828 beside 4,128 to 4,380): they even out routes, and not how many sources meet how many destinations at a port.",
		Measure: Risk, X: "cables missing", Lines: under("alltoall"),
		Claims: []claims.Claim{
			{Where: "Abstract", Says: "Under heavy degradation Dmodc is similar to the most stable algorithms", Check: claims.Times("dmodc", "updn", "20 %", 1, 1+claims.Alike),
				Why: "Ours follows the formula as far as it is known to us. It is not that its ports are shared less evenly: where a fifth of the cables is gone its fullest one has 5,735 routes in the mean, that of Up*/Down* 10,088. Why more sources meet more destinations there is open."},
		},
	},
	{
		ID: "micro2020-rp", Figure: "RP", Title: "Congestion risk of random permutations on damaged fat trees",
		Shows:   "Every host sends to another, each to one of its own, drawn by lot." + risky,
		Measure: Risk, X: "cables missing", Lines: under(randomPermutations),
		Claims: []claims.Claim{
			{Where: "Abstract", Says: "Under heavy degradation Dmodc is similar to the most stable algorithms", Check: claims.Times("dmodc", "updn", "20 %", 1, 1+claims.Alike)},
		},
	},
	{
		ID: "micro2020-sp", Figure: "SP", Title: "Congestion risk of shift permutations on damaged fat trees",
		Shows: "Every host sends to the one so many ranks further on, and of all distances the worst counts. Ranks are in the order of switches. Near-optimal is taken to be five flows at most." + risky +
			" Where a fifth of the cables is gone, balance and weave-any have 12, as sssp and nue have.",
		Measure: Risk, X: "cables missing", Lines: under("shifts"),
		Claims: []claims.Claim{
			{Where: "Abstract", Says: "Dmodc is optimal on the complete tree", Check: claims.RangesAt("dmodc", "0", 1, 1)},
			{Where: "Abstract", Says: "near-optimal up to 1 % of random degradation", Check: claims.RangesAt("dmodc", "1 %", 1, 5)},
		},
	},
	{
		ID: "micro2020-time", Figure: "Time", Title: "Routing time of complete fat trees",
		Shows:   "Paths and lanes, on the cores that there are; in the full set of the two largest over three runs.",
		Measure: Seconds, X: "hosts", Curves: true, LogX: true, Lines: each(engines2020, largeTrees),
		Claims: []claims.Claim{
			{Where: "Abstract", Says: "Complete rerouting of tens of thousands of nodes takes less than a second", Check: claims.Absolute("dmodc", "11664", 1)},
		},
	},
}
