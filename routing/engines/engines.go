// Package engines is the literal table of routing engines: a name, a paper, a
// path finder and a lane assigner. Any other pair of finder and assigner is an
// engine too, by Pair.
package engines

import (
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/lanes/layer"
	"github.com/weft-fabric/weft/routing/lanes/single"
	"github.com/weft-fabric/weft/routing/paths/minhop"
	"github.com/weft-fabric/weft/routing/paths/shortest"
	"github.com/weft-fabric/weft/routing/paths/sssp"
	"github.com/weft-fabric/weft/routing/paths/updown"
)

// Options is what a user may tell a path finder.
type Options struct {
	Roots []fabric.GUID // of updn; empty: chosen
}

// Finder is a path finder by name.
type Finder struct {
	Name    string
	Summary string
	Paper   string
	Safe    bool // free of deadlock on one lane, whatever lane assigner follows
	New     func(Options) routing.PathFinder
}

// Assigner is a lane assigner by name.
type Assigner struct {
	Name     string
	Summary  string
	Paper    string
	Safe     bool             // free of deadlock whatever paths it is given
	Contract routing.Contract // what clients must do for its tables to hold
	New      func() routing.LaneAssigner
}

// Engine is a path finder with a lane assigner.
type Engine struct {
	Name   string
	Paper  string
	Finder Finder
	Lanes  Assigner
}

// Finders is every path finder.
func Finders() []Finder {
	return []Finder{
		{"minhop", "shortest paths, balanced by each switch on its own", "OpenSM's default", false,
			func(Options) routing.PathFinder { return minhop.Finder{} }},
		{"updn", "no path goes up after it went down", "Schroeder et al., Autonet, JSAC 1991", true,
			func(o Options) routing.PathFinder { return updown.Finder{Roots: o.Roots} }},
		{"sssp", "shortest paths, balanced over the whole network", "Hoefler, Schneider, Lumsdaine, HOTI 2009", false,
			func(Options) routing.PathFinder { return sssp.Finder{} }},
		{"shortest", "one shortest path per pair of switches", "Lysne et al., TPDS 2006", false,
			func(Options) routing.PathFinder { return shortest.Finder{} }},
	}
}

// Assigners is every lane assigner.
func Assigners() []Assigner {
	return []Assigner{
		{"single", "everything on one lane", "", false, routing.Any,
			func() routing.LaneAssigner { return single.Assigner{} }},
		{"first-fit", "each path in the first layer that stays acyclic, layers balanced", "Lysne et al., TPDS 2006", true, routing.Honored,
			func() routing.LaneAssigner { return layer.FirstFit{} }},
		{"break-cycles", "all paths in one layer, the weakest dependency of each cycle moved on", "Domke, Hoefler, Nagel, IPDPS 2011", true, routing.Honored,
			func() routing.LaneAssigner { return layer.BreakCycles{} }},
	}
}

// All is every engine, in the order in which to show them.
func All() []Engine {
	return []Engine{
		engine("minhop", "OpenSM's default", "minhop", "single"),
		engine("updn", "Schroeder et al., Autonet, JSAC 1991; Lysne et al., TPDS 2006", "updn", "single"),
		engine("sssp", "Hoefler, Schneider, Lumsdaine, HOTI 2009", "sssp", "single"),
		engine("dfsssp", "Domke, Hoefler, Nagel, IPDPS 2011", "sssp", "break-cycles"),
		engine("lash", "Skeie, Lysne, Theiss, IPDPS 2002; Lysne et al., TPDS 2006", "shortest", "first-fit"),
	}
}

func engine(name, paper, finder, assigner string) Engine {
	f, errF := FinderNamed(finder)
	a, errA := AssignerNamed(assigner)
	if errF != nil || errA != nil {
		panic("engines: the table names a finder or assigner that is not there: " + name)
	}
	return Engine{Name: name, Paper: paper, Finder: f, Lanes: a}
}

// Named finds an engine.
func Named(name string) (Engine, error) { return find(name, "engine", All(), Engine.name) }

// FinderNamed finds a path finder.
func FinderNamed(name string) (Finder, error) {
	return find(name, "path finder", Finders(), Finder.name)
}

// AssignerNamed finds a lane assigner.
func AssignerNamed(name string) (Assigner, error) {
	return find(name, "lane assigner", Assigners(), Assigner.name)
}

// Pair is the engine of any path finder and lane assigner. Where the table has
// it already, that is the one returned.
func Pair(f Finder, a Assigner) Engine {
	for _, e := range All() {
		if e.Finder.Name == f.Name && e.Lanes.Name == a.Name {
			return e
		}
	}
	return Engine{Name: f.Name + "+" + a.Name, Paper: strings.Trim(f.Paper+"; "+a.Paper, "; "), Finder: f, Lanes: a}
}

// Safe says whether the engine's tables are free of deadlock on every network.
func (e Engine) Safe() bool { return e.Finder.Safe || e.Lanes.Safe }

// Trust says in a sentence why the engine's tables may be trusted, or not.
func (e Engine) Trust() string {
	switch {
	case e.Finder.Safe && e.Lanes.Contract == routing.Any:
		return "its paths cannot form a credit loop, on one lane and whatever service levels clients use"
	case e.Lanes.Safe:
		return "its lanes are free of credit loops on every network, if clients use the service level of their PathRecord"
	case e.Finder.Safe:
		return "its paths cannot form a credit loop on one lane"
	}
	return "it promises nothing: only the verdict below counts, for this network as it is"
}

func (e Engine) name() string   { return e.Name }
func (f Finder) name() string   { return f.Name }
func (a Assigner) name() string { return a.Name }

func find[T any](name, what string, all []T, nameOf func(T) string) (T, error) {
	names := make([]string, len(all))
	for i, x := range all {
		names[i] = nameOf(x)
		if names[i] == name {
			return x, nil
		}
	}
	var none T
	return none, fmt.Errorf("engines: no %s is called %q; there are %s", what, name, strings.Join(names, ", "))
}
