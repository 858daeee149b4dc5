package flags

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/routing"
)

// value is a flag, as pflag takes it, that is read and checked when the command line is, so that
// commands need not.
type value struct {
	text, kind string                  // kind is what pflag calls the type
	take       func(text string) error // checks a value and keeps it
}

func (v *value) String() string { return v.text }
func (v *value) Type() string   { return v.kind }

func (v *value) Set(text string) error {
	err := v.take(text)
	if err == nil {
		v.text = text
	}
	return err
}

// Parse declares a flag that parse reads. An empty default is that nothing is given,
// and so is an empty value then: the zero T.
func Parse[T any](f *pflag.FlagSet, to *T, name, def string, parse func(string) (T, error), usage string) {
	Take(f, name, def, func(text string) (err error) {
		var x T
		if text != "" || def != "" {
			if x, err = parse(text); err != nil {
				return err
			}
		}
		*to = x
		return nil
	}, usage)
}

// Take declares a flag that take reads and keeps.
func Take(f *pflag.FlagSet, name, def string, take func(text string) error, usage string) {
	checked := func(text string) error {
		if err := take(text); err != nil {
			return exit.Usage("--%s: %w", name, err)
		}
		return nil
	}
	if err := checked(def); err != nil {
		panic(err) // a default that is no value
	}
	f.Var(&value{text: def, kind: "string", take: checked}, name, usage)
}

// Word is Parse for one of a few words that are values of a type.
func Word[T fmt.Stringer](f *pflag.FlagSet, to *T, name string, def T, parse func(string) (T, error), usage string) {
	Parse(f, to, name, def.String(), parse, usage)
}

// OneOf is Parse for one of a few words, the first if none is given.
func OneOf(f *pflag.FlagSet, to *string, name, usage string, words ...string) {
	Parse(f, to, name, words[0], func(text string) (string, error) {
		if !slices.Contains(words, text) {
			return "", fmt.Errorf("it is %s, not %q", strings.Join(words, " or "), text)
		}
		return text, nil
	}, usage)
}

// Whole declares a flag that is a whole number from least to most; what is the error for any other,
// such as "it is from 1 to 16".
func Whole(f *pflag.FlagSet, to *int, name string, def, least, most int, what, usage string) {
	*to = def
	f.Var(&value{text: strconv.Itoa(def), kind: "int", take: func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		if n < least || n > most {
			return exit.Usage("--%s %d: %s", name, n, what)
		}
		*to = n
		return nil
	}}, name, usage)
}

// Required says that a flag has to be given.
func Required(c *cobra.Command, flag string) {
	if err := c.MarkFlagRequired(flag); err != nil {
		panic(err) // no such flag
	}
}

// Without refuses a flag beside any of the others; these go together.
func Without(c *cobra.Command, flag string, others ...string) {
	for _, other := range others {
		c.MarkFlagsMutuallyExclusive(flag, other)
	}
}

// AddContract declares --contract; nil is not given, and without says what then.
func AddContract(f *pflag.FlagSet, to **routing.Contract, without string) {
	Parse(f, to, "contract", "", func(text string) (*routing.Contract, error) {
		c, err := routing.ParseContract(text)
		return &c, err
	}, "what clients do with service levels: honored, directed, single:N or any (default: "+without+")")
}

// ContractOr is what --contract says, or else another.
func ContractOr(given *routing.Contract, other routing.Contract) routing.Contract {
	if given != nil {
		return *given
	}
	return other
}

// AddScope declares --endpoints.
func AddScope(f *pflag.FlagSet, to *routing.Scope) {
	Word(f, to, "endpoints", routing.HCA, routing.ParseScope, "who sends and receives: hca, ca (aggregation nodes, routers too) or all (port 0 of switches too)")
}

// AddVLs declares --vls, the data lanes that there are.
func AddVLs(f *pflag.FlagSet, to *int, def int, usage string) {
	Whole(f, to, "vls", def, 1, routing.MaxDataVLs, fmt.Sprintf("there are 1 to %d data lanes", routing.MaxDataVLs), usage)
}

// NoLMC is --lmc where it is not given: addresses are as in the fabric.
const NoLMC = -1

// AddLMC declares --lmc.
func AddLMC(f *pflag.FlagSet, to *int) {
	Whole(f, to, "lmc", NoLMC, NoLMC, 7, "it is 0 to 7", "give every adapter port 2^N LIDs, N from 0 to 7 (default: as in the fabric)")
	f.Lookup("lmc").DefValue = "" // help says it
}

// AddPrecision declares --precision, the standard error of bandwidths.
func AddPrecision(f *pflag.FlagSet, to *float64) {
	*to = congestion.DefaultPrecision
	f.Var(&value{text: strconv.FormatFloat(*to, 'g', -1, 64), kind: "float", take: func(text string) error {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !(x >= 0) { // not a number is not
			return exit.Usage("--precision %s: it is a number, and not negative", text)
		}
		*to = x
		return nil
	}}, "precision", "standard error of the effective bisection bandwidth")
}

// AddJSON declares --json.
func AddJSON(f *pflag.FlagSet, to *bool) {
	f.BoolVar(to, "json", false, "print the result for programs")
}

// Complete lets the shell complete the value of a flag.
func Complete(c *cobra.Command, flag string, names func() []string) {
	if err := c.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return names(), cobra.ShellCompDirectiveNoFileComp
	}); err != nil {
		panic(err)
	}
}

// ContractOfTables says in helps what ContractOf takes if nothing is given.
const ContractOfTables = "any for tables that ignore service levels, else honored"

// ContractStated says in helps what input.Given.Contract takes if nothing is given.
const ContractStated = "what summary.json beside the tables says, else " + ContractOfTables

// ContractOf is the contract that is given, or else what the tables are made for: any
// where service levels make no difference to them.
func ContractOf(given *routing.Contract, tables ...*routing.Tables) routing.Contract {
	made := routing.Any
	for _, t := range tables {
		if !t.Lanes.SL2VL.IgnoresSL() {
			made = routing.Honored
		}
	}
	return ContractOr(given, made)
}
