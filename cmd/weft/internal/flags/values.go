package flags

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weft-fabric/weft/cmd/weft/internal/exit"
	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/routing"
)

// value is a flag that is checked as soon as it is read, so that commands need not.
type value[T any] struct {
	to    *T
	kind  string // pflag's name of the type
	print func(T) string
	read  func(string) (T, error)
}

func (v *value[T]) String() string { return v.print(*v.to) }
func (v *value[T]) Type() string   { return v.kind }

func (v *value[T]) Set(text string) error {
	x, err := v.read(text)
	if err == nil {
		*v.to = x
	}
	return err
}

// Word declares a flag whose values are words that parse knows.
func Word[T fmt.Stringer](f *pflag.FlagSet, to *T, name string, def T, parse func(string) (T, error), usage string) {
	*to = def
	f.Var(&value[T]{to, "string", T.String, func(text string) (T, error) {
		x, err := parse(text)
		if err != nil {
			err = exit.Usage("--%s: %w", name, err)
		}
		return x, err
	}}, name, usage)
}

// Whole declares a flag that is a number from least to most; what says so of any other.
func Whole(f *pflag.FlagSet, to *int, name string, def, least, most int, what, usage string) {
	*to = def
	f.Var(&value[int]{to, "int", strconv.Itoa, func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err == nil && (n < least || n > most) {
			err = exit.Usage("--%s %d: %s", name, n, what)
		}
		return n, err
	}}, name, usage)
}

// AddContract declares --contract; nil is not given, and without says what then.
func AddContract(f *pflag.FlagSet, to **routing.Contract, without string) {
	f.Var(&value[*routing.Contract]{to, "string",
		func(c *routing.Contract) string {
			if c == nil {
				return ""
			}
			return c.String()
		},
		func(text string) (*routing.Contract, error) {
			if text == "" {
				return nil, nil
			}
			c, err := routing.ParseContract(text)
			if err != nil {
				err = exit.Usage("--contract: %w", err)
			}
			return &c, err
		},
	}, "contract", "what clients do with service levels: honored, directed, single:N or any (default: "+without+")")
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
	Whole(f, to, "lmc", NoLMC, 0, 7, "it is 0 to 7", "give every adapter port 2^N LIDs, N from 0 to 7 (default: as in the fabric)")
}

// AddPrecision declares --precision, the standard error of bandwidths.
func AddPrecision(f *pflag.FlagSet, to *float64) {
	f.Float64Var(to, "precision", congestion.DefaultPrecision, "standard error of the effective bisection bandwidth")
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
