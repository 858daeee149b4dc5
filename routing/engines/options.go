package engines

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/lanes/layer"
	"github.com/weft-fabric/weft/internal/engine/option"
	"github.com/weft-fabric/weft/internal/engine/paths/balance"
	"github.com/weft-fabric/weft/internal/engine/weave"
)

// Options are the settings of engines. Each engine uses some of them, see Engine.Uses.
// The zero Options are sensible defaults.
type Options struct {
	Roots   []fabric.GUID    // switches of rank 0; empty: the engine chooses
	Seed    uint64           // of random choices
	Aim     balance.Aim      // what paths are optimised for
	Weights []uint8          // traffic of endpoints, see balance.Finder; nil: all hosts alike
	Orders  []balance.Order  // how ranks sit on the hosts, for the aims mixed and shifts; nil: by switch and port, and by the names of hosts
	Demands []balance.Demand // the traffic that paths are made for, in place of an aim; nil: none is known
	Order   layer.Order      // order in which paths get their layers
	Prefer  weave.Prefer     // what matters more if both cannot be had: bandwidth, or few lanes

	// Before is the fabric before it was damaged, whose service levels are kept. nil: not
	// known.
	Before *fabric.Fabric

	shared *shared // see Sharing; nil: nothing is shared
}

// The aims: what paths shall be good for, and what auto ranks engines by.
const (
	Mixed     = balance.Mixed
	Bisection = balance.Bisection
	Shifts    = balance.Shifts
	AllToAll  = balance.AllToAll
)

// fields is each of the Options, by its bit.
var fields = [option.Count]field{
	fieldOf(func(o *Options) *[]fabric.GUID { return &o.Roots }, func(roots []fabric.GUID) bool { return len(roots) > 0 }),
	fieldOf(func(o *Options) *uint64 { return &o.Seed }, set),
	fieldOf(func(o *Options) *balance.Aim { return &o.Aim }, set),
	fieldOf(func(o *Options) *[]uint8 { return &o.Weights }, func(weights []uint8) bool { return weights != nil }),
	fieldOf(func(o *Options) *layer.Order { return &o.Order }, set),
	fieldOf(func(o *Options) *weave.Prefer { return &o.Prefer }, set),
	fieldOf(func(o *Options) **fabric.Fabric { return &o.Before }, set),
	fieldOf(func(o *Options) *[]balance.Order { return &o.Orders }, func(orders []balance.Order) bool { return orders != nil }),
	fieldOf(func(o *Options) *[]balance.Demand { return &o.Demands }, func(demands []balance.Demand) bool { return demands != nil }),
}

// field is one of the Options.
type field struct {
	given func(*Options) bool
	copy  func(to, from *Options)
}

// fieldOf is the field that in returns the address of; given reports whether its value is set.
func fieldOf[T any](in func(*Options) *T, given func(T) bool) field {
	return field{
		given: func(o *Options) bool { return given(*in(o)) },
		copy:  func(to, from *Options) { *in(to) = *in(from) },
	}
}

// set reports whether a field has another value than its default.
func set[T comparable](x T) bool { return x != *new(T) }

// Given is the options that are set.
func (o Options) Given() (given option.Set) {
	for i := range fields {
		if fields[i].given(&o) {
			given |= 1 << i
		}
	}
	return given
}

// only is the options in use, with the others unset. An engine sees only the options of
// its row, so that the row is true.
func (o Options) only(use option.Set) Options {
	told := Options{shared: o.shared}
	for i := range fields {
		if use>>i&1 != 0 {
			fields[i].copy(&told, &o)
		}
	}
	return told
}
