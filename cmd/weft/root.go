package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// app is what all subcommands share.
type app struct {
	ctx    context.Context // ends when the user interrupts
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	quiet  bool

	columns  int  // how wide lines on stdout may be, 0: any width
	terminal bool // stdout is one
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "weft",
		Short: "Route lossless networks and prove that they cannot deadlock",
		Long: `weft reads the network you have, decides by which ports and on which virtual
lanes every packet travels, proves that the result cannot deadlock or shows the
credit loop, and writes tables that an unpatched OpenSM loads.

FABRIC is a file (ibnetdiscover output, an ibsim net file or an
opensm-subnet.lst, plain or gzip), - for standard input, or the spec of a
computed network such as torus:8x8x8,hosts=2.

Exit codes: 0 fine; 1 a finding (credit loop, unreachable pair, refusal);
2 usage; 3 bad input; 4 internal error.`,
		Version:       version().String(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetGlobalNormalizationFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if word, ok := formerFlags[name]; ok {
			name = word
		}
		return pflag.NormalizedName(name)
	})
	root.SetVersionTemplate("weft {{.Version}}\n")
	if a.columns > 0 {
		root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "Flags.FlagUsages", fmt.Sprintf("Flags.FlagUsagesWrapped %d", a.columns)))
	}
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "no progress and no warnings on standard error")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var flag *pflag.InvalidValueError
		if errors.As(err, &flag) && (errors.Is(err, strconv.ErrSyntax) || errors.Is(err, strconv.ErrRange)) {
			err = fmt.Errorf("--%s %q is not a whole number", flag.GetFlag().Name, flag.GetValue())
		}
		return usage("%w\nSee %s --help.", err, cmd.CommandPath())
	})
	root.AddCommand(simulateCommand(a), compareCommand(a), packetsCommand(a))
	root.AddCommand(
		routeCommand(a), verifyCommand(a), infoCommand(a), generateCommand(a), degradeCommand(a),
		convertCommand(a), explainCommand(a), lanesCommand(a), reproduceCommand(a), enginesCommand(a), topologiesCommand(a),
		deployCommand(a), serveCommand(a), statusCommand(a), versionCommand(a), manCommand(),
	)
	for _, c := range root.Commands() {
		exitCodes(c)
	}
	return root
}

// formerFlags is flags by the names they had in the release before, which are
// understood and not shown.
var formerFlags = map[string]string{
	"budget": "time-budget", // a budget is of lanes
}

// exitCodes gives what a command returns the exit code of bad input, where it has
// none, and errors in the number of arguments that of usage.
func exitCodes(c *cobra.Command) {
	do, check := c.RunE, c.Args
	c.RunE = func(cmd *cobra.Command, args []string) error {
		err := do(cmd, args)
		if e := (*exitError)(nil); err != nil && !errors.As(err, &e) {
			return &exitError{exitInput, err}
		}
		return err
	}
	c.Args = func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usage("%w\nUsage: %s\nSee %s --help.", err, cmd.UseLine(), cmd.CommandPath())
		}
		return nil
	}
}

// plural is "1 switch" or "3 switches".
func plural(n int, one string) string {
	many := one + "s"
	if strings.HasSuffix(one, "ch") {
		many = one + "es"
	}
	if n == 1 {
		many = one
	}
	return thousands(int64(n)) + " " + many
}
