package engines

import (
	"slices"
	"sync"

	"github.com/weft-fabric/weft/internal/engine/lanes/address"
	"github.com/weft-fabric/weft/internal/engine/lanes/exact"
	"github.com/weft-fabric/weft/internal/engine/lanes/hop"
	"github.com/weft-fabric/weft/internal/engine/lanes/layer"
	"github.com/weft-fabric/weft/internal/engine/lanes/single"
	weavelanes "github.com/weft-fabric/weft/internal/engine/lanes/weave"
	"github.com/weft-fabric/weft/internal/engine/option"
	"github.com/weft-fabric/weft/internal/engine/paths/dmodc"
	"github.com/weft-fabric/weft/internal/engine/paths/dor"
	"github.com/weft-fabric/weft/internal/engine/paths/fattree"
	"github.com/weft-fabric/weft/internal/engine/paths/layered"
	"github.com/weft-fabric/weft/internal/engine/paths/minhop"
	"github.com/weft-fabric/weft/internal/engine/paths/p2sssp"
	"github.com/weft-fabric/weft/internal/engine/paths/parx"
	"github.com/weft-fabric/weft/internal/engine/paths/shortest"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/engine/paths/symmetric"
	"github.com/weft-fabric/weft/internal/engine/paths/updown"
	"github.com/weft-fabric/weft/routing"
)

// Finder is a path finder by name.
type Finder struct {
	Name    string
	Summary string
	Paper   string
	Safe    bool   // free of deadlock on one lane, with any lane assigner
	Refuses string // which fabrics it refuses; empty: none
	Uses    option.Set
	New     func(Options) routing.PathFinder
}

// Assigner is a lane assigner by name.
type Assigner struct {
	Name     string
	Summary  string
	Paper    string
	Safe     bool             // free of deadlock with any paths
	Contract routing.Contract // what clients must do for its tables to hold
	Needs    string           // lanes
	Refuses  string           // which fabrics it refuses; empty: none, except for lack of lanes
	Uses     option.Set
	New      func(Options) routing.LaneAssigner
}

// FinderNamed finds a path finder.
func FinderNamed(name string) (Finder, error) {
	return find(name, "path finder", finders(), func(f Finder) string { return f.Name })
}

// AssignerNamed finds a lane assigner.
func AssignerNamed(name string) (Assigner, error) {
	return find(name, "lane assigner", assigners(), func(a Assigner) string { return a.Name })
}

// Finders lists the path finders.
func Finders() []Finder { return slices.Clone(finders()) }

// finders is the rows of Finders, made once.
var finders = sync.OnceValue(func() []Finder {
	return []Finder{
		{Name: "minhop", Summary: "shortest paths, balanced by each switch on its own", Paper: "OpenSM's default",
			New: func(Options) routing.PathFinder { return minhop.Finder{} }},
		{Name: "updn", Summary: "no path goes up after it went down; ranked from roots", Paper: autonet, Safe: true,
			Refuses: "roots that leave switches apart", Uses: option.Roots,
			New: func(o Options) routing.PathFinder { return updown.Finder{Roots: o.Roots} }},
		{Name: "updn-dfs", Summary: "the same along a depth-first spanning tree", Paper: sancho, Safe: true,
			New: func(Options) routing.PathFinder { return updown.Finder{Rank: updown.DepthFirst} }},
		{Name: "dnup", Summary: "the same, ranked from the switches with hosts", Paper: "OpenSM's dnup", Safe: true,
			Refuses: "networks whose ranks leave switches apart",
			New:     func(Options) routing.PathFinder { return updown.Finder{Rank: updown.FromLeaves} }},
		{Name: "ftree", Summary: "fat trees: every destination comes down one way, dealt out in turn", Paper: "Zahavi et al., CCPE 2010", Safe: true,
			Refuses: "what is no tree: cables within a level",
			New:     func(Options) routing.PathFinder { return fattree.Finder{} }},
		{Name: "dmodc", Summary: "fat trees with faults: every port by a formula, d-mod-k over what is left", Paper: micro2020, Safe: true,
			Refuses: "what is no tree: cables within a level",
			New:     func(Options) routing.PathFinder { return dmodc.Finder{} }},
		{Name: "dor", Summary: "dimension order, the coordinates found from the graph", Paper: "Dally, Seitz, Trans. Computers 1987",
			Refuses: "what is no mesh, torus or hypercube; damage without a second way",
			New:     func(Options) routing.PathFinder { return dor.Finder{} }},
		{Name: "shortest", Summary: "one shortest path per pair of switches, spread", Paper: tpds2006,
			New: func(Options) routing.PathFinder { return shortest.Finder{} }},
		{Name: "shortest-lowest", Summary: "one shortest path per pair of switches, by the lowest port", Paper: tpds2006,
			New: func(Options) routing.PathFinder { return shortest.Finder{Pick: shortest.Lowest} }},
		{Name: "shortest-random", Summary: "one shortest path per pair of switches, by chance (--seed)", Paper: tpds2006, Uses: option.Seed,
			New: func(o Options) routing.PathFinder { return shortest.Finder{Pick: shortest.Random, Seed: o.Seed} }},
		{Name: "symmetric", Summary: "one shortest path per pair of switches, the same both ways, balanced", Paper: ours,
			New: func(Options) routing.PathFinder { return symmetric.Finder{} }},
		{Name: "symmetric-regular", Summary: "the same, fewer lanes before balance", Paper: ours,
			New: func(Options) routing.PathFinder { return symmetric.Finder{Regular: true} }},
		{Name: "sssp", Summary: "shortest paths, balanced over the whole network", Paper: hoti2009,
			New: func(Options) routing.PathFinder { return sssp.Finder{} }},
		{Name: "lighter", Summary: "symmetric or, with an eighth less on the fullest channel, sssp", Paper: ours + "; " + hoti2009,
			New: func(o Options) routing.PathFinder { return o.lighter() }},
		{Name: "p2sssp", Summary: "the same, charged pair by pair", Paper: hoti2009,
			New: func(Options) routing.PathFinder { return p2sssp.Finder{} }},
		{Name: "balance", Summary: "shortest paths, in trees those up and then down, routed again until flows meet no less", Paper: ours + ", after " + hoti2009, Uses: option.Balanced,
			New: func(o Options) routing.PathFinder { return o.balanced() }},
		{Name: "multipath", Summary: "another tree of shortest paths for each address (LMC)", Paper: tpds2006,
			New: func(Options) routing.PathFinder { return sssp.MultiPath{} }},
		{Name: "layered", Summary: "shortest paths to first addresses, a hop or two more to further ones (LMC), apart", Paper: sc2020 + "; " + nsdi2024,
			Refuses: "diameters of more than four hops",
			New:     func(Options) routing.PathFinder { return layered.Finder{} }},
		{Name: "parx", Summary: "HyperX: shortest paths without the cables of one half, another for each of four addresses (LMC)", Paper: sc2019,
			Refuses: "what is no HyperX of two dimensions or more; ports with fewer than four addresses",
			New:     func(Options) routing.PathFinder { return parx.Finder{} }},
		{Name: "mroots", Summary: "an Up*/Down* tree for each address (LMC), roots far apart", Paper: tpds2006,
			New: func(Options) routing.PathFinder { return updown.MultiRoot{} }},
	}
})

// endless is what breaking another dependency than the weakest can come to.
const endless = "paths that it would move from layer to layer for ever"

// Assigners lists the lane assigners.
func Assigners() []Assigner { return slices.Clone(assigners()) }

// assigners is the rows of Assigners, made once.
var assigners = sync.OnceValue(func() []Assigner {
	return []Assigner{
		{Name: "single", Summary: "everything on one lane", Contract: routing.Any, Needs: "1",
			New: func(Options) routing.LaneAssigner { return single.Assigner{} }},
		{Name: "first-fit", Summary: "each path in the first layer that stays acyclic, layers balanced", Paper: tpds2006,
			Safe: true, Needs: "as found", Uses: option.Order,
			New: func(o Options) routing.LaneAssigner { return layer.FirstFit{Order: o.Order} }},
		{Name: "first-fit-plain", Summary: "the same as printed: every path taken once", Paper: tpds2006,
			Safe: true, Needs: "as found", Uses: option.Order,
			New: func(o Options) routing.LaneAssigner { return layer.FirstFit{Order: o.Order, AsPrinted: true} }},
		{Name: "first-fit-some", Summary: "the same, leaving out addresses whose paths fit nowhere", Paper: tpds2006,
			Safe: true, Needs: "as found", Refuses: "pairs none of whose addresses fits", Uses: option.Order,
			New: func(o Options) routing.LaneAssigner { return layer.FirstFit{Order: o.Order, Discard: true} }},
		{Name: "break-cycles", Summary: "all paths in one layer, the weakest dependency of each cycle moved on", Paper: ipdps11,
			Safe: true, Needs: "as found",
			New: func(Options) routing.LaneAssigner { return layer.BreakCycles{} }},
		{Name: "break-strongest", Summary: "the same, breaking the strongest dependency", Paper: ipdps11,
			Safe: true, Needs: "as found",
			New: func(Options) routing.LaneAssigner { return layer.BreakCycles{Heuristic: layer.Strongest} }},
		{Name: "break-first", Summary: "the same, breaking the dependency found first", Paper: ipdps11,
			Safe: true, Needs: "as found",
			New: func(Options) routing.LaneAssigner { return layer.BreakCycles{Heuristic: layer.First} }},
		{Name: "break-cycles-plain", Summary: "break-cycles as printed: no path is put back, no layer saved", Paper: ipdps11,
			Safe: true, Needs: "as found",
			New: func(Options) routing.LaneAssigner { return layer.BreakCycles{AsPrinted: true} }},
		{Name: "break-strongest-plain", Summary: "the same, breaking the strongest dependency", Paper: ipdps11,
			Safe: true, Needs: "as found", Refuses: endless,
			New: func(Options) routing.LaneAssigner {
				return layer.BreakCycles{Heuristic: layer.Strongest, AsPrinted: true}
			}},
		{Name: "break-first-plain", Summary: "the same, breaking the dependency found first", Paper: ipdps11,
			Safe: true, Needs: "as found", Refuses: endless,
			New: func(Options) routing.LaneAssigner {
				return layer.BreakCycles{Heuristic: layer.First, AsPrinted: true}
			}},
		{Name: "hop-d2", Summary: "lane 0 from adapters, lane 1 from switches", Paper: hoti2016,
			Safe: true, Contract: routing.Any, Needs: "2", Refuses: "paths of more than two hops",
			New: func(Options) routing.LaneAssigner { return hop.D2{} }},
		{Name: "hop-dn", Summary: "the lane rises at every hop", Paper: hoti2016,
			Safe: true, Needs: "the hops of the longest path", Refuses: "paths for which 16 service levels do not suffice",
			New: func(Options) routing.LaneAssigner { return hop.DN{} }},
		{Name: "hop-dn-plain", Summary: "hop-dn as printed: path by path, the first service level that fits", Paper: hoti2016,
			Safe: true, Needs: "the hops of the longest path", Refuses: "paths for which 16 service levels do not suffice in that order",
			New: func(Options) routing.LaneAssigner { return hop.Printed{} }},
		{Name: "hop-color", Summary: "the lane rises at every hop, by the color of the second switch", Paper: nsdi2024,
			Safe: true, Contract: routing.Directed, Needs: "the hops of the longest path, 3 at the most", Refuses: "paths of more than three hops; switches that 15 colors cannot tell apart",
			New: func(Options) routing.LaneAssigner { return hop.Color{} }},
		{Name: "weave", Summary: "lanes turn by turn, that never fall along a path; few dependencies, few lanes", Paper: ours,
			Safe: true, Needs: "as found",
			New: func(Options) routing.LaneAssigner { return weavelanes.Assigner{} }},
		{Name: "exact", Summary: "the fewest layers there are", Paper: ipdps11,
			Safe: true, Needs: "as few as can be", Refuses: "networks too large to search",
			New: func(Options) routing.LaneAssigner { return exact.Assigner{} }},
		{Name: "address", Summary: "the layer is the address; sources may use all", Paper: tpds2006, Contract: routing.Directed, Needs: "2^LMC",
			New: func(Options) routing.LaneAssigner { return address.Assigner{} }},
		{Name: "address-one", Summary: "the layer is the address; each pair keeps to one", Paper: tpds2006, Needs: "2^LMC",
			New: func(Options) routing.LaneAssigner { return address.Assigner{Single: true} }},
	}
})
