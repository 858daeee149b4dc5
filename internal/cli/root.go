package cli

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/internal/cli/opensm"

	"github.com/weft-fabric/weft/internal/cli/campaigns"

	"github.com/weft-fabric/weft/internal/cli/look"

	"github.com/weft-fabric/weft/internal/cli/networks"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/version"
	"github.com/weft-fabric/weft/internal/spell"
)

func newRoot(a *console.Console) *cobra.Command {
	root := &cobra.Command{
		Use:   "weft",
		Short: "Route lossless networks and prove that they cannot deadlock",
		Long: `weft reads the network you have, decides by which ports and on which virtual
lanes every packet travels, proves that the result cannot deadlock or shows the
credit loop, and writes tables that an unpatched OpenSM loads.

FABRIC is a file (ibnetdiscover output, an ibsim net file, an opensm-subnet.lst,
an ibdiagnet2.db_csv, or a graph in GraphML, NetworkX's JSON, DOT or BookSim2's
anynet; plain or gzip), an output folder of ibdiagnet2, - for standard input, or
the spec of a computed network such as torus:8x8x8,hosts=2.

Exit codes: 0 fine; 1 a finding (credit loop, unreachable pair, refusal);
2 usage; 3 bad input; 4 internal error; 130 interrupted.`,
		Version:       version.Current().String(),
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
	if a.Columns > 0 {
		root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "Flags.FlagUsages", fmt.Sprintf("Flags.FlagUsagesWrapped %d", a.Columns)))
	}
	root.PersistentFlags().BoolVarP(&a.Quiet, "quiet", "q", false, "no progress and no warnings on standard error")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if ours := (*exit.Error)(nil); errors.As(err, &ours) {
			return ours // it says what the flag takes
		}
		return exit.Usage("%w\nSee %s --help.", flagError(err), cmd.CommandPath())
	})
	// What has Ethernet in its name is the command for InfiniBand with Ethernet added:
	// routeEthernetCommand wraps routeCommand.
	root.AddCommand(simulateCommand(a), placeCommand(a), compareCommand(a), packetsEthernetCommand(a), reportCommand(a), exportCommand(a))
	root.AddCommand(
		routeEthernetCommand(a), verifyEthernetCommand(a), look.Info(a), networks.Generate(a), networks.Degrade(a), diffCommand(a), whatIfCommand(a), drainCommand(a),
		networks.Convert(a), explainCommand(a), lanesCommand(a), campaigns.Reproduce(a), campaigns.Sweep(a), enginesCommand(a), networks.Topologies(a),
		deployCommand(a), opensm.Serve(a), opensm.Status(a), watchCommand(a), versionCommand(a), manCommand(),
	)
	root.SetHelpCommand(helpCommand(root))
	completionCommand(root)
	for _, c := range root.Commands() {
		exitCodes(c)
	}
	return root
}

// helpCommand is in place of cobra's own, which answers words that are no command with
// the list of all; here they are errors.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Say what a command does and what it takes",
		Args:  cobra.ArbitraryArgs,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			at, _, err := root.Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return commandNames(at), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			at := root
			for _, word := range args {
				i := slices.IndexFunc(at.Commands(), func(c *cobra.Command) bool { return c.Name() == word })
				if i < 0 {
					return unknownCommand(at, word)
				}
				at = at.Commands()[i]
			}
			at.InitDefaultHelpFlag()
			return at.Help()
		},
	}
}

// completionCommand mends cobra's own: words that are no shell, which it answers with the
// help for all, become errors, and headings in its texts lose their Markdown.
func completionCommand(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	c, _, err := root.Find([]string{"completion"})
	if err != nil {
		return // cobra makes none where there are no other commands
	}
	c.Args = cobra.NoArgs
	c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	for _, shell := range c.Commands() {
		shell.Long = strings.ReplaceAll(shell.Long, "#### ", "")
	}
}

// unknownCommand is the error for a word that is no command below another; it says what
// may have been meant.
func unknownCommand(of *cobra.Command, word string) error {
	names := commandNames(of)
	if len(names) == 0 {
		return exit.Usage("%s has no commands of its own, such as %q", of.CommandPath(), word)
	}
	return exit.Usage("no command of %s is called %q%s (there are %s)", of.CommandPath(), word, spell.Hint(word, names), strings.Join(names, ", "))
}

// commandNames is the commands below another, without those that are hidden.
func commandNames(of *cobra.Command) []string {
	var names []string
	for _, c := range of.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// formerFlags is the flags that had other names in the release before: former name → name
// now. The former names are understood, but no help shows them.
var formerFlags = map[string]string{
	"budget": "time-budget", // elsewhere budget means the lanes available
}

// asTyped is an error text with the former name of a flag for the one now, if the command
// line, args, has the former.
func asTyped(text string, args []string) string {
	for former, now := range formerFlags {
		if slices.ContainsFunc(args, func(arg string) bool { return arg == "--"+former || strings.HasPrefix(arg, "--"+former+"=") }) {
			text = strings.ReplaceAll(text, "--"+now, "--"+former)
		}
	}
	return text
}

// flagError makes the error for a value that a flag does not take say what it takes. Other
// errors stay as they are.
func flagError(err error) error {
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

// exitCodes wraps what a command does: its errors that have no exit code get that of bad
// input, and those of its check of arguments that of usage. So it does with the commands
// below.
func exitCodes(c *cobra.Command) {
	do, check := c.RunE, c.Args
	for _, below := range c.Commands() {
		exitCodes(below)
	}
	if do == nil { // it has commands below and does nothing itself
		return
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		err := do(cmd, args)
		if e := (*exit.Error)(nil); err != nil && !errors.As(err, &e) {
			return &exit.Error{Code: exit.BadInput, Err: err}
		}
		return err
	}
	c.Args = func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return exit.Usage("%w\nUsage: %s\nSee %s --help.", err, cmd.UseLine(), cmd.CommandPath())
		}
		return nil
	}
}

// manCommand writes the manual pages that make install puts beside the program.
func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write a manual page for every command into a folder",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return err
			}
			return manPages(cmd.Root(), args[0])
		},
	}
}

// manPages writes the pages of a command and of those below it. Their date is
// today's, or that of SOURCE_DATE_EPOCH.
func manPages(c *cobra.Command, dir string) error {
	if !c.IsAvailableCommand() && c.HasParent() {
		return nil
	}
	for _, sub := range c.Commands() {
		if err := manPages(sub, dir); err != nil {
			return err
		}
	}
	c.DisableAutoGenTag = true
	var page bytes.Buffer
	header := &doc.GenManHeader{Section: "1", Source: "weft " + version.Current().Version, Manual: "weft"}
	if err := doc.GenMan(c, header, &page); err != nil {
		return err
	}
	// Flags whose default is empty are shown without one.
	text := strings.NewReplacer("[=false]", "", `=""`, "", "=[]", "").Replace(page.String())
	name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
	return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666)
}
