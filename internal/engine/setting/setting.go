// Package setting is the options of engines as people meet them: on the command line, in
// the daemon's file and in a campaign's. To tell a new engine something takes a field of
// engines.Options with its row there, a bit of package option, and a row here.
package setting

import (
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/internal/engine/auto"
	"github.com/weft-fabric/weft/internal/engine/lanes/layer"
	"github.com/weft-fabric/weft/internal/engine/option"
	"github.com/weft-fabric/weft/internal/engine/paths/balance"
	"github.com/weft-fabric/weft/internal/engine/weave"
	"github.com/weft-fabric/weft/routing/engines"
)

// settings is a row an option, in the order of their bits in package option, from Roots on.
var settings = [option.Count]setting{
	{usage: "root switches of updn, by name, GUID or LID, with commas between; * is any text"},
	{usage: "seed of what chooses by chance"},
	word("what balanced paths are good for, and what auto ranks by: mixed (pairs at random and collectives in phases), bisection (pairs at random), shifts (phases) or alltoall (the fullest channel)",
		func(o *engines.Options) *balance.Aim { return &o.Aim }, balance.ParseAim),
	{usage: "traffic of hosts by name, as 'storage-*=40', 0 to 100; others have 10; the last that fits counts"},
	word("order in which first-fit takes paths: by-destination, by-source, longest-first, shortest-first, shuffled (default: by-destination, under contract honored shortest-first)",
		func(o *engines.Options) *layer.Order { return &o.Order }, layer.ParseOrder),
	word("what weave gives up last where it cannot have both: bandwidth or lanes",
		func(o *engines.Options) *weave.Prefer { return &o.Prefer }, weave.ParsePrefer),
	{usage: "the fabric before it was damaged: torus-2qos then changes no service level"},
	{usage: "how the ranks of jobs sit on hosts, for the aims mixed and shifts: switch, name, rail, a file as of --ranks, or hosts as in Slurm: node[001-128]; several, with commas between, count alike (default switch,name)"},
	{usage: "measured or expected traffic that paths are made for, in place of an aim: a file of src,dst[,bytes], hosts or groups such as 'gpu-*' or \"gpu[1-64]\""},
}

// setting is an option as people meet it.
type setting struct {
	usage string

	// For an option whose value is one of a few words; nil for the others, whose values are about a
	// fabric or a number.
	read func(o *engines.Options, text string) error // checks a word and sets it
	text func(*engines.Options) string               // the word that is set
}

// word is the setting of an option whose value is one of a few words; the zero T is the default.
func word[T fmt.Stringer](usage string, field func(*engines.Options) *T, parse func(string) (T, error)) setting {
	return setting{
		usage: usage,
		read: func(o *engines.Options, text string) error {
			x, err := parse(text)
			if err == nil {
				*field(o) = x
			}
			return err
		},
		text: func(o *engines.Options) string { return (*field(o)).String() },
	}
}

// Words is the options that are one of a few words, which need no fabric to be understood.
func Words() (all []option.Set) {
	for i, s := range settings {
		if s.read != nil {
			all = append(all, 1<<i)
		}
	}
	return all
}

// Usage says what one option means and what its values are.
func Usage(o option.Set) string { return settings[o.Index()].usage }

// Default is the word that an option of Words has if none is given.
func Default(o option.Set) string { return settings[o.Index()].text(&engines.Options{}) }

// Read sets an option of Words, or says what is wrong with the word.
func Read(o option.Set, to *engines.Options, text string) error {
	return settings[o.Index()].read(to, text)
}

// OfAuto is the options that auto uses: those of any engine that it tries.
func OfAuto() (uses option.Set) {
	for _, e := range engines.All() {
		if e.Auto.Place > 0 {
			uses |= e.Uses
		}
	}
	return uses
}

// Unused is the error if an option is set that an engine does not use.
type Unused struct {
	Engine string
	Option option.Set // one
}

// FirstUnused is an *Unused for the first of the given options that an engine does not use,
// or nil.
func FirstUnused(engine string, uses, given option.Set) error {
	if unused := given &^ uses; unused != 0 {
		return &Unused{engine, unused.First()}
	}
	return nil
}

// Error says which engines use the option.
func (e *Unused) Error() string {
	users := engines.Names(func(other engines.Engine) bool { return other.Uses&e.Option != 0 })
	if OfAuto()&e.Option != 0 {
		users = append(users, auto.Name)
	}
	return e.Option.String() + " is for " + strings.Join(users, ", ") + "; " + e.Engine + " does not look at it"
}
