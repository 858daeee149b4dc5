package engines

import (
	"math/bits"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing/lanes/layer"
	"github.com/weft-fabric/weft/routing/paths/balance"
	"github.com/weft-fabric/weft/routing/weave"
)

// Options are the settings of engines. Each engine uses some of them, see Engine.Uses.
// The zero Options are sensible defaults.
type Options struct {
	Roots   []fabric.GUID   // switches of rank 0; empty: the engine chooses
	Seed    uint64          // of random choices
	Aim     balance.Aim     // what paths are optimised for
	Weights []uint8         // traffic of endpoints, see balance.Finder; nil: all hosts alike
	Orders  []balance.Order // how ranks sit on the hosts, for the aims mixed and shifts; nil: DefaultOrders
	Order   layer.Order     // order in which paths get their layers
	Prefer  weave.Prefer    // what matters more if both cannot be had: bandwidth, or few lanes

	// Before is the fabric before it was damaged, whose service levels are kept. nil: not
	// known.
	Before *fabric.Fabric

	shared *shared // see Sharing; nil: nothing is shared
}

// Option is one of the Options, or several, as bits.
type Option uint16

// The options, in the order of the table below.
const (
	Roots Option = 1 << iota
	Seed
	Aim
	Weights
	Order
	Prefer
	Before
	Orders

	balanced = Seed | Aim | Weights | Orders // of balanced paths, and of what begins with them
)

// options describes each option, by bit.
var options = [...]struct {
	name  string // as on the command line
	given func(*Options) bool
	copy  func(to, from *Options)
}{
	{"roots", func(o *Options) bool { return len(o.Roots) > 0 }, func(to, from *Options) { to.Roots = from.Roots }},
	{"seed", func(o *Options) bool { return o.Seed != 0 }, func(to, from *Options) { to.Seed = from.Seed }},
	{"aim", func(o *Options) bool { return o.Aim != balance.Mixed }, func(to, from *Options) { to.Aim = from.Aim }},
	{"weight", func(o *Options) bool { return o.Weights != nil }, func(to, from *Options) { to.Weights = from.Weights }},
	{"order", func(o *Options) bool { return o.Order != layer.Suited }, func(to, from *Options) { to.Order = from.Order }},
	{"prefer", func(o *Options) bool { return o.Prefer != weave.Bandwidth }, func(to, from *Options) { to.Prefer = from.Prefer }},
	{"before", func(o *Options) bool { return o.Before != nil }, func(to, from *Options) { to.Before = from.Before }},
	{"rank-order", func(o *Options) bool { return o.Orders != nil }, func(to, from *Options) { to.Orders = from.Orders }},
}

func (o Option) String() string {
	var names []string
	for i := range options {
		if o>>i&1 != 0 {
			names = append(names, options[i].name)
		}
	}
	return strings.Join(names, ", ")
}

// Given is the options that are set.
func (o Options) Given() (given Option) {
	for i := range options {
		if options[i].given(&o) {
			given |= 1 << i
		}
	}
	return given
}

// only is the options in use, with the others unset. An engine sees only the options of
// its row, so that the row is true.
func (o Options) only(use Option) Options {
	told := Options{shared: o.shared}
	for i := range options {
		if use>>i&1 != 0 {
			options[i].copy(&told, &o)
		}
	}
	return told
}

// AutoName is the name of the engine that tries several and takes the best one that is
// proven.
const AutoName = "auto"

// AutoUses is the options that auto uses: those of any engine that it tries.
func AutoUses() (uses Option) {
	for _, e := range All() {
		if e.Auto.Place > 0 {
			uses |= e.Uses
		}
	}
	return uses
}

// Unused is the error if an option is set that an engine does not use.
type Unused struct {
	Engine string
	Option Option // one
}

// FirstUnused is an *Unused for the first of the given options that an engine does not use,
// or nil.
func FirstUnused(engine string, uses, given Option) error {
	if unused := given &^ uses; unused != 0 {
		return &Unused{engine, 1 << bits.TrailingZeros16(uint16(unused))}
	}
	return nil
}

// Sentence says which engines use the option.
func (e *Unused) Sentence() string {
	users := Names(func(other Engine) bool { return other.Uses&e.Option != 0 })
	if AutoUses()&e.Option != 0 {
		users = append(users, AutoName)
	}
	return e.Option.String() + " is for " + strings.Join(users, ", ") + "; " + e.Engine + " does not look at it"
}

func (e *Unused) Error() string { return "engines: " + e.Sentence() }
