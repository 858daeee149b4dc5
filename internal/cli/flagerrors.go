package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/spell"
)

// former is flags by the names that they had before, and what to give in their place. Where no
// command is named the row is for all.
var former = []struct{ command, flag, now string }{
	{"", "budget", "--time-budget"},
	{"", "lfts", "--tables"},
	{"", "lfts-dir", "--tables NAME=PATH"},
	{"", "engines", "--engine"},
	{"weft diff", "old-tables", "--tables old=PATH"},
	{"weft diff", "new-tables", "--tables new=PATH"},
	{"weft route", "keep", "weft repair FABRIC --tables"},
	{"weft route", "steps", "weft repair FABRIC --tables OLD --steps"},
	{"weft route", "restore", "weft repair FABRIC --tables OLD --restore"},
	{"weft what-if", "without-switch", "--switch"},
	{"weft what-if", "without-cable", "--cable"},
	{"weft what-if", "without-host", "--host"},
	{"weft degrade", "link", "--cable"},
	{"weft degrade", "links", "--cables"},
	{"weft route", "lossless", "weft priorities NETWORK --lossless"},
	{"weft route", "bounces", "weft priorities NETWORK --bounces"},
}

// flagError is cobra's FlagErrorFunc of all commands: it turns the error of a command line into one
// that says what a flag that does not exist is called now, or which is nearest, and what a flag takes
// whose value is wrong.
func flagError(c *cobra.Command, err error) error {
	if ours := (*exit.Error)(nil); errors.As(err, &ours) {
		return ours // it says what the flag takes
	}
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		err = unknownFlag(c, unknown)
	}
	return exit.Usage("%w\nSee %s --help.", wrongValue(err), c.CommandPath())
}

// unknownFlag is the error for a flag that does not exist.
func unknownFlag(c *cobra.Command, err *pflag.NotExistError) error {
	name := err.GetSpecifiedName()
	for _, f := range former {
		if f.flag == name && (f.command == "" || f.command == c.CommandPath()) {
			return fmt.Errorf("--%s is %s now", name, f.now)
		}
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return fmt.Errorf("%w%s", err, spell.Hint("--"+name, names))
}

// wrongValue replaces the error of a value that a flag does not take by one that says what the flag
// takes. Other errors stay as they are.
func wrongValue(err error) error {
	var wrong *pflag.InvalidValueError
	if !errors.As(err, &wrong) {
		return err
	}
	name, value := wrong.GetFlag().Name, wrong.GetValue()
	switch kind := wrong.GetFlag().Value.Type(); {
	case kind == "duration":
		return fmt.Errorf("--%s %q: give a time with its unit, as in 500ms, 5s or 2m", name, value)
	case kind == "float64":
		return fmt.Errorf("--%s %q is not a number", name, value)
	case strings.HasPrefix(kind, "uint"):
		return fmt.Errorf("--%s %q is not a whole number from 0 to %d", name, value, uint64(math.MaxUint64)>>(64-bitsOf(kind)))
	case strings.HasPrefix(kind, "int") && errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("--%s %q is not a whole number of a size that it may have", name, value)
	case strings.HasPrefix(kind, "int"):
		return fmt.Errorf("--%s %q is not a whole number", name, value)
	}
	return err
}

// bitsOf is the number of bits of a flag of type uint8 and the like; 64 for uint.
func bitsOf(kind string) int {
	if n, err := strconv.Atoi(strings.TrimPrefix(kind, "uint")); err == nil {
		return n
	}
	return 64
}
