package engines

import (
	"slices"
	"sync"
	"time"

	"github.com/weft-fabric/weft/internal/engine/auto"
	"github.com/weft-fabric/weft/internal/engine/dragonfly"
	"github.com/weft-fabric/weft/internal/engine/nue"
	"github.com/weft-fabric/weft/internal/engine/option"
	"github.com/weft-fabric/weft/internal/engine/paths/shortest"
	"github.com/weft-fabric/weft/internal/engine/paths/symmetric"
	"github.com/weft-fabric/weft/internal/engine/torus2qos"
	"github.com/weft-fabric/weft/internal/engine/weave"
	"github.com/weft-fabric/weft/routing"
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

	jpdc2021  = "Maglione-Mathey et al., JPDC 2021"
	tpds2018  = "Maglione-Mathey et al., TPDS 2018"
	sc2019    = "Domke et al., SC 2019"
	sc2020    = "Besta et al., SC 2020"
	nsdi2024  = "Blach et al., NSDI 2024"
	micro2020 = "Gliksberg et al., IEEE Micro 2020"
)

// All is every engine, in the order in which to show them.
//
// auto leaves out engines for several addresses (mroots, d-mroots, mp-lash, fatpaths, parx), which a fabric may not have; p2sssp,
// which takes too long; and what another engine does with more bandwidth: dnup (updn),
// sssp (balance), dfsssp-online (dfsssp), df-d2-minhop (df-d2), df-dn-minhop (df-dn).
func All() []Engine { return slices.Clone(all()) }

// all is the rows of All, made once: each finds its parts by name, and every command looks
// up dozens of engines before it begins.
var all = sync.OnceValue(func() []Engine {
	return []Engine{
		Engine{Name: "minhop", Paper: "OpenSM's default", OpenSM: "minhop", Compared: true, Auto: auto.Row{Place: 13, Cost: 60}}.pair("minhop", "single"),
		Engine{Name: "updn", Paper: autonet + "; " + tpds2006, OpenSM: "updn", Compared: true, Advised: true,
			Auto: auto.Row{Place: 6, Cost: 60, Sure: true}}.pair("updn", "single"),
		Engine{Name: "dnup", Paper: "OpenSM's dnup", OpenSM: "dnup"}.pair("dnup", "single"),
		Engine{Name: "ftree", Paper: "Zahavi et al., CCPE 2010; OpenSM's ftree", OpenSM: "ftree", Compared: true, Advised: true,
			Auto: auto.Row{Place: 4, Cost: 60, Quick: true}}.pair("ftree", "single"),
		Engine{Name: "dmodc", Paper: micro2020, Compared: true, Auto: auto.Row{Place: 5, Cost: 60, Quick: true}}.pair("dmodc", "single"),
		Engine{Name: "dor", Paper: "Dally, Seitz, Trans. Computers 1987", OpenSM: "dor", Auto: auto.Row{Place: 7, Cost: 60}}.pair("dor", "single"),
		Engine{Name: "torus-2qos", Paper: "OpenSM's torus-2QoS", OpenSM: "torus-2QoS", Contract: routing.Honored, Needs: "2",
			Refuses: "what is no mesh or torus; more damage than one switch, or one cable a ring",
			Uses:    option.Before, Compared: true, Auto: auto.Row{Place: 8, Cost: 60},
		}.joint(func(o Options) routing.Engine { return torus2qos.Engine{Before: o.Before} }),
		Engine{Name: "sssp", Paper: hoti2009, OpenSM: "sssp", Compared: true}.pair("sssp", "single"),
		Engine{Name: "p2sssp", Paper: hoti2009}.pair("p2sssp", "single"),
		Engine{Name: "balance", Paper: ours + ", after " + hoti2009, Compared: true, Auto: auto.Row{Place: 1}}.pair("balance", "single"),
		Engine{Name: "lash", Paper: "Skeie, Lysne, Theiss, IPDPS 2002; " + tpds2006, OpenSM: "lash", Compared: true, Advised: true, Escapes: true,
			BothWays: []string{"symmetric", "symmetric-regular"}, Auto: auto.Row{Place: 11, Cost: 150, Search: 2 * time.Second}}.pair("shortest", "first-fit"),
		Engine{Name: "dfsssp", Paper: ipdps11, OpenSM: "dfsssp", Compared: true, Advised: true,
			BothWays: []string{"lighter", "symmetric", "symmetric-regular"}, Auto: auto.Row{Place: 10, Cost: 350, Search: 2 * time.Second}}.pair("sssp", "break-cycles"),
		Engine{Name: "dfsssp-online", Paper: ipdps11, BothWays: []string{"lighter", "symmetric", "symmetric-regular"}}.pair("sssp", "first-fit"),
		Engine{Name: "df-d2", Paper: hoti2016, Auto: auto.Row{Place: 9, Cost: 60}}.pair("sssp", "hop-d2"),
		Engine{Name: "df-d2-minhop", Paper: hoti2016}.pair("minhop", "hop-d2"),
		Engine{Name: "df-dn", Paper: hoti2016, Compared: true, Advised: true,
			BothWays: []string{"sssp", "symmetric", "symmetric-regular"}, Auto: auto.Row{Place: 12, Cost: 850, Search: time.Second}}.pair("sssp", "hop-dn"),
		Engine{Name: "df-dn-minhop", Paper: hoti2016, BothWays: []string{"minhop", "symmetric", "symmetric-regular"}}.pair("minhop", "hop-dn"),
		// Safe as pairs, though neither half is by itself.
		Engine{Name: "mroots", Paper: tpds2006, Safe: true}.pair("mroots", "address"),
		Engine{Name: "d-mroots", Paper: tpds2006, Safe: true}.pair("mroots", "address-one"),
		Engine{Name: "nue", Paper: "Domke, Hoefler, Matsuoka, HPDC 2016", OpenSM: "nue", Contract: routing.Honored, Needs: "1, takes what serves",
			AnyOnOneLane: true, Compared: true, Advised: true, Auto: auto.Row{Place: 14, Cost: 400, Search: 8 * time.Second},
		}.joint(func(o Options) routing.Engine {
			return nue.Engine{Wanted: []routing.PathFinder{o.lighter(), o.shared.finder("symmetric", symmetric.Finder{}), symmetric.Finder{Regular: true}}}
		}),
		Engine{Name: "weave", Paper: ours, Contract: routing.Honored, Needs: "as found, mostly 1 or 2",
			Uses: option.Balanced | option.Prefer, Compared: true, Advised: true, Auto: auto.Row{Place: 3, Cost: 250, Search: 1500 * time.Millisecond},
		}.joint(func(o Options) routing.Engine {
			return weave.Engine{Paths: append(weavePaths(o), shortest.Finder{Pick: shortest.Lowest}), Prefer: o.Prefer}
		}),
		Engine{Name: "weave-any", Paper: ours, Contract: routing.Any, Needs: "1, takes what serves",
			Uses: option.Balanced, Compared: true, Advised: true, Auto: auto.Row{Place: 2, Cost: 200, Search: 3 * time.Second},
		}.joint(func(o Options) routing.Engine {
			return weave.Any{Paths: weavePaths(o), Bandwidth: o.Aim == Bisection || o.Demands != nil}
		}),
		Engine{Name: "mp-lash", Paper: tpds2006, Escapes: true}.pair("multipath", "first-fit-some"),
		Engine{Name: "fatpaths", Paper: sc2020 + "; " + nsdi2024}.pair("layered", "hop-color"),
		Engine{Name: "parx", Paper: sc2019, Contract: routing.Directed}.pair("parx", "break-cycles"),
		Engine{Name: "dla", Paper: jpdc2021, Contract: routing.Any, Needs: "2", Refuses: "what is no fully connected Dragonfly with groups of three or more",
			Advised: true}.joint(func(Options) routing.Engine { return dragonfly.Engine{Lanes: dragonfly.Shift} }),
		Engine{Name: "d3r", Paper: tpds2018, Contract: routing.Directed, Needs: "2, takes 3", Refuses: "what is no fully connected Dragonfly with groups of three or more",
			Advised: true}.joint(func(Options) routing.Engine { return dragonfly.Engine{Lanes: dragonfly.Order} }),
	}
})
