// Package engines is the literal table of routing engines. An engine is a row: its
// name and paper, what it promises and needs, which options it uses, what it costs,
// and what makes its tables: a path finder with a lane assigner, or a router that
// decides both at once. Any other pair of finder and assigner is an engine too, by
// Pair. Adaptive routers, which make no tables, have a table of their own.
package engines

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/spell"
	"github.com/weft-fabric/weft/routing"
)

// Engine is a row of the table.
type Engine struct {
	Name  string
	Paper string

	// Paths and Lanes are the names of its path finder and lane assigner; of a router
	// that decides both at once, its own.
	Paths, Lanes string

	// BothWays, if there are any, are the path finders in place of Paths under contract
	// honored, tried in their order until the lanes suffice: those whose way back can
	// share their service level on few lanes.
	BothWays []string

	// Escapes says that, where the lanes do not suffice and endpoints have several
	// addresses, paths go to an Up*/Down* layer: see withEscape.
	Escapes bool

	Contract routing.Contract // what clients must do for its tables to hold
	Safe     bool             // free of deadlock on every network that it routes
	Needs    string           // lanes
	Refuses  string           // which fabrics; empty: none but for want of lanes
	Uses     Option           // all that it looks at; it is told of nothing else

	// AnyOnOneLane says that on a single lane its tables hold for any contract.
	AnyOnOneLane bool

	OpenSM   string // what OpenSM calls its engine of the kind; empty: it has none
	Compared bool   // weft compare shows it unless told otherwise
	Advised  bool   // named to those whose engine refuses, where it does route
	Auto     Auto   // how auto tries it

	New func(Options) Router
}

// Auto is how auto tries an engine.
type Auto struct {
	// Place is where it stands among those that auto tries, from 1: the likely first,
	// and of engines that are equally good the one that is taken. 0: not tried.
	Place int

	// Cost is the time of routing for every switch and LID, in nanoseconds on two
	// cores of 2024, rounded up from what BenchmarkRoute measures, under the contract
	// under which it takes longest. What it begins with that others have made already
	// is not in it.
	Cost int

	// Search is what it adds at the most on large networks to look for something
	// better.
	Search time.Duration

	// Sure says that it takes every network and is quick: it is tried first, so that
	// there is something proven soon.
	Sure bool
}

// pair completes a row whose tables come from a path finder and a lane assigner.
func (e Engine) pair(finder, assigner string) Engine {
	return e.of(mustFind(FinderNamed(finder)), mustFind(AssignerNamed(assigner)))
}

func (e Engine) of(f Finder, a Assigner) Engine {
	finders := []Finder{f}
	bothWays := make([]Finder, len(e.BothWays))
	e.Uses |= f.Uses | a.Uses
	for i, name := range e.BothWays {
		bothWays[i] = mustFind(FinderNamed(name))
		e.Uses |= bothWays[i].Uses
	}
	if len(bothWays) == 0 {
		bothWays = finders
	}
	e.Paths, e.Lanes = f.Name, a.Name
	e.Contract, e.Needs, e.Refuses = a.Contract, a.Needs, strings.Trim(f.Refuses+"; "+a.Refuses, "; ")
	e.Safe = e.Safe || f.Safe || a.Safe
	escapes := e.Escapes
	e.New = func(o Options) Router {
		return &pair{options: o, finders: finders, bothWays: bothWays, assigner: a, escapes: escapes}
	}
	return e
}

// router completes the row of a router that decides paths and lanes at once.
func (e Engine) router(make func(Options) routing.Router) Engine {
	e.Paths, e.Lanes, e.Safe = e.Name, e.Name, true
	e.New = func(o Options) Router { return joint{make(o)} }
	return e
}

func mustFind[T any](x T, err error) T {
	if err != nil {
		panic(err) // a row names what is not there
	}
	return x
}

// Named finds an engine, or makes the pair of a path finder + lane assigner.
func Named(name string) (Engine, error) {
	if finder, assigner, ok := strings.Cut(name, "+"); ok {
		return PairNamed(finder, assigner)
	}
	if a, err := AdaptiveNamed(name); err == nil {
		return Engine{}, &NoTables{a.Name}
	}
	return find(name, "engine", All(), func(e Engine) string { return e.Name })
}

// Names is the names of the engines of which something is so, in the order of the
// table.
func Names(so func(Engine) bool) (names []string) {
	for _, e := range All() {
		if so(e) {
			names = append(names, e.Name)
		}
	}
	return names
}

// OfOpenSM finds the engine that is of the kind of one of OpenSM's.
func OfOpenSM(name string) (Engine, bool) {
	all := All()
	i := slices.IndexFunc(all, func(e Engine) bool { return name != "" && e.OpenSM == name })
	if i < 0 {
		return Engine{}, false
	}
	return all[i], true
}

// Pair is the engine of any path finder and lane assigner. Where the table has
// it already, that is the one returned; if that one has other paths under contract
// honored, without these and its name.
func Pair(f Finder, a Assigner) Engine {
	for _, e := range All() {
		switch {
		case e.Paths != f.Name || e.Lanes != a.Name:
		case e.BothWays == nil:
			return e
		default:
			e.Name, e.BothWays = f.Name+"+"+a.Name, nil
			return e.of(f, a)
		}
	}
	return Engine{Name: f.Name + "+" + a.Name, Paper: strings.Trim(f.Paper+"; "+a.Paper, "; ")}.of(f, a)
}

// PairNamed is Pair by names.
func PairNamed(finder, assigner string) (Engine, error) {
	f, errF := FinderNamed(finder)
	a, errA := AssignerNamed(assigner)
	if err := errors.Join(errF, errA); err != nil {
		return Engine{}, err
	}
	return Pair(f, a), nil
}

// PathsUnder is the name of the path finder that is tried first under a contract.
func (e Engine) PathsUnder(c routing.Contract) string {
	if c.EitherWay() && e.BothWays != nil {
		return e.BothWays[0]
	}
	return e.Paths
}

// Explain is how a fabric fares under each rule of the engine's parts, as far as
// they have rules.
func (e Engine) Explain(f *fabric.Fabric, o Options) []routing.Finding {
	return e.New(o.only(e.Uses)).Explain(f)
}

// Trust says in a sentence why the engine's tables may be trusted, or not.
func (e Engine) Trust() string {
	switch {
	case e.Safe && e.Contract == routing.Any:
		return "its tables cannot hold a credit loop, whatever service levels clients use"
	case e.Safe:
		return "its tables cannot hold a credit loop, if clients use the service level of their PathRecord"
	}
	return "it promises nothing: only the verdict below counts, for this network as it is"
}

func find[T any](name, what string, all []T, nameOf func(T) string) (T, error) {
	names := make([]string, len(all))
	for i, x := range all {
		names[i] = nameOf(x)
		if names[i] == name {
			return x, nil
		}
	}
	var none T
	return none, fmt.Errorf("engines: no %s is called %q%s (there are %s)", what, name, spell.Hint(name, names), strings.Join(names, ", "))
}
