package measure

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/adaptive/alash"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/routing/lanes/layer"
	"github.com/weft-fabric/weft/routing/mplash"
)

// Everything that routes for the experiments is in this file.

// budget is what every engine may use: all lanes that InfiniBand has for data. The
// papers take for granted that each side asks for its own service level.
var budget = routing.Budget{VLs: routing.MaxDataVLs, Scope: routing.HCA, Contract: routing.Directed}

// method is an engine as the papers measure it. Lanes are counted before paths are
// spread over spare ones, so that step is left out.
type method struct {
	name   string
	finder string // of package engines
	lanes  routing.LaneAssigner

	// engine is the name that it has in package engines, in place of finder and lanes.
	engine string

	// count counts the layers of what no tables can hold, in place of them.
	count func(context.Context, *fabric.Fabric) (int, error)
}

// AsPrinted ends the names of methods that assign lanes as their paper prints it.
const AsPrinted = ", as printed"

// SwitchesToo ends the names of methods for which port 0 of a switch is an endpoint.
const SwitchesToo = ", switches too"

// methods is what lines may name that is no engine, or that an engine of that name
// does with a last step that the papers leave out.
var methods = []method{
	{name: "lash", finder: "shortest", lanes: layer.FirstFit{Unbalanced: true}},
	{name: "lash" + AsPrinted, finder: "shortest", lanes: layer.FirstFit{Unbalanced: true, AsPrinted: true}},
	// TPDS 2006, section 8: "whenever the number of shortest paths to choose from
	// was greater than 1, we chose one at random".
	{name: "lash-random", finder: "shortest-random", lanes: layer.FirstFit{Unbalanced: true}},
	{name: "lash-random" + AsPrinted, finder: "shortest-random", lanes: layer.FirstFit{Unbalanced: true, AsPrinted: true}},
	{name: "dfsssp", finder: "sssp", lanes: layer.BreakCycles{Unbalanced: true}},
	{name: "dfsssp" + AsPrinted, finder: "sssp", lanes: layer.BreakCycles{Unbalanced: true, AsPrinted: true}},
	{name: "dfsssp-online", finder: "sssp", lanes: layer.FirstFit{Unbalanced: true}},
	// IPDPS 2011, section IV, the three heuristics.
	{name: "weakest", finder: "sssp", lanes: layer.BreakCycles{Unbalanced: true}},
	{name: "first found", finder: "sssp", lanes: layer.BreakCycles{Heuristic: layer.First, Unbalanced: true}},
	{name: "strongest", finder: "sssp", lanes: layer.BreakCycles{Heuristic: layer.Strongest, Unbalanced: true}},
	{name: "weakest" + AsPrinted, finder: "sssp", lanes: layer.BreakCycles{AsPrinted: true, Unbalanced: true}},
	{name: "first found" + AsPrinted, finder: "sssp", lanes: layer.BreakCycles{Heuristic: layer.First, AsPrinted: true, Unbalanced: true}},
	{name: "strongest" + AsPrinted, finder: "sssp", lanes: layer.BreakCycles{Heuristic: layer.Strongest, AsPrinted: true, Unbalanced: true}},
	{name: "df-dn" + AsPrinted, engine: "sssp+hop-dn-plain"},
	{name: "df-dn-minhop" + AsPrinted, engine: "minhop+hop-dn-plain"},
	{name: "mp-lash", count: layersOfMPLASH},
	{name: "a-lash", count: layersOfALASH},
}

func layersOfMPLASH(ctx context.Context, f *fabric.Fabric) (int, error) {
	a, err := mplash.Analyse(ctx, f, mplash.Options{})
	if err != nil {
		return 0, err
	}
	return a.Layers, nil
}

func layersOfALASH(ctx context.Context, f *fabric.Fabric) (int, error) {
	t, err := alash.Engine{OneLayer: true}.RouteAdaptive(ctx, f, budget, nil)
	if err != nil {
		return 0, err
	}
	return t.Needed, nil
}

// methodNamed finds a method, or makes one of an engine: an engine, or what counts.
func methodNamed(name string) (e engines.Engine, count func(context.Context, *fabric.Fabric) (int, error), err error) {
	for _, m := range methods {
		switch {
		case m.name != name:
		case m.count != nil:
			return engines.Engine{}, m.count, nil
		case m.engine != "":
			e, err = engines.Named(m.engine)
			return e, nil, err
		default:
			f, err := engines.FinderNamed(m.finder)
			return engines.Pair(f, engines.Assigner{
				Name: m.name, Safe: true, Contract: routing.Directed, New: func(engines.Options) routing.LaneAssigner { return m.lanes },
			}), nil, err
		}
	}
	e, err = engines.Named(name)
	return e, nil, err
}

// route is the tables of an engine with the judge's verdict, which may be a loop.
// Whoever needs service levels asks for their own, as the papers take for granted.
func route(ctx context.Context, f *fabric.Fabric, e engines.Engine, scope routing.Scope, seed uint64) (*weft.Result, error) {
	contract := routing.Directed
	if e.Contract == routing.Any {
		contract = routing.Any
	}
	r, err := weft.Route(ctx, f, weft.Request{
		Custom: &e, Contract: &contract, VLs: budget.VLs, Scope: scope, ExactScope: true, Options: engines.Options{Seed: seed},
	})
	if loop := (*weft.CreditLoop)(nil); errors.As(err, &loop) {
		return loop.Result, nil
	}
	return r, err
}

func pathsOf(ctx context.Context, f *fabric.Fabric, finder string, seed uint64) (*routing.Forwarding, error) {
	p, err := engines.FinderNamed(finder)
	if err != nil {
		return nil, err
	}
	return p.New(engines.Options{Seed: seed}).Paths(ctx, f, nil)
}

func adaptive(ctx context.Context, f *fabric.Fabric, engine string, vls int) (*routing.Adaptive, error) {
	e, err := engines.AdaptiveNamed(engine)
	if err != nil {
		return nil, err
	}
	return e.RouteAdaptive(ctx, f, routing.Budget{VLs: vls, Scope: routing.HCA}, nil)
}

// routingTime times an engine as it is, with the spreading of paths over lanes.
func routingTime(ctx context.Context, f *fabric.Fabric, p Point) (s sample, err error) {
	e, err := engines.Named(p.Engine)
	if err != nil {
		return s, err
	}
	for range p.Repeats {
		start := time.Now()
		if _, err := e.Route(ctx, f, engines.Options{}, budget, nil); err != nil {
			return s, err
		}
		s.values = append(s.values, time.Since(start).Seconds())
	}
	return s, nil
}

// scoped is a method's name without the ending that names its endpoints, and these.
func scoped(name string) (string, routing.Scope) {
	if name, all := strings.CutSuffix(name, SwitchesToo); all {
		return name, routing.All
	}
	return name, budget.Scope
}

// CheckEngine says whether a measure can be taken of an engine of that name.
func CheckEngine(m Measure, engine string) (err error) {
	if m == Accepted || m == Delivered {
		_, err = packetMethodNamed(engine)
	} else {
		name, _ := scoped(engine)
		_, _, err = methodNamed(name)
	}
	return err
}
