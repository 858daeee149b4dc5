package cli

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/weft-fabric/weft/internal/cli/campaigns"
	"github.com/weft-fabric/weft/internal/cli/changes"
	"github.com/weft-fabric/weft/internal/cli/ethernet"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/version"
	"github.com/weft-fabric/weft/internal/cli/look"
	"github.com/weft-fabric/weft/internal/cli/networks"
	"github.com/weft-fabric/weft/internal/cli/opensm"
	"github.com/weft-fabric/weft/internal/cli/prove"
	"github.com/weft-fabric/weft/internal/cli/route"
	"github.com/weft-fabric/weft/internal/cli/simulate"
	"github.com/weft-fabric/weft/internal/spell"
)

// newRoot makes the command weft with everything below it.
func newRoot(a *console.Console) *cobra.Command {
	root, _ := rootAndGroups(a)
	return root
}

// rootAndGroups is newRoot, and the commands below the root in the groups of its help. Commands of
// package ethernet wrap those for InfiniBand: they take over where FABRIC is an Ethernet network.
func rootAndGroups(a *console.Console) (*cobra.Command, []group) {
	root := &cobra.Command{
		Use:   "weft",
		Short: "Route lossless networks and prove that they cannot deadlock",
		Long: `weft reads the network you have, decides by which ports and on which virtual
lanes every packet travels, proves that the result cannot deadlock or shows the
credit loop, and writes tables that an unpatched OpenSM loads.

FABRIC is a file (ibnetdiscover or iblinkinfo output, an ibsim net file, an
opensm-subnet.lst, an ibdiagnet2.db_csv, or a graph in GraphML, NetworkX's JSON, DOT
or BookSim2's anynet; plain or packed by gzip, zstd, xz or bzip2), an output folder
of ibdiagnet2 or of OpenSM, - for standard input, or the spec of a computed network such
as torus:8x8x8,hosts=2.

Exit codes: 0 fine; 1 a finding (credit loop, unreachable pair, refusal);
2 usage; 3 bad input; 4 internal error; 130 interrupted.`,
		Version:           version.Text(version.Current()),
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true}, // ours is completionCommand
		SilenceErrors:     true,
		SilenceUsage:      true,
	}
	root.SetVersionTemplate("weft {{.Version}}\n")
	root.PersistentFlags().BoolVarP(&a.Quiet, "quiet", "q", false, "no progress and no warnings on standard error")
	root.PersistentFlags().BoolVarP(&a.Verbose, "verbose", "v", false, "on a terminal, all there is to say, as in a pipe")
	root.PersistentFlags().BoolVar(&a.NoColor, "no-color", false, "no colors on a terminal, as with NO_COLOR")
	root.SetFlagErrorFunc(flagError)
	help := helpCommand(root)
	groups := []group{
		{"Look", []*cobra.Command{ethernet.Collect(a), ethernet.Info(a, look.Info(a)), ethernet.Report(a, look.Report(a)), ethernet.Explain(a, look.Explain(a)), flags.NotEthernet(look.Bound(a)), ethernet.Diff(a, changes.Diff(a)), ethernet.Export(a, look.Export(a))}},
		{"Prove", []*cobra.Command{ethernet.Verify(a, prove.Verify(a))}},
		{"Route", []*cobra.Command{ethernet.Route(a, route.Command(a)), ethernet.Priorities(a), route.Engines(a), flags.NotEthernet(route.Lanes(a)), ethernet.Compare(a, route.Compare(a)), flags.NotEthernet(simulate.Place(a))}},
		{"Change", []*cobra.Command{ethernet.WhatIf(a, changes.WhatIf(a)), flags.NotEthernet(changes.Repair(a)), flags.NotEthernet(opensm.Drain(a, changes.Drain(a))), opensm.Undrain(a)}},
		{"Simulate", []*cobra.Command{simulate.Command(a), ethernet.Packets(a, simulate.Packets(a)), simulate.Patterns()}},
		{"Run", []*cobra.Command{opensm.Serve(a), opensm.Status(a), opensm.EventsOf(a), opensm.Watch(a), opensm.Deploy(a)}},
		{"Research", []*cobra.Command{campaigns.Reproduce(a), campaigns.Sweep(a)}},
		{"Networks", []*cobra.Command{flags.NotEthernet(networks.Generate(a)), networks.Topologies(a), flags.NotEthernet(networks.Convert(a)), flags.NotEthernet(networks.Degrade(a))}},
		{"This program", []*cobra.Command{help, completionCommand(), versionCommand(a), manCommand()}},
	}
	for _, g := range groups {
		root.AddCommand(g.commands...)
	}
	root.SetHelpCommand(help)
	root.SetUsageFunc(usageOf(a.Columns, groups))
	completeNames(a, root)
	for _, c := range root.Commands() {
		exitCodes(c)
	}
	return root, groups
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

// completionCommand writes what shells need to complete commands, flags and names.
func completionCommand() *cobra.Command {
	shells := map[string]func(c *cobra.Command, w io.Writer) error{
		"bash":       func(c *cobra.Command, w io.Writer) error { return c.Root().GenBashCompletionV2(w, true) },
		"zsh":        func(c *cobra.Command, w io.Writer) error { return c.Root().GenZshCompletion(w) },
		"fish":       func(c *cobra.Command, w io.Writer) error { return c.Root().GenFishCompletion(w, true) },
		"powershell": func(c *cobra.Command, w io.Writer) error { return c.Root().GenPowerShellCompletionWithDesc(w) },
	}
	names := slices.Sorted(maps.Keys(shells))
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Write what a shell needs to complete commands, flags and names",
		Long: `Write what bash, zsh, fish or powershell needs to complete commands, flags, engines,
and the names of switches, hosts and cables of the fabric on the command line.`,
		Example: `  weft completion bash > /etc/bash_completion.d/weft
  weft completion zsh > "${fpath[1]}/_weft"
  weft completion fish > ~/.config/fish/completions/weft.fish`,
		ValidArgs: names,
		Args:      cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			write := shells[args[0]]
			if write == nil {
				return exit.Usage("no shell of weft completion is called %q%s (there are %s)", args[0], spell.Hint(args[0], names), strings.Join(names, ", "))
			}
			return write(c, c.OutOrStdout())
		},
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
	if !c.IsAvailableCommand() && !c.IsAdditionalHelpTopicCommand() && c.HasParent() {
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
