package engines

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/lanes/layer"
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
	Orders  []balance.Order  // how ranks sit on the hosts, for the aims mixed and shifts; nil: DefaultOrders
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

// WorthOfTraffic is what auto ranks by where the traffic is known.
func WorthOfTraffic(took, mean float64) float64 { return balance.WorthOfTraffic(took, mean) }

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
	Demands

	balanced = Seed | Aim | Weights | Orders | Demands // of balanced paths, and of what begins with them
)

// options declares each option, by bit: the command line, the daemon's file and whatever
// refuses an option that an engine does not look at go by this table. To tell a new engine
// something takes a field of Options, its bit and its row here.
var options = [...]declared{
	option("roots", "root switches of updn, by name, GUID or LID, with commas between; * is any text",
		func(o *Options) *[]fabric.GUID { return &o.Roots }, func(roots []fabric.GUID) bool { return len(roots) > 0 }),
	option("seed", "seed of what chooses by chance",
		func(o *Options) *uint64 { return &o.Seed }, func(seed uint64) bool { return seed != 0 }),
	word("aim", "what balanced paths are good for, and what auto ranks by: mixed (pairs at random and collectives in phases), bisection (pairs at random), shifts (phases) or alltoall (the fullest channel)",
		func(o *Options) *balance.Aim { return &o.Aim }, balance.ParseAim),
	option("weight", "traffic of hosts by name, as 'storage-*=40', 0 to 100; others have 10; the last that fits counts",
		func(o *Options) *[]uint8 { return &o.Weights }, func(weights []uint8) bool { return weights != nil }),
	word("order", "order in which first-fit takes paths: by-destination, by-source, longest-first, shortest-first, shuffled (default: by-destination, under contract honored shortest-first)",
		func(o *Options) *layer.Order { return &o.Order }, layer.ParseOrder),
	word("prefer", "what weave gives up last where it cannot have both: bandwidth or lanes",
		func(o *Options) *weave.Prefer { return &o.Prefer }, weave.ParsePrefer),
	option("before", "the fabric before it was damaged: torus-2qos then changes no service level",
		func(o *Options) **fabric.Fabric { return &o.Before }, func(before *fabric.Fabric) bool { return before != nil }),
	option("rank-order", "how the ranks of jobs sit on hosts, for the aims mixed and shifts: switch, name, rail, a file as of --ranks, or hosts as in Slurm: node[001-128]; several, with commas between, count alike (default switch,name)",
		func(o *Options) *[]balance.Order { return &o.Orders }, func(orders []balance.Order) bool { return orders != nil }),
	option("traffic", "measured or expected traffic that paths are made for, in place of an aim: a file of src,dst[,bytes], hosts or groups such as 'gpu-*' or \"gpu[1-64]\"",
		func(o *Options) *[]balance.Demand { return &o.Demands }, func(demands []balance.Demand) bool { return demands != nil }),
}

// declared is an option as options declares it.
type declared struct {
	name  string // as on the command line, and in the daemon's file if that has it
	usage string
	given func(*Options) bool
	copy  func(to, from *Options)

	// Of an option that is one of a few words; nil of the others, which are about a fabric
	// or a number.
	read func(o *Options, text string) error // checks a word and sets it
	text func(*Options) string
}

// option declares the option in a field, which is set if given says so.
func option[T any](name, usage string, field func(*Options) *T, given func(T) bool) declared {
	return declared{
		name: name, usage: usage,
		given: func(o *Options) bool { return given(*field(o)) },
		copy:  func(to, from *Options) { *field(to) = *field(from) },
	}
}

// word declares an option that is one of a few words; the zero T is the default.
func word[T interface {
	comparable
	fmt.Stringer
}](name, usage string, field func(*Options) *T, parse func(string) (T, error)) declared {
	d := option(name, usage, field, func(x T) bool { return x != *new(T) })
	d.read = func(o *Options, text string) (err error) {
		x, err := parse(text)
		if err == nil {
			*field(o) = x
		}
		return err
	}
	d.text = func(o *Options) string { return (*field(o)).String() }
	return d
}

// Words is the options that are one of a few words, which need no fabric to be understood.
func Words() (all []Option) {
	for i := range options {
		if options[i].read != nil {
			all = append(all, 1<<i)
		}
	}
	return all
}

// row is the declaration of one option.
func (o Option) row() *declared { return &options[bits.TrailingZeros16(uint16(o))] }

// Usage says what one option means and what its values are.
func (o Option) Usage() string { return o.row().usage }

// Default is the word that an option of Words has if none is given.
func (o Option) Default() string { return o.row().text(&Options{}) }

// Read sets an option of Words, or says what is wrong with the word.
func (o Option) Read(to *Options, text string) error { return o.row().read(to, text) }

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
