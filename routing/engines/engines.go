// Package engines is the literal table of routing engines: a name, a paper, a
// path finder and a lane assigner. Any other pair of finder and assigner is an
// engine too, by Pair.
package engines

import (
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/spell"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/lanes/layer"
	"github.com/weft-fabric/weft/routing/paths/balance"
	"github.com/weft-fabric/weft/routing/weave"
)

// Options is what a user may tell a path finder. The zero Options are sensible.
type Options struct {
	Roots []fabric.GUID // of updn; empty: chosen
	Seed  uint64        // of shortest-random, balance and weave
	Order layer.Order   // of first-fit: in which paths are taken

	// Prefer is what weave gives up last where it cannot have both: bandwidth, or
	// few lanes.
	Prefer weave.Prefer

	Aim     balance.Aim // of balance, weave and weave-any: what paths are good for
	Weights []uint8     // of these: traffic of endpoints, see balance.Finder; nil: all hosts alike

	// Before is the fabric before it was damaged: torus-2qos then keeps the
	// service levels that it gave out. nil: not known.
	Before *fabric.Fabric

	shared *shared // see Sharing; nil: nothing is shared
}

// Shaped says that paths are wanted for an aim other than bisections, or for hosts
// of different weight: what most engines do not look at.
func (o Options) Shaped() bool { return o.Aim != balance.Bisection || o.Weights != nil }

// Finder is a path finder by name.
type Finder struct {
	Name    string
	Summary string
	Paper   string
	Safe    bool   // free of deadlock on one lane, whatever lane assigner follows
	Refuses string // which fabrics; empty: none
	New     func(Options) routing.PathFinder
}

// Assigner is a lane assigner by name.
type Assigner struct {
	Name     string
	Summary  string
	Paper    string
	Safe     bool             // free of deadlock whatever paths it is given
	Contract routing.Contract // what clients must do for its tables to hold
	Needs    string           // lanes
	Refuses  string           // which fabrics; empty: none but for want of lanes
	New      func(Options) routing.LaneAssigner
}

// Joint is a router that decides both at once, by name.
type Joint struct {
	Summary  string
	Contract routing.Contract
	Needs    string
	Refuses  string
	New      func(Options) routing.Router
}

// Engine is a path finder with a lane assigner, or a router that is both.
type Engine struct {
	Name   string
	Paper  string
	Finder Finder
	Lanes  Assigner
	Joint  *Joint // not nil: in place of Finder and Lanes

	// Adaptive, if not nil, is in place of Finder, Lanes and Joint: switches
	// choose among several ports, which InfiniBand tables cannot express.
	Adaptive *Adaptive

	// BothWays, if there are any, are tried in place of Finder under contract honored,
	// in their order, until the lanes suffice: paths whose way back can share their
	// service level on few lanes.
	BothWays []Finder

	safe bool // free of deadlock as a pair, though neither half is by itself

	// fallback, if not nil, is tried where the lanes do not suffice and every
	// endpoint has several addresses.
	fallback func(Finder, Options) routing.Router
}

// Adaptive is an adaptive router by name.
type Adaptive struct {
	Summary string
	Needs   string
	New     func(Options) routing.AdaptiveRouter
}

func adaptive(name, paper string, a Adaptive) Engine {
	return Engine{Name: name, Paper: paper, Adaptive: &a}
}

func pair(name, paper, finder, assigner string) Engine {
	f, errF := FinderNamed(finder)
	a, errA := AssignerNamed(assigner)
	if errF != nil || errA != nil {
		panic("engines: the table names a finder or assigner that is not there: " + name)
	}
	return Engine{Name: name, Paper: paper, Finder: f, Lanes: a}
}

// bothWays is an engine with other path finders under contract honored.
func bothWays(e Engine, finders ...string) Engine {
	for _, name := range finders {
		f, err := FinderNamed(name)
		if err != nil {
			panic("engines: the table names a finder that is not there: " + name)
		}
		e.BothWays = append(e.BothWays, f)
	}
	return e
}

// escaping is an engine whose paths go to an Up*/Down* layer where the lanes do
// not suffice.
func escaping(e Engine) Engine {
	e.fallback = func(f Finder, o Options) routing.Router { return withEscape{f.New(o)} }
	return e
}

// together is a pair that is free of deadlock though neither half is by itself.
func together(e Engine) Engine {
	e.safe = true
	return e
}

func joint(name, paper string, j Joint) Engine { return Engine{Name: name, Paper: paper, Joint: &j} }

// Named finds an engine.
func Named(name string) (Engine, error) {
	return find(name, "engine", All(), func(e Engine) string { return e.Name })
}

// FinderNamed finds a path finder.
func FinderNamed(name string) (Finder, error) {
	return find(name, "path finder", Finders(), func(f Finder) string { return f.Name })
}

// AssignerNamed finds a lane assigner.
func AssignerNamed(name string) (Assigner, error) {
	return find(name, "lane assigner", Assigners(), func(a Assigner) string { return a.Name })
}

// Pair is the engine of any path finder and lane assigner. Where the table has
// it already, that is the one returned; if that one has other paths under contract
// honored, without these and its name.
func Pair(f Finder, a Assigner) Engine {
	for _, e := range All() {
		if e.Joint == nil && e.Finder.Name == f.Name && e.Lanes.Name == a.Name {
			if e.BothWays != nil {
				e.Name, e.BothWays = f.Name+"+"+a.Name, nil
			}
			return e
		}
	}
	return Engine{Name: f.Name + "+" + a.Name, Paper: strings.Trim(f.Paper+"; "+a.Paper, "; "), Finder: f, Lanes: a}
}

// Finders is the path finders that are tried under a contract, in their order.
func (e Engine) Finders(c routing.Contract) []Finder {
	if c.EitherWay() && e.BothWays != nil {
		return e.BothWays
	}
	return []Finder{e.Finder}
}

// PathsName and LanesName name the two halves; a router that is both has one
// name for both.
func (e Engine) PathsName() string {
	if e.Joint != nil || e.Adaptive != nil {
		return e.Name
	}
	return e.Finder.Name
}

// LanesName is the other half.
func (e Engine) LanesName() string {
	if e.Joint != nil || e.Adaptive != nil {
		return e.Name
	}
	return e.Lanes.Name
}

// Contract is what clients must do for the engine's tables to hold.
func (e Engine) Contract() routing.Contract {
	if e.Joint != nil {
		return e.Joint.Contract
	}
	return e.Lanes.Contract
}

// Safe says whether the engine's tables are free of deadlock on every network
// that it routes.
func (e Engine) Safe() bool {
	return e.safe || e.Joint != nil || e.Adaptive != nil || e.Finder.Safe || e.Lanes.Safe
}

// Needs says how many lanes the engine takes.
func (e Engine) Needs() string {
	switch {
	case e.Joint != nil:
		return e.Joint.Needs
	case e.Adaptive != nil:
		return e.Adaptive.Needs
	}
	return e.Lanes.Needs
}

// Refuses says which fabrics the engine does not route, "" if it routes all for
// which it has the lanes.
func (e Engine) Refuses() string {
	if e.Joint != nil {
		return e.Joint.Refuses
	}
	return strings.Trim(e.Finder.Refuses+"; "+e.Lanes.Refuses, "; ")
}

// Trust says in a sentence why the engine's tables may be trusted, or not.
func (e Engine) Trust() string {
	switch {
	case e.Adaptive != nil:
		return "whatever way its switches choose, packets cannot wait for one another in a circle"
	case e.Safe() && e.Contract() == routing.Any:
		return "its tables cannot hold a credit loop, whatever service levels clients use"
	case e.Safe():
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
