// Package engines is the literal table of routing engines. An engine is a row: its name
// and paper, what it promises and needs, which options it uses, what it costs, and what
// makes its tables: a path finder with a lane assigner, or an algorithm that decides
// both at once. Pair makes an engine of any other path finder and lane assigner.
// Adaptive engines, which make no tables, have a table of their own, in internal.
package engines

import (
	"errors"
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/adaptive/choosing"
	"github.com/weft-fabric/weft/internal/engine/auto"
	"github.com/weft-fabric/weft/internal/engine/option"
	"github.com/weft-fabric/weft/internal/spell"
	"github.com/weft-fabric/weft/routing"
)

// Engine is a row of the table.
type Engine struct {
	Name  string
	Paper string

	// Paths and Lanes are the names of its path finder and lane assigner; of an engine
	// that decides both at once, its own name.
	Paths, Lanes string

	// BothWays are path finders that replace Paths under contract honored, tried in their
	// order until the lanes suffice: their paths need few lanes although answers use the
	// service level of the request. May be empty.
	BothWays []string

	// Escapes says that if the lanes do not suffice and endpoints have several addresses,
	// paths are moved to an Up*/Down* layer: see withEscape.
	Escapes bool

	Contract routing.Contract // what clients must do for its tables to hold; a pair's is its lane assigner's, unless the row asks for more
	Safe     bool             // free of deadlock on every network that it routes
	Needs    string           // lanes
	Refuses  string           // which fabrics it refuses; empty: none, except for lack of lanes
	Uses     option.Set       // the options that it uses; it does not see the others

	// AnyOnOneLane says that with a single lane its tables are safe under any contract.
	AnyOnOneLane bool

	OpenSM   string   // name of OpenSM's engine of the same kind; empty: it has none
	Compared bool     // weft compare shows it by default
	Advised  bool     // it is suggested to users whose engine refuses, if it does route the fabric
	Auto     auto.Row // how auto tries it

	New func(Options) Implementation
}

// pair completes a row whose tables come from a path finder and a lane assigner.
func (e Engine) pair(finder, assigner string) Engine {
	return e.of(mustFind(FinderNamed(finder)), mustFind(AssignerNamed(assigner)))
}

// of completes a row with what its path finder and lane assigner say.
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
	if e.Contract == routing.Honored { // the row has not asked clients for more
		e.Contract = a.Contract
	}
	e.Needs, e.Refuses = a.Needs, strings.Trim(f.Refuses+"; "+a.Refuses, "; ")
	e.Safe = e.Safe || f.Safe || a.Safe
	escapes := e.Escapes
	e.New = func(o Options) Implementation {
		return &pair{options: o, finders: finders, bothWays: bothWays, assigner: a, escapes: escapes}
	}
	return e
}

// joint completes the row of an engine that decides paths and lanes at once.
func (e Engine) joint(make func(Options) routing.Engine) Engine {
	e.Paths, e.Lanes, e.Safe = e.Name, e.Name, true
	e.New = func(o Options) Implementation { return joint{make(o)} }
	return e
}

// mustFind is what was found by a name in a row of the table, which is right or weft is wrong.
func mustFind[T any](x T, err error) T {
	if err != nil {
		panic(err) // a row names an unknown finder or assigner
	}
	return x
}

// Named finds an engine, or makes the pair of a path finder + lane assigner.
func Named(name string) (Engine, error) {
	if finder, assigner, ok := strings.Cut(name, "+"); ok {
		return pairNamed(finder, assigner)
	}
	if _, err := choosing.Named(name); err == nil {
		return Engine{}, &NoTables{Name: name}
	}
	return find(name, "engine", all(), func(e Engine) string { return e.Name })
}

// Names is the names of the engines for which so returns true, in the order of the
// table.
func Names(so func(Engine) bool) (names []string) {
	for _, e := range all() {
		if so(e) {
			names = append(names, e.Name)
		}
	}
	return names
}

// Pair is the engine of any path finder and lane assigner. If the table has it, that
// row is returned; but without BothWays and the name if it has BothWays.
func Pair(f Finder, a Assigner) Engine {
	for _, e := range all() {
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

// pairNamed is Pair by names.
func pairNamed(finder, assigner string) (Engine, error) {
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

// Explain reports whether a fabric keeps each rule of the engine's parts.
func (e Engine) Explain(f *fabric.Fabric, o Options) []routing.Finding {
	return e.New(o.only(e.Uses)).Explain(f)
}

// find is the row with a name, or an error that says what names there are; what is what rows are.
func find[T any](name, what string, rows []T, nameOf func(T) string) (T, error) {
	names := make([]string, len(rows))
	for i, x := range rows {
		names[i] = nameOf(x)
		if names[i] == name {
			return x, nil
		}
	}
	var none T
	return none, fmt.Errorf("no %s is called %q%s (there are %s)", what, name, spell.Hint(name, names), strings.Join(names, ", "))
}
