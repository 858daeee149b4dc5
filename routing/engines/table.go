package engines

import (
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/adaptive/alash"
	"github.com/weft-fabric/weft/routing/adaptive/escape"
	adaptiveupdown "github.com/weft-fabric/weft/routing/adaptive/updown"
	"github.com/weft-fabric/weft/routing/lanes/address"
	"github.com/weft-fabric/weft/routing/lanes/exact"
	"github.com/weft-fabric/weft/routing/lanes/hop"
	"github.com/weft-fabric/weft/routing/lanes/layer"
	"github.com/weft-fabric/weft/routing/lanes/single"
	weavelanes "github.com/weft-fabric/weft/routing/lanes/weave"
	"github.com/weft-fabric/weft/routing/nue"
	"github.com/weft-fabric/weft/routing/paths/dor"
	"github.com/weft-fabric/weft/routing/paths/fattree"
	"github.com/weft-fabric/weft/routing/paths/minhop"
	"github.com/weft-fabric/weft/routing/paths/p2sssp"
	"github.com/weft-fabric/weft/routing/paths/shortest"
	"github.com/weft-fabric/weft/routing/paths/sssp"
	"github.com/weft-fabric/weft/routing/paths/symmetric"
	"github.com/weft-fabric/weft/routing/paths/updown"
	"github.com/weft-fabric/weft/routing/torus2qos"
	"github.com/weft-fabric/weft/routing/weave"
)

// The papers, as the tables cite them.
const (
	autonet  = "Schroeder et al., Autonet, JSAC 1991"
	sancho   = "Sancho, Robles, Euro-Par 2000"
	hoti2016 = "Schneider, Bibartiu, Hoefler, HOTI 2016"
	hoti2009 = "Hoefler, Schneider, Lumsdaine, HOTI 2009"
	ipdps11  = "Domke, Hoefler, Nagel, IPDPS 2011"
	tpds2006 = "Lysne et al., TPDS 2006"
	ours     = "weft"
)

// Finders is every path finder.
func Finders() []Finder {
	return []Finder{
		{Name: "minhop", Summary: "shortest paths, balanced by each switch on its own", Paper: "OpenSM's default",
			New: func(Options) routing.PathFinder { return minhop.Finder{} }},
		{Name: "updn", Summary: "no path goes up after it went down; ranked from roots", Paper: autonet, Safe: true,
			Refuses: "roots that leave switches apart",
			New:     func(o Options) routing.PathFinder { return updown.Finder{Roots: o.Roots} }},
		{Name: "updn-dfs", Summary: "the same along a depth-first spanning tree", Paper: sancho, Safe: true,
			New: func(Options) routing.PathFinder { return updown.Finder{Rank: updown.DepthFirst} }},
		{Name: "dnup", Summary: "the same, ranked from the switches with hosts", Paper: "OpenSM's dnup", Safe: true,
			Refuses: "networks whose ranks leave switches apart",
			New:     func(Options) routing.PathFinder { return updown.Finder{Rank: updown.FromLeaves} }},
		{Name: "ftree", Summary: "fat trees: every destination comes down one way, dealt out in turn", Paper: "Zahavi et al., CCPE 2010", Safe: true,
			Refuses: "what is no tree: cables within a level",
			New:     func(Options) routing.PathFinder { return fattree.Finder{} }},
		{Name: "dor", Summary: "dimension order, the coordinates found from the graph", Paper: "Dally, Seitz, Trans. Computers 1987",
			Refuses: "what is no mesh, torus or hypercube; damage without a second way",
			New:     func(Options) routing.PathFinder { return dor.Finder{} }},
		{Name: "shortest", Summary: "one shortest path per pair of switches, spread", Paper: tpds2006,
			New: func(Options) routing.PathFinder { return shortest.Finder{} }},
		{Name: "shortest-lowest", Summary: "one shortest path per pair of switches, by the lowest port", Paper: tpds2006,
			New: func(Options) routing.PathFinder { return shortest.Finder{Pick: shortest.Lowest} }},
		{Name: "shortest-random", Summary: "one shortest path per pair of switches, by chance (--seed)", Paper: tpds2006,
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
		{Name: "balance", Summary: "shortest paths, routed again until flows of random pairs meet no less", Paper: ours + ", after " + hoti2009,
			New: func(o Options) routing.PathFinder { return o.balance() }},
		{Name: "multipath", Summary: "another tree of shortest paths for each address (LMC)", Paper: tpds2006,
			New: func(Options) routing.PathFinder { return sssp.MultiPath{} }},
		{Name: "mroots", Summary: "an Up*/Down* tree for each address (LMC), roots far apart", Paper: tpds2006,
			New: func(Options) routing.PathFinder { return updown.MultiRoot{} }},
	}
}

// Assigners is every lane assigner.
func Assigners() []Assigner {
	return []Assigner{
		{Name: "single", Summary: "everything on one lane", Contract: routing.Any, Needs: "1",
			New: func(Options) routing.LaneAssigner { return single.Assigner{} }},
		{Name: "first-fit", Summary: "each path in the first layer that stays acyclic, layers balanced", Paper: tpds2006,
			Safe: true, Needs: "as found",
			New: func(o Options) routing.LaneAssigner { return layer.FirstFit{Order: o.Order} }},
		{Name: "first-fit-some", Summary: "the same, leaving out addresses whose paths fit nowhere", Paper: tpds2006,
			Safe: true, Needs: "as found", Refuses: "pairs none of whose addresses fits",
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
		{Name: "hop-d2", Summary: "lane 0 from adapters, lane 1 from switches", Paper: hoti2016,
			Safe: true, Contract: routing.Any, Needs: "2", Refuses: "paths of more than two hops",
			New: func(Options) routing.LaneAssigner { return hop.D2{} }},
		{Name: "hop-dn", Summary: "the lane rises at every hop", Paper: hoti2016,
			Safe: true, Needs: "the hops of the longest path", Refuses: "paths for which 16 service levels do not suffice",
			New: func(Options) routing.LaneAssigner { return hop.DN{} }},
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
}

// All is every engine, in the order in which to show them.
func All() []Engine {
	return []Engine{
		pair("minhop", "OpenSM's default", "minhop", "single"),
		pair("updn", autonet+"; "+tpds2006, "updn", "single"),
		pair("dnup", "OpenSM's dnup", "dnup", "single"),
		pair("ftree", "Zahavi et al., CCPE 2010; OpenSM's ftree", "ftree", "single"),
		pair("dor", "Dally, Seitz, Trans. Computers 1987", "dor", "single"),
		joint("torus-2qos", "OpenSM's torus-2QoS", Joint{
			Summary:  "dimension order with datelines by SL bits",
			Contract: routing.Honored, Needs: "2",
			Refuses: "what is no mesh or torus; more damage than one switch, or one cable a ring",
			New:     func(o Options) routing.Router { return torus2qos.Router{Before: o.Before} },
		}),
		pair("sssp", hoti2009, "sssp", "single"),
		pair("p2sssp", hoti2009, "p2sssp", "single"),
		pair("balance", ours+", after "+hoti2009, "balance", "single"),
		escaping(bothWays(pair("lash", "Skeie, Lysne, Theiss, IPDPS 2002; "+tpds2006, "shortest", "first-fit"),
			"symmetric", "symmetric-regular")),
		bothWays(pair("dfsssp", ipdps11, "sssp", "break-cycles"), "lighter", "symmetric-regular"),
		bothWays(pair("dfsssp-online", ipdps11, "sssp", "first-fit"), "lighter", "symmetric-regular"),
		pair("df-d2", hoti2016, "sssp", "hop-d2"),
		pair("df-d2-minhop", hoti2016, "minhop", "hop-d2"),
		bothWays(pair("df-dn", hoti2016, "sssp", "hop-dn"), "sssp", "symmetric", "symmetric-regular"),
		bothWays(pair("df-dn-minhop", hoti2016, "minhop", "hop-dn"), "minhop", "symmetric", "symmetric-regular"),
		together(pair("mroots", tpds2006, "mroots", "address")),
		together(pair("d-mroots", tpds2006, "mroots", "address-one")),
		joint("nue", "Domke, Hoefler, Matsuoka, HPDC 2016", Joint{
			Summary:  "balanced shortest paths inside the dependency graph, with an escape tree",
			Contract: routing.Honored, Needs: "1, takes what serves",
			New: func(o Options) routing.Router {
				return nue.Router{Wanted: []routing.PathFinder{o.lighter(), symmetric.Finder{Regular: true}}}
			},
		}),
		joint("weave", ours, Joint{
			Summary:  "balanced shortest paths, a lane for every turn and service level",
			Contract: routing.Honored, Needs: "as found, mostly 1 or 2",
			New: func(o Options) routing.Router {
				return weave.Router{Paths: append(woven(o), shortest.Finder{Pick: shortest.Lowest}), Prefer: o.Prefer}
			},
		}),
		joint("weave-any", ours, Joint{
			Summary:  "one lane for every turn whatever the service level; paths give way where they must",
			Contract: routing.Any, Needs: "1, takes what serves",
			New: func(o Options) routing.Router { return weave.Any{Paths: woven(o)} },
		}),
		escaping(pair("mp-lash", tpds2006, "multipath", "first-fit-some")),
		adaptive("a-lash", tpds2006, Adaptive{
			Summary: "all shortest paths open, grouped by first link into layers", Needs: "as found",
			New: func(Options) routing.AdaptiveRouter { return alash.Router{} },
		}),
		adaptive("updn-adaptive", autonet+"; "+tpds2006, Adaptive{
			Summary: "all Up*/Down* paths open", Needs: "1",
			New: func(Options) routing.AdaptiveRouter { return adaptiveupdown.Router{} },
		}),
		adaptive("escape", "Silla, Duato, TPDS 2000; "+tpds2006, Adaptive{
			Summary: "all shortest paths open, an Up*/Down* layer to escape to", Needs: "2",
			New: func(Options) routing.AdaptiveRouter { return escape.Router{} },
		}),
	}
}
